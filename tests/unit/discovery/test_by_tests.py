"""``method="tests"``: the end of its own total is the end of asking, a ledger that refuses is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal import testing
from dpcausal.discovery.discover import METHODS
from dpcausal.privacy.ledger import Ledger

DATA = dc.networks.load("cancer").sample(500, seed=1)
PRIVATE = sorted(set(METHODS) - {"pc", "moments"})  # moments is for columns of numbers


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.open(f"sqlite:///{tmp_path}/l.db", create=True)
    made.create("d", 0.5)
    return made


@pytest.mark.parametrize("method", PRIVATE)
def test_a_ledger_that_refuses_is_an_error_whatever_the_method(ledger: Ledger, method: str) -> None:
    with pytest.raises(
        dc.BudgetError, match=r"data set 'd' does not allow it: asked epsilon 1, .* left 0\.5"
    ):
        dc.discover(DATA, method=method, epsilon=1.0, ledger=ledger, dataset="d")
    assert ledger.show("d")[0].releases == 0


def test_a_ledger_that_allows_is_charged_once(ledger: Ledger) -> None:
    found = dc.discover(DATA, method="tests", epsilon=0.5, ledger=ledger, dataset="d")
    assert ledger.show("d")[0].releases == 1
    assert found.privacy.ledger is not None
    with pytest.raises(dc.BudgetError, match="left 0"):
        dc.discover(DATA, method="tests", epsilon=0.5, ledger=ledger, dataset="d")
    assert ledger.show("d")[0].releases == 1


@pytest.mark.parametrize("paid", [1, 3])
def test_the_end_of_its_own_total_is_the_end_of_asking(ledger: Ledger, paid: int) -> None:
    """Tests at a whole part of epsilon each: so many are asked, and the pairs left are open."""
    with testing.seeded(1):
        found = dc.discover(
            DATA, method="tests", epsilon=0.5, test_epsilon=0.5 / paid, ledger=ledger, dataset="d"
        )
    assert not found.complete
    assert len(found.privacy.events) == paid
    assert len(found.open) == 10 - paid
    assert len(found.graph.skeleton) + len(found.absent) == paid
    assert ledger.show("d")[0].releases == 1
