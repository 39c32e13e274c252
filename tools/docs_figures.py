"""The overview of reproduced figures: what `dpcausal reproduce` knows, in words, with the page that shows it."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
INTRO = """# Papers, reproduced

`dpcausal reproduce FIGURE` makes a paper's figure or table from scratch, in a source checkout; `--quick` takes few
repetitions, and the last column has its CPU seconds (`benchmarks/reproduce_times.py`). Data and noise are seeded, so a
figure is repeatable, and not private (the data are synthetic or public). Methods as published stand beside ours where
both can run; what we changed and why is in [corrections](corrections.md).

| command | what it shows | page | `--quick`, CPU s |
|---|---|---|---|
"""
TIMES = ROOT / "benchmarks" / "results" / "reproduce_times.txt"


def about(script: Path) -> str:
    """The first sentence or line of the script's docstring."""
    said = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    return said.split("\n")[0].rstrip(".").replace("|", "\\|")


def shown_on(name: str) -> str:
    """A link to the page about a figure: its own, else one that names it, else nothing."""
    own = [DOCS / "figures" / f"{stem}.md" for stem in (name, name.replace("-", "_"))]
    named = [page for page in own if page.is_file()]
    named = named or [page for page in sorted(DOCS.glob("*.md")) if name in page.read_text(encoding="utf-8")]
    return f"[{named[0].stem}]({named[0].relative_to(DOCS).as_posix()})" if named else ""


def times() -> dict[str, str]:
    """CPU seconds of each figure with ``--quick``, as they were printed last."""
    lines = TIMES.read_text(encoding="utf-8").splitlines() if TIMES.is_file() else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1] for row in rows if len(row) == 4}


def figures_page() -> str:
    """The page."""
    from dpcausal.cli.reproduce import FIGURES

    quick = times()
    rows = [
        f"| `dpcausal reproduce {name}` | {about(ROOT / 'experiments' / script)} | {shown_on(name)} "
        f"| {quick.get(name, '')} |"
        for name, script in FIGURES.items()
        if (ROOT / "experiments" / script).is_file()
    ]
    return INTRO + "\n".join(rows) + "\n"
