"""The two pages for hospitals show what ``benchmarks/hospital.py page`` prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "benchmarks"))

import hospital_page as page  # noqa: E402
from hospital_points import Point, Results  # noqa: E402


def test_the_pages_show_what_the_command_prints() -> None:
    shown = "".join(one.read_text(encoding="utf-8") for one in page.PAGES)
    for name, lines in page.parts().items():
        assert f"<!-- {name} -->\n" + "\n".join(lines) + "\n<!-- end -->" in shown, name


def test_filling_replaces_what_stood_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "parts", lambda: {"bars": ["new"], "gone": ["x"]})
    assert (
        page.filled("a\n<!-- bars -->\nold\n<!-- end -->\nb\n") == "a\n<!-- bars -->\nnew\n<!-- end -->\nb\n"
    )


def test_differences_are_taken_seed_by_seed(tmp_path: Path) -> None:
    results = Results(tmp_path / "none.json")
    ours = Point("measured", "asia", 1, "replace-one", 1.0, 0.05)
    other = Point("em-pc", "asia", 1, "replace-one", 1.0, 0.05)
    results.runs = {ours.key: {"0": [0.5], "1": [0.75], "2": [9.0]}, other.key: {"0": [0.25], "1": [0.75]}}
    lead, error = results.lead(ours, other)
    assert (lead, error) == (0.125, pytest.approx(0.125))


def test_a_graph_that_claims_every_pair_has_the_score_that_the_page_says() -> None:
    assert [f"{page.all_pairs(name):.2f}" for name in page.NETWORKS] == [
        "0.57",
        "0.57",
        "0.57",
        "0.44",
        "0.47",
        "0.13",
    ]
