"""Person, purpose and project of an entry, the cap of one release, and a ledger that is mandatory."""

import json
import sqlite3
from dataclasses import replace

import pytest

import dpcausal as dc
from dpcausal.core.errors import BudgetError, InputError
from dpcausal.privacy.ledger import Asker, Ledger, asked_by
from dpcausal.privacy.ledger.required import SETTINGS, VARIABLE, refuse_missing_ledger, requirements


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    ledger.create("cohort", 1.0, 1e-5)
    return ledger


def rows():
    return dc.networks.load("cancer").sample(2000, seed=1)


def test_who_asks_is_in_the_entry_and_its_hash(ledger):
    entry = ledger.charge("cohort", "one", 0.1, person="anna", purpose="lungs?", project="smoke")
    assert (entry.person, entry.purpose, entry.project) == ("anna", "lungs?", "smoke")
    assert entry.intact()
    other = json.dumps({**json.loads(entry.note), "person": "ben"}, sort_keys=True, separators=(",", ":"))
    with sqlite3.connect(ledger.name) as forged:
        forged.execute("DROP TRIGGER dpcausal_entries_update")
        forged.execute("UPDATE dpcausal_entries SET note = ? WHERE seq = 2", (other,))
    assert not ledger.verify().ok


def test_a_release_records_who_asks(ledger):
    view = ledger.asked_by("anna", "does it?")
    dc.ci_test(rows(), "Smoker", "Cancer", epsilon=0.2, ledger=view, dataset="cohort", anyway=True)
    with asked_by(Asker("ben", project="p")):
        dc.ci_test(rows(), "Smoker", "Xray", epsilon=0.2, ledger=ledger, dataset="cohort", anyway=True)
    first, second = ledger.log("cohort")[1:]
    assert first.asker == Asker("anna", "does it?")
    assert second.asker == Asker("ben", None, "p")


def test_entries_without_an_asker_still_verify(ledger):
    """A chain from before persons were known has the same bytes as one written now without any."""
    entry = ledger.charge("cohort", "old", 0.1)
    assert json.loads(entry.note) == {"neighbours": "replace-one"}
    assert entry.asker == Asker()
    assert ledger.verify().ok


@pytest.mark.parametrize("wrong", ["", "  ", "two\nlines", "x" * 2000, 5])
def test_a_person_or_purpose_is_one_line(ledger, wrong):
    for name in ("person", "purpose", "project"):
        with pytest.raises(InputError, match=name):
            ledger.charge("cohort", "one", 0.1, **{name: wrong})
    assert ledger.show("cohort")[0].releases == 0


def test_the_cap_of_one_release(tmp_path):
    ledger = Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    ledger.create("cohort", 1.0, 1e-5, cap_epsilon=0.2, cap_delta=1e-6)
    ledger.charge("cohort", "a", 0.2, 1e-6)
    for amounts in ((0.21, 0.0), (0.1, 2e-6)):
        with pytest.raises(BudgetError):
            ledger.charge("cohort", "b", *amounts)
        with pytest.raises(BudgetError):
            ledger.require("cohort", *amounts)
    account = ledger.show("cohort")[0]
    assert (account.releases, account.cap_epsilon, account.cap_delta) == (1, 0.2, 1e-6)
    assert ledger.verify().ok


def test_a_charge_past_the_cap_is_a_fault_of_the_chain(tmp_path, monkeypatch):
    ledger = Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    ledger.create("cohort", 1.0, cap_epsilon=0.2)
    monkeypatch.setattr("dpcausal.privacy.ledger.store.refuse_overdraft", lambda *_: None)
    ledger.charge("cohort", "a", 0.3)
    assert not ledger.verify().ok


def calls(data, **more):
    """Every kind of release, private and not."""
    yield lambda: dc.ci_test(data, "Smoker", "Cancer", epsilon=0.2, anyway=True, **more)
    yield lambda: dc.discover(data, epsilon=0.2, anyway=True, method="priv-pc", **more)
    yield lambda: dc.effect(data, "Smoker", "Cancer", epsilon=0.2, anyway=True, **more)
    if not more:
        yield lambda: dc.ci_test(data, "Smoker", "Cancer", epsilon=None)
        yield lambda: dc.discover(data, epsilon=None, method="pc")
        yield lambda: dc.effect(data, "Smoker", "Cancer", epsilon=None)


def test_a_ledger_required_by_the_environment(ledger, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    for call in calls(rows()):
        with pytest.raises(InputError, match=VARIABLE):
            call()
    for call in calls(rows(), ledger=ledger, dataset="cohort"):
        call()
    monkeypatch.setenv(VARIABLE, "0")
    dc.ci_test(rows(), "Smoker", "Cancer", epsilon=0.2, anyway=True)


def test_a_ledger_required_beside_the_file(ledger, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    sample = rows()
    import pandas as pd

    frame = {
        name: [column.levels[code] for code in sample.codes[name]] for name, column in sample.schema.items()
    }
    pd.DataFrame(frame).to_csv(folder / "patients.csv", index=False)
    (folder / SETTINGS).write_text(
        '[ledger]\nrequired = true\nurl = "sqlite:///../budget.db"\ndataset = "cohort"\n'
    )
    sources = [
        dc.read(folder / "patients.csv", sample.schema),
        dc.connect(str(folder / "patients.csv"), sample.schema),
    ]
    for data in sources:
        for call in calls(data):
            with pytest.raises(InputError, match=SETTINGS):
                call()
    other = Ledger.open(f"sqlite:///{tmp_path}/other.db", create=True)
    other.create("cohort", 1.0, similar_name=True)
    ledger.create("another", 1.0)
    for wrong in ({"ledger": other, "dataset": "cohort"}, {"ledger": ledger, "dataset": "another"}):
        with pytest.raises(InputError, match=SETTINGS):
            dc.ci_test(sources[0], "Smoker", "Cancer", epsilon=0.2, anyway=True, **wrong)
    for call in calls(sources[0], ledger=f"sqlite:///{tmp_path}/budget.db", dataset="cohort"):
        call()


@pytest.mark.parametrize("text", ["[ledger", 'ledger = "yes"', "[ledger]\nurl = 3", "\xff"])
def test_settings_that_cannot_be_read_refuse(tmp_path, text):
    (tmp_path / SETTINGS).write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        refuse_missing_ledger(tmp_path / "patients.csv", None, None)


def test_neither_a_pattern_nor_a_link_leads_past_the_settings(tmp_path):
    """A pattern in the name of a folder has no settings beside it; those of the files that it finds count."""
    for name, text in (("a1", "[ledger]\nrequired = true\n"), ("a2", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p.csv").write_text("x,y\nno,yes\nyes,no\n")
        (tmp_path / name / SETTINGS).write_text(text)
    (tmp_path / "link.csv").symlink_to(tmp_path / "a1" / "p.csv")
    column = dc.Categorical(["no", "yes"])
    for source, refused in (
        ("a[1]/p.csv", True), ("a?/p.csv", True), ("**/p.csv", True), ("a1/p*.csv", True), ("link.csv", True),
        ("a[2]/p.csv", False), ("a2/p.csv", False),
    ):  # fmt: skip
        data = dc.connect(f"{tmp_path}/{source}", dc.Schema(x=column, y=column))
        if not refused:
            refuse_missing_ledger(data.file, None, None)
            continue
        with pytest.raises(InputError, match=SETTINGS):
            dc.ci_test(data, "x", "y", method="measured", epsilon=1.0, anyway=True)


def test_a_follow_up_does_not_lead_past_the_settings(tmp_path):
    """Its states are made of two columns, and counts of them are of the same file."""
    import duckdb

    (tmp_path / "p.csv").write_text("x,t,s\nno,1,no\nyes,2,yes\n")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        database.execute("CREATE TABLE p AS FROM (VALUES ('no', 1, 'no'), ('yes', 2, 'yes')) v(x, t, s)")
    (tmp_path / SETTINGS).write_text("[ledger]\nrequired = true\n")
    column = dc.Categorical(["no", "yes"])
    schema = dc.Schema(x=column, t=dc.Numeric(0, 10), s=column)
    asked = dc.Survival("t", "s", 5.0)
    for data in (
        dc.read(tmp_path / "p.csv", schema),
        dc.connect(tmp_path / "p.csv", schema),
        dc.connect(tmp_path / "clinic.duckdb", schema),
    ):
        for epsilon in (1.0, None):
            with pytest.raises(InputError, match=SETTINGS):
                dc.effect(data, "x", asked, adjust=[], epsilon=epsilon, anyway=True)


def test_another_working_directory_does_not_lead_past_the_settings(tmp_path, monkeypatch):
    """A file that was named from one place is the same file at another."""
    import duckdb

    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    with open("p.csv", "w") as file:
        file.write("x,y\nno,yes\nyes,no\n")
    with duckdb.connect("clinic.duckdb") as database:
        database.execute("CREATE TABLE p AS FROM (VALUES ('no', 'yes'), ('yes', 'no')) v(x, y)")
    with open(SETTINGS, "w") as file:
        file.write("[ledger]\nrequired = true\n")
    column = dc.Categorical(["no", "yes"])
    schema = dc.Schema(x=column, y=column)
    sources = [dc.read("p.csv", schema), dc.connect("p.csv", schema), dc.connect("clinic.duckdb", schema)]
    monkeypatch.chdir(tmp_path)
    for data in sources:
        with pytest.raises(InputError, match=SETTINGS):
            dc.ci_test(data, "x", "y", method="measured", epsilon=1.0, anyway=True)


def test_codes_of_a_database_have_its_file(tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        database.execute("CREATE TABLE records AS SELECT 'p' || i AS pid, 'I10' AS icd FROM range(4) r(i)")
    (tmp_path / SETTINGS).write_text("[ledger]\nrequired = true\n")
    data = dc.connect_codes(
        tmp_path / "clinic.duckdb", ["I10", "E11"], unit="pid", code="icd", people=4, table="records"
    )
    with pytest.raises(InputError, match=SETTINGS):
        refuse_missing_ledger(data.file, None, None)


@pytest.mark.parametrize("where", ["records", "people"])
def test_neither_records_nor_people_lead_past_the_settings(tmp_path, where):
    """A table of persons holds rows, too: settings beside it count as those beside the records do."""
    import duckdb

    records = {"pid": [1, 1, 2, 3], "icd": ["I10", "E11", "I10", "E11"]}
    people, sources, tables = {"pid": [1, 2, 3, 4], "age": [30, 40, 50, 60]}, [], {}
    for name, table in (("records", records), ("people", people)):
        (tmp_path / name).mkdir()
        lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
        (tmp_path / name / "t.csv").write_text("\n".join(lines) + "\n")
        with duckdb.connect(str(tmp_path / name / "t.duckdb")) as database:
            database.execute(f"CREATE TABLE t AS FROM '{tmp_path / name / 't.csv'}'")
        tables[name] = table
    (tmp_path / where / SETTINGS).write_text("[ledger]\nrequired = true\n")
    asked = {"unit": "pid", "code": "icd", "schema": dc.Schema(age=dc.Numeric(0, 100))}
    file = {name: tmp_path / name / "t.csv" for name in tables}
    held = {name: tmp_path / name / "t.duckdb" for name in tables}
    sources.append(dc.read_codes(file["records"], ["I10", "E11"], people=file["people"], **asked))
    one = {**tables, where: file[where]}
    sources.append(dc.read_codes(one["records"], ["I10", "E11"], people=one["people"], **asked))
    sources += [
        dc.connect_codes(held["records"], ["I10", "E11"], people=persons, **asked)
        for persons in (held["people"], file["people"])
    ]
    for data in sources:
        for call in (
            lambda data=data: dc.discover(data, epsilon=1.0, delta=1e-6, anyway=True),
            lambda data=data: dc.ci_test(data, "I10", "age", method="measured", epsilon=1.0, anyway=True),
            lambda data=data: dc.ci_test(data, "I10", "E11", epsilon=None),
            lambda data=data: dc.effect(
                data, "I10", "age", adjust=[], event=">= 45", epsilon=1.0, anyway=True
            ),
        ):
            with pytest.raises(InputError, match=SETTINGS):
                call()


def test_a_study_is_charged_as_the_settings_beside_it_say(tmp_path):
    (tmp_path / SETTINGS).write_text("[ledger]\nrequired = true\n")
    counts = dc.gwas.Simulation(people=40, snps=3).counts()
    with pytest.raises(InputError, match=SETTINGS):
        dc.gwas.screen(replace(counts, file=tmp_path / "study"), 1.0)


def test_settings_that_ask_for_nothing(tmp_path):
    (tmp_path / SETTINGS).write_text("[ledger]\nrequired = false\n")
    assert requirements(tmp_path / "patients.csv") == []


def test_commands_record_who_asks(tmp_path, capsys):
    from dpcausal.cli.app import run

    schema = dc.Schema(a=dc.Categorical(["no", "yes"]), b=dc.Categorical(["no", "yes"]))
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    (tmp_path / "rows.csv").write_text("a,b\n" + "no,no\nyes,yes\nno,yes\nyes,no\n" * 200)
    url = f"sqlite:///{tmp_path}/budget.db"
    where = ["--ledger", url, "--dataset", "cohort"]
    assert run(["ledger", "create", *where, "--epsilon", "1", "--cap-epsilon", "0.5"]) == 0
    asked = ["test", f"{tmp_path}/rows.csv", "--schema", f"{tmp_path}/schema.toml", "--x", "a", "--y", "b"]
    who = ["--person", "anna", "--purpose", "does it?"]
    assert run([*asked, "--epsilon", "0.4", *where, *who]) == 0
    assert run([*asked, "--epsilon", "0.6", *where, *who]) == 3  # above the cap
    assert run([*asked, "--epsilon", "0.1", *who]) == 2  # no ledger to record it in
    capsys.readouterr()
    assert run(["ledger", "log", "--ledger", url, "--json"]) == 0
    last = json.loads(capsys.readouterr().out)["entries"][-1]
    assert (last["person"], last["purpose"], last["project"]) == ("anna", "does it?", None)
    assert run(["ledger", "log", "--ledger", url]) == 0
    assert "anna" in capsys.readouterr().out
