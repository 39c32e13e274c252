"""Why a question has no answer: the reason given is the one that holds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.discovery.measured.larger import why_open
from dpcausal.discovery.measured.tables import Components, JointTable
from dpcausal.discovery.search import OpenReason, Unanswered, unanswered
from dpcausal.planning.settings import SETTINGS
from dpcausal.present.notes import note_words
from dpcausal.present.tables import WHY_OPEN

pytestmark = pytest.mark.usefixtures("few_repeats")


def table(rows: float, variance: float) -> JointTable:
    """x and y of two levels given one of two, all cells alike."""
    return JointTable(np.full((2, 2, 2), rows / 8), variance)


@pytest.mark.parametrize(
    ("rows", "variance", "why"),
    [
        (8000, 1e6, OpenReason.NOISE),
        (8, 0.0, OpenReason.TOO_FEW_ROWS),
        (8, 1e6, OpenReason.TOO_FEW_ROWS),
    ],
)
def test_noise_or_rows(rows: float, variance: float, why: OpenReason) -> None:
    tables = table(rows, variance)
    assert not tables.test(0, 1, (2,)).informative(12.0)
    assert why_open(tables, 0, 1, (2,), SETTINGS.min_se(1), too_many=False) == why


def test_sizes_and_budget_come_first() -> None:
    assert why_open(table(8, 0.0), 0, 1, (2,), SETTINGS.min_se(1), too_many=True) == OpenReason.TOO_MANY_CELLS
    assert (
        why_open(Components([2, 2, 2]), 0, 1, (2,), SETTINGS.min_se(1), too_many=False)
        == OpenReason.NOT_MEASURED
    )


def test_the_words_name_every_reason_with_its_count() -> None:
    told = note_words(unanswered(Counter({OpenReason.NOISE: 1200, OpenReason.TOO_MANY_CELLS: 3})))
    assert told.startswith("1,203 questions ")
    cells = WHY_OPEN[OpenReason.TOO_MANY_CELLS]
    assert f": {WHY_OPEN[OpenReason.NOISE]} (1,200), {cells} (3). " in told
    one = note_words(unanswered(Counter({OpenReason.NOISE: 1})))
    assert one.startswith("1 question ")
    assert f": {WHY_OPEN[OpenReason.NOISE]} (1). " in one


def test_a_discovery_says_which_reason_it_was() -> None:
    """asia has columns that decide each other: larger sets leave too few rows to ask about."""
    data = dc.networks.load("asia").sample(20_000, seed=3)
    with dc.testing.seeded(3):
        found = dc.discover(data, epsilon=20.0, delta=1e-6, method="measured")
    (note,) = [note for note in found.notes if isinstance(note, Unanswered)]
    assert OpenReason.TOO_FEW_ROWS in dict(note.reasons)
