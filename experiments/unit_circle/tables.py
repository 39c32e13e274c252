"""Printing and writing of the unit circle's experiments: a page and a CSV each."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console


def finish(
    out: Path,
    stem: str,
    quick: bool,
    title: str,
    text: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> None:
    """Print the table; write STEM.md and STEM.csv."""
    name = stem + ("-quick" if quick else "")
    lines = [f"# {title}", "", textwrap.fill(" ".join(text.split()), 116, break_on_hyphens=False), ""]
    lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    (out / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])
    Console(width=300, soft_wrap=True).print("\n".join(lines), markup=False, highlight=False)
