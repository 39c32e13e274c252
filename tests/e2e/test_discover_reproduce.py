"""``dpcausal reproduce``: finds its scripts, refuses what it does not know, and the scripts run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dpcausal.cli import reproduce
from dpcausal.cli.app import run

ROOT = Path(__file__).resolve().parents[2]


def test_unknown_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "priv-pc-figure2"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_every_script_is_there() -> None:
    for script in reproduce.FIGURES.values():
        assert callable(reproduce.load(ROOT / "experiments" / script).main)


def test_needs_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", "priv-pc-table2"]) == 2
    assert "needs a source checkout" in capsys.readouterr().err


def test_figures_are_made(tmp_path: Path) -> None:
    """The parts of figure 1 and of the comparison on one network, two budgets and one seed."""
    figure = reproduce.load(ROOT / "experiments" / reproduce.FIGURES["priv-pc-figure1"])
    comparison = reproduce.load(ROOT / "experiments" / reproduce.FIGURES["curate-comparison"])
    points = [
        figure.run("cancer", driver, epsilon, 1, 5000) for driver in figure.DRIVERS for epsilon in (1.0, 30.0)
    ]
    figure.draw(points, [], "skeleton", tmp_path / "f.png")
    figure.save(tmp_path / "f.csv", points)
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    assert len((tmp_path / "f.csv").read_text().splitlines()) == 9
    assert all(0 <= p.skeleton <= 1 for p in points)
    counts = figure.counts("cancer", 0, 5000)
    skeleton, claimed = figure.published.priv_pc(
        counts, 1.0, np.random.default_rng(0), figure.optimal_subsample
    )
    assert claimed > 0
    assert skeleton.columns == tuple(counts.schema)
    skeleton, _ = comparison.published.curate(counts, 1.0, np.random.default_rng(0))
    assert skeleton.columns == tuple(counts.schema)
