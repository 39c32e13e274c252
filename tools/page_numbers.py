"""Compare the numbers in the documentation with what commands of the repository print.

    python tools/page_numbers.py check                # every table of a page against what was kept of its command
    python tools/page_numbers.py run [--long] [WORD]  # run the commands and compare; --long: those of many minutes, too
    python tools/page_numbers.py keep WORD            # run the commands of entries that name WORD; keep what they print
    python tools/page_numbers.py list                 # which table is held against what

An entry of ``tools/page_numbers.toml`` names a table: a page, a line on it (``below``) and, where several tables follow
that line, which one (``table``, from 1). The rows of the table must all be among the rows that were printed, in
Markdown, up to blanks, marks and a zero before the point. With ``below = "*"`` that holds for every table of the page.
With ``text`` it is this text that both must hold. With ``loose`` the command prints no Markdown, and every number of
the table must be among the numbers that it printed.

``command``  prints the rows. Data and noise are seeded, so equal means equal. ``long``: it takes many minutes.
``kept``     a file with what the command printed. The page is held against it in ``make test``.
``spot``     a command that prints some of the rows within a minute or two, below as many heads and the same first one:
             ``make test-all`` runs it, and every row must be on the page. For seeded tables of many minutes.
``clock``    seconds, a machine's speed or noise that is not seeded: a new run differs, so only ``kept`` is compared.
``test``     no command: a test, or the doctests of a file, holds these numbers.
``missing``  why nothing holds them. ``list`` ends with these.

Every table of numbers below ``docs/`` has an entry, or a program that writes it (``WRITTEN``): a test asks for that.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REGISTRY = ROOT / "tools" / "page_numbers.toml"
WRITTEN = {  # pages that a program writes as a whole, and what compares them
    "docs/gcm_figures.md": "tools/gcm_page.py --check, in make test",
    "docs/hospital.md": "benchmarks/hospital.py page, from benchmarks/results; tests/unit/tools/test_hospital_page.py",
    "docs/hospital_tables.md": "as docs/hospital.md",
    "docs/papers.md": "tools/papers.py --check; tests/unit/test_papers.py computes its figures",
}
FEW = 4  # a table with fewer numbers is one of words


@dataclass(frozen=True)
class Entry:
    """A table, or a text, of a page and what it is held against."""

    page: str
    below: str
    command: tuple[str, ...] = ()
    table: int = 1
    text: str = ""
    loose: bool = False
    kept: str = ""
    spot: tuple[str, ...] = ()
    long: bool = False
    clock: bool = False
    test: str = ""
    missing: str = ""

    @property
    def name(self) -> str:
        """How it is called in messages."""
        which = f" ({self.table})" if self.table > 1 else ""
        return f"{self.page}: {self.text or self.below.strip('# ') or 'all tables'}{which}"


def entries(registry: Path = REGISTRY) -> list[Entry]:
    """Return all entries of the registry."""
    with registry.open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["number"]
    return [
        Entry(**{**one, "command": tuple(one.get("command", ())), "spot": tuple(one.get("spot", ()))})
        for one in found
    ]


def cells(row: str) -> tuple[str, ...]:
    """Return the cells of a row of a Markdown table, their marks and a zero before the point taken off.

    >>> cells("| a |  1.5 | **0.25** |")
    ('a', '1.5', '.25')
    """
    plain = re.sub(r"[`*]|(?<![\d.,])0(?=\.\d)|(?<=\d),(?=\d{3})", "", row)
    return tuple(cell.strip() for cell in plain.strip().strip("|").split("|"))


def is_row(line: str) -> bool:
    """Whether a line is a row of numbers or words, and not the rule below the heads."""
    return line.startswith("|") and bool(set(line) - set("|-: "))


def tables(text: str) -> Iterator[tuple[str, int, list[tuple[str, ...]]]]:
    """Yield each table of a page: the heading above it, which table below that it is, and its rows, heads first."""
    heading, counts, rows = "", Counter[str](), list[tuple[str, ...]]()
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows += [cells(line)] if is_row(line) else []
            continue
        if rows:
            counts[heading] += 1
            yield heading, counts[heading], rows
            rows = []
        if line.startswith("#"):
            heading = line


def numbers(rows: list[tuple[str, ...]]) -> int:
    """Return how many cells of a table, its heads left out, begin with a number.

    >>> numbers([("n", "share"), ("10", ".05 (3 of 60)"), ("all", "1e-6")])
    3
    """
    return sum(bool(re.match(r"[-+]?\.?\d", cell)) for row in rows[1:] for cell in row)


def table_below(text: str, below: str, which: int = 1) -> list[tuple[str, ...]]:
    """Return the rows of a table below a heading, its heads first.

    Raises
    ------
    LookupError
        If there is no such line, or no table below it.
    """
    if below not in text.splitlines():
        raise LookupError(f"no line {below!r}")
    for heading, count, rows in tables(text):
        if (heading, count) == (below, which):
            return rows
    raise LookupError(f"no table {which} below {below!r}")


def printed_by(command: tuple[str, ...]) -> str:
    """Return what a command prints; ``{out}`` in it is a fresh directory, and it runs in the root of the repository."""
    with tempfile.TemporaryDirectory() as out:
        words = [word.replace("{out}", out) for word in command]
        done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def values(text: str) -> list[set[float]]:
    """Return the numbers in a text, each as the values that it may stand for: a per cent is also its hundredth.

    >>> values("1,030 rows, .25 and 50%")
    [{1030.0}, {0.25}, {0.5, 50.0}]
    """
    found = re.findall(r"((?:\d[\d,]*\d|\d)?(?:\.\d+)?(?:e[-+]?\d+)?)(%?)", text)
    numbers = [
        (float(number.replace(",", "")), mark) for number, mark in found if number[:1] in set(".0123456789")
    ]
    return [{value, value / 100} if mark else {value} for value, mark in numbers]


def wanted_rows(page: str, entry: Entry) -> list[tuple[str, ...]]:
    """Return the rows of a page that must have been printed, without heads."""
    if entry.below == "*":
        return [row for _, _, rows in tables(page) for row in rows[1:]]
    return table_below(page, entry.below, entry.table)[1:]


def drifted(page: str, printed: str, entry: Entry) -> list[str]:
    """Return what the page has and the command did not print: nothing where they agree."""
    if entry.text:
        both = (" ".join(page.split()), " ".join(printed.split()))
        return [] if all(entry.text in text for text in both) else [entry.text]
    wanted = wanted_rows(page, entry)
    if entry.loose:
        seen = set[float]().union(*values(printed))
        return [" | ".join(row) for row in wanted if not all(one & seen for one in values(" ".join(row)))]
    shown = {cells(line.strip()) for line in printed.splitlines() if is_row(line.strip())}
    return [" | ".join(row) for row in wanted if row not in shown]


def strangers(page: str, printed: str, entry: Entry) -> list[str]:
    """Return the rows that a spot check printed and the page does not have: nothing where they agree.

    Raises
    ------
    LookupError
        If nothing was printed with the heads of the table.
    """
    heads, *wanted = table_below(page, entry.below, entry.table)
    alike = [
        rows for _, _, (first, *rows) in tables(printed) if first[0] == heads[0] and len(first) == len(heads)
    ]
    shown = [row for rows in alike for row in rows]
    if not shown:
        raise LookupError(f"no row was printed below {len(heads)} heads of which the first is {heads[0]!r}")
    return [" | ".join(row) for row in shown if row not in wanted]


def page_of(entry: Entry) -> str:
    """Return the text of the page."""
    return (ROOT / entry.page).read_text(encoding="utf-8")


def without_entry() -> list[str]:
    """Return every table of numbers that nothing is said of."""
    known = {(one.page, one.below, one.table) for one in entries()}
    whole = {one.page for one in entries() if one.below == "*"} | set(WRITTEN)
    lost = []
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.relative_to(ROOT).as_posix()
        if page in whole:
            continue
        for heading, count, rows in tables(path.read_text(encoding="utf-8")):
            if numbers(rows) >= FEW and (page, heading, count) not in known:
                lost.append(f"{page}: {heading.lstrip('# ')} ({count})")
    return lost


def told(entry: Entry, printed: str) -> bool:
    """Say whether the page agrees with what was printed."""
    found = drifted(page_of(entry), printed, entry)
    print(f"{'drifted' if found else 'agrees':8} {entry.name}", flush=True)
    for row in found:
        print(f"         the page has: {row}")
    return not found


def listed() -> None:
    """Print every entry with what holds it, those without anything last."""
    for one in sorted(entries(), key=lambda one: bool(one.missing)):
        words = [f"python {' '.join(one.command)}"] if one.command else []
        words += ["(many minutes)"] if one.long else []
        words += [f"kept in {one.kept}"] if one.kept else []
        words += [f"some rows by python {' '.join(one.spot)}"] if one.spot else []
        words += [f"held by {one.test}"] if one.test else []
        words += [f"NOT COMPARED: {one.missing}"] if one.missing else []
        print(f"{one.name}\n    {'; '.join(words)}")
    for page, program in WRITTEN.items():
        print(f"{page}: all tables\n    {program}")


def main(arguments: list[str]) -> int:
    """Compare, run, keep or list."""
    mode = arguments[0] if arguments else "check"
    if mode not in ("check", "run", "keep", "list"):
        print(__doc__)
        return 0 if mode in ("-h", "--help") else 2
    words = [word for word in arguments[1:] if not word.startswith("-")]
    chosen = [one for one in entries() if all(word in one.name + " ".join(one.command) for word in words)]
    if mode == "list":
        listed()
        return 0
    if mode == "check":
        lost = without_entry()
        print("".join(f"no entry  {name}\n" for name in lost), end="")
        agree = [told(one, (ROOT / one.kept).read_text(encoding="utf-8")) for one in chosen if one.kept]
        return int(bool(lost) or not all(agree))
    if mode == "keep":
        for command, kept in dict.fromkeys((one.command, one.kept) for one in chosen if one.kept):
            (ROOT / kept).write_text(printed_by(command), encoding="utf-8")
            print(f"kept     {kept}", flush=True)
        return 0
    agree, printed = [], dict[tuple[str, ...], str]()
    for one in chosen:
        if one.command and not one.clock and (not one.long or "--long" in arguments):
            if one.command not in printed:
                printed[one.command] = printed_by(one.command)
            agree.append(told(one, printed[one.command]))
        elif one.spot and "--long" not in arguments:
            if one.spot not in printed:
                printed[one.spot] = printed_by(one.spot)
            found = strangers(page_of(one), printed[one.spot], one)
            print(f"{'drifted' if found else 'agrees':8} {one.name} (some rows)", flush=True)
            print("".join(f"         printed: {row}\n" for row in found), end="")
            agree.append(not found)
    return int(not all(agree))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
