"""docs/papers.md: every row names a place that exists and a command, or a test, that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpcausal.cli.app import app
from dpcausal.cli.audit import _methods
from dpcausal.cli.reproduce import FIGURES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


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
    assert len(row) >= 4
    assert commands(row[-1]), row
    for command in commands(row[-1]):
        check(command)


def test_places_exist() -> None:
    """A file named as a place is one, below the package or the root."""
    for row in rows():
        for text in re.findall(r"`([\w/.-]+\.(?:py|md|csv))`", row[1]):
            assert any((base / text).is_file() for base in (ROOT / "src" / "dpcausal", ROOT)), text


def test_every_paper_has_rows() -> None:
    for paper in ("002", "004"):
        section = PAGE.split(f"\n## {paper}\n")[1].split("\n## ")[0]
        assert section.count("\n| ") > 10
