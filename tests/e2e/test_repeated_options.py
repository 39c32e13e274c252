"""An option that takes a list accumulates when it is repeated; one that takes a value is refused the second time.

The ledger is charged for the question that was asked: were the last of two ``--given`` to win, it would be another.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from dpcausal.cli.app import app, run
from dpcausal.cli.usage import Command

COLUMNS = ("smoke", "bronc", "age", "sex")
SCHEMA = "".join(f'[columns.{name}]\ntype = "categorical"\nlevels = ["no", "yes"]\n' for name in COLUMNS)
DATA = "data.csv --schema schema.toml"
TEST = f"test {DATA} --x smoke --y bronc --epsilon 1 --anyway --json"
DISCOVER = f"discover {DATA} --epsilon 1 --delta 1e-6 --anyway --json --out out"
AGAIN = "again first --json --out second"
PLAN = "plan --schema schema.toml --rows 1000 --epsilon 1 --json"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repeated")
    cells = np.array(["no", "yes"])[np.random.default_rng(1).integers(0, 2, (300, len(COLUMNS)))]
    lines = [",".join(COLUMNS), *(",".join(row) for row in cells)]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    (folder / "schema.toml").write_text(SCHEMA)
    files = [str(folder / name) for name in ("data.csv", "schema.toml", "first")]
    first = ["discover", files[0], "--schema", files[1], "--out", files[2]]
    assert run([*first, "--epsilon", "1", "--delta", "1e-6", "--anyway"]) == 0
    return folder


def commands() -> dict[str, Any]:
    """Every command by its name, those of a group as ``ledger create``."""
    found: dict[str, Any] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found |= {f"{name} {sub}": one for sub, one in inner.items()} if inner else {name: command}
    return found


# (option, call, where its JSON holds the columns, what they must be)
ACCUMULATES: list[tuple[str, str, list[str], Any]] = [
    ("test --given", f"{TEST} --given age --given sex", ["given"], ["age", "sex"]),
    ("test --given", f"{TEST} --given age,sex", ["given"], ["age", "sex"]),
    (
        "discover --tiers",
        f"{DISCOVER} --tiers age,sex --tiers smoke,bronc",
        ["declared", "tiers"],
        [["age", "sex"], ["smoke", "bronc"]],
    ),
    (
        "discover --required",
        f"{DISCOVER} --required age:smoke --required age:bronc",
        ["declared", "required"],
        ["age -> bronc", "age -> smoke"],
    ),
    (
        "discover --forbidden",
        f"{DISCOVER} --forbidden age--sex --forbidden smoke--bronc",
        ["declared", "forbidden"],
        ["age - sex", "bronc - smoke"],
    ),
    (
        "again --tiers",
        f"{AGAIN} --tiers age,sex --tiers smoke,bronc",
        ["declared", "tiers"],
        [["age", "sex"], ["smoke", "bronc"]],
    ),
    (
        "again --required",
        f"{AGAIN} --required age:smoke --required age:bronc",
        ["declared", "required"],
        ["age -> bronc", "age -> smoke"],
    ),
    (
        "again --forbidden",
        f"{AGAIN} --forbidden age--sex --forbidden smoke--bronc",
        ["declared", "forbidden"],
        ["age - sex", "bronc - smoke"],
    ),
    (
        "discover --effect",
        f"{DISCOVER} --required smoke:bronc --required age:bronc --effect smoke,bronc --effect age,bronc",
        ["effects"],
        [("smoke", "bronc"), ("age", "bronc")],
    ),
    (
        "discover --adjust",
        f"{DISCOVER} --effect smoke,bronc --adjust age --adjust sex --anyway",
        ["effects"],
        ["age", "sex"],
    ),
    ("plan --columns", f"{PLAN} --columns age,sex --columns smoke", ["columns"], 3),
    ("plan --pair", f"{PLAN} --pair age --pair sex", ["pair"], ["age", "sex"]),
    ("schema --columns", "schema data.csv --json --columns age --columns sex", ["columns"], ["age", "sex"]),
    (
        "discover --columns",
        f"{DISCOVER} --columns age,smoke --columns sex",
        ["graph", "nodes"],
        ["age", "smoke", "sex"],
    ),
    (
        "effect --adjust",
        f"effect {DATA} --treatment smoke --outcome bronc --adjust age --adjust sex --epsilon 1 --anyway --json",
        ["adjust"],
        ["age", "sex"],
    ),
]


@pytest.mark.parametrize(
    ("option", "call", "keys", "wanted"), ACCUMULATES, ids=[c for _, c, _, _ in ACCUMULATES]
)
def test_a_list_accumulates(
    option: str,
    call: str,
    keys: list[str],
    wanted: Any,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    assert run(call.split()) == 0, option
    found = json.loads(capsys.readouterr().out)
    for key in keys:
        found = found[key]
    found = list(found) if isinstance(found, dict) else found  # a draft has a table of columns
    if keys == ["effects"]:
        adjusts = option.endswith("adjust")
        found = found[0]["adjust"] if adjusts else [(one["treatment"], one["outcome"]) for one in found]
    assert (sorted(found) if option.endswith(("required", "forbidden")) else found) == wanted


def test_every_option_that_takes_a_list_is_tried() -> None:
    """Here, or where its files are: counts by genotype and chromosomes with the studies of ``test_gwas_inputs.py``."""
    elsewhere = {f"gwas --{name}" for name in ("model", "case-counts", "control-counts", "chr")}
    elsewhere |= {f"{command} --option" for command in ("test", "discover")}  # tests of method_options
    elsewhere |= {f"pool --{name}" for name in ("tiers", "required", "forbidden")}  # parsed as for again
    elsewhere |= {"protocol --rows", "protocol --columns", "contribute --columns"}  # tests/unit/sites
    elsewhere |= {"effect --cuts"}  # numbers: tests/unit/effects/test_survival.py
    lists = {
        f"{name} {max(option.opts, key=len)}"
        for name, command in commands().items()
        for option in command.params
        if getattr(option, "multiple", False)
    }
    assert lists - elsewhere == {option for option, *_ in ACCUMULATES}


def test_what_takes_columns_takes_a_list() -> None:
    """By the words of its help: an option that is said to take several must accumulate."""
    for name, command in commands().items():
        for option in command.params:
            words = (getattr(option, "help", "") or "").lower()
            if name == "test" and option.opts[0] in ("--x", "--y"):
                continue  # several columns at once are one side of one question; twice is refused, as below
            if "with commas" in words or "repeat it" in words or "columns in order" in words:
                assert option.multiple, f"{name} {option.opts}"


@pytest.mark.parametrize(
    "call",
    [
        f"{TEST} --x age",
        f"{TEST} --epsilon=2",
        f"{DISCOVER} --delta 1e-7",
        f"{PLAN} --rows 10",
        "schema data.csv --check schema.toml --check schema.toml",
    ],
)
def test_one_value_is_given_once(
    call: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert run(call.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "is given 2 times" in said.err


def test_commands_that_charge_refuse_a_second_value() -> None:
    for name in ("test", "discover", "effect", "plan", "gwas", "schema", "ledger create"):
        assert isinstance(commands()[name], Command), name


def test_the_ledger_is_charged_for_the_question_that_was_asked(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    url = "sqlite:///ledger.db"
    assert run(f"ledger create --ledger {url} --dataset cohort --epsilon 3".split()) == 0
    assert run(f"{TEST} --given age --given sex --ledger {url} --dataset cohort".split()) == 0
    capsys.readouterr()
    assert run(f"ledger log --ledger {url} --json".split()) == 0
    assert "given age, sex" in capsys.readouterr().out
