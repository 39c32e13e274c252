"""CURATE: every test is released with noise, and each order's share is set anew from what is left.

At the start of an order the plan says what a test may cost, from the budget and the edges that are left, both public
by then. The score of a question (``scores.py``, sensitivity 1) is released with Laplace noise (delta = 0) or Gaussian
noise, and

    independent where  score + Z >  margin scale
    dependent   where  score + Z < -margin scale
    a coin      in between

**Plan.** With t_i tests expected at order i, a test of order i costs e_i, e_0 >= e_1 >= ... (an edge wrongly deleted
early misleads all that follows), and [1] minimises

    prod(1/2 + u_i/2) + 1 - prod(1/2 - u_i/2),        u_i = exp(-T beta e_i/Delta) (Laplace)

subject to the composed cost of all tests. T beta/Delta is the ``effect``: the margin, in units of sensitivity, that is
worth deciding; here 4 noise scales of an even split, so that the plan depends on ratios alone. For Gaussian noise of
cost rho_i the tail is u_i = exp(-effect^2 rho_i). For the present order the most tests that can be asked are expected,
counted on the graph as released so far: an order never runs out half-way. For later ones a guess: E edges left among d
columns have 2E/d neighbours each on average; an edge is asked about with the sets of its two ends; every order removes
half of the edges, down to d. [1] counts C(d,2) C(d-2,i) tests, far more than are asked. A wrong guess costs accuracy,
never privacy: the filter stops. The search is over a grid of ratios e_(i+1)/e_i, below a millisecond.

As printed in [1] the margins are shares of the threshold, T(1 - beta_1) and T(1 + beta_2) (``margins_of="threshold"``).
The score here turns at 0 and an independent pair's lies about ``shift`` above that, so T = shift and f = shift + score
are [1]'s: delete where f + Z > T(1 + beta_2). Both are the same rule in other units, since shift is 1 (Gaussian) or
sqrt(2) (Laplace) noise scales.

**Guarantee** (epsilon, delta)-DP: each test is charged before it is drawn, those of edges that remain too, and the
filter stops when the total is reached: sums of epsilon or of rho, since costs are chosen adaptively. Edges not yet
tested remain and are reported.

**Three states.** A pair that remains adjacent at order 0 is found only where its noisy score is so low that lack of
information can't be the reason: information is never below 0, so without a dependence the score is at least -least, and
noise takes it below -least - q with a probability of at most the level. Otherwise the pair is open.

**Where we differ from [1].** The sensitivity there is 190 (n = 100, k = 4) to 4e7 times too small (n = 1e5, k = 8); its
public code does not charge edges that remain, has a coin that never deletes, and epsilon^2 instead of
epsilon (e^epsilon - 1). Here the filter does the sums. A coin is never better than the sign, so the margins are small
by default.

References: [1] CURATE, appendix (Lemma 1), and its public code.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from itertools import combinations, product
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import SearchAnswers
from dpcausal.core.variants import NOT_PRIVATE, Variant, checked_variant
from dpcausal.discovery import printed
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.printed import run_printed
from dpcausal.discovery.private_search import paid_answers, strata_note
from dpcausal.discovery.scores import assumed, scorer_for
from dpcausal.discovery.search import (
    STABLE,
    Answer,
    Answers,
    CostsOfTests,
    Method,
    Query,
    SearchOutcome,
    Skeleton,
    Task,
    complete_skeleton,
    drive,
)
from dpcausal.planning.sieve import ExaminePlan
from dpcausal.privacy import noise
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import release

ORDERS_PLANNED = 4  # orders planned for, the present one included
EPSILON_RATIOS = (1.0, 0.85, 0.7, 0.5, 0.35, 0.2)
EFFECT = 4.0


def most_tests(order: int, found: Skeleton, known: Knowledge) -> int:
    """Return the most questions that stable PC can ask at ``order``, from the graph at its start."""
    total = 0
    for x, y in combinations(found.columns, 2):
        if y not in found.adjacent[x] or frozenset((x, y)) in known.required:
            continue
        near_x, near_y = (
            {z for z in found.adjacent[end] if z not in (x, y) and known.may_separate(z, x, y)}
            for end in (x, y)
        )
        both = len(near_x & near_y)
        total += math.comb(len(near_x), order) + math.comb(len(near_y), order) - math.comb(both, order)
    return total


def expected_tests(order: int, now: int, edges: int, columns: int, last: int) -> list[float]:
    """Return the number of tests to expect at each order from ``order`` to ``last``.

    Of ``order`` itself it is ``now``; at most ``ORDERS_PLANNED`` orders are planned.

    >>> expected_tests(0, 28, 28, 8, 6)
    [28.0, 70.0, 8.0, 8.0]
    """
    tests, left = [float(max(now, 1))], max(min(float(edges), columns), edges / 2)
    for i in range(order + 1, min(last, order + ORDERS_PLANNED - 1) + 1):
        near = max(2 * left / columns - 1, 1.0)  # neighbours of an end, the other end left out
        tests.append(left * max(2 * _choose(near, i), 1.0))
        left = max(min(left, columns), left / 2)
    return [float(round(count)) for count in tests]


def _choose(n: float, k: int) -> float:
    """Return n(n-1)...(n-k+1)/k! for a number n that need not be whole, never below 0."""
    return math.prod(max(n - j, 0.0) for j in range(k)) / math.factorial(k)


def even_scale(tests: list[float], left: float, gaussian: bool) -> float:
    """Return the noise scale (at sensitivity 1) if ``left`` (rho or epsilon) is split evenly over tests."""
    each = left / sum(tests)
    return 1 / math.sqrt(2 * each) if gaussian else 1 / each


@lru_cache
def _ratios(orders: int) -> NDArray[np.float64]:
    """Return the candidates for how the cost of a test changes by order: rows of e_i/e_0."""
    steps = np.array(list(product(EPSILON_RATIOS, repeat=orders - 1)), dtype=np.float64)
    return np.concatenate([np.ones((len(steps), 1)), np.cumprod(steps, axis=1)], axis=1)


def cost_now(tests: list[float], left: float, effect: float, gaussian: bool) -> float:
    """Return what one test of the present order may cost in the best plan: rho if ``gaussian``, else epsilon.

    >>> round(cost_now([10.0], 1.0, 4.0, gaussian=False), 3)
    0.1
    >>> cost_now([10.0, 40.0], 1.0, 100.0, gaussian=False) >= 1/50
    True
    """
    ratios = _ratios(len(tests))
    first = left / (ratios @ np.array(tests))
    each = first[:, None] * ratios
    tail = np.exp(-(effect**2) * each) if gaussian else np.exp(-effect * each)
    wrong = np.prod(0.5 + tail / 2, axis=1) + 1 - np.prod(0.5 - tail / 2, axis=1)
    return float(first[np.argmin(wrong)])


MarginsOf = Literal["noise", "threshold"]
MARGIN = 0.1
SHIFT = 1.0  # in standard deviations of the noise: smaller than for one look a pair, since edges are asked about often
MIN_SHARE = 1e-6  # a smaller share of the total buys no answer worth having: the search ends
RELEASED = SearchAnswers("noisy-scores")


@proved("composition.proof.md")
class NoisyTests:
    """Replies to batches with one noisy score each; plans at the first batch of an order."""

    def __init__(self, task: Task, margins: tuple[float, float], of_threshold: bool = False) -> None:
        self._task, self._budget, self._margins = task, task.private_budget(), margins
        self._of_threshold = of_threshold
        self.scorer = scorer_for(task)
        self._gaussian = self._budget.total.rho > 0
        self._found = complete_skeleton(task.columns, task.known)  # what the answers so far leave: released
        most = len(task.columns) - 2
        self._last = most if task.max_order is None else min(task.max_order, most)
        self._order = -1
        self._effect = 0.0
        self._mechanism: Laplace | Gaussian | None = None
        self.costs: dict[int, float] = {}  # of one test, by order: public

    def __call__(self, batch: list[Query]) -> Answers:
        """Return True for independent; None for what the budget no longer covers."""
        order = len(batch[0].given)
        if order > self._order:
            self._order = order
            self._plan(order)
        mechanism = self._mechanism
        if mechanism is None or not self._budget.affords(mechanism.event("test")):
            return None
        plan = ExaminePlan.of(mechanism)
        shift = SHIFT * plan.scale * (1.0 if plan.gaussian else math.sqrt(2.0))
        unit = shift if self._of_threshold else plan.scale
        low, high = -self._margins[0] * unit, self._margins[1] * unit
        # without dependence a score is below this with a probability of at most the level
        shown = -plan.least - plan.quantile(self._task.level)
        values = self.scorer.scores(batch, shift, plan.least).tolist()

        def answer(i: int) -> Answer:
            noisy = float(release(mechanism, self._budget, "test", values[i]))
            independent = noisy > high or (noisy >= low and noise.coin())
            if independent:
                self._found.remove(batch[i])
            return None if order == 0 and not independent and noisy >= shown else independent

        return paid_answers(len(batch), lambda: self._budget.affords(mechanism.event("test")), answer)

    def _plan(self, order: int) -> None:
        """Choose the mechanism for the tests of this order from what is left of the budget."""
        left = self._budget.left_rho() if self._gaussian else self._budget.left_epsilon()
        if left <= MIN_SHARE * (self._budget.total.rho if self._gaussian else self._budget.total.epsilon):
            self._mechanism = None
            return
        now = most_tests(order, self._found, self._task.known)
        edges = len(self._found.edges)
        tests = expected_tests(order, now, edges, len(self._task.columns), max(self._last, order))
        if not self._effect:
            self._effect = EFFECT * even_scale(tests, left, self._gaussian)
        cost = min(cost_now(tests, left, self._effect, self._gaussian), left)
        self.costs[order] = cost
        neighbours = self._task.neighbours
        if self._gaussian:
            self._mechanism = Gaussian(sensitivity=1.0, rho=cost, neighbours=neighbours)
        else:
            self._mechanism = Laplace(sensitivity=1.0, epsilon=cost, neighbours=neighbours)


def run(
    task: Task,
    *,
    margins: Annotated[
        tuple[float, float], "how far below and above zero, in noise scales, a coin decides"
    ] = (MARGIN, MARGIN),
    margins_of: Annotated[
        MarginsOf, "margins in noise scales (noise), or as printed, T(1 - beta) to T(1 + beta) (threshold)"
    ] = "noise",
    stable: Annotated[bool, STABLE] = True,
    variant: Annotated[Variant, NOT_PRIVATE] = "ours",
) -> SearchOutcome:
    """Run the method ``curate``; between the margins (below, above) a coin decides."""
    if checked_variant(variant) == "paper":
        return run_printed("curate", task, partial(printed.curate, cost=cost_now))
    if not all(0 <= margin < 10 for margin in margins):
        raise InputError(f"margins must be two numbers between 0 and 10, not {margins!r}")
    if margins_of not in get_args(MarginsOf):
        raise InputError(f"margins_of must be noise or threshold, not {margins_of!r}")
    of_threshold = margins_of == "threshold"
    if of_threshold and margins[0] > 1:
        raise InputError(f"the margin below is a share of the threshold, at most 1, not {margins[0]!r}")
    tests = NoisyTests(task, (float(margins[0]), float(margins[1])), of_threshold)
    skeleton = drive(task.pc_search(stable=stable), tests)
    unit = "rho" if task.private_budget().total.rho > 0 else "epsilon"
    note = CostsOfTests(unit, tuple(tests.costs.items()))
    return SearchOutcome(
        skeleton, (RELEASED,), public=assumed(task), notes=(note, *strata_note(tests.scorer))
    )


METHOD = Method(
    "curate",
    "every question gets a noisy score; its cost is planned again as conditioning sets grow",
    run,
    tables_only=True,
)
