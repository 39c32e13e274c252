"""States, charges, shares, approval, and what dies when."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

import dpcausal as dc
from dpcausal.core.errors import BudgetError, InputError, LedgerError
from dpcausal.desk import questions as states
from dpcausal.desk import store
from dpcausal.desk.store import Conflict, Desk, NotAllowed, NotFound
from dpcausal.desk.worker import PaidCharge, run_job, work

from .conftest import TEST, ask, at, person, settings


def test_asked_charged_drawn_and_shown(make_desk, ledger_url):
    desk = make_desk(ledger_url)
    asked = ask(desk, project="lungs", now=1000.0)
    assert asked.state == states.QUEUED
    entry = desk.ledger.log("cohort")[-1]
    assert (entry.person, entry.project, entry.purpose, entry.release) == (
        "anna",
        "lungs",
        "to see",
        asked.id,
    )
    assert float(entry.epsilon) == 0.3
    assert not desk.files(asked)
    job = desk.claim()
    run_job(desk, job)
    ended = desk.request(asked.id)
    assert ended.state == states.DONE
    assert ended.shown_state(ended.visible - 0.1) == states.WORKING
    assert ended.shown_state(ended.visible) == states.DONE
    assert (ended.visible - 1000.0) % 60.0 == 0
    assert not at(desk, ended.visible - 0.1).files(ended)
    assert {"answer.json", "privacy.json", "result.json", "results.json"} <= set(
        at(desk, ended.visible).files(ended)
    )
    assert desk.ledger.verify().ok
    assert desk.claim() is None


def test_the_end_is_shown_at_a_tick_whatever_the_run_took(make_desk):
    """A failure and a success of different run times are shown at the same moment."""
    desk = make_desk()
    shown = set()
    for end, files in ((1000.5, {}), (1029.0, None), (1059.9, {})):
        ask(desk, epsilon=0.1, now=1000.0)
        job = at(desk, 1000.1).claim()
        desk.begin_drawing(job.id, job.lease)
        at(desk, end).finish(job.id, job.lease, files)
        shown.add(desk.request(job.id).visible)
    assert shown == {1060.0}


def test_nothing_is_drawn_twice_for_one_charge(make_desk):
    desk = make_desk()
    ask(desk)
    job = at(desk, 0.0).claim()
    desk.begin_drawing(job.id, job.lease)
    with pytest.raises(Conflict):
        desk.begin_drawing(job.id, job.lease)
    assert at(desk, 10 * store.LEASE).claim() is None  # the worker died: it is not given to another
    ended = desk.request(job.id)
    assert ended.state == states.FAILED
    assert desk.left("anna", "cohort").epsilon == pytest.approx(0.7)


def test_a_worker_that_dies_before_the_draw_loses_nothing(make_desk):
    desk = make_desk()
    ask(desk)
    first = at(desk, 0.0).claim()
    second = at(desk, 10 * store.LEASE).claim()
    assert second.id == first.id
    with pytest.raises(Conflict):  # the first one lives after all
        desk.begin_drawing(first.id, first.lease)
    desk.begin_drawing(second.id, second.lease)
    with pytest.raises(Conflict):
        desk.finish(first.id, first.lease, {})
    assert desk.ledger.show("cohort")[0].releases == 1


def test_a_job_is_tried_a_few_times_only(make_desk):
    desk = make_desk()
    asked = ask(desk)
    now = 0.0
    for _ in range(store.MOST_ATTEMPTS):
        assert at(desk, now).claim() is not None
        now += 10 * store.LEASE
    assert at(desk, now).claim() is None
    assert desk.request(asked.id).state == states.FAILED


def test_a_draw_costs_what_was_charged(make_desk):
    """A request that would draw for more than its charge, or for another data set, draws nothing."""
    from dpcausal.core.neighbours import Neighbours

    desk = make_desk()
    ask(desk)
    paid = PaidCharge(desk, desk.claim())
    same = {"neighbours": Neighbours.REPLACE_ONE}
    for wrong in (("cohort", 0.31, 0.0), ("cohort", 0.3, 1e-9), ("other", 0.3, 0.0)):
        with pytest.raises(Conflict):
            paid.charge(wrong[0], "r", wrong[1], wrong[2], **same)
    with pytest.raises(Conflict):
        paid.charge("cohort", "r", 0.3, neighbours=Neighbours.ADD_REMOVE)
    assert paid.charge("cohort", "r", 0.3, **same).dataset == "cohort"
    with pytest.raises(Conflict):
        paid.charge("cohort", "r", 0.3, **same)


def test_a_request_that_was_not_charged_is_not_drawn(make_desk):
    desk = make_desk(approvals=1)
    asked = ask(desk)
    desk.run(lambda connection: desk._change(connection, asked.id, state=states.QUEUED))  # by a careless hand
    job = desk.claim()
    with pytest.raises(Conflict):
        desk.begin_drawing(job.id, job.lease)


def test_one_person_approves_and_then_it_is_charged(make_desk, ledger_url):
    desk = make_desk(ledger_url, approvals=1, approve_up_to=0.1)
    asked = ask(desk)
    assert (asked.state, desk.ledger.show("cohort")[0].releases) == (states.WAITING, 0)
    for other in ("anna", "ben", "dora"):
        with pytest.raises(NotAllowed):
            desk.decide(person(other), asked.id, "approve", "mine")
    assert desk.decide(person("carol"), asked.id, "approve", "fits").state == states.QUEUED
    assert desk.ledger.show("cohort")[0].releases == 1
    with pytest.raises(Conflict):
        desk.decide(person("carl"), asked.id, "approve", "again")
    assert ask(desk, epsilon=0.1).state == states.QUEUED  # by the rule


def test_two_persons_where_the_custodian_says_so(make_desk):
    desk = make_desk(approvals=2)
    asked = ask(desk)
    assert desk.decide(person("carol"), asked.id, "approve", "fits").state == states.WAITING
    with pytest.raises(Conflict):
        desk.decide(person("carol"), asked.id, "approve", "twice")
    assert desk.ledger.show("cohort")[0].releases == 0
    assert desk.decide(person("carl"), asked.id, "approve", "fits").state == states.QUEUED
    assert [one["person"] for one in desk.decisions(asked.id)] == ["carol", "carl"]


def test_refused_and_withdrawn_cost_nothing(make_desk):
    desk = make_desk(approvals=1)
    refused, taken = ask(desk), ask(desk)
    assert desk.decide(person("carol"), refused.id, "refuse", "not now").state == states.REFUSED
    with pytest.raises(NotFound):
        desk.withdraw(person("ben"), taken.id)
    assert desk.withdraw(person("anna"), taken.id).state == states.WITHDRAWN
    with pytest.raises(Conflict):
        desk.decide(person("carol"), taken.id, "approve", "late")
    assert desk.ledger.show("cohort")[0].releases == 0


def test_shares_of_a_person_and_of_a_project(make_desk):
    desk = make_desk(share_epsilon=0.5, project_epsilon=0.4)
    ask(desk, epsilon=0.3, project="p")
    with pytest.raises(BudgetError) as error:
        ask(desk, "ben", epsilon=0.2, project="p")
    assert (
        str(error.value) == "the project's share of epsilon does not allow it"
    )  # what anna spent is not told
    assert (error.value.spent, error.value.left) == (0.0, 0.0)
    with pytest.raises(BudgetError):
        ask(desk, epsilon=0.3)
    ask(desk, epsilon=0.2)
    assert desk.left("anna", "cohort").epsilon == pytest.approx(0.0, abs=1e-9)
    assert desk.left("ben", "cohort").epsilon == 0.5
    assert len(desk.requests_for(person("anna")).rows) == 2


def test_a_sum_holds_no_charge_that_was_taken_back(make_desk, ledger_url):
    """Shares are read after a transaction has appended, which then fails: what is kept does not know of it."""
    desk = make_desk(ledger_url, share_epsilon=0.9)
    ask(desk)
    inside = []

    class Failed(Exception):
        pass

    def work(connection):
        desk.ledger.asked_by("anna").charge_within(connection, "cohort", "another", 0.5)
        inside.append(desk._charges.spent(connection, "cohort", "person", "anna")[0])
        raise Failed

    with pytest.raises(Failed):
        desk.run(work)
    assert float(inside[0]) == 0.8  # in its own transaction it counts
    assert desk.left("anna", "cohort").epsilon == pytest.approx(0.6)
    ask(desk, epsilon=0.2)  # takes the number of the entry that was taken back
    assert desk.left("anna", "cohort").epsilon == pytest.approx(0.4)
    with pytest.raises(BudgetError):
        ask(desk, epsilon=0.5)
    desk.ledger.charge("cohort", "nobody", 0.1)  # an entry that names nobody is nobody's
    assert desk.left("None", "cohort").epsilon == 0.9


def test_the_share_holds_when_it_is_approved_too(make_desk):
    desk = make_desk(share_epsilon=0.5, approvals=1)
    first, second = ask(desk), ask(desk)
    desk.decide(person("carol"), first.id, "approve", "fits")
    with pytest.raises(BudgetError):
        desk.decide(person("carol"), second.id, "approve", "fits")
    assert desk.request(second.id).state == states.WAITING
    assert desk.decisions(second.id) == []


def test_the_cap_of_one_question(make_desk):
    desk = make_desk(cap_epsilon=0.2, approvals=1)
    with pytest.raises(BudgetError):
        ask(desk)
    assert desk.requests_for(person("anna")).rows == []


def test_a_refusal_for_the_total_tells_no_amount_of_others(make_desk):
    desk = make_desk()
    ask(desk, "ben", epsilon=0.77)
    with pytest.raises(BudgetError) as error:
        ask(desk)
    assert "0.77" not in str(error.value)
    assert "0.23" not in str(error.value)
    assert (error.value.spent, error.value.left, error.value.__context__) == (0.0, 0.0, None)


def test_what_an_analyst_is_told_does_not_depend_on_others(make_desk):
    """The same questions, with and without somebody else's before them, give the same statement and share."""

    def told(others: int):
        desk = make_desk(f"sqlite:///{others}.db", folder=f"seen-{others}", share_epsilon=0.4)
        for _ in range(others):
            ask(desk, "ben", epsilon=0.1)
        ask(desk)
        work(desk, until_empty=True)
        done = desk.requests_for(person("anna")).rows[0]
        statement = json.loads(at(desk, done.visible).files(done)["privacy.json"])
        return {key: value for key, value in statement["ledger"].items() if key != "release"}

    assert told(0) == told(3)


def test_a_question_sent_twice_is_one(make_desk):
    desk = make_desk()
    first, second = ask(desk, key="k" * 8), ask(desk, key="k" * 8)
    assert first.id == second.id
    assert ask(desk, "ben", key="k" * 8).id != first.id
    assert desk.ledger.show("cohort")[0].releases == 2


def test_questions_that_are_not_taken(make_desk):
    desk = make_desk(methods=["kendall"], analysts=["anna"], until=date(2020, 1, 2))
    early = 1.5e9
    wrong = [
        ("cohort", "schema", TEST),
        ("cohort", "ci_test", {**TEST, "method": "gcm"}),
        ("cohort", "ci_test", {**TEST, "method": "kendall", "neighbours": "add-remove"}),
        ("cohort", "ci_test", {**TEST, "method": "kendall", "epsilon": None}),
        ("cohort", "ci_test", {**TEST, "method": "kendall", "x": "nobody"}),
        ("cohort", "ci_test", {"method": "kendall", "epsilon": 1.0}),
        ("cohort", "ci_test", {**TEST, "method": "kendall", "ledger": "sqlite:///mine.db"}),
        ("cohort", "discover", {"epsilon": 0.1, "method": "kendall", "plan": "/etc/passwd"}),
        (
            "cohort",
            "effect",
            {"treatment": "Smoker", "outcome": "Cancer", "epsilon": 0.1, "graph": "/etc/passwd"},
        ),
        ("cohort", "ci_test", {**TEST, "method": "kendall", "given": "x" * 50_000}),
        ("cohort", "ci_test", []),
    ]
    for dataset, command, arguments in wrong:
        with pytest.raises(InputError):
            at(desk, early).ask(person("anna"), dataset, command, arguments, purpose="x")
    with pytest.raises(NotFound):
        ask(desk, "ben", method="kendall", now=early)
    with pytest.raises(NotAllowed):
        ask(desk, method="kendall", now=1.7e9)
    with pytest.raises(NotAllowed):
        ask(desk, "carol", method="kendall", now=early)
    with pytest.raises(InputError):
        at(desk, early).ask(person("anna"), "cohort", "ci_test", {**TEST, "method": "kendall"}, purpose=" ")
    assert ask(desk, method="kendall", now=early).state == states.QUEUED


def test_a_rehearsal_reads_no_row_and_charges_nothing(make_desk, tmp_path):
    desk = make_desk()
    (tmp_path / "patients.csv").unlink()
    _, cost = desk.rehearse(person("anna"), "cohort", "ci_test", TEST)
    assert (cost["epsilon"], cost["delta"]) == (0.3, 0.0)
    assert desk.ledger.show("cohort")[0].releases == 0


def test_an_error_of_a_job_says_nothing(make_desk, tmp_path):
    """Rows that can't be read: the analyst sees a failure, at a tick, and no word of why."""
    desk = make_desk()
    (tmp_path / "patients.csv").write_text("Smoker,Cancer\nsecret-value,yes\n")
    asked = ask(desk, now=1000.0)
    lines: list[str] = []
    work(desk, until_empty=True, log=lines.append)
    ended = desk.request(asked.id)
    assert ended.state == states.FAILED
    assert (ended.visible - 1000.0) % 60.0 == 0
    assert not any("secret" in str(value) for value in vars(ended).values())
    assert not any("secret" in line for line in lines)


def test_rows_of_another_number_than_declared_are_not_used(make_desk):
    desk = make_desk(rows=1999)
    asked = ask(desk)
    work(desk, until_empty=True)
    assert desk.request(asked.id).state == states.FAILED


def test_where_the_unit_is_a_person_each_counts_once(make_desk, tmp_path):
    import pandas as pd

    rows = pd.read_csv(settings(tmp_path).datasets["cohort"].source)
    visits = pd.concat([rows.assign(pid=rows.index), rows.assign(pid=[f"0{i}" for i in rows.index])])
    visits.to_csv(tmp_path / "patients.csv", index=False)
    desk = make_desk(unit="pid")
    asked = ask(desk)
    work(desk, until_empty=True)
    done = desk.request(asked.id)
    assert done.state == store.DONE
    statement = json.loads(at(desk, done.visible).files(done)["privacy.json"])
    assert statement["unit"].startswith("one person")


@pytest.mark.parametrize("then", [{"unit": "pid"}, {"rows": 1999}, {"schema": "other.toml"}])
def test_a_worker_answers_what_was_declared_when_it_was_charged(make_desk, tmp_path, then):
    """A server that still has other settings of the data set charges for another promise: no noise is drawn for it."""
    desk = make_desk()
    schema = (tmp_path / "schema.toml").read_text()
    (tmp_path / "other.toml").write_text(schema.replace('"low", "high"', '"low", "high", "huge"'))
    asked = ask(Desk.open(settings(tmp_path, **then), create=True))
    desk = Desk.open(settings(tmp_path))
    job = desk.claim()
    with pytest.raises(store.DeclaredOtherwise):
        run_job(desk, job)
    assert desk.request(asked.id).state == states.RUNNING  # nothing was drawn
    desk.finish(job.id, job.lease, None)
    work(desk, until_empty=True)
    assert desk.request(asked.id).state == states.FAILED


def test_a_restored_database_is_refused(make_desk, tmp_path):
    desk = make_desk()
    ask(desk, epsilon=0.1)
    copy = tmp_path / "copy.db"
    shutil.copy(tmp_path / "desk.db", copy)
    ask(desk, epsilon=0.1)
    shutil.copy(copy, tmp_path / "desk.db")
    with pytest.raises(LedgerError):
        Desk.open(settings(tmp_path))
    (tmp_path / "desk" / "head.json").write_text("{")
    with pytest.raises(LedgerError):
        Desk.open(settings(tmp_path))


def test_a_copy_restored_beneath_a_running_desk_charges_and_draws_nothing(make_desk, tmp_path):
    desk = make_desk()
    drawn = ask(desk, epsilon=0.1)
    job = desk.claim()
    copy = tmp_path / "copy.db"
    shutil.copy(tmp_path / "desk.db", copy)
    ask(desk, epsilon=0.2)
    shutil.copy(copy, tmp_path / "desk.db")
    with pytest.raises(LedgerError, match="restored"):
        ask(desk, epsilon=0.1)
    with pytest.raises(LedgerError, match="restored"):
        desk.begin_drawing(drawn.id, job.lease)
    assert desk.ledger.show("cohort")[0].releases == 1


def test_a_second_draw_after_a_restore_is_shown_to_nobody(make_desk, tmp_path):
    """A copy of after the charge and before the draw has the same chain: the job is drawn again, and kept back."""
    desk = make_desk()
    asked = ask(desk)
    copy = tmp_path / "copy.db"
    shutil.copy(tmp_path / "desk.db", copy)
    work(desk, until_empty=True)
    ended = desk.request(asked.id)
    first = at(desk, ended.visible).files(ended)
    assert at(desk, ended.visible).files(ended) == first  # as often as one likes
    shutil.copy(copy, tmp_path / "desk.db")
    again = Desk.open(settings(tmp_path))
    work(again, until_empty=True)
    ended = again.request(asked.id)
    assert ended.state == "done"
    with pytest.raises(LedgerError, match="the one that was shown before stands"):
        at(again, ended.visible).files(ended)


def test_an_approval_is_in_the_head_that_was_seen(make_desk, tmp_path):
    """What it charged does not come back with a copy of before."""
    desk = make_desk(approvals=1)
    asked = ask(desk)
    copy = tmp_path / "copy.db"
    shutil.copy(tmp_path / "desk.db", copy)
    desk.decide(person("carol"), asked.id, "approve", "fits")
    shutil.copy(copy, tmp_path / "desk.db")
    with pytest.raises(LedgerError):
        Desk.open(settings(tmp_path, approvals=1))


def test_another_ledger_in_its_place_is_refused(make_desk, tmp_path):
    desk = make_desk()
    ask(desk, epsilon=0.1)
    (tmp_path / "desk.db").unlink()
    with pytest.raises(LedgerError):
        Desk.open(settings(tmp_path), create=True)


def test_after_its_last_day_a_data_set_is_not_asked_and_nothing_is_charged(make_desk):
    """An approval of what was asked before comes too late, too."""
    desk, day = make_desk(approvals=1, until=date(2030, 5, 31)), 86400.0
    last = datetime(2030, 5, 31, 23, tzinfo=UTC).timestamp()
    first, second = ask(desk, now=last), ask(desk, now=last)
    assert at(desk, last).decide(person("carol"), first.id, "approve", "fits").charged == last
    with pytest.raises(NotAllowed, match="last day is past"):
        at(desk, last + day).decide(person("carol"), second.id, "approve", "late")
    with pytest.raises(NotAllowed, match="last day is past"):
        ask(desk, now=last + day)
    assert desk.ledger.show("cohort")[0].releases == 1
    assert at(desk, last + day).decide(person("carol"), second.id, "refuse", "late").state == "refused"


def test_totals_do_not_change(make_desk, tmp_path):
    make_desk()
    for more in ({"epsilon": 2.0}, {"delta": 1e-4}, {"neighbours": "add-remove"}, {"cap_epsilon": 0.1}):
        with pytest.raises(InputError):
            Desk.open(settings(tmp_path, **more), create=True)


def test_tokens_are_kept_as_hashes_and_links_work_once(make_desk, tmp_path):
    desk = make_desk()
    token, link = desk.issue("anna", "token"), desk.issue("anna", "link")
    assert desk.who(token).name == "anna"
    assert desk.who(link) is None  # a link is no token, and a token no link
    assert desk.use_link(token) is None
    assert token.encode() not in (tmp_path / "desk.db").read_bytes()
    assert desk.use_link(link).name == "anna"
    assert desk.use_link(link) is None
    assert desk.who(link) is None
    lost, sent, newer = desk.issue("anna", "link"), desk.issue("anna", "link"), desk.issue("anna", "token")
    assert desk.use_link(lost) is None
    assert desk.use_link(sent).name == "anna"
    assert desk.who(token) is None
    session = at(desk, 0.0).issue("anna", "session")
    assert at(desk, 1.0).who(session, "session") is not None
    assert at(desk, 1e6).who(session, "session") is None
    desk.remove_person("anna")
    assert desk.who(newer) is None
    assert desk.person("anna") is None


def test_who_was_sent_away_stays_away(make_desk):
    """Settings that still name a person do not let that person in again when the desk starts anew."""
    make_desk().remove_person("anna")
    assert make_desk().person("anna") is None


def test_shown_state_of_ends_without_a_charge(make_desk):
    desk = make_desk(approvals=1)
    asked = ask(desk)
    assert replace(asked, state=states.REFUSED).shown_state(0.0) == states.REFUSED


def test_only_released_values_depend_on_rows(make_desk, tmp_path):
    """On unrelated rows of the same number, all but the noisy answer is the same: state, cost, files, statement."""
    import pandas as pd

    def told(turn: int):
        desk = make_desk(f"sqlite:///{turn}.db", folder=f"seen-{turn}")
        if turn:
            rows = pd.read_csv(tmp_path / "patients.csv")
            rows.iloc[:, :] = rows.iloc[0].tolist()  # everybody alike
            rows.to_csv(tmp_path / "patients.csv", index=False)
        for command, arguments in (
            ("ci_test", TEST),
            ("effect", {"treatment": "Smoker", "outcome": "Cancer", "epsilon": 0.3, "anyway": True}),
            ("discover", {"epsilon": 0.3, "method": "priv-pc", "anyway": True}),
        ):
            at(desk, 1000.0).ask(person("anna"), "cohort", command, arguments, purpose="p")
        work(desk, until_empty=True)
        facts = []
        for one in desk.requests_for(person("anna")).rows:
            files = at(desk, one.visible).files(one)
            statement = json.loads(files["privacy.json"])
            statement["ledger"] = {**statement["ledger"], "release": "", "hash": ""}
            facts.append(
                (one.command, one.state, one.epsilon, one.forecast, sorted(files), statement["ledger"])
            )
        return sorted(facts, key=lambda fact: fact[0])

    assert told(0) == told(1)


def test_after_a_lost_disk_the_missing_charges_count_as_spent(make_desk, tmp_path):
    """The message says how many entries are missing; the guide's way on leaves no budget that was spent."""
    desk = make_desk()
    ask(desk, epsilon=0.1)
    shutil.copy(tmp_path / "desk.db", tmp_path / "copy.db")
    old = desk.ledger.verify().head
    ask(desk, epsilon=0.2)
    ask(desk, epsilon=0.3)
    seen = desk.ledger.verify().head
    spent = desk.left("anna", "cohort")
    shutil.copy(tmp_path / "copy.db", tmp_path / "desk.db")
    with pytest.raises(LedgerError) as refused:
        Desk.open(settings(tmp_path))
    assert f"4 entries with head {seen} then, 2 with head {old} now (2 missing)" in str(refused.value)
    assert "After a lost disk" in str(refused.value)
    ledger = dc.Ledger.open(f"sqlite:///{tmp_path / 'desk.db'}")
    for number, epsilon in enumerate((0.2, 0.3)):
        ledger.charge("cohort", f"lost-{number}", epsilon, person="anna", purpose="lost with the disk")
    with pytest.raises(LedgerError):
        Desk.open(settings(tmp_path))
    (tmp_path / "desk" / "head.json").rename(tmp_path / "desk" / "head.lost.json")
    restored = Desk.open(settings(tmp_path), create=True)
    assert restored.left("anna", "cohort") == spent
    assert restored.ledger.verify().ok


def test_a_cost_beyond_the_cap_is_refused_before_the_forecast(make_desk, monkeypatch):
    desk, made = make_desk(cap_epsilon=0.2), []
    monkeypatch.setattr(store, "forecast_words", lambda *given: made.append(given) or "")
    with pytest.raises(BudgetError, match=r"epsilon 0\.2 at most"):
        ask(desk, epsilon=0.3)
    assert made == []
    ask(desk, epsilon=0.1)
    assert len(made) == 1


def test_an_analyst_of_a_data_set_whom_nobody_knows_is_refused(make_desk):
    with pytest.raises(InputError, match=r"knows no 'ana' .*anna"):
        make_desk(analysts=["ana"])
    desk = make_desk()
    desk.add_person("zoe", "analyst")
    assert make_desk(analysts=["anna", "zoe"]).config.datasets["cohort"].open_to("zoe")


def test_a_schema_that_can_not_be_used_leaves_no_database(make_desk, tmp_path):
    settings(tmp_path)
    (tmp_path / "schema.toml").write_text("draft = true\n" + (tmp_path / "schema.toml").read_text())
    with pytest.raises(InputError, match="draft"):
        make_desk()
    assert not (tmp_path / "desk.db").exists()
