"""The numbers of theorems 1 to 6, and what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcausal.core.errors import InputError
from dpcausal.stats.kendall import (
    kendall_joint_sensitivity,
    kendall_margin_sensitivity,
    kendall_sensitivity,
    kendall_variance_sensitivity,
)
from dpcausal.stats.published import tau_a_sensitivity


@pytest.mark.parametrize(
    ("r", "c", "added", "one_block"),
    [
        (2, 2, 1.0, 1.0),
        (1, 2, 1.0, 1.0),
        (2, 7, 1.0, 2.0),
        (3, 3, 1.25, 2.0),
        (5, 3, 1.25, 2.0),
        (5, 5, 1.375, 2.0),
    ],
)
def test_statistic(r: int, c: int, added: float, one_block: float) -> None:
    assert kendall_sensitivity("add-remove", r, c, 1) == added
    assert kendall_sensitivity("add-remove", r, c, 9) == added
    assert kendall_sensitivity("replace-one", r, c, 9) == 2 * added
    assert kendall_sensitivity("replace-one", r, c, 1) == one_block


def test_variance() -> None:
    assert kendall_variance_sensitivity("add-remove", 2, 2) == 1 / 4
    assert kendall_variance_sensitivity("add-remove", 2, 3) == 1 / 3
    assert kendall_variance_sensitivity("replace-one", 2, 2) == pytest.approx(
        float(Fraction(41, 144)), rel=1e-15
    )
    assert kendall_variance_sensitivity("replace-one", 9, 9) == pytest.approx(
        float(Fraction(53, 144)), rel=1e-15
    )


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_variance_is_free_for_binary_tables(relation: str, k: int) -> None:
    alone = kendall_sensitivity(relation, 2, 2, k)
    assert kendall_joint_sensitivity(relation, 2, 2, k, weight=1.0) == alone
    assert kendall_joint_sensitivity(relation, 2, 2, k, weight=3.0, norm=2) == alone
    assert kendall_joint_sensitivity(relation, 2, 2, k, weight=2.0) == pytest.approx(alone * 9 / 8)


@pytest.mark.parametrize("norm", [1, 2])
def test_joint_bound_lies_between_one_side_and_the_sum(norm: int) -> None:
    for relation in ("add-remove", "replace-one"):
        for r, c, k in ((2, 2, 1), (2, 2, 4), (2, 3, 4), (3, 3, 1), (6, 6, 4)):
            for weight in (0.0, 0.1, 1.0, 1.5, 4.0, 100.0):
                k_part = kendall_sensitivity(relation, r, c, k)
                v_part = weight * kendall_variance_sensitivity(relation, r, c)
                bound = kendall_joint_sensitivity(relation, r, c, k, weight, norm)
                assert k_part <= bound <= (k_part + v_part if norm == 1 else math.hypot(k_part, v_part))


def test_margin_and_tau() -> None:
    assert kendall_margin_sensitivity("add-remove", 2, 2, 8, threshold=3.0, floor=2.25) == 1.0
    general = kendall_margin_sensitivity("add-remove", 3, 3, 8, threshold=2.0, floor=4.0)
    assert general == pytest.approx(1.25 + 2 / (6 * 2))
    assert tau_a_sensitivity("add-remove", 2, 2, 9) == 0.2
    assert tau_a_sensitivity("add-remove", 2, 3, 9) == 0.4


def test_bad_public_parameters_are_refused() -> None:
    for call in (
        lambda: kendall_sensitivity("replace-one", 2, 2, 0),
        lambda: kendall_sensitivity("swap", 2, 2, 1),
        lambda: kendall_joint_sensitivity("replace-one", 2, 2, 1, weight=-1.0),
        lambda: kendall_joint_sensitivity("replace-one", 2, 2, 1, norm=3),
        lambda: kendall_margin_sensitivity("replace-one", 2, 2, 1, threshold=1.0, floor=0.0),
        lambda: tau_a_sensitivity("replace-one", 2, 2, 0),
    ):
        with pytest.raises(InputError):
            call()
