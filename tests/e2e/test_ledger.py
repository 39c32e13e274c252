"""``dpcausal ledger`` as a user runs it, and the ledger under fire, smaller than in benchmarks/ledger_fire.py."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.present.ledger import entry_words, others_words
from dpcausal.privacy.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/ledger.db"


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["ledger", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_create_show_log_verify(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(
        capsys, "create", "--ledger", url, "--dataset", "d", "--epsilon", "3", "--delta", "1e-5"
    )
    assert (code, err) == (0, "")
    head = re.search(r"head ([0-9a-f]{64})", out)
    assert head
    Ledger.open(url).charge("d", "r1", 2.5)
    code, out, _ = call(capsys, "show", "--ledger", url)
    assert code == 0
    assert re.search(r"d +3 +2\.5 +0\.5 +1e-05 +0 +1e-05 +1", out)
    code, out, _ = call(capsys, "log", "--ledger", url, "--dataset", "d")
    assert code == 0
    assert "create" in out
    assert "r1" in out
    code, out, _ = call(capsys, "verify", "--ledger", url, "--head", head[1])
    assert code == 0
    assert "intact: 2 entries" in out


def test_json_and_nothing_else(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "create", "--ledger", url, "--dataset", "d", "--epsilon", "1", "--json")
    made = json.loads(out)
    assert (code, made["epsilon"], made["exact"]["epsilon"]) == (0, 1.0, "1.0")
    Ledger.open(url).charge("d", "r1", 0.25)
    (account,) = json.loads(call(capsys, "show", "--ledger", url, "--json")[1])["datasets"]
    assert (account["dataset"], account["left_epsilon"], account["releases"]) == ("d", 0.75, 1)
    entries = json.loads(call(capsys, "log", "--ledger", url, "--json")[1])["entries"]
    assert [entry["kind"] for entry in entries] == ["create", "charge"]
    verified = json.loads(call(capsys, "verify", "--ledger", url, "--json")[1])
    assert verified == {"ok": True, "entries": 2, "head": entries[-1]["hash"], "faults": []}


def test_verify_finds_an_edited_row(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = Ledger.open(url, create=True)
    ledger.create("d", 1.0)
    ledger.charge("d", "r1", 0.5)
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("DROP TRIGGER dpcausal_entries_update")
        connection.execute("UPDATE dpcausal_entries SET epsilon = '0.1' WHERE seq = 2")
    code, out, err = call(capsys, "verify", "--ledger", url)
    assert (code, out) == (2, "")
    assert "entry 2: was edited" in err
    assert err.count("\n") == 1
    code, out, _ = call(capsys, "verify", "--ledger", url, "--json")
    assert (code, json.loads(out)["ok"]) == (2, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create", "--dataset", "d", "--epsilon", "0"], "epsilon must be"),
        (["create", "--dataset", "d", "--epsilon", "-1"], "epsilon must be"),
        (["create", "--dataset", "d", "--epsilon", "nan"], "epsilon must be"),
        (["create", "--dataset", "d", "--epsilon", "inf"], "epsilon must be"),
        (["create", "--dataset", "d", "--epsilon", "1", "--delta", "1"], "delta must be"),
        (["create", "--dataset", "d", "--epsilon", "1", "--delta", "-1"], "delta must be"),
        (["create", "--dataset", "", "--epsilon", "1"], "data set name"),
        (["create", "--dataset", "d", "--epsilon", "1", "--neighbours", "cousins"], "neighbours must be"),
        (["show"], "there is no ledger"),
        (["log"], "there is no ledger"),
        (["verify"], "there is no ledger"),
    ],
)
def test_one_line_and_exit_code_two(
    url: str, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, out, err = call(capsys, *arguments, "--ledger", url)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_bad_total_makes_no_file(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "create", "--ledger", url, "--dataset", "d", "--epsilon", "nan")[0] == 2
    assert list(tmp_path.iterdir()) == []


def fire(engine: str) -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "benchmarks" / "ledger_fire.py"), "--json", "--engines", engine]
    sizes = ["--processes", "8", "--kills", "20", "--charges", "150", "--tiny", "100"]
    done = subprocess.run([*command, *sizes], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    whole: dict[str, Any] = json.loads(done.stdout)
    found: dict[str, Any] = whole[engine] | whole["tiny"][engine]
    return found | whole.get("refused", {}).get("a role that may only charge", {})


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_under_fire(engine: str) -> None:
    if engine == "postgresql" and not os.environ.get("DPCAUSAL_TEST_POSTGRES"):
        pytest.skip("no PostgreSQL server: DPCAUSAL_TEST_POSTGRES is not set (.ci/run starts one)")
    found = fire(engine)
    assert found["kills"] >= 20
    assert found["kills inside a transaction"] >= 1
    assert found["charges accepted"] >= 100
    assert found["charges refused"] >= 8
    assert found["budgets passed"] == 0
    assert found["released without charge"] == 0
    assert found["released twice"] == 0
    assert found["chain holds"] is True
    assert found["edited row found"] is True
    assert found["charged, killed before release"] <= found["kills"]
    assert found["tiny charges accepted"] == 100
    assert found["the next one refused"] is True
    assert found["sum of epsilon is the exact one"] is True
    assert found["sum of delta is the exact one"] is True
    if engine == "postgresql":  # by a role that may only charge
        assert found["open a new budget"].startswith("refused: new row violates row-level security")
        assert found["change an entry"].startswith("refused: permission denied")
        assert found["forge an entry that has nothing spent"] == "DONE; verify finds it"


def test_the_log_fits_a_terminal_and_says_what_was_released(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    levels = 'type = "categorical"\nlevels = ["no", "yes"]\n'
    (tmp_path / "s.toml").write_text(f"[columns.smoke]\n{levels}[columns.bronc]\n{levels}")
    (tmp_path / "t.csv").write_text("smoke,bronc\n" + "no,yes\nyes,no\n" * 20)
    ledger = Ledger.open(url, create=True)
    ledger.create("cohort", 2.0, 1e-5)
    data = [
        str(tmp_path / "t.csv"),
        "--schema",
        str(tmp_path / "s.toml"),
        "--ledger",
        url,
        "--dataset",
        "cohort",
    ]
    assert run(["test", *data, "--x", "smoke", "--y", "bronc", "--epsilon", "0.5"]) == 0
    assert run(["discover", *data, "--epsilon", "1", "--out", str(tmp_path / "out")]) == 0
    release = ledger.log("cohort")[1].release
    capsys.readouterr()
    code, out, _ = call(capsys, "log", "--ledger", url)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    said = " ".join(line[61:].strip() for line in out.splitlines())
    assert "discover measured: smoke, bronc" in said
    assert "test kendall: smoke and bronc" in said
    assert release[:8] in out
    assert release[:9] not in out


@pytest.mark.parametrize(
    ("asked", "said"), [(0.75, "ask for at most 0.5 of epsilon"), (0.5, "nothing is left")]
)
def test_a_refusal_says_what_can_be_done(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: float, said: str
) -> None:
    ledger = Ledger.open(url, create=True)
    ledger.create("d", 1.0)
    ledger.charge("d", "r1", 0.5 if asked > 0.5 else 1.0)
    levels = 'type = "categorical"\nlevels = ["no", "yes"]\n'
    (tmp_path / "s.toml").write_text(f"[columns.a]\n{levels}[columns.b]\n{levels}")
    (tmp_path / "t.csv").write_text("a,b\nno,yes\nyes,no\n")
    words = ["discover", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.toml"), "--ledger", url]
    out = tmp_path / "new" / "out"
    assert run([*words, "--dataset", "d", "--epsilon", str(asked), "--out", str(out), "--anyway"]) == 3
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert said in err
    assert "a new budget" in err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("words", [["--epsilon", "0,5"], ["--epsilon=0,5"]])
def test_a_decimal_comma_is_quoted(words: list[str], url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "create", "--ledger", url, "--dataset", "d", *words)
    assert (code, err.count("\n")) == (2, 1)
    assert "not '0,5'; " in err


def test_a_second_name_is_told_that_budgets_add_up(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    create = ("create", "--ledger", url, "--epsilon", "1", "--dataset")
    assert "add up" not in call(capsys, *create, "cohort")[1]
    code, out, err = call(capsys, *create, "cohort two")
    assert (code, err) == (0, "")
    assert others_words("cohort two", ["cohort"], []) in out
    assert "add up" in json.loads(call(capsys, *create, "third", "--json")[1])["remark"]


def test_a_command_that_waits_for_the_ledger_says_so(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    create = ("create", "--ledger", url, "--epsilon", "1", "--dataset")
    assert call(capsys, *create, "d")[0] == 0
    monkeypatch.setattr("dpcausal.core.progress.PATIENCE_WAITING", 0.1)
    holder = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    release = threading.Timer(1.0, holder.rollback)
    release.start()
    code, out, err = call(capsys, *create, "e")
    release.join()
    holder.close()
    assert code == 0
    assert "data set 'e'" in out
    assert f"dpcausal: waiting for the ledger {tmp_path / 'ledger.db'}\n" in err
    assert set(err.splitlines()) == {f"dpcausal: waiting for the ledger {tmp_path / 'ledger.db'}"}
    monkeypatch.setattr("dpcausal.core.progress.PATIENCE_WAITING", 60.0)
    assert call(capsys, "show", "--ledger", url)[2] == ""


def test_the_log_names_what_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns, target, levels and event: what the schema and the command say, and nothing of rows."""
    monkeypatch.chdir(tmp_path)
    url = "sqlite:///budget.db"
    book = Ledger.open(url, create=True)
    book.create("d", epsilon=100.0, delta=1e-5)
    rng = np.random.default_rng(1)
    wide = dc.Schema(
        {
            "arm": dc.Categorical(["a", "b", "c"]),
            "cells": dc.Numeric(0, 900, [350]),
            **{f"c{i}": dc.Categorical([0, 1]) for i in range(7)},
        }
    )
    few = wide.select(["arm", "c0", "c1"])
    codes = {name: rng.integers(0, column.size, 400).astype(np.uint8) for name, column in wide.items()}
    data = dc.Dataset(wide, 400, codes, {"cells": rng.uniform(0, 900, 400)})
    counted = {"ledger": url, "dataset": "d", "anyway": True}
    small = dc.Dataset(few, 400, {name: codes[name] for name in few})
    dc.discover(data, epsilon=2.0, method="measured", confidence=0, **counted)
    dc.discover(small, epsilon=2.0, method="measured", confidence=0, **counted)
    dc.discover(data, epsilon=2.0, delta=1e-7, target="c3", confidence=0, **counted)
    dc.discover(small, epsilon=2.0, method="svt-pc", effect=("c0", "c1"), **counted)
    dc.effect(data, "arm", "cells", adjust=["c0"], compare=("a", "c"), event=">= 350", epsilon=2.0, **counted)
    dc.effect(data, "c0", "cells", adjust=[], epsilon=2.0, **counted)
    entries = book.log("d")
    assert [entry_words(entry) for entry in entries] == [
        "total (create)",
        "discover measured: 9 columns (arm, cells, c0, c1 and 5 more)",
        "discover measured: arm, c0, c1",
        "discover measured: what is linked to c3, among 9 columns (arm, cells, c0, c1 and 5 more)",
        "discover svt-pc: arm, c0, c1; effect of c0 on c1 later",
        "effect table: effect of arm on cells given c0 (c against a; cells >= 350)",
        "effect table: effect of c0 on cells (1 against 0)",
    ]
    assert entries[1].to_dict()["note"]["columns"] == list(wide)
    assert book.verify().ok
