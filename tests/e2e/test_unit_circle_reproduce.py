"""The unit circle's algorithms as published, for comparison: what they are said to be, and that scripts write pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from dpcausal.cli import reproduce
from dpcausal.gwas import printed

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def published() -> Any:
    reproduce.load(ROOT / "experiments" / "unit_circle" / "em.py")  # which imports it
    return sys.modules["unit_circle.published"]


def test_one_test_keeps_its_level_and_has_power(published: Any) -> None:
    """600 tables at level .05 reject more than 60 times with P < 1e-6; a strong effect is missed with P < 1e-6."""
    rng = np.random.default_rng(1)
    null = published.drawn(rng, 600, 2000, np.array([0.5]), np.array([0.0]))
    assert printed.one_test(null, 1.0, 0.05, rng).sum() <= 60
    strong = published.drawn(rng, 100, 2000, np.array([0.5]), np.array([0.1]))
    assert printed.one_test(strong, 1.0, 0.05, rng).all()


def test_algorithms_3_and_4_stop_at_s1(published: Any) -> None:
    rng = np.random.default_rng(2)
    strong = published.drawn(rng, 50, 4000, np.full(6, 0.5), np.full(6, 0.1))
    for found in (
        *(printed.with_svt(strong, 20.0, 0.05, 2, rng, one) for one in get_args(printed.Reading)),
        printed.with_em(strong, 20.0, 0.05, 2, rng),
    ):
        assert (found.sum(axis=1) == 2).all()


def test_the_page_of_the_bounds_is_written(tmp_path: Path) -> None:
    script = reproduce.load(ROOT / "experiments" / "unit_circle" / "bounds.py")
    script.main(quick=True, out=tmp_path)
    assert "Theorem 7" in (tmp_path / "unit-circle-bounds-quick.md").read_text()
    for line in (tmp_path / "unit-circle-bounds-quick.csv").read_text().splitlines()[1:]:
        _, _, *numbers = map(float, line.split(","))
        assert len(numbers) == 8
        for simulated, most in zip(numbers[::2], numbers[1::2], strict=True):
            assert simulated <= most + 0.02  # 20,000 tables, at least 1,000 beyond each gap: P < 1e-6
