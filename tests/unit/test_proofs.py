"""A stale, missing or orphaned proof fails the build."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import proofs

CODE = '''
from dpcausal.core.proofs import proved
LIMIT = 1 / 3
@proved("bound.proof.md")
def bound(n):
    """Prose."""
    return LIMIT / n
'''


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / "bound.py").write_text(CODE)
    (tmp_path / "bound.proof.md").write_text("# Bound\n<!-- proves: bound sha256: -->\n")
    assert proofs.sign([], tmp_path) == 1
    assert proofs.check(tmp_path) == []
    return tmp_path


def test_prose_may_change(house: Path) -> None:
    (house / "bound.py").write_text(CODE.replace("Prose.", "Other words."))
    assert proofs.check(house) == []


@pytest.mark.parametrize(("old", "new"), [("LIMIT / n", "LIMIT * n"), ("1 / 3", "1 / 4")])
def test_code_and_constants_may_not(house: Path, old: str, new: str) -> None:
    (house / "bound.py").write_text(CODE.replace(old, new))
    (fault,) = proofs.check(house)
    assert "changed after its proof was read" in fault


CLASSES = """
from dpcausal.core.proofs import proved
class Scale:
    factor = 2
    def times(self, n):
        return self.factor * n
class Base:
    floor = 5
class Bound(Base):
    step = 3
    @proved("bound.proof.md")
    def value(self, n):
        return self._rounded(n) * Scale().times(n)
    def _rounded(self, n):
        return n // self.step
    def unrelated(self):
        return 7
"""


@pytest.fixture
def class_house(tmp_path: Path) -> Path:
    (tmp_path / "bound.py").write_text(CLASSES)
    (tmp_path / "bound.proof.md").write_text("# Bound\n<!-- proves: Bound.value sha256: -->\n")
    assert proofs.sign([], tmp_path) == 1
    assert proofs.check(tmp_path) == []
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("factor = 2", "factor = 1"),  # a field of a class that it makes
        ("self.factor * n", "n"),  # a method of that class
        ("step = 3", "step = 30"),  # a field of its own class
        ("n // self.step", "n"),  # a method of its own class that it calls
        ("floor = 5", "floor = 0"),  # a base of its own class
    ],
)
def test_classes_that_it_uses_may_not_change(class_house: Path, old: str, new: str) -> None:
    (class_house / "bound.py").write_text(CLASSES.replace(old, new))
    (fault,) = proofs.check(class_house)
    assert "Bound.value changed after its proof was read" in fault


def test_what_it_does_not_reach_may_change(class_house: Path) -> None:
    (class_house / "bound.py").write_text(CLASSES.replace("return 7", "return 8"))
    assert proofs.check(class_house) == []


def test_a_missing_file_and_a_missing_line_are_found(house: Path) -> None:
    (house / "bound.proof.md").write_text("# Bound\n<!-- proves: other sha256:00 -->\n")
    faults = proofs.check(house)
    assert any("no line" in fault for fault in faults)
    assert any("which no @proved names" in fault for fault in faults)
    (house / "bound.proof.md").unlink()
    assert any("does not exist" in fault for fault in proofs.check(house))


def test_the_shipped_proofs_are_current_and_many() -> None:
    assert proofs.check() == []
    count = sum(len(proofs.proved_in(module)) for module in proofs.SOURCE.rglob("*.py"))
    assert count >= 20
