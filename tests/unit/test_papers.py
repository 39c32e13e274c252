"""docs/papers.md: every row names a place that exists and a command, or a test, that exists; and its figures are so.

The page is written from ``experiments/papers.toml``, its figures are cells of finished pages, and they are
computed anew (``experiments/facts.py``) as far as that takes seconds, the others in the slow tests.
"""

from __future__ import annotations

import csv
import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcausal.cli import reproduce
from dpcausal.cli.app import app
from dpcausal.cli.audit import _methods
from dpcausal.cli.reproduce import FIGURES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


TOOL = runpy.run_path(str(ROOT / "tools" / "papers.py"))
FACTS: dict[str, dict[str, Any]] = TOOL["table"]()["facts"]


def test_the_page_is_written_from_the_table() -> None:
    assert TOOL["page"]() == PAGE


def test_a_bar_in_a_text_does_not_end_its_cell() -> None:
    line = TOOL["line_of"]("Definition 6", "", "|tau| in every block", "`tests/`")
    assert line == "| Definition 6 |  | \\|tau\\| in every block | `tests/` |\n"
    assert TOOL["cells"](line) == ["Definition 6", "", "\\|tau\\| in every block", "`tests/`"]


@cache
def computed() -> dict[str, Any]:
    """How each fact is computed anew."""
    script = reproduce.load(ROOT / "experiments" / FIGURES["facts"])
    return dict(script.COMPUTED)


def agrees(name: str) -> None:
    """Fail unless a fact, computed anew, is near what its page has."""
    there = float(TOOL["on_page"](FACTS[name]))
    assert abs(computed()[name]() - there) <= FACTS[name]["within"], (name, there)


@pytest.mark.parametrize("name", [name for name, f in FACTS.items() if "within" in f and not f.get("slow")])
def test_a_figure_of_the_page_is_so(name: str) -> None:
    agrees(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, fact in FACTS.items() if fact.get("slow")])
def test_a_simulated_figure_of_the_page_is_so(name: str) -> None:
    """Bounds are for 300 data sets or more: five standard errors of both runs, so a failure has P < 1e-5."""
    agrees(name)


def test_a_fact_may_be_the_least_or_the_most_of_many_cells() -> None:
    on_page, bounds = TOOL["on_page"], {"page": "gcm-constants", "row": ["*"], "column": "ours: T"}
    column = [on_page({**bounds, "row": [strength]}) for strength in ("10", "2", "1", "0.1")]
    assert on_page({**bounds, "take": "most"}) == max(column, key=float) == column[-1]
    assert on_page({**bounds, "take": "least"}) == min(column, key=float) == column[0]
    whole_row = {"page": "gcm-constants", "row": ["2"], "take": "least"}
    assert on_page(whole_row) == on_page(
        {**whole_row, "column": "share of a signal that the fit keeps, at most"}
    )
    held = {"page": "corrections.md", "below": "## Conditional Kendall", "row": ["Kendall 2/(n-1)"]}
    assert on_page({**held, "column": "replace-one"}) == "2.00"
    with pytest.raises(KeyError, match="no cell"):
        on_page({**bounds, "row": ["3"]})


def test_other_pages_quote_the_same_facts() -> None:
    """docs/corrections.md, which is written by hand: sentences with the facts as their pages have them now."""
    assert len(TOOL["table"]()["quote"]) > 15
    assert TOOL["not_quoted"]() == []
    filled = TOOL["filled"]("{one} and {two:.2f}, {two:.0f} at {one}", {"one": "0.5 at 10.5", "two": "4.496"})
    assert filled == ".5 at 10.5 and 4.50, 4 at .5 at 10.5"


def test_every_fact_is_quoted_and_computed() -> None:
    told = [one["says"] for kind in ("row", "quote") for one in TOOL["table"]()[kind]]
    quoted = {name for says in told for name in re.findall(r"\{(\w+)[:}]", says)}
    assert quoted == set(FACTS)
    assert {name for name, fact in FACTS.items() if "within" in fact} == set(computed())


def test_the_rankings_of_figure_1_are_those_of_the_points_that_were_kept() -> None:
    """The claims on who is above whom, split by total: from the file with all points, as printed and ours."""
    figure = reproduce.load(ROOT / "experiments" / FIGURES["priv-pc-figure1"])
    page = (ROOT / "docs" / "figures" / "priv-pc-figure1.md").read_text(encoding="utf-8")
    with (ROOT / "docs" / "figures" / "priv-pc-figure1.csv").open(encoding="utf-8") as file:
        kept = [
            figure.Point(row["network"], row["method"], *(float(cell) for cell in list(row.values())[2:]))
            for row in csv.DictReader(file)
            if row["method"] != "pc"
        ]
    drivers = [
        [point for point in kept if (point.method in figure.DRIVERS) is ours] for ours in (False, True)
    ]
    told = [*figure.rankings(drivers[0], figure.PAIRS), *figure.rankings(drivers[1], figure.OURS)]
    assert len(told) == 12
    assert [row for row in told if f"| {' | '.join(row)} |" not in page] == []


@pytest.mark.slow
def test_points_of_figure_1_are_computed_anew() -> None:
    """On cancer, all seeds: what the rankings are made of. Data and noise are seeded, so equal means equal."""
    figure = reproduce.load(ROOT / "experiments" / FIGURES["priv-pc-figure1"])
    page = (ROOT / "docs" / "figures" / "priv-pc-figure1.md").read_text(encoding="utf-8")
    labels = (figure.PRIV_PC, figure.LINE_12, figure.SVT, figure.EM, figure.EM_TIES)
    points = [one for label in labels for one in figure.published_points("cancer", 5, label, False)]
    lines = figure.claims(points)[2:]
    assert len(lines) > 50
    assert [line for line in lines if line not in page] == []


@pytest.mark.slow
def test_small_totals_and_both_searches_are_computed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Footnote 5, and the search that is printed beside the stable one: the lines of cancer, all seeds."""
    small = reproduce.load(ROOT / "experiments" / FIGURES["priv-pc-small"])
    monkeypatch.setattr(small, "NETWORKS", ("cancer",))
    small.main(quick=False, out=tmp_path)
    made = (tmp_path / "priv-pc-small.md").read_text(encoding="utf-8").splitlines()
    lines = [line for line in made if line.startswith("| cancer")]
    page = (ROOT / "docs" / "figures" / "priv-pc-small.md").read_text(encoding="utf-8")
    assert len(lines) == 6
    assert [line for line in lines if line not in page] == []


def test_both_pages_rank_the_printed_search_alike() -> None:
    """What priv-pc-small counts beside the stable search is what figure 1 has."""
    figure, small = (
        (ROOT / "docs" / "figures" / f"priv-pc-{name}.md").read_text(encoding="utf-8")
        for name in ("figure1", "small")
    )
    ranked = [line for line in small.splitlines() if line.startswith("| printed | Priv-PC")]
    assert len(ranked) == 3
    assert [line for line in ranked if f"\n{line.removeprefix('| printed ')}\n" not in figure] == []


def rows() -> list[list[str]]:
    """The rows of all tables, without heads."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| what")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines]


def names(command: str) -> set[str]:
    """Names of commands of the command line."""
    return {
        info.name or (info.callback.__name__ if info.callback else "") for info in app.registered_commands
    } | {group.name for group in app.registered_groups if group.name}


def check(command: str) -> None:
    """Fail unless the command, script or test exists."""
    words = command.split()
    if words[0] == "dpcausal":
        assert words[1] in names(command), command
        if words[1] == "reproduce":
            assert words[2] in FIGURES, command
        if words[1] == "audit":
            assert words[2] in _methods() or ":" in words[2], command
        return
    if words[0] == "python":
        assert (ROOT / words[1]).is_file(), command
        return
    file, _, test = command.partition("::")
    assert (ROOT / file).is_file(), command
    if test:
        assert f"def {test.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8"), command


def commands(cell: str) -> list[str]:
    """What stands in backticks and is a command, a script or a test."""
    return [text for text in re.findall(r"`([^`]+)`", cell) if re.match(r"dpcausal |python |tests/", text)]


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0][:40]}")
def test_every_row_shows_something_that_exists(row: list[str]) -> None:
    assert len(row) == 4  # a bar within a text does not end its cell
    assert commands(row[-1]), row
    for command in commands(row[-1]):
        check(command)


def test_places_exist() -> None:
    """A file named as a place is one, below the package or the root."""
    for row in rows():
        for text in re.findall(r"`([\w/.-]+\.(?:py|md|csv))`", row[1]):
            assert any((base / text).is_file() for base in (ROOT / "src" / "dpcausal", ROOT)), text


# what each paper numbers; 001 and 004 are appendices, and have these alone
NUMBERED = {
    "003": ["Algorithm 1-6", "Definition 1-10", "Theorem 1-9", "Table 1-2", "Figure 1"],
    "000": ["Algorithm 3-6", "Definition 5-10", "Theorem 4-9"],
    "001": ["Lemma 1", "Equation 14-17"],
    "002": [
        *(
            "Algorithm 1-2",
            "Figure 1-9",
            "Equation 1-5",
            "Definition 1.1",
            "Definition 2.1",
            "Definition A.1",
        ),
        *("Definition 3.1", "Definition 3.4", "Definition 3.5", "Theorem 1.2", "Theorem 2.2", "Theorem 2.3"),
        *("Theorem 3.3", "Theorem 3.6", "Theorem B.1", "Theorem B.3", "Lemma 3.2", "Lemma C.1", "Lemma A.2"),
        *("Lemma A.3", "Lemma B.6", "Lemma B.8", "Lemma B.9", "Lemma B.10", "Lemma B.11", "Claim B.2"),
        *("Claim B.4", "Claim B.12", "Claim B.13", "Claim B.14", "Corollary B.5", "Corollary B.7"),
    ],
    "004": [
        "Algorithm 1-4",
        "Lemma 1-2",
        "Theorem 2",
        "Theorem 3",
        "Theorem 5",
        "Theorem 7",
        "Equation 8-13",
    ],
}


def each(items: str) -> list[str]:
    """All of "Algorithm 1-3"."""
    kind, _, numbers = items.rpartition(" ")
    first, _, last = numbers.partition("-")
    return [f"{kind} {number}" for number in range(int(first), int(last) + 1)] if last else [items]


@pytest.mark.parametrize("paper", NUMBERED)
def test_all_that_a_paper_numbers_has_a_row(paper: str) -> None:
    section = PAGE.split(f"\n## {paper}\n")[1].split("\n## ")[0]
    named = set()
    for row in re.findall(r"^\| ([^|]*) \|", section, flags=re.MULTILINE):
        for kind, rest in re.findall(
            r"(Algorithm|Definition|Theorem|Lemma|Claim|Corollary|Figure|Table|Equation) ([^a-z]*(?:and [\w.]+)?)",
            row,
        ):
            named |= {f"{kind} {number}" for number in re.findall(r"[A-C]?\.?\d+(?:\.\d+)?", rest)}
    wanted = {one for items in NUMBERED[paper] for one in each(items)}
    assert wanted - named == set()


DATA_SETS = {"003": ("Earthquake", "Cancer", "Asia", "Survey"), "002": ("Concrete Compressive Strength",)}


@pytest.mark.parametrize("paper", DATA_SETS)
def test_every_data_set_has_a_row_of_its_own(paper: str) -> None:
    section = PAGE.split(f"\n## {paper}\n")[1].split("\n## ")[0]
    firsts = re.findall(r"^\| ([^|]*) \|", section, flags=re.MULTILINE)
    assert [name for name in DATA_SETS[paper] if firsts.count(name) != 1] == []


@pytest.mark.parametrize("paper", NUMBERED)
def test_no_row_stands_for_two_theorems(paper: str) -> None:
    """One row each: the numbers at the beginning of a row are one."""
    section = PAGE.split(f"\n## {paper}\n")[1].split("\n## ")[0]
    firsts = re.findall(r"^\| ((?:[A-Z][a-z]+) [A-C]?\.?\d[^,|(]*)", section, flags=re.MULTILINE)
    assert firsts
    assert [first for first in firsts if " and " in first] == ["Equation 17 and C/sqrt"] * (paper == "001")


def test_moments_of_laplace_noise() -> None:
    """Claims B.12 to B.14 of 002: the second moment is 2 sigma^2, the largest of n is at most sigma (1 + ln n)."""
    noise = np.random.default_rng(4).laplace(0, 3.0, (20_000, 50))
    assert np.mean(noise**2) == pytest.approx(18.0, rel=0.02)  # standard error .004 of it
    assert np.mean(np.abs(noise).max(axis=1)) <= 3.0 * (1 + np.log(50))
    other = np.random.default_rng(5).exponential(2.0, noise.shape)
    assert np.mean(np.abs(noise + other) ** 3) <= 4 * (np.mean(np.abs(noise) ** 3) + np.mean(other**3))


def test_limits_of_noisy_products() -> None:
    """Lemmas B.8 to B.11 of 002 as PrivGCM uses them: with noise on every product, the mean and the variance tend to
    theirs, and their ratio to a normal law. 2,000 sets of 2,000 products: bounds are five standard errors."""
    rng = np.random.default_rng(6)
    scores = []
    for _ in range(2000):
        noisy = rng.normal(size=2000) * rng.normal(size=2000) + rng.laplace(0, 3.0, 2000)
        scores.append((np.sqrt(2000) * noisy.mean() / noisy.std(), noisy.var()))
    ratio, variance = np.array(scores).T
    assert abs(ratio.mean()) < 5 / np.sqrt(2000)
    assert ratio.std() == pytest.approx(1.0, abs=5 / np.sqrt(2 * 2000))
    assert np.mean(np.abs(ratio) > 1.96) == pytest.approx(0.05, abs=5 * np.sqrt(0.05 * 0.95 / 2000))
    assert variance.mean() == pytest.approx(1 + 2 * 3.0**2, rel=0.01)
