"""The map of the house in CONTRIBUTING: every room, in the order of the import contract, and files that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import dpcausal

ROOT = Path(__file__).parents[2]
PACKAGE = Path(dpcausal.__file__).parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", flags=re.MULTILINE)
NOT_ROOMS = {"testing", "_version", "__init__", "__main__"}


def rooms() -> list[str]:
    """Return the rooms of the table, from top to bottom."""
    return [row[0] for row in ROW.findall(TEXT)]


def layers() -> list[list[str]]:
    """Return the layers of the import contract, from top to bottom."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layered,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [re.findall(r"dpcausal\.(\w+)", line) for line in layered]


def test_every_folder_and_file_of_the_package_is_a_room() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    files = {path.stem for path in PACKAGE.glob("*.py")}
    assert sorted(rooms()) == sorted((folders | files) - NOT_ROOMS)
    assert [name for name in ("testing", "_version") if f"`{name}`" not in TEXT] == []


def test_the_map_is_in_the_order_of_the_contract() -> None:
    place = {room: i for i, line in enumerate(layers()) for room in line}
    assert place.keys() == set(rooms())
    places = [place[room] for room in rooms()]
    assert places == sorted(places)


def test_every_room_says_in_sentences_what_lives_there_and_what_never_does() -> None:
    for room, lives, never in ROW.findall(TEXT):
        for words in (lives, never):
            assert words.endswith("."), room
            assert words[0].isupper() or words[0] == "`", room


def test_every_file_that_is_cited_is_there() -> None:
    cited = set(re.findall(r"`([\w./]+\.(?:py|md|toml))`", TEXT))
    assert "counts/protocol.py" in cited
    found = {
        name for name in cited if any((base / name).exists() for base in (ROOT, PACKAGE, PACKAGE / "stats"))
    }
    assert sorted(name for name in cited - found if "NAME" not in name) == []


def test_every_recipe_is_there() -> None:
    wanted = ("statistic", "mechanism", "counting backend", "method of discovery")
    assert [what for what in wanted if f"\n## How to add a {what}\n" not in TEXT] == []
