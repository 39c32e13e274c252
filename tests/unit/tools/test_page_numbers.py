"""tools/page_numbers.py: a number that drifted is seen, and every entry names what exists."""

from __future__ import annotations

import csv
import importlib.util
import re
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpcausal.cli.reproduce import FIGURES
from dpcausal.networks import load as load_network

ROOT = Path(__file__).resolve().parents[3]


def load() -> Any:
    spec = importlib.util.spec_from_file_location("page_numbers", ROOT / "tools" / "page_numbers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["page_numbers"] = module
    spec.loader.exec_module(module)
    return module


NUMBERS = load()
PAGE = "# A page\n\nWords.\n\n## Level\n\n| n | share |\n|---|---|\n| 10 | 0.05 |\n| 20 | 0.06 |\n\nMore.\n"
ENTRY = NUMBERS.Entry("docs/page.md", "## Level", ("x.py",))


def test_a_table_that_a_command_prints_agrees() -> None:
    assert NUMBERS.drifted(PAGE, "hello\n| n | share |\n|---|---|\n|10|0.05|\n| 20 |  0.06 |\n", ENTRY) == []


@pytest.mark.parametrize(
    "printed", ["", "| 10 | 0.05 |\n", "| 10 | 0.05 |\n| 20 | 0.07 |\n", "| 10 | 0.06 |\n| 20 | 0.06 |\n"]
)
def test_a_number_that_drifted_is_seen(printed: str) -> None:
    assert NUMBERS.drifted(PAGE, printed, ENTRY)


def test_a_text_must_be_in_both() -> None:
    entry = NUMBERS.Entry("docs/page.md", "## Level", ("x.py",), text="p = 0.05")
    assert NUMBERS.drifted("so p =\n0.05 here", "p = 0.05", entry) == []
    assert NUMBERS.drifted("so p = 0.05", "p = 0.06", entry)
    assert NUMBERS.drifted("so p = 0.06", "p = 0.05", entry)


def test_a_page_without_the_line_or_the_table_is_an_error() -> None:
    with pytest.raises(LookupError, match="no line"):
        NUMBERS.table_below(PAGE, "## Power")
    with pytest.raises(LookupError, match="no table"):
        NUMBERS.table_below("## Level\n\nWords.\n", "## Level")


@pytest.mark.parametrize(
    ("printed", "agrees"),
    [("n 10: 5%, n 20: 0.06", True), ("n 10: .05, n 20: .07", False), ("n 10: .05, n 20", False)],
)
def test_without_markdown_every_number_must_have_been_printed(printed: str, agrees: bool) -> None:
    loose = NUMBERS.Entry("docs/page.md", "## Level", ("x.py",), loose=True)
    assert (NUMBERS.drifted(PAGE, printed, loose) == []) == agrees


def test_all_tables_of_a_page_and_the_second_below_a_line() -> None:
    page = PAGE + "\n| n | share |\n|---|---|\n| 30 | 0.07 |\n"
    assert NUMBERS.table_below(page, "## Level", 2)[1:] == [("30", ".07")]
    whole = NUMBERS.Entry("docs/page.md", "*", ("x.py",))
    assert NUMBERS.drifted(page, "| 10 | 0.05 |\n| 20 | 0.06 |\n", whole) == ["30 | .07"]


def test_every_row_of_a_spot_check_must_be_on_the_page() -> None:
    head = "| n | share |\n|---|---|\n"
    other = "\n| n | share | time |\n|---|---|---|\n| 10 | 0.07 | 3 |\n\n| k | share |\n|---|---|\n| 10 | 0.07 |\n"
    assert NUMBERS.strangers(PAGE, head + "| 20 | .06 |\n" + other, ENTRY) == []
    assert NUMBERS.strangers(PAGE, head + "| 20 | .06 |\n| 10 | .06 |\n", ENTRY) == ["10 | .06"]
    with pytest.raises(LookupError, match="no row was printed"):
        NUMBERS.strangers(PAGE, other, ENTRY)


def test_every_table_of_numbers_has_an_entry() -> None:
    assert NUMBERS.without_entry() == []


ENTRIES = NUMBERS.entries()


@cache
def printed_once(command: tuple[str, ...]) -> str:
    """Several tables may be of one command."""
    return str(NUMBERS.printed_by(command))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_names_what_exists_and_agrees_with_what_was_kept(entry: Any) -> None:
    page = NUMBERS.page_of(entry)
    assert entry.text in page
    assert NUMBERS.wanted_rows(page, entry), entry.name
    assert entry.command or entry.test or entry.missing
    if entry.command[:3] == ("-m", "dpcausal", "reproduce"):
        assert entry.command[3] in FIGURES
    elif entry.command:
        assert (ROOT / entry.command[0]).is_file()
    assert not entry.spot or entry.long
    assert not entry.spot or entry.spot[0] == entry.command[0]
    if entry.test:
        assert (ROOT / entry.test).is_file()
    if entry.kept:
        assert NUMBERS.drifted(page, (ROOT / entry.kept).read_text(encoding="utf-8"), entry) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [one for one in ENTRIES if one.command and not (one.long or one.clock or one.missing)],
    ids=lambda entry: entry.name,
)
def test_the_page_has_what_the_command_prints(entry: Any) -> None:
    assert NUMBERS.drifted(NUMBERS.page_of(entry), printed_once(entry.command), entry) == []


@pytest.mark.slow
@pytest.mark.parametrize("entry", [one for one in ENTRIES if one.spot], ids=lambda entry: entry.name)
def test_the_page_has_the_rows_of_a_spot_check(entry: Any) -> None:
    assert NUMBERS.strangers(NUMBERS.page_of(entry), printed_once(entry.spot), entry) == []


def test_pages_of_gcm_figures_are_those_of_their_rates() -> None:
    """docs/figures/NAME.md holds the table that the experiment makes of NAME.csv."""
    found = 0
    for path in sorted((ROOT / "docs" / "figures").glob("gcm_*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rates = {
                (*NUMBERS.cells(f"| {row['panel']} | {row['method']} |"), float(row["at"])): int(
                    row["rejected"]
                )
                / int(row["reps"])
                for row in csv.DictReader(file)
            }
        ((_, _, rows),) = NUMBERS.tables(path.with_suffix(".md").read_text(encoding="utf-8"))
        ats = [float(cell) for cell in rows[0][2:]]
        for panel, method, *shares in rows[1:]:
            for at, share in zip(ats, shares, strict=True):
                key = (panel, method, at)
                assert share == (f"{rates[key]:.3f}".removeprefix("0") if key in rates else ""), (
                    path.name,
                    key,
                )
                found += key in rates
    assert found > 500


def test_table_2_is_that_of_its_times() -> None:
    """docs/figures/priv-pc-table2.md rounds priv-pc-table2.csv, and what docs/priv_pc.md says of it is so."""
    page = (ROOT / "docs" / "figures" / "priv-pc-table2.md").read_text(encoding="utf-8")
    (_, _, (heads, *shown)), (_, _, (_, *theirs)), _, (_, _, (_, *paper)), (_, _, (_, *edges)) = (
        NUMBERS.tables(page)
    )
    with (ROOT / "docs" / "figures" / "priv-pc-table2.csv").open(encoding="utf-8", newline="") as file:
        times = list(csv.DictReader(file))
    assert [(row["unit"], row["network"]) for row in times] == [row[:2] for row in shown]
    for row, (_, _, *rounded) in zip(times, shown, strict=True):
        for name, cell in zip(heads[2:], rounded, strict=True):
            assert abs(float(row[name]) - float(cell)) <= 0.0501, (row, name)
        assert float(row["priv-pc"]) < float(row["priv-pc, subsample"])
    for network, em, _, priv, *_, ratio, _, gained in theirs:
        assert max(float(ratio), float(gained)) < 1, network  # as docs/corrections.md says: it turns around
        assert abs(float(em) / float(priv) - float(ratio)) < 0.06
    seconds = {name: [float(row[at]) for row in paper] for at, name in ((3, "em-pc"), (5, "priv-pc"))}
    assert [round(end(seconds[name])) for name in seconds for end in (min, max)] == [65, 532, 2, 16]
    assert [(name, len(load_network(name).dag.skeleton)) for name, *_ in edges] == [
        (name, int(here)) for name, here, _ in edges
    ]


def test_levels_are_those_of_the_settings() -> None:
    """The summary of docs/citests.md is that of every setting in docs/figures/citests-tables.md, up to rounding."""
    text = (ROOT / "docs" / "figures" / "citests-tables.md").read_text(encoding="utf-8")
    rates: dict[str, list[float]] = {}
    test = ""
    for line in text.partition("## Level")[2].partition("## Power")[0].splitlines():
        words = line.split()
        if line.startswith("level: "):
            test = words[1]
        elif words and words[0].isdigit():  # n, k, a rate for each epsilon, and the rate without privacy
            rates.setdefault(test, []).extend(float(word) for word in words[2:-1] if word != "-")
    page = (ROOT / "docs" / "citests.md").read_text(encoding="utf-8")
    rows = NUMBERS.table_below(page, "## Level")[1:]
    assert len(rows) == len(rates)
    for name, *numbers in rows:
        found = rates[name.split()[0]]
        count, least, most, below, above = map(float, numbers)
        assert (count, least, most) == (len(found), min(found), max(found))
        for told, outside, edge in (
            (below, sum(rate < 0.035 for rate in found), found.count(0.035)),
            (above, sum(rate > 0.065 for rate in found), found.count(0.065)),
        ):
            assert outside <= told <= outside + edge  # a rate on the edge was rounded


def test_sensitivities_are_the_largest_of_their_shapes() -> None:
    """The first table of sensitivities in docs/citests.md, from what sensitivity_rank.py --quick printed."""
    kept = (ROOT / "benchmarks" / "results" / "sensitivity_rank_quick.txt").read_text(encoding="utf-8")
    largest: dict[tuple[str, str], float] = {}
    for relation, found in re.findall(r"^  (add-remove|replace-one) +k=\d \dx\d  (.*)$", kept, re.M):
        for name, ratio in re.findall(r"(\S.*?) (\d\.\d{3})(?:  |$)", found):
            key = relation, name.replace(",", ", ").replace("_a", "-a")
            largest[key] = max(largest.get(key, 0.0), float(ratio))
    page = (ROOT / "docs" / "citests.md").read_text(encoding="utf-8")
    (_, *names), *rows = NUMBERS.table_below(page, "## Sensitivity")
    assert [row[0] for row in rows] == ["add-remove", "replace-one"]
    for relation, *ratios in rows:
        assert [float(ratio) for ratio in ratios] == [largest[relation, name] for name in names]


def test_what_the_page_says_of_speed_is_so() -> None:
    """docs/citests.md: kendall and spearman alone take at most 200 microseconds from the counts."""
    kept = (ROOT / "benchmarks" / "results" / "citests_speed.txt").read_text(encoding="utf-8")
    ((_, _, (_, *rows)),) = NUMBERS.tables(kept)
    least = {(test, k): int(cell.partition(", ")[0].replace(",", "")) for test, k, _, cell in rows}
    assert len(least) == 19
    for (test, _), microseconds in least.items():
        assert (microseconds <= 200) == (test in ("kendall", "spearman")), test


def test_planted_bugs_are_counted_as_in_what_was_kept() -> None:
    """docs/audits.md: the list as it is, and two runs as tools/mutants.py printed them."""
    page = (ROOT / "docs" / "audits.md").read_text(encoding="utf-8")
    with (ROOT / "tools" / "mutants.toml").open("rb") as file:
        listed = tomllib.load(file)["mutant"]
    rooms = Counter(one["rooms"][0] for one in listed)
    told = f"{len(listed)}: " + ", ".join(f"{room} {count}" for room, count in rooms.most_common())
    assert sorted(re.findall(r"\w+ \d+", told)) == sorted(
        re.findall(r"\w+ \d+", re.search(r"\| (\d+: \w+ \d+, [^|]*) \|", page)[1])  # type: ignore[index]
    )
    assert f"| {len(listed)}: " in page
    kept = {}
    for name in ("wiring", "all", "fresh"):
        text = (ROOT / "benchmarks" / "results" / f"mutants_{name}.txt").read_text(encoding="utf-8")
        kept[name] = Counter(tuple(line.split()[:2]) for line in text.splitlines() if " s  " in line)
        kept[name].update(
            ("equivalent", "own") for _ in re.findall(r"^1 mutants: 0 killed, 1 eq", text, re.M)
        )
    (_, _, wiring), (_, _, whole) = NUMBERS.table_below(page, "## The nets and the planted bugs", 2)[1:]
    assert set(kept["fresh"]) == {("killed", "own")}
    assert f" {kept['fresh'].total()} killed (`mutants_fresh.txt`)" in " ".join(page.split())
    own = kept["wiring"]["killed", "own"]
    others = sum(kept["wiring"].values()) - own - 1
    assert wiring == f"{own} killed, 1 equivalent; {others} killed by other tests only"
    status = Counter[str]()
    for (state, _), count in kept["all"].items():
        status[state] += count
    words = f"{status['killed']} killed, {status['equivalent']} equivalent, {status['survived']} survived"
    assert whole == words
    assert f"| all {status.total()} |" in page  # as many as there were at that commit


def test_who_is_above_whom_is_told_as_in_the_table() -> None:
    """docs/corrections.md quotes the counts of docs/figures/priv-pc-figure1.md."""
    page = (ROOT / "docs" / "figures" / "priv-pc-figure1.md").read_text(encoding="utf-8")
    text = " ".join((ROOT / "docs" / "corrections.md").read_text(encoding="utf-8").split())
    theirs, ours = (NUMBERS.table_below(page, "## Who is above whom", table)[1:] for table in (1, 2))
    counts = {name: told for name, *told in (*theirs, *ours)}
    svt, em = "SVT-PC as described", "EM-PC by {}"
    for name, words in (
        ("priv-pc over svt-pc", "(ours) Priv-PC has {3} against SVT-PC"),
        ("priv-pc over em-pc", "and {3} against EM-PC"),
        (f"Priv-PC as printed over {svt}", "Priv-PC as printed has {3}. So not always."),
        (f"Priv-PC, line 12 without sqrt(n/m) over {svt}", "Without the factor in line 12 it has {3}"),
        (f"Priv-PC, no subsample over {svt}", "without a subsample {3}"),
        (f"Priv-PC as printed over {em.format('K with ties')}", "From 20 on it is {2} if EM-PC"),
        (f"Priv-PC as printed over {em.format('tau-a')}", "below 10 it is {0}."),
        (f"Priv-PC as printed over {em.format('tau-a')}", "and {2} if EM-PC scores by the same tau-a"),
    ):
        assert words.format(*counts[name]) in text, name
