"""Compare the numbers in the documentation with what commands of the repository print.

    python tools/page_numbers.py [check] [--long]     # --long: the commands of many minutes, too
    python tools/page_numbers.py list                 # which table is held against which command

An entry of ``tools/page_numbers.toml`` names a page, a line on it (``below``), and a command. The rows of the first
table below that line must all be in what the command prints, in Markdown, up to blanks; with ``text`` it is this text
that both must hold. Data and noise of these commands are seeded, so equal means equal. What can't be equal (seconds, a
machine's speed) has no entry: the page says when and where it was measured.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REGISTRY = ROOT / "tools" / "page_numbers.toml"


@dataclass(frozen=True)
class Entry:
    """A table, or a text, of a page and the command that prints it."""

    page: str
    below: str
    command: tuple[str, ...]
    text: str = ""
    long: bool = False

    @property
    def name(self) -> str:
        """How it is called in messages."""
        return f"{self.page}: {self.text or self.below.lstrip('# ')}"


def entries(registry: Path = REGISTRY) -> list[Entry]:
    """Return all entries of the registry."""
    with registry.open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["number"]
    return [Entry(**{**one, "command": tuple(one["command"])}) for one in found]


def cells(row: str) -> tuple[str, ...]:
    """Return the cells of a row of a Markdown table.

    >>> cells("| a |  1.5 |")
    ('a', '1.5')
    """
    return tuple(cell.strip() for cell in row.strip().strip("|").split("|"))


def is_row(line: str) -> bool:
    """Whether a line is a row of numbers or words, and not the rule below the heads."""
    return line.startswith("|") and bool(set(line) - set("|-: "))


def table_below(text: str, below: str) -> list[tuple[str, ...]]:
    """Return the rows of the first table below a line, its heads first.

    Raises
    ------
    LookupError
        If there is no such line, or no table below it.
    """
    lines = text.splitlines()
    if below not in lines:
        raise LookupError(f"no line {below!r}")
    rows: list[tuple[str, ...]] = []
    for line in lines[lines.index(below) + 1 :]:
        if line.startswith("|"):
            rows += [cells(line)] if is_row(line) else []
        elif rows:
            break
    if not rows:
        raise LookupError(f"no table below {below!r}")
    return rows


def printed_by(command: tuple[str, ...]) -> str:
    """Return what a command prints; ``{out}`` in it is a fresh directory, and it runs in the root of the repository."""
    with tempfile.TemporaryDirectory() as out:
        words = [word.replace("{out}", out) for word in command]
        done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def drifted(page: str, printed: str, entry: Entry) -> list[str]:
    """Return what the page has and the command does not print: nothing where they agree."""
    if entry.text:
        both = (" ".join(page.split()), " ".join(printed.split()))
        return [] if all(entry.text in text for text in both) else [entry.text]
    shown = {cells(line) for line in printed.splitlines() if is_row(line)}
    return [" | ".join(row) for row in table_below(page, entry.below)[1:] if row not in shown]


def main(arguments: list[str]) -> int:
    """Run the checks, or list them."""
    chosen = [one for one in entries() if not one.long or "--long" in arguments]
    if "list" in arguments:
        for one in entries():
            print(f"{one.name}\n    python {' '.join(one.command)}{'  (long)' if one.long else ''}")
        return 0
    wrong = 0
    for one in chosen:
        found = drifted((ROOT / one.page).read_text(encoding="utf-8"), printed_by(one.command), one)
        print(f"{'drifted' if found else 'agrees':8} {one.name}", flush=True)
        for row in found:
            print(f"         the page has: {row}")
        wrong += bool(found)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
