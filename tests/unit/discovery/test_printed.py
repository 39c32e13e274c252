"""The searches as their papers print them: line by line, refused for rows that are protected, and stamped."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.statement import NotPrivate
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery import printed
from dpcausal.discovery.curate import cost_now
from dpcausal.discovery.search import AsPrinted
from dpcausal.planning.sieve import optimal_subsample

PAPERS = ("priv-pc", "svt-pc", "em-pc", "curate")
DATA = dc.networks.load("cancer").sample(4000, seed=1)


class Tape:
    """A generator that draws nothing and writes down the scales that it was asked for."""

    def __init__(self) -> None:
        self.scales: list[float] = []

    def laplace(self, centre: float, scale: float) -> float:
        self.scales.append(scale)
        return centre

    def random(self) -> float:
        return 0.0


@pytest.mark.parametrize("method", PAPERS)
def test_real_rows_are_refused(method: Any) -> None:
    with pytest.raises(dc.InputError, match="not private"):
        dc.discover(DATA, epsilon=1.0, method=method, variant="paper")


@pytest.mark.parametrize("method", PAPERS)
def test_a_seeded_run_is_stamped(method: Any) -> None:
    with dc.testing.seeded(1):
        found = dc.discover(DATA, epsilon=1.0, method=method, variant="paper")
    assert not found.privacy.private
    assert found.privacy.not_private is NotPrivate.PRINTED
    assert found.privacy.epsilon is None
    (note,) = [note for note in found.search.notes if isinstance(note, AsPrinted)]
    assert (note.method, note.epsilon) == (method, 1.0)
    assert note.claimed <= note.rounds * 1.0 + 1e-12
    with dc.testing.seeded(1):
        assert dc.discover(DATA, epsilon=1.0, method=method, variant="paper").graph == found.graph


def test_what_a_paper_does_not_know_is_refused() -> None:
    with dc.testing.seeded(1):
        for more in ({"max_order": 1}, {"forbidden": [{"Smoker", "Xray"}]}):
            with pytest.raises(dc.InputError, match="background"):
                dc.discover(DATA, epsilon=1.0, method="priv-pc", variant="paper", **more)
    with pytest.raises(dc.InputError, match="ours or paper"):
        dc.discover(DATA, epsilon=1.0, method="priv-pc", variant="print")  # type: ignore[arg-type]


@pytest.mark.parametrize("wide", [True, False])
def test_priv_pc_has_the_scales_of_the_listing(wide: bool) -> None:
    """Algorithm 2: lines 5 and 11 with sqrt(n/m), line 12 with it as printed and else without, line 15 without."""
    tape, epsilon, n = Tape(), 1.0, DATA.n
    with dc.testing.seeded(2):
        found = printed.priv_pc(MemoryCounts(DATA), epsilon, tape, wide_examine=wide)  # type: ignore[arg-type]
    m = optimal_subsample(epsilon / 2, n)
    assert m < n
    prime, delta = math.log(n / m * (math.exp(epsilon / 2) - 1) + 1), printed.sensitivity(n)
    root = math.sqrt(n / m)
    assert tape.scales[0] == pytest.approx(2 * root * delta / prime)
    asked = {round(scale, 9) for scale in tape.scales}
    examined = 2 * (root if wide else 1.0) * delta / epsilon
    lines = (2 * root / prime * delta, 4 * root / prime * delta, examined, 2 / prime * delta)
    assert asked == {round(scale, 9) for scale in lines}
    deleted = math.comb(len(found.skeleton.columns), 2) - len(found.skeleton.edges)
    assert (
        tape.scales.count(2 * delta / prime) == deleted
    )  # a fresh threshold at every deletion and at no other
    assert found.rounds >= deleted


def test_svt_pc_has_a_fresh_threshold_at_every_deletion() -> None:
    tape = Tape()
    found = printed.svt_pc(MemoryCounts(DATA), 0.5, tape)  # type: ignore[arg-type]
    delta = printed.sensitivity(DATA.n)
    assert tape.scales.count(2 * delta / 0.5) == found.rounds + 1
    assert set(tape.scales) == {2 * delta / 0.5, 4 * delta / 0.5}


def test_the_coin_of_lemma_1_deletes_and_that_of_the_public_code_never_does() -> None:
    """A coin that always falls on delete removes at least the edges that no coin removes."""
    counts = MemoryCounts(DATA)
    with_coin, without = (
        printed.curate(counts, 1.0, Tape(), cost_now, coin=coin).skeleton.edges  # type: ignore[arg-type]
        for coin in (True, False)
    )
    assert with_coin <= without


def test_utilities_of_em_pc_change_sign_where_the_test_turns() -> None:
    dependent, independent = np.array([[[90, 10], [10, 90]]]), np.array([[[50, 50], [50, 50]]])
    assert printed.flips_tau_a(dependent) > 0 > printed.flips_tau_a(independent)
    assert printed.flips_tau_a(np.array([[[7, 0], [3, 0]]])) == 10.0  # one level of y: nothing turns
