"""The notebooks of the documentation run, and show what their pages show."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.long_file

ROOT = Path(__file__).parents[2]
TOOL, DOCS = ROOT / "tools" / "notebook.py", ROOT / "docs"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebook", TOOL)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("name", ["notebook", *sorted(p.stem for p in DOCS.glob("notebooks/*.ipynb"))])
def test_every_cell_runs_and_shows_what_is_kept(tool: ModuleType, name: str) -> None:
    (notebook,) = (one for one in tool.NOTEBOOKS if one.stem == name)
    assert tool.faults(tool.kept(notebook), tool.executed(notebook)) == []


def test_every_notebook_has_a_page(tool: ModuleType) -> None:
    pages = tool.pages()
    assert {"notebook.md", "notebooks/attacks.md"} <= pages.keys()
    assert len(pages) == len(tool.NOTEBOOKS)
    assert [name for name, page in pages.items() if "Traceback" in page or not page.startswith("# ")] == []


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
