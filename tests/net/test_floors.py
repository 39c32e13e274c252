"""Whatever noise comes out, an answer is an answer: no error, no number of rows below 1, no share beyond 0 and 1.

Noise has no bounds, so that a released count may be far below 0, a variance negative and a matrix not positive. Each
kind of call is run where n is protected, with additive noise moved by many times its scale: down, up, or in turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from calls import CASES, Case, Terms, build, raw

import dpcausal as dc
from dpcausal.privacy import noise

FAR = 40.0  # times the scale
SIGNS: dict[str, Callable[[int], Any]] = {
    "down": lambda size: np.full(size, -1),
    "up": lambda size: np.ones(size, np.int64),
    "in turns": lambda size: np.where(np.arange(size) % 2, 1, -1),
}


def chosen() -> list[Case]:
    """One case of every test and method, kind of rows and way to an effect, and those of several sites."""
    found: dict[tuple[str, ...], Case] = {}
    for case in CASES:
        asked = case.call in ("ci_test", "discover", "effect", "contribute") and case.needs is None
        if asked and not case.refused and "add-remove" in case.relations and "failing" not in case.kind:
            kind = case.kind if case.call in ("discover", "contribute") else ""
            found.setdefault((case.call, case.name, kind, str(case.options.get("variant", ""))), case)
    return list(found.values())


@pytest.mark.thin(3)
@pytest.mark.parametrize("way", SIGNS)
@pytest.mark.parametrize("case", chosen(), ids=lambda case: case.id)
def test_no_noise_is_an_error(case: Case, way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for draw in ("discrete_laplace", "discrete_gaussian"):
        real = getattr(noise, draw)

        def moved(scale: Any, size: int | None = None, real: Any = real) -> Any:
            drawn = real(scale) if size is None else real(scale, size)
            far = SIGNS[way](1 if size is None else size) * int(np.ceil(FAR * float(scale)))
            return drawn + (int(far[0]) if size is None else far)

        monkeypatch.setattr(noise, draw, moved)
    data = build(case.kind, raw(case.kind, "a", 120), tmp_path)
    try:
        found = case.run(data, Terms(1.0, case.deltas[-1], "add-remove"))
    except dc.DpcausalError:  # a refusal from public numbers
        return
    for one in found if isinstance(found, list | tuple) else [found]:
        assert str(one)
        release = getattr(one, "release", None)
        if release is not None:
            assert release.values.rows >= 1
            assert math.isfinite(release.values.rows)
        share = getattr(one, "share", None)
        assert share is None or 0 <= share <= 1
