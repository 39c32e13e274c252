"""Progress: silent at first, then with the time left, and driven by what is public."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import dpcausal as dc
from dpcausal.core import progress


def test_it_shows_the_time_left_after_two_seconds_and_no_sooner(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.shown("counting", 10, True) as tick:
        tick(5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress.shown("counting what takes a whole line of words or nearly so", 10, True) as tick:
        tick(5)
        tick(1)
    said = capsys.readouterr()
    assert "counting" in said.err
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said.err)
    assert re.search(r"[0-9]%, left [-0-9]", plain)
    assert said.out == ""
    with progress.shown("counting", 10, False) as tick:
        tick(5)
    assert capsys.readouterr().err == ""


def test_it_shows_up_during_a_first_step_that_does_not_tick(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with progress.stages(True) as stage, stage("searching", None), stage("counting", 10):
        time.sleep(0.5)
    said = capsys.readouterr().err
    assert "counting" in said  # the innermost
    assert "searching" not in said


def test_work_without_a_total_shows_no_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress.shown("searching", None, True) as tick:
        tick(1)
    said = capsys.readouterr().err
    assert "searching" in said
    assert "left" not in said


@pytest.mark.parametrize("width", [80, 60, 45])
@pytest.mark.parametrize(
    "what", ["testing", "testing given 0 columns (compiling, once) and then some more words"]
)
@pytest.mark.parametrize("total", [10, None])
def test_the_clock_is_whole_at_every_width(
    width: int,
    what: str,
    total: int | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress.shown(what, total, True) as tick:
        tick(4)
        time.sleep(0.02)
        tick(1)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    clock = r"0:00:0[0-9]" + (r" +[0-9]+%, left [-0-9]:[-0-9]{2}:[-0-9]{2}" if total else " so far")
    shown = [line.strip() for line in re.split(r"[\r\n]", plain) if "testing" in line]
    assert shown
    for line in shown:
        assert re.search(clock + "$", line), line
        assert len(line) <= width


SCHEMA = dc.Schema(a=dc.Categorical([0, 1]), b=dc.Numeric(0, 1))


def ticks(source: object, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []

    class Recorder:
        def __enter__(self) -> object:
            return found.append

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr("dpcausal.data.read.shown", lambda *_: Recorder())
    dc.read(source, SCHEMA, progress=True)
    return found


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_reading_goes_on_to_the_end_whatever_the_values(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files of one size that differ in every value give the same ticks; they add up to the number of columns."""
    seen = []
    for value in (0, 1):
        path = tmp_path / f"{value}{suffix}"
        rows = 400_000
        if suffix == ".csv":
            path.write_text("a,b\n" + f"{value},{1 - value}\n" * rows)
        else:
            pa.parquet.write_table(pa.table({"a": [value] * rows, "b": [1.0 - value] * rows}), path)
        seen.append(ticks(path, monkeypatch))
    assert seen[0] == seen[1]
    assert len(seen[0]) > 2
    assert sum(seen[0]) == pytest.approx(2.0)
