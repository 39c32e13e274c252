"""Numbers at the end of their range, full disks, closed pipes, errors of our own: one line and an exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpcausal.cli.app import run

SCHEMA = "".join(f'[columns.{name}]\ntype = "categorical"\nlevels = [0, 1]\n' for name in "ab")
TEST = "test data.csv --schema schema.toml --x a --y b"
DISCOVER = "discover data.csv --schema schema.toml"
LONG = "x" * 300


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("a,b\n" + "0,1\n1,0\n1,1\n" * 200)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{TEST} --epsilon 1e308", "epsilon must lie within 1e-06 and 1,000,000, not 1e+308"),
        (f"{TEST} --epsilon 1e-300 --method test-of-tests", "epsilon must lie within 1e-06"),
        (f"{TEST} --epsilon 1e-20 --method gcm", "epsilon must lie within 1e-06"),
        (f"{DISCOVER} --out o --epsilon 1e308", "epsilon must lie within 1e-06"),
        (f"{DISCOVER} --out o --epsilon 1 --confidence 1000000000000", "at most 10,000 repeats"),
        (f"{DISCOVER} --out {LONG} --epsilon 1", "File name too long"),
        ("plan --schema schema.toml --rows 10 --epsilon 1e-9", "epsilon must lie within 1e-06"),
        (f"plan --schema schema.toml --rows 100 --epsilon 1 --out {LONG}", "File name too long"),
        ("gwas-simulate s --people 99999999999999 --snps 10", "at most 100,000,000 people"),
        ("gwas-simulate s --seed -1", "seed must be a whole number"),
        (f"gwas-simulate {LONG}", "File name too long"),
    ],
)
def test_one_line(words: str, said: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err


@pytest.mark.parametrize("method", ["kendall", "spearman", "chi2", "g", "measured", "test-of-tests"])
@pytest.mark.parametrize("epsilon", ["1e-6", "1e-3", "1e6"])
def test_every_method_answers_at_the_ends(
    method: str, epsilon: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*TEST.split(), "--epsilon", epsilon, "--method", method, "--anyway"]) == 0
    assert f"epsilon {float(epsilon):g}" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["measured", "priv-pc", "svt-pc", "em-pc", "tests", "curate"])
@pytest.mark.parametrize("epsilon", ["1e-6", "1e6"])
def test_every_search_answers_at_the_ends(
    method: str, epsilon: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*DISCOVER.split(), "--out", "o", "--epsilon", epsilon, "--method", method, "--anyway"]) == 0
    assert f"epsilon {float(epsilon):g}" in capsys.readouterr().out


def program(words: str, out: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpcausal", *words.split()],
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk(place: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = program("schema data.csv", full.fileno())
    assert (done.returncode, done.stderr) == (2, "dpcausal: No space left on device\n")


@pytest.mark.parametrize("words", ["discover --help", "--help", "schema data.csv"])
def test_a_reader_that_has_left(words: str, place: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = program(words, write)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_of_our_own_shows_no_value_of_a_row(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(*_: object, **__: object) -> None:
        raise ValueError("could not read 'HIV positive'")

    monkeypatch.setattr("dpcausal.discovery.result_of_search._orient", fault)
    words = [*DISCOVER.split(), "--out", "o", "--epsilon", "1"]
    assert run(words) == 1
    said = capsys.readouterr().err
    assert said.startswith("dpcausal: an error in dpcausal (ValueError in result_of_search, line ")
    assert "HIV" not in said
    assert said.count("\n") == 1
    monkeypatch.setenv("DPCAUSAL_TRACEBACK", "1")
    with pytest.raises(ValueError, match="HIV"):
        run([*words[:-1], "1"])
