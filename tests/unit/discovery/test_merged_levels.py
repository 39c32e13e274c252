"""``measured`` merges the levels of a column by what was released of it, never by its counts."""

from __future__ import annotations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.discovery import measurer

SCHEMA = dc.Schema({name: dc.Categorical([f"{name}{i}" for i in range(20)]) for name in "klmo"})
CODES = {name: np.random.default_rng(ord(name)).integers(0, 20, 300) for name in SCHEMA}


def test_levels_are_merged_by_released_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = [np.bincount(codes, minlength=20).tolist() for codes in CODES.values()]
    seen: list[list[float]] = []
    real = measurer.merged_levels

    def spied(counts: list[float], most: int, *, ordered: bool) -> tuple[int, ...]:
        seen.append([float(one) for one in counts])
        return real(counts, most, ordered=ordered)

    monkeypatch.setattr(measurer, "merged_levels", spied)
    columns = {name: [SCHEMA[name].levels[i] for i in codes] for name, codes in CODES.items()}
    with dc.testing.seeded(1):
        dc.discover(
            dc.read(columns, SCHEMA), method="measured", epsilon=4.0, delta=1e-6, anyway=True, confidence=0
        )
    assert len(seen) == len(exact)  # every column had too many
    for released, counts in zip(seen, exact, strict=True):
        assert released != counts
        assert np.corrcoef(released, counts)[0, 1] < 0.9999
