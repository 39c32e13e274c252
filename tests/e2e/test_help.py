"""Help that teaches by example: every command has examples, and every example runs as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import typer

import dpcausal as dc
from dpcausal.citests.registry import TESTS, described_tests
from dpcausal.cli import ci_test, discover
from dpcausal.cli.app import app, run
from dpcausal.data.schema import Schema
from dpcausal.discovery.discover import METHODS

pytestmark = [pytest.mark.long_file, pytest.mark.usefixtures("few_repeats")]

SCHEMA = (
    "".join(
        f'[columns.{name}]\ntype = "categorical"\nlevels = {levels}\n'
        for name, levels in (("smoke", ["no", "yes"]), ("bronc", ["no", "yes"]), ("sex", ["female", "male"]))
    )
    + '[columns.age]\ntype = "numeric"\nlower = 0\nupper = 110\nbins = [40, 65]\n'
    + '[columns.fev]\ntype = "numeric"\nlower = 20\nupper = 140\n'
)
COMMANDS = [
    "schema",
    "plan",
    "discover",
    "again",
    "test",
    "effect",
    "gwas-simulate",
    "gwas",
    "protocol",
    "contribute",
    "pool",
    "ledger",
    "ledger create",
    "ledger show",
    "ledger log",
    "ledger verify",
    "audit",
    "reproduce",
]
SERVERS = ["serve", "work"]  # they do not return: test_desk.py starts them


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """patients.csv, patients.parquet, schema.toml, a study and a ledger with a data set called cohort."""
    folder = tmp_path_factory.mktemp("help")
    rng = np.random.default_rng(1)
    smoke = rng.integers(0, 2, 2000)
    words = np.array(["no", "yes"])
    table = pa.table(
        {
            "smoke": words[smoke],
            "bronc": words[(rng.random(2000) < 0.3 + 0.3 * smoke).astype(int)],
            "sex": np.array(["female", "male"])[rng.integers(0, 2, 2000)],
            "age": rng.normal(55, 20, 2000).round(),
            "fev": rng.normal(90 - 10 * smoke, 15, 2000).round(),
        }
    )
    pa.csv.write_csv(table, folder / "patients.csv")
    pa.parquet.write_table(table, folder / "patients.parquet")
    (folder / "schema.toml").write_text(SCHEMA.replace("'", '"'))
    (folder / "own.toml").write_text(SCHEMA.replace("'", '"').replace("[40, 65]", "[65]"))  # of a site
    graph = dc.Graph(
        ["age", "smoke", "bronc"], directed=[("age", "smoke"), ("age", "bronc"), ("smoke", "bronc")]
    )
    (folder / "graph.json").write_text(graph.to_json())  # for the examples of effect
    (folder / "law.toml").write_text("sd = 15.0\nintercept = 85.0\nslopes = { age = 0.0 }\n")  # and of test
    (folder / "first").mkdir()  # for those of again
    found = dc.discover(
        dc.read(table, dc.Schema.from_toml(folder / "schema.toml")), epsilon=2.0, confidence=0
    )
    assert found.release is not None
    found.release.save(folder / "first" / "release.json")
    rows = dc.read(table, dc.Schema.from_toml(folder / "schema.toml"))
    protocol = dc.protocol(rows.schema, [2000] * 3, 2.0, 1e-6, rounds=2)
    protocol.save(folder / "protocol.json")  # for contribute and pool
    second = protocol.for_promising([("smoke", "bronc")], ["east", "north", "site_a", "south"])
    second.save(folder / "protocol-2.json")
    for site in ("north", "south", "east"):
        first = dc.contribute(rows, protocol, site)
        first.save(folder / site)
        dc.contribute(rows, second, site, rest_of=first).save(folder / f"{site}-2")
    schema = str(folder / "schema.toml")
    planned = ["plan", "--schema", schema, "--rows", "2000", "--epsilon", "1", "--out", str(folder / "plans")]
    assert run(planned) == 0  # for discover --plan
    assert run(["gwas-simulate", str(folder / "study"), "--people", "200", "--snps", "300"]) == 0
    ledger = f"sqlite:///{folder}/budget.db"
    assert (
        run(
            [
                "ledger",
                "create",
                "--ledger",
                ledger,
                "--dataset",
                "cohort",
                "--epsilon",
                "10",
                "--delta",
                "1e-5",
            ]
        )
        == 0
    )
    records = [
        f"{i},{code}" for i in range(3_000) for j, code in enumerate(("I10", "E11.9")) if i % (5 + j) == 0
    ]
    (folder / "codes.csv").write_text("\n".join(["pid,icd10", *records]))
    (folder / "codes.txt").write_text("I10\nE11*\n")
    (folder / "persons.csv").write_text("\n".join(["pid", *map(str, range(3_000))]))
    (folder / "dictionary.csv").write_text(
        'Variable / Field Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels"\n'
        'smoke,radio,Smokes,"0, no | 1, yes"\nsex,radio,Sex,"1, female | 2, male"\n'
    )
    lines = [
        f"{'ab'[i % 2]},{rng.uniform(0, 8):.2f},{'01'[int(rng.random() < 0.5)]},{30 + i % 50},{'fm'[i % 3 % 2]}"
        for i in range(2_000)
    ]
    (folder / "trial.csv").write_text("\n".join(["drug,futime,status,age,sex", *lines]))
    columns = {"drug": ["a", "b"], "status": ["0", "1"], "sex": ["f", "m"]}
    declared = {name: dc.Categorical(levels) for name, levels in columns.items()}
    dc.Schema({**declared, "futime": dc.Numeric(0, 10), "age": dc.Numeric(20, 90, bins=[50])}).write(
        folder / "trial.toml"
    )
    return folder


def shown(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run([*command.split(), "--help"]) == 0
    return capsys.readouterr().out


def examples(text: str) -> list[str]:
    """Commands in a help text, continued lines joined."""
    joined = re.sub(r"\\\s*\n\s*", "", text)
    return [line.strip() for line in joined.splitlines() if line.strip().startswith("dpcausal ")]


@pytest.mark.parametrize("words", [[], ["ledger"]])
def test_help_that_nobody_asked_for_is_an_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Usage: " in said.err
    assert run([*words, "--help"]) == 0
    assert "Usage: " in capsys.readouterr().out


class Script:
    """Stands for a script in experiments/."""

    @staticmethod
    def main(quick: bool, out: Path) -> None:
        typer.echo("a table")
        (out / "figure.png").write_bytes(b"picture")


def test_these_are_all_commands() -> None:
    tree = typer.main.get_command(app)
    groups = {name: getattr(command, "commands", None) for name, command in tree.commands.items()}  # type: ignore[attr-defined]
    found = {*groups, *(f"{name} {inner}" for name, inners in groups.items() for inner in inners or ())}
    assert found == {*COMMANDS, *SERVERS}


def test_reproduce_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpcausal.cli.reproduce.load", lambda script: Script)
    (tmp_path / "other.png").write_bytes(b"was there")
    assert run(["reproduce", "gcm-figure1", "--quick", "--out", str(tmp_path), "--json"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert (told["figure"], told["quick"], told["files"]) == ("gcm-figure1", True, ["figure.png"])
    assert (told["directory"], said.err) == (str(tmp_path), "a table\n")


def test_a_draft_as_json(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert run(["schema", "patients.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (next(iter(told)), told["private"], told["draft"]) == ("private", False, True)
    assert told["columns"]["smoke"]["levels"] == ["no", "yes"]
    assert Schema.from_toml_string(told["toml"]).is_draft


@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_runs(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr("dpcausal.cli.reproduce.load", lambda script: Script)  # hours, and tested elsewhere
    found = [line for line in examples(shown(command, capsys)) if line.startswith(f"dpcausal {command} ")]
    assert found
    for line in found:
        call = line.partition(" > ")[0]
        if "ledger create" in line:  # the fixture's data set is there already
            call = call.replace("budget.db", f"{command.split()[-1]}.db")
        assert run(shlex.split(call)[1:]) == 0, line
        said = capsys.readouterr()
        assert said.out


def test_the_first_page_shows_the_way_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown("", capsys)
    assert [line.split()[1] for line in examples(page)] == [
        "schema",
        "schema",
        "plan",
        "ledger",
        "discover",
        "ledger",
    ]
    assert "3 the budget does not allow it" in page


def test_the_first_page_runs_as_it_stands(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In order, in a folder that holds nothing but the data: the release fits the ledger that was made before it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients.csv").write_bytes((place / "patients.csv").read_bytes())
    for line in examples(shown("", capsys)):
        if "--help" in line:
            continue
        call, _, target = line.partition(" > ")
        assert run(shlex.split(call)[1:]) == 0, line
        said = capsys.readouterr().out
        if target:
            (tmp_path / target).write_text(said)


@pytest.mark.parametrize(
    "command", ["discover x.csv --out o", "test x.csv --x a --y b", "plan --rows 9 --epsilon 1"]
)
def test_no_schema_points_to_the_command_that_drafts_one(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("dpcausal: Missing option '--schema'.")
    assert said.endswith("dpcausal schema FILE > schema.toml\n")
    assert len(said.splitlines()) == 1


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dpcausal dis", ["discover"]),
        ("dpcausal ledger v", ["verify"]),
        ("dpcausal reproduce curate", ["curate-comparison", "curate-sensitivity"]),
        ("dpcausal audit la", ["laplace"]),
        ("dpcausal discover x.csv --method svt", ["svt-pc"]),
        ("dpcausal test x.csv --method ken", ["kendall"]),
        ("dpcausal discover x.csv --neighbours a", ["add-remove"]),
    ],
)
def test_the_shell_completes(words: str, expected: list[str]) -> None:
    environment = {**os.environ, "_DPCAUSAL_COMPLETE": "complete_bash", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split()) - 1)
    program = "import sys; sys.argv[0] = 'dpcausal'; from dpcausal.cli.start import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == expected


def test_the_completed_names_are_names_of_methods() -> None:
    assert set(discover.choices()) == {"auto", *METHODS}
    assert set(ci_test.choices()) == {"auto", *TESTS}


def test_help_says_what_every_method_does(capsys: pytest.CaptureFixture[str]) -> None:
    described = {name: one.does for name, one in discover.choices().items()}
    for command, words in (("discover", described), ("test", described_tests())):
        assert len(words) > 5
        assert all(words.values())
        assert run([command, "--help"]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert not [name for name, means in words.items() if f"{name}: {means}" not in told]


@pytest.mark.parametrize(("command", "option"), [("discover", "hits="), ("test", "parts=")])
def test_help_is_short_and_the_options_of_methods_have_a_page_of_their_own(
    command: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page = shown(command, capsys)
    assert len(page.splitlines()) < 160
    panels = ["─ Options ─", "─ Rows ─", "─ More on the question and the method ─", "─ Output ─"]
    assert sorted(panels, key=page.index) == panels
    assert page.index("Examples") < page.index("Methods (")
    options = re.findall(r"--[a-z-]+", page[page.index("Options ─") :])
    wanted = ["--epsilon", "--delta", "--method", "--ledger", "--source", "--option"]
    assert sorted(wanted, key=options.index) == wanted  # what most people need comes first
    assert run([command, "--help-methods"]) == 0  # nothing else is asked for
    listed = capsys.readouterr().out
    assert f"\n  {option}" in listed
    assert f"\n   {option}" not in page


def test_progress_is_silent_where_there_is_no_terminal(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert run(["gwas", "study", "--epsilon", "1", "--out", "quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_every_page_lists_the_same_kinds_of_file(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("schema", "discover", "test"):
        page = " ".join(shown(command, capsys).replace("│", " ").split())
        assert "A .csv, .tsv, .parquet, .arrow, .xlsx, .sav, .dta, .sas7bdat or .rds file" in page, command
