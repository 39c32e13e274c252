"""``make demo``: what a newcomer sees first."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from dpcausal.graphs import skeleton_scores
from dpcausal.networks import clinic

DEMO = Path(__file__).parents[2] / "demo" / "demo.py"


def test_the_demo_prints_graph_privacy_and_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One run with real noise, since a seeded one would print NOT PRIVATE.

    All ten true edges are far above the noise (each is found again in 20 of 20 repeats on louder noise), so F1 < 0.7
    takes nine false edges among 35 pairs. Each stands only if every test of it rejects: probability at most about
    twice the level, 0.02. P(binomial(35, 0.02) >= 9) < 1e-7.
    """
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    assert spec
    assert spec.loader
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    result = demo.main(tmp_path)
    said = capsys.readouterr().out
    for words in (
        "50,000 made-up patients",
        "blood_pressure ──▶",
        "epsilon = 1",
        "no privacy (PC)",
        "Computed from the rows, with noise, and covered by the promise:",
    ):
        assert words in said
    assert result.privacy.private
    assert result.privacy.epsilon <= demo.EPSILON
    assert skeleton_scores(result.graph, clinic.GRAPH).f1 >= 0.7
    assert json.loads((tmp_path / "privacy.json").read_text())["private"] is True
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "patients.csv").read_text().count("\n") == demo.ROWS + 1
