"""The notebook of the documentation runs, and shows what its page shows."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "notebook.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebook", TOOL)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_every_cell_runs_and_shows_what_is_kept(tool: ModuleType) -> None:
    assert tool.faults(tool.kept(), tool.executed()) == []


def test_a_cell_that_shows_something_else_is_a_fault(tool: ModuleType) -> None:
    without, other = tool.kept(), tool.kept()
    drawn = next(cell for cell in without.cells if "image/png" in tool.kinds(cell))
    drawn.outputs = []
    printed = next(
        o for cell in other.cells for o in cell.get("outputs", []) if "Privacy:" in o.get("text", "")
    )
    printed["text"] = printed["text"].replace("Privacy: epsilon", "Privacy: about epsilon")
    for changed in (without, other):
        assert len(tool.faults(tool.kept(), changed)) == 2  # the cell, and what to do


def test_the_page_has_its_figures_and_its_text(tool: ModuleType) -> None:
    page = tool.page()
    assert page.count("data:image/png;base64,") == 2  # the power of the plan, and the graph
    assert page.count("<svg") == 1  # the graph as a result shows itself
    for said in ("dc.plan(", "dc.discover(", "dc.ci_test(", "dc.effect(", "Privacy: epsilon 0.5"):
        assert said in page
    assert "Traceback" not in page
