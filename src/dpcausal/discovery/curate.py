"""CURATE: every test is released with noise, and each order's share is set anew from what is left.

At the start of an order the plan (``curate_plan.py``) says what a test may cost, from the budget and the edges that are
left, both public by then. The score of a question (``scores.py``, sensitivity 1) is released with Laplace noise
(delta = 0) or Gaussian noise, and

    delete      where  score + Z >  margin scale
    keep        where  score + Z < -margin scale
    a coin      in between

**Guarantee** (epsilon, delta)-DP: each test is charged before it is drawn, kept edges too, and the filter stops when
the total is reached: sums of epsilon or of rho, since costs are chosen adaptively. Edges not yet tested stay and are
named.

**Where we differ from [1].** The sensitivity there is 190 (n = 100, k = 4) to 4e7 times too small (n = 1e5, k = 8); its
public code does not charge kept edges, has a coin that always says keep, and epsilon^2 where epsilon (e^epsilon - 1)
belongs. Here the filter does the sums. A coin is never better than the sign, so the margins are small by default.

References: [1] CURATE, appendix (Lemma 1), and its public code.
"""

from __future__ import annotations

import math

from dpcausal.core.errors import InputError
from dpcausal.discovery.curate_plan import EFFECT, cost_now, even_scale, expected_tests, most_tests
from dpcausal.discovery.scores_plan import ExaminePlan
from dpcausal.discovery.search import Answer, Answers, Question, pc_search, start
from dpcausal.discovery.task import Found, Task, drive
from dpcausal.discovery.value_scores import scorer_for
from dpcausal.privacy import noise
from dpcausal.privacy.mechanisms.gaussian import Gaussian
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release

MARGIN = 0.1
SHIFT = 1.0  # in standard deviations of the noise: smaller than for one look a pair, since edges are asked about often
SPENT = 1e-6  # a smaller share of the total buys no answer worth having: the search ends
RELEASED = "for every question that was asked, a noisy score that decided whether the edge goes"


class NoisyTests:
    """Replies to batches with one noisy score each; plans at the first batch of an order."""

    def __init__(self, task: Task, margins: tuple[float, float]) -> None:
        self._task, self._budget, self._margins = task, task.paid(), margins
        self._scorer = scorer_for(task)
        self._gaussian = self._budget.total.rho > 0
        self._found = start(task.columns, task.known)  # what the answers so far leave: released
        most = len(task.columns) - 2
        self._last = most if task.max_order is None else min(task.max_order, most)
        self._order = -1
        self._effect = 0.0
        self._mechanism: Laplace | Gaussian | None = None
        self.costs: dict[int, float] = {}  # of one test, by order: public

    def __call__(self, batch: list[Question]) -> Answers:
        """True for independent; None for what the budget no longer covers."""
        order = len(batch[0].given)
        if order > self._order:
            self._order = order
            self._plan(order)
        mechanism = self._mechanism
        if mechanism is None or not self._budget.affords(mechanism.event("test")):
            return None
        plan = ExaminePlan.of(mechanism)
        low, high = -self._margins[0] * plan.scale, self._margins[1] * plan.scale
        answers: list[Answer] = []
        shift = SHIFT * plan.scale * (1.0 if plan.gaussian else math.sqrt(2.0))
        values = self._scorer.scores(batch, shift, plan.least).tolist()
        for question, value in zip(batch, values, strict=True):
            if not self._budget.affords(mechanism.event("test")):
                break
            noisy = float(release(mechanism, self._budget, "test", value))
            gone = noisy > high or (noisy >= low and noise.coin())
            answers.append(gone)
            if gone:
                self._found.remove(question)
        return answers + [None] * (len(batch) - len(answers))

    def _plan(self, order: int) -> None:
        """The mechanism of this order, from what is left."""
        left = self._budget.left_rho() if self._gaussian else self._budget.left_epsilon()
        if left <= SPENT * (self._budget.total.rho if self._gaussian else self._budget.total.epsilon):
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


def run(task: Task, *, margins: tuple[float, float] = (MARGIN, MARGIN), stable: bool = True) -> Found:
    """Discover; ``margins`` (below, above) are in noise scales, and between them a coin decides."""
    if not all(0 <= margin < 10 for margin in margins):
        raise InputError(f"margins must be two numbers between 0 and 10, not {margins!r}")
    tests = NoisyTests(task, (float(margins[0]), float(margins[1])))
    search = pc_search(task.columns, task.known, max_order=task.max_order, stable=stable)
    skeleton = drive(search, tests)
    unit = "rho" if task.paid().total.rho > 0 else "epsilon"
    costs = ", ".join(f"{cost:.3g} given {order}" for order, cost in tests.costs.items())
    return Found(
        skeleton, (RELEASED,), notes=(f"Cost of a test ({unit}), by number of columns given: {costs}",)
    )
