"""``dpcausal test --method crt``: the law of x given z from a file, or fitted to a public sample."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.cli.ci_test import read_law

SCHEMA = """
[columns.x]
type = "numeric"
lower = -4
upper = 4
[columns.y]
type = "numeric"
lower = -6
upper = 6
[columns.z]
type = "numeric"
lower = -3
upper = 3
[columns.arm]
type = "categorical"
levels = ["a", "b"]
[columns.sex]
type = "categorical"
levels = ["m", "f"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two samples of one law, x = .5 z + N(0, 1), y = x + N(0, 1); arm follows sex."""
    rng = np.random.default_rng(3)
    for name in ("data.csv", "public.csv"):
        z, more, sex = rng.normal(size=2000), rng.normal(size=(2, 2000)), rng.integers(2, size=2000)
        x = 0.5 * z + more[0]
        arm = (rng.random(2000) < 0.3 + 0.4 * sex).astype(int)
        rows = zip(x, x + more[1], z, np.array(["a", "b"])[arm], np.array(["m", "f"])[sex], strict=True)
        lines = ["x,y,z,arm,sex", *(f"{a:.6f},{b:.6f},{c:.6f},{d},{e}" for a, b, c, d, e in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "law.toml").write_text("sd = 1.0\n[slopes]\nz = 0.5\n")
    (tmp_path / "law.json").write_text(
        json.dumps({"given": ["sex"], "probabilities": [[0.7, 0.3], [0.3, 0.7]]})
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


NUMBERS = (
    "test",
    "data.csv",
    "--schema",
    "schema.toml",
    "--x",
    "x",
    "--y",
    "y",
    "--given",
    "z",
    "--method",
    "crt",
)
LEVELS = (
    "test",
    "data.csv",
    "--schema",
    "schema.toml",
    "--x",
    "arm",
    "--y",
    "y",
    "--given",
    "sex",
    "--method",
    "crt",
)


@pytest.mark.parametrize(
    ("asked", "independent"),
    [
        ((*NUMBERS, "--model", "law.toml"), False),
        ((*NUMBERS, "--model-from", "public.csv"), False),
        ((*NUMBERS, "--model", "law.toml", "--option", "variant=paper"), False),
        ((*LEVELS, "--model", "law.json"), True),
        ((*LEVELS, "--model-from", "public.csv"), True),
    ],
)
def test_answers(
    asked: tuple[str, ...], independent: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A strong dependence is found at epsilon 50; arm, which y does not follow, is not (level 1e-3)."""
    level = "0.05" if not independent else "0.001"
    copies = () if not independent else ("--option", "copies=999")
    assert run([*asked, *copies, "--epsilon", "50", "--level", level, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (
        found["independent"] is False
    ) is not independent  # else True, or None where little could be found
    assert found["privacy"]["private"] is True


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--model", "law.toml", "--model-from", "public.csv"), "give one"),
        (("--model-from", "data.csv"), "the file that is tested"),
        (("--model", "nothing.toml"), "can't read"),
        (("--model", "schema.toml"), "must hold"),
        (("--model", "law.json"), "is about"),
        ((), "--model FILE"),
    ],
)
def test_bad_laws_are_one_line(
    more: tuple[str, ...], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*NUMBERS, *more, "--epsilon", "1"]) == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.out == ""


def test_other_tests_take_no_law(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*NUMBERS[:-1], "gcm", "--model", "law.toml", "--epsilon", "1"]) == 2
    assert "--method crt" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "sd = 'wide'",
        "sd = 0.0",
        "sd = 1\nslope = 2",
        "[slopes]\nz = 1",
        "probabilities = [[0.9, 0.3]]",
        "= =",
    ],
)
def test_what_is_no_law_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "law.toml").write_text(text)
    with pytest.raises(dc.InputError):
        read_law(tmp_path / "law.toml")


def test_a_law_is_read_as_it_was_written(folder: Path) -> None:
    assert read_law(folder / "law.toml") == dc.LinearGaussian(0.0, {"z": 0.5}, sd=1.0)
    table = read_law(folder / "law.json")
    assert isinstance(table, dc.TableModel)
    assert (table.given, table.probabilities.tolist()) == (("sex",), [[0.7, 0.3], [0.3, 0.7]])
