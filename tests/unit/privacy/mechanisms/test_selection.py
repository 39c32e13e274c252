"""Selection: the shipped samplers have the laws that the exact checks use; odd inputs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from scipy.stats import chi2

from dpcausal.audit.exact import choice_law, noisy_max_law, top_k_law
from dpcausal.core.errors import InputError
from dpcausal.privacy.mechanisms import INTEGERS, Exponential, NoisyMax, PermuteAndFlip, SpanningTree, TopK
from dpcausal.testing import seeded

SCORES = (0, 2, 3, 3)
RUNS = 8_000
EXPONENTIAL = Exponential(sensitivity=1.0, epsilon=1.0, grid=INTEGERS)
FLIP = PermuteAndFlip(sensitivity=1.0, epsilon=1.0, grid=INTEGERS)
MAXIMUM = NoisyMax(sensitivity=1.0, epsilon=1.0, grid=INTEGERS)
TOP = TopK(sensitivity=1.0, count=2, epsilon=2.0, grid=INTEGERS)
TOP_RHO = TopK(sensitivity=1.0, count=2, rho=0.5, grid=INTEGERS)


def fits(draw: Callable[[], Hashable], law: Mapping[Hashable, float]) -> float:
    with seeded(9):
        seen = Counter(draw() for _ in range(RUNS))
    assert sum(law.values()) == pytest.approx(1)
    statistic = sum((seen[o] - RUNS * p) ** 2 / (RUNS * p) for o, p in law.items())
    return float(chi2.sf(statistic, len(law) - 1))


def test_samplers_have_their_exact_laws() -> None:
    exponential, flip = choice_law(EXPONENTIAL, SCORES, False), choice_law(FLIP, SCORES, True)
    assert fits(lambda: EXPONENTIAL.sample(SCORES), exponential) > 1e-6
    assert fits(lambda: FLIP.sample(SCORES), flip) > 1e-6
    assert fits(lambda: FLIP.sample(SCORES), exponential) < 1e-6  # the laws differ and the test sees it
    assert fits(lambda: MAXIMUM.sample(SCORES), noisy_max_law(SCORES, MAXIMUM.scale)) > 1e-6
    assert fits(lambda: MAXIMUM.sample(SCORES), noisy_max_law(SCORES, 0.7 * MAXIMUM.scale)) < 1e-6
    assert fits(lambda: tuple(TOP.sample(SCORES[:3])), top_k_law(TOP.round, 2, SCORES[:3], True)) > 1e-6
    assert (
        fits(lambda: tuple(TOP_RHO.sample(SCORES[:3])), top_k_law(TOP_RHO.round, 2, SCORES[:3], False)) > 1e-6
    )


@pytest.mark.parametrize(("count", "failure"), [(4, 0.1), (20, 0.1), (20, 0.01)])
def test_noisy_max_is_as_accurate_as_theorem_3_3_of_kalemaj_says(count: int, failure: float) -> None:
    """A score 2 log(B/delta)/epsilon below the best is chosen with probability at most delta, exactly; all others
    stand there, the worst there is. At half of that distance it is chosen more often."""
    mechanism = NoisyMax(sensitivity=1.0, epsilon=0.2, grid=INTEGERS)
    far = 2 * math.log(count / failure) / mechanism.epsilon

    def missed(distance: int) -> float:
        return 1 - noisy_max_law((distance, *[0] * (count - 1)), mechanism.scale)[0]

    assert missed(math.ceil(far)) <= failure
    assert missed(math.ceil(far / 2)) > failure


def tree_law(mechanism: SpanningTree, scores: Sequence[int]) -> dict[Hashable, float]:
    """Of lists of pairs, by the weights of all that are left in every round."""
    pairs = list(combinations(range(mechanism.nodes), 2))
    each = mechanism.round.epsilon / mechanism.round.reach
    found: dict[Hashable, float] = {}

    def follow(chosen: tuple[tuple[int, int], ...], part: tuple[int, ...], chance: float) -> None:
        left = [k for k, (a, b) in enumerate(pairs) if part[a] != part[b]]
        if not left:
            found[chosen] = chance
            return
        whole = sum(math.exp(each * scores[k]) for k in left)
        for k in left:
            a, b = pairs[k]
            joined = tuple(part[a] if one == part[b] else one for one in part)
            follow((*chosen, pairs[k]), joined, chance * math.exp(each * scores[k]) / whole)

    follow((), tuple(range(mechanism.nodes)), 1.0)
    return found


def test_a_spanning_tree_has_its_exact_law() -> None:
    """Four nodes: the third choice has no pair left that would close a circle."""
    scores = (0, 3, 1, 4, 0, 2)
    tree, free = (SpanningTree(sensitivity=1.0, nodes=4, rho=rho, grid=INTEGERS) for rho in (0.8, 0.4))
    law = tree_law(tree, scores)
    assert all(len({j for pair in one for j in pair}) == 4 for one in law)  # type: ignore[attr-defined]
    assert fits(lambda: tuple(tree.sample(scores)), law) > 1e-6
    assert fits(lambda: tuple(free.sample(scores)), law) < 1e-6  # half of the budget: the test sees it


def test_a_spanning_tree_pays_for_every_round() -> None:
    tree = SpanningTree(sensitivity=1.0, nodes=8, rho=1.0)
    assert isinstance(tree.round, Exponential)
    assert 7 * Fraction(tree.round.epsilon) ** 2 <= 8
    assert tree.event("x").rho == 1.0
    assert len(tree.sample([0.0] * 28)) == 7
    with pytest.raises(InputError, match="28 pairs, not 27"):
        tree.sample([0.0] * 27)
    with pytest.raises(InputError, match="nodes"):
        SpanningTree(sensitivity=1.0, nodes=1, rho=1.0)
    assert SpanningTree(sensitivity=1.0, nodes=2, rho=1.0).sample([3.0]) == [(0, 1)]


def test_permute_and_flip_beats_the_exponential_mechanism() -> None:
    for scores in ((0, 1), (0, 0, 5), (1, 2, 3, 4)):
        best = scores.index(max(scores))
        assert choice_law(FLIP, scores, True)[best] >= choice_law(EXPONENTIAL, scores, False)[best]


@pytest.mark.parametrize("mechanism", [EXPONENTIAL, FLIP, MAXIMUM])
def test_edges(mechanism: Exponential) -> None:
    assert mechanism.sample([4.0]) == 0
    with pytest.raises(InputError, match="non-empty"):
        mechanism.sample([])
    with seeded(1):
        assert mechanism.sample([0.0, 1e6, 0.0]) == 1
        assert {mechanism.sample([1.0, 1.0]) for _ in range(100)} == {0, 1}


def test_top_k_edges() -> None:
    with seeded(1):
        assert sorted(TopK(sensitivity=1.0, count=3, epsilon=1.0).sample([1, 2, 3])) == [0, 1, 2]
        assert TOP.sample([0, 1e6, 2e6]) == [2, 1]
    with pytest.raises(InputError, match="at least 2"):
        TOP.sample([1.0])


def test_top_k_splits_its_budget() -> None:
    assert TopK(sensitivity=1.0, count=7, epsilon=1.0).round.epsilon * 7 <= 1.0
    each = TopK(sensitivity=1.0, count=7, rho=1.0).round
    assert each.event("x").rho * 7 == pytest.approx(1.0)
    assert each.event("x").rho * 7 <= 1.0 + 1e-15
