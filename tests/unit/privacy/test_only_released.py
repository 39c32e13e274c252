"""Noise is drawn by ``release`` and ``begin``, which charge before: nothing else asks a mechanism for a draw."""

from __future__ import annotations

import ast
from pathlib import Path

import dpcausal

SOURCE = Path(dpcausal.__file__).parent
DRAWS = ("sample", "start")
MECHANISMS = "privacy/mechanisms", "dpcausal.privacy.mechanisms"
DRAWN = {  # who asks for a draw, of all modules that have a mechanism, and why; audits attack them without a budget
    ("privacy/mechanisms/base.py", "release", "sample"): "after the charge",
    ("privacy/mechanisms/base.py", "begin", "start"): "after the charge",
    ("privacy/mechanisms/sieve_and_examine.py", "SieveAndExamine", "start"): "within its own session",
    ("privacy/mechanisms/sieve_and_examine.py", "SieveSession", "sample"): "within its own session",
    ("citests/chi2.py", "_simulated_medians", "sample"): "of uniform draws: a law, no row",
}


def calls(source: str) -> set[tuple[str, str]]:
    """The functions and classes at the top of a module that call, or hand on, a method of such a name."""
    found = set()
    for top in ast.parse(source).body:
        for node in ast.walk(top):
            if isinstance(node, ast.Attribute) and node.attr in DRAWS:
                found.add((getattr(top, "name", ""), node.attr))
            if isinstance(node, ast.Constant) and node.value in DRAWS and not isinstance(top, ast.Assign):
                found.add((getattr(top, "name", ""), node.value))
    return found


def test_nothing_is_drawn_but_after_a_charge() -> None:
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        text = path.read_text()
        if (place.startswith(MECHANISMS[0]) or MECHANISMS[1] in text) and not place.startswith("audit"):
            found |= {(place, *one) for one in calls(text)}
    assert found == set(DRAWN)


def test_a_draw_without_a_charge_is_found() -> None:
    direct = "def noisy(mechanism, values):\n    return mechanism.sample(values)\n"
    by_name = (
        "class Round:\n    def noisy(self, values):\n        return getattr(self.of, 'sample')(values)\n"
    )
    assert calls(direct + by_name) == {("noisy", "sample"), ("Round", "sample")}
