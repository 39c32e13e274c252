"""Write docs/papers.md from experiments/papers.toml: what we say of each item of the five papers.

    python tools/papers.py [--check]

Figures in the texts are names in braces: facts, each a cell of a finished page below docs, rounded where the name is
followed by a format. A row is linked to the pages and pictures that its commands make. A quote is a sentence
with facts that stands on another page, which is written by hand: it is only looked up there. ``--check``: is the page
up to date, and does every quote stand on its page?
"""

from __future__ import annotations

import re
import sys
import textwrap
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGE, FIGURES = DOCS / "papers.md", DOCS / "figures"
HEAD = """# The five papers, row by row

<!-- Written by tools/papers.py from experiments/papers.toml. -->

Every algorithm, theorem, statistic, figure, table and data set of each paper: where it is, whether it is as printed
or corrected, and the command that shows it (`dpcausal reproduce --list` has all of them). Figures in a row are those
of the finished page; with `--quick` fewer repetitions give others, near them. A test asks for a row of everything
that a paper numbers. *As printed*, of an algorithm, means its printed steps, which `variant="paper"` runs (`--option
variant=paper` on the command line, where it is private); what a paper leaves open (thresholds, a delta, ties) is
filled as its page says, from the authors' code where there is one. What is wrong in a paper, and the evidence, is in
[Corrections](corrections.md). The papers are named by their files: 003 is Wang, Pang & Song 2020 (Priv-PC), 000 its
appendix in an earlier layout, 001 the appendix of CURATE, 002 Kalemaj, Kasiviswanathan & Ramdas 2024 (private GCM and
CRT), 004 the appendix on the unit circle.
"""
COLUMNS = "| what | where | as printed or corrected | shown by |\n|---|---|---|---|\n"


def table() -> dict[str, Any]:
    """The table of facts and rows."""
    return tomllib.loads((ROOT / "experiments" / "papers.toml").read_text(encoding="utf-8"))


def cells(line: str) -> list[str]:
    """The cells of a row of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def line_of(*texts: str) -> str:
    """A row of a table; a bar in a text does not end its cell."""
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |\n"


def on_page(fact: dict[str, Any]) -> str:
    """The cell of a finished page that a fact is; with ``take`` the least or most number of all that fit."""
    lines = page_lines(fact["page"])
    start = next(i for i, line in enumerate(lines) if fact.get("below", "") in line)
    heads: list[str] = []
    fit: list[str] = []
    for before, line in zip(lines[start:], lines[start + 1 :], strict=False):
        if line.startswith("|---"):
            heads = cells(before)
        elif not line.startswith("| "):
            if fit:
                break
            heads = []
        elif heads and fits(cells(line), fact["row"]):
            fit += [
                cell
                for head, cell in zip(heads, cells(line), strict=True)
                if head == fact.get("column", head) and head not in heads[: len(fact["row"])]
            ]
    if not fit:
        raise KeyError(f"no cell {fact['row']}, {fact.get('column')} on {fact['page']}")
    return sorted(fit, key=float)[{"least": 0, "most": -1}[fact["take"]]] if "take" in fact else fit[0]


@cache
def page_lines(name: str) -> list[str]:
    """The lines of a finished page: a name below docs/figures, or a path below docs."""
    path = DOCS / name if name.endswith(".md") else FIGURES / f"{name}.md"
    return path.read_text(encoding="utf-8").splitlines()


def fits(line: list[str], row: list[str]) -> bool:
    """Whether a line of a table begins with the cells of ``row``; a star stands for any."""
    return all(wanted in ("*", cell) for wanted, cell in zip(row, line, strict=False))


def shown(cell: str) -> str:
    """The commands of a row, with links to the pages and pictures that they make."""
    links = []
    for name in dict.fromkeys(re.findall(r"dpcausal reproduce ([\w-]+)", cell)):
        stem = name.replace("gcm-figure", "gcm_figure").replace("gcm-test-of-tests", "gcm_test_of_tests")
        if (FIGURES / f"{stem}.md").is_file():
            links.append(f"[page](figures/{stem}.md)")
        pictures = [path for path in (f"{stem}.png", f"{stem}-skeleton.png") if (FIGURES / path).is_file()]
        links += [f"[picture](figures/{path})" for path in pictures]
    return ", ".join([cell, *links])


def filled(text: str, facts: dict[str, str]) -> str:
    """A text with its facts, no 0 before a point: {name}, or {name:.2f} for fewer places."""

    def value(found: re.Match[str]) -> str:
        name, form = found.groups()
        cell = facts[name] if form is None else format(float(facts[name]), form)
        return re.sub(r"(?<!\d)0\.", ".", cell)

    return re.sub(r"\{(\w+)(?::([^}]*))?\}", value, text)


def all_facts(known: dict[str, Any]) -> dict[str, str]:
    """Every fact as its page has it."""
    return {name: on_page(fact) for name, fact in known["facts"].items()}


def not_quoted() -> list[str]:
    """The quotes that do not stand on their pages, with the facts as they are."""
    known = table()
    facts, absent = all_facts(known), []
    for quote in known["quote"]:
        text = " ".join((ROOT / quote["page"]).read_text(encoding="utf-8").split())
        if (says := filled(quote["says"], facts)) not in text:
            absent.append(f"{quote['page']} lacks: {says}")
    return absent


def page() -> str:
    """The whole page."""
    known = table()
    facts = all_facts(known)
    parts = [HEAD]
    for paper in known["paper"]:
        about = textwrap.fill(paper["about"], 120, break_on_hyphens=False, break_long_words=False)
        parts.append(f"\n## {paper['id']}\n\n{about}\n\n{COLUMNS}")
        for row in known["row"]:
            if row["paper"] == paper["id"]:
                says = filled(row["says"], facts)
                parts.append(line_of(row["what"], row["where"], says, shown(row["shown"])))
    return "".join(parts)


def main() -> int:
    """Write, or compare."""
    new, absent = page(), not_quoted()
    for line in absent:
        print(line)
    if "--check" in sys.argv[1:]:
        same = PAGE.read_text(encoding="utf-8") == new
        print("papers.md:", "up to date" if same else "not up to date: run python tools/papers.py")
        return int(not same or bool(absent))
    PAGE.write_text(new, encoding="utf-8")
    return int(bool(absent))


if __name__ == "__main__":
    sys.exit(main())
