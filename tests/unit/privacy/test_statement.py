"""The privacy statement: what it must say, and that it can be written and read back."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from dpcausal._version import __version__
from dpcausal.core.errors import InputError
from dpcausal.core.statement import KNOWN_LIMITS, WEAK, PrivacyStatement, weak_promise
from dpcausal.data.read import DRAFT_LIMIT
from dpcausal.privacy.budget import SEEDED, Budget
from dpcausal.privacy.events import ApproximateEvent, GaussianEvent, LaplaceEvent
from dpcausal.privacy.ledger import Ledger
from dpcausal.testing import seeded

LAPLACE = LaplaceEvent(label="count <b>", neighbours="replace-one", sensitivity=1, scale=10)


def made(**changes: object) -> PrivacyStatement:
    budget = Budget(1.0)
    budget.charge(LAPLACE)
    arguments = {"released": ["a count"], "public": ["n", "domains"], "adaptive": False}
    return budget.statement(**(arguments | changes))  # type: ignore[arg-type]


def test_says_what_a_reader_must_be_told() -> None:
    data = json.loads(made().to_json())
    assert next(iter(data)) == "private"
    assert data["private"] is True
    assert "why_not_private" not in data
    assert (data["definition"], data["parameters"]) == ("pure", {"epsilon": 0.1})
    assert (data["epsilon"], data["delta"], data["neighbours"], data["unit"]) == (
        0.1,
        0.0,
        "replace-one",
        "one row",
    )
    assert (data["public"], data["released"]) == (["n", "domains"], ["a count"])
    assert data["events"] == [LAPLACE.to_dict()]
    assert "sum" in data["composition"]
    assert data["asked"] == {"epsilon": 1.0, "delta": 0.0}
    assert "operating system" in data["noise"]
    assert data["limits"] == list(KNOWN_LIMITS)
    other = Budget(1.0).statement(released=["x"], public=[], adaptive=False, unit="one person's genotypes")
    assert "as named here (one person's genotypes)" in other.limits[len(KNOWN_LIMITS) - 1]
    assert not any("one row" in line for line in other.limits)
    assert any("Timing" in limit for limit in data["limits"])
    assert any("precision" in limit for limit in data["limits"])
    assert data["software"]["dpcausal"] == __version__


def test_round_trip() -> None:
    statement = made(limits=["one more"])
    assert PrivacyStatement.from_json(statement.to_json()) == statement
    assert statement.limits[-1] == "one more"


def test_adaptive_statement_gives_the_total_not_the_reading() -> None:
    statement = made(adaptive=True)
    assert (statement.epsilon, statement.reading["epsilon"]) == (1.0, 0.1)
    assert "adaptive" in statement.composition


def test_nothing_charged_costs_nothing() -> None:
    statement = Budget(1.0, 1e-6).statement(released=[])
    assert (statement.epsilon, statement.delta, statement.events) == (0.0, 0.0, ())


def test_zcdp_statement_names_its_rho() -> None:
    budget = Budget(1.0, 1e-6)
    budget.charge(GaussianEvent(label="t", neighbours="replace-one", sensitivity=1, sigma=10))
    statement = budget.statement(released=["a table"], adaptive=False)
    assert statement.definition == "zCDP"
    assert statement.parameters == {"rho": budget.events[0].rho}
    assert statement.epsilon is not None
    assert 0 < statement.epsilon < 1
    assert statement.delta == 1e-6
    adaptive = budget.statement(released=["a table"])
    assert (adaptive.definition, adaptive.epsilon, adaptive.delta) == ("approximate", 1.0, 1e-6)


def test_approximate_statement() -> None:
    budget = Budget(1.0, 1e-6, reserve=1e-6)
    budget.charge(ApproximateEvent(label="t", neighbours="replace-one", mechanism="m", cost=0.5, slack=1e-7))
    statement = budget.statement(released=["x"], adaptive=False)
    assert (statement.definition, statement.epsilon, statement.delta) == ("approximate", 0.5, 1e-7)


def test_no_privacy_in_words() -> None:
    statement = Budget.none().statement(released=["a graph"])
    assert (statement.private, statement.epsilon, statement.delta) == (False, None, None)
    data = json.loads(statement.to_json())
    assert list(data)[:2] == ["private", "why_not_private"]
    assert "no privacy" in data["why_not_private"]
    assert statement.summary().startswith("NOT PRIVATE: no privacy was asked for")
    assert PrivacyStatement.from_json(statement.to_json()) == statement


def test_seeded_runs_are_stamped_wherever_the_block_lies() -> None:
    with seeded(7):
        inside = Budget(1.0)
        during = inside.statement(released=[])
    after = inside.statement(released=[])
    around = Budget(1.0)
    with seeded(7):
        pass
    across = around.statement(released=[])
    for statement in (during, after, across):
        assert statement.private is False
        assert statement.why_not_private == SEEDED
        assert "seeded" in statement.noise
    assert Budget(1.0).statement(released=[]).private is True


def test_a_caller_can_say_why_not() -> None:
    statement = made(not_private="levels were read from the data")
    assert (statement.private, statement.why_not_private) == (False, "levels were read from the data")


def test_summary_and_html() -> None:
    statement = made(released=["<script>"])
    assert "epsilon 0.1" in statement.summary()
    assert "(pure: the promise holds without exception)" in statement.summary()
    assert "no result is more than 1.11 times as likely" in statement.summary()
    assert (
        "Cost: one noisy step, not more than this epsilon. What to ask was fixed before this call saw any answer."
        in statement.summary()
    )
    assert "(fixed in advance; sums of epsilon and of delta)" in statement.composition
    assert "fixed in advance" not in statement.summary()  # the field's own words stay in the statement
    assert "&lt;script&gt;" in statement._repr_html_()
    assert "<script>" not in statement._repr_html_()


def test_print_gives_the_words_and_repr_stays() -> None:
    statement = made()
    assert str(statement) == statement.summary()
    assert repr(statement).startswith("PrivacyStatement(private=True")


def test_weak_promises_are_named() -> None:
    """Above epsilon 10, and from delta 1/n on where n is public: in the limits, and not called hard to tell apart."""
    assert weak_promise(10.0, 1e-4, 8000) == ()
    assert weak_promise(None, None, 8000) == ()
    assert [line.split(":")[1].split()[0] for line in weak_promise(10.1, 1 / 8000, 8000)] == [
        "epsilon",
        "delta",
    ]
    assert weak_promise(1.0, 0.1) == ()  # the number of rows is protected
    large = Budget(100.0).statement(released=[])
    assert not [line for line in large.limits if line.startswith(WEAK)]  # nothing was charged
    budget = Budget(100.0, 0.1)
    budget.charge(LAPLACE)
    for rows, lines in ((None, 1), (8000, 2)):
        found = budget.statement(released=["a count"], rows=rows)
        assert len([line for line in found.limits if line.startswith(WEAK)]) == lines
        assert "hard to tell apart" not in found.summary()
        for told in (
            found.summary(),
            unescape(found._repr_html_()),
        ):  # Python callers see no warning of the command
            assert told.count(WEAK) == lines
    assert "hard to tell apart" in made(rows=8000).summary()


@pytest.mark.parametrize(("epsilon", "hard"), [(0.5, True), (3.0, True), (3.1, False), (1000.0, False)])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_sentence_on_telling_apart(epsilon: float, hard: bool, delta: float) -> None:
    budget = Budget(epsilon, delta)
    budget.charge(LAPLACE)
    (line,) = [text for text in budget.statement(released=["x"]).summary().splitlines() if "Protects" in text]
    assert ("are hard to tell apart" in line) == hard
    assert ("can be told apart with odds up to" in line) != hard
    assert line.endswith("apart from a probability of at most 1e-06." if delta else "from the other.")


def test_a_person_with_several_rows_is_in_the_limits() -> None:
    assert any("k times less" in line for line in made().limits)


def test_the_words_for_a_search_say_what_the_filter_means() -> None:
    statement = made(adaptive=True)
    words = statement.summary()
    assert (
        "Later questions could depend on earlier noisy answers; spending stops before the total is passed"
        in words
    )
    assert (
        "a filter, which refuses what would pass the total, kept the sum of epsilon within it"
        in statement.composition
    )
    assert "filter" not in words
    budget = Budget(1.0, 1e-6)
    budget.charge(GaussianEvent(label="t", neighbours="replace-one", sensitivity=1, sigma=10))
    assert "may fail with a probability of at most delta)" in budget.statement(released=["x"]).summary()
    assert (
        "costs were added up in another unit, rho (zCDP)"
        in budget.statement(released=["x"], adaptive=False).summary()
    )


def test_the_summary_says_whether_a_ledger_keeps_count(tmp_path: Path) -> None:
    assert "No ledger: nobody adds this up" in made().summary()
    assert "--ledger URL --dataset NAME" in made().summary()
    assert "edger" not in PrivacyStatement.none(released=["a graph"]).summary()
    url = f"sqlite:///{tmp_path}/budget.db"
    Ledger.open(url, create=True).create("cohort", 1.0, 0.0)
    budget = Budget(0.5, ledger=url, dataset="cohort")
    budget.charge(LAPLACE)
    told = budget.statement(released=["x"], adaptive=False)
    assert told.epsilon == 0.1  # less than was asked for, and the ledger keeps what was asked for
    line = "Ledger: data set 'cohort', entry 2, charged all that was asked for (epsilon 0.5, delta 0)"
    assert f"{line}; left in the ledger: epsilon 0.5, delta 0." in told.summary().splitlines()
    assert told.to_dict()["ledger"]["left"] == {"epsilon": 0.5, "delta": 0.0}


def test_charges_are_counted_alike_everywhere() -> None:
    """The number in the summary is that of the events in the statement."""
    budget = Budget(1.0)
    for _ in range(4):
        budget.charge(LAPLACE)
    statement = budget.statement(released=["x"])
    assert "\nCost: 4 noisy steps, together not more than this epsilon. " in statement.summary()
    assert len(statement.to_dict()["events"]) == 4


def test_a_draft_is_told_in_the_summary() -> None:
    assert DRAFT_LIMIT in made(limits=[DRAFT_LIMIT]).summary()
    assert "draft" not in made().summary()


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[1]",
        "{}",
        '{"private": true, "colour": 1}',
        json.dumps(json.loads(made().to_json()) | {"private": False}),
        json.dumps(json.loads(made().to_json()) | {"epsilon": None}),
        json.dumps(json.loads(made().to_json()) | {"format": 2}),
        json.dumps(json.loads(made().to_json()) | {"neighbours": "cousins"}),
    ],
)
def test_unreadable_statements(text: str) -> None:
    with pytest.raises(InputError):
        PrivacyStatement.from_json(text)
