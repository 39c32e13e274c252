"""``docs/utility.md`` shows what ``benchmarks/utility.py --brief`` prints, and claims no more than that."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "benchmarks"))

from utility import RESULTS, RIVALS, Point, Results, alarm_grid, brief, scored, small_grid  # noqa: E402

PAGE = (ROOT / "docs" / "utility.md").read_text(encoding="utf-8")


def lines() -> list[list[str]]:
    """The cells of every line of the page's table."""
    shown = re.search(r"^\| network .*?\n\n", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert shown
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown[0].strip().splitlines()[2:]]


def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    brief(Results(RESULTS), [*small_grid(), *alarm_grid()], 0.01)
    assert capsys.readouterr().out.strip() in PAGE


def test_bold_is_the_highest_and_every_tie() -> None:
    assert scored("", 0.981, 1.0, 20, 20) == "0.98"
    assert scored("em-pc", 0.996, 1.0, 20, 20) == "em-pc **1.00**"
    for _, _, _, _, ours, rival, _, _ in lines():
        if rival == "none was run":
            continue
        for one, other in zip(ours.split(" / "), rival.split(" / "), strict=True):
            a, b = (re.search(r"(\*\*)?(\d\.\d\d)", cell) for cell in (one, other))
            assert a
            assert b
            highest = max(a[2], b[2])
            assert (a[1] is not None, b[1] is not None) == (a[2] == highest, b[2] == highest)


def test_seeds_are_those_of_the_cell() -> None:
    assert scored("mst + pc", 0.6, 0.8, 2, 20) == "mst + pc 0.60 (2)"
    rivals, results, checked = Results(RIVALS), Results(RESULTS), 0
    for network, rows, relation, epsilon, _, rival, _, seeds in lines():
        n, budget = int(rows.replace(",", "")), float(epsilon)
        for cell in rival.split(" / ") if rival != "none was run" else []:
            name = cell.split(" ")[0]
            if name in ("mst", "aim"):
                runs = rivals.runs[f"{name}|{network}|{n}|{budget}|0.01"]
            else:
                runs = results.runs[Point(name, network, n, relation, budget, 0.01).key]
            said = re.search(r"\((\d+)\)$", cell)
            assert len(runs) == int(said[1] if said else seeds), (network, rows, epsilon, cell)
            checked += 1
    assert checked > 40
