"""tools/names.py: the draw repeats, holds what it promises, and shows what a reader may see and no more."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SOURCE = '''
from typing import overload

class Box:
    """A box."""

    def __len__(self) -> int:
        return 1

    @property
    def width(self) -> int:
        """Return the width in metres."""
        return 1

@overload
def area(box: None) -> None: ...
@overload
def area(box: Box) -> int: ...
def area(box):
    """Return the area of a box."""
    def inside():
        return 1
    return inside()

async def bare(*boxes: Box, unit: str = "m"):
    return unit
'''


def load() -> Any:
    spec = importlib.util.spec_from_file_location("names", ROOT / "tools" / "names.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["names"] = module
    spec.loader.exec_module(module)
    return module


NAMES = load()


def test_every_function_is_drawn_once_without_dunders_overloads_and_inner_ones(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "boxes.py").write_text(SOURCE)
    assert sorted(NAMES.draw(1, 60, tmp_path / "p")) == [
        "p.boxes.Box.width\n@property\ndef width(self) -> int:\nReturn the width in metres.",
        "p.boxes.area\ndef area(box):\nReturn the area of a box.",
        "p.boxes.bare\ndef bare(*boxes: Box, unit: str='m'):\n(no docstring)",
    ]


def test_a_draw_repeats_and_a_longer_one_begins_with_it() -> None:
    draw = NAMES.draw(20261119, 60)
    assert draw == NAMES.draw(20261119, 60) == NAMES.draw(20261119, 90)[:60]
    assert len(set(draw)) == 60
    assert draw != NAMES.draw(20261120, 60)


def test_each_function_has_the_same_chance() -> None:
    """Half of the functions stand in the first half of the modules by name, and so do half of a long draw: 5 sd."""
    names = [text.split("\n")[0] for text in NAMES.draw(7, 10**6)]
    middle = sorted(names)[len(names) // 2]
    first = sum(name < middle for name in names[:1000])
    assert abs(first - 500) < 5 * 0.5 * 1000**0.5
