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


def many(folder: Path) -> Path:
    """Return a package of two modules with 500 functions each."""
    (folder / "p").mkdir()
    for module in "ab":
        text = "\n".join(f"def {module}{number}(): ..." for number in range(500))
        (folder / "p" / f"{module}.py").write_text(text)
    return folder / "p"


def test_a_draw_repeats_and_a_longer_one_begins_with_it(tmp_path: Path) -> None:
    source = many(tmp_path)
    draw = NAMES.draw(20261119, 60, source)
    assert draw == NAMES.draw(20261119, 60, source) == NAMES.draw(20261119, 90, source)[:60]
    assert len(set(draw)) == 60
    assert draw != NAMES.draw(20261120, 60, source)


def test_each_function_has_the_same_chance(tmp_path: Path) -> None:
    """Of 400 functions that are drawn of 1,000, about half are of the first module: 5 standard deviations."""
    first = sum(text.startswith("p.a.") for text in NAMES.draw(7, 400, many(tmp_path)))
    assert abs(first - 200) < 5 * (400 * 0.25 * 600 / 999) ** 0.5


def test_the_source_has_functions_to_draw() -> None:
    assert all(text.startswith("dpcausal.") for text in NAMES.draw(1, 60))
