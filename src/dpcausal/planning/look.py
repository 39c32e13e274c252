"""Look before paying: what a design is expected to show, from public numbers, before anything is charged.

``discover`` asks here first. A design that can show nothing is refused uncharged: one in which a strong dependence
(Cohen's w of ``STRONG``) between the two columns with fewest levels would be found with probability below
``LEAST_POWER`` (``core/look.py``). That is the best pair there is under equally common levels, so what is refused is
hopeless, not merely poor: real columns show less.

- ``measured``: the driver's own noise and rule (``designs.py``).
- ``moments``: the best case. Columns of equal variance v around zero, rows no longer than their mean length d v: a
  correlation then has noise of standard deviation s/(n v), s that of a moment, whatever v is. The test is of one
  degree of freedom with variance 1/n + (s/(n v))^2 at the level.

**Guarantee.** Schema, public number of rows and budget alone go in. Where the number of rows is protected there is no
look, and no refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scipy.special import chdtri, chndtr

from dpcausal.core.display import display
from dpcausal.core.errors import DpcausalError, InputError
from dpcausal.core.look import (
    LEAST_POWER,
    MEDIUM,
    STRONG,
    WANTED,
    WEAK,
    Look,
    UnderpoweredError,
    enough_epsilon,
)
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.planning.designs import Aim, power_at
from dpcausal.planning.measurement_plan import (
    MeasurementPlan,
    PublicNumbers,
    expected_noise,
    plan_measurement,
)
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.stats.moments import moment_sensitivity

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

Powers = tuple[float, float, float]
SMALL_DELTA = 1e-6  # the delta that a budget without one is compared with


def powers_measured(plan: MeasurementPlan, level: float) -> Powers:
    """Chance that ``measured`` finds a weak, medium and strong dependence between the columns with fewest levels.

    At best: if merged levels keep all of it, for what could show something is not refused.

    >>> public = PublicNumbers.of_sizes((2,) * 10, 1000, 1.0, 1e-6, Neighbours.REPLACE_ONE)
    >>> [round(part, 2) for part in powers_measured(plan_measurement(public), 0.05)]
    [0.29, 1.0, 1.0]
    """
    sizes, target = plan.public.sizes, plan.public.target
    usable = [j for j, size in enumerate(sizes) if size > 1]
    ranked = sorted(usable, key=lambda j: (j != target, sizes[j], j))
    aim = Aim(round(plan.public.rows_or_one), level, WANTED, STRONG, None)
    weak, medium, strong = (
        power_at(plan, (ranked[1], ranked[0]), w, aim, at_best=True) for w in (WEAK, MEDIUM, STRONG)
    )
    return weak, medium, strong


def chances_moments(
    widths: Sequence[int],
    rows: float,
    total: Filter,
    neighbours: Neighbours,
    level: float,
    effects: Sequence[float],
) -> list[float]:
    """Return the chance that ``moments`` finds a correlation of each of these sizes, at best.

    ``widths`` are numbers of features, 1 for a number.

    >>> by_size = chances_moments((1,) * 10, 1000, Filter(1.0, 1e-6), Neighbours.REPLACE_ONE, 0.05, (0.1, 0.3))
    >>> [round(part, 2) for part in by_size]
    [0.34, 1.0]
    """
    length = math.sqrt(len(widths))
    moved = moment_sensitivity(neighbours, length / 2, length)
    noise = moved / math.sqrt(2 * total.rho) if total.rho > 0 else moved * (1 + sum(widths)) / total.epsilon
    variance = 1.0 / rows + (math.sqrt(0.5) * noise / rows) ** 2
    cut = float(chdtri(1.0, level))
    return [float(1 - chndtr(cut, 1.0, min(w * w / variance, 1e5))) for w in effects]


def look(public: PublicNumbers, level: float, *, moments: bool = False) -> Look | None:
    """Return what a discovery is expected to show; None where that can't be said.

    Parameters
    ----------
    public
        Declared columns, rows and the budget; for ``moments`` sizes are numbers of features plus one.
    level
        The size of a test.
    moments
        Whether the method is ``moments``, else ``measured``.
    """
    target = public.target
    if target is not None and public.columns[target].size < 2:
        return None
    rest = sorted(one for j, one in enumerate(public.columns) if one.size > 1 and j != target)
    usable = rest if target is None else [public.columns[target], *rest]
    if public.rows is None or public.rows < 1 or len(usable) < 2:
        return None
    place = None if target is None else 0

    def shows(columns: int, epsilon: float, delta: float, about: int | None = place) -> Powers:
        smaller = replace(public, columns=tuple(usable[:columns]), target=about, epsilon=epsilon, delta=delta)
        if not moments:
            return powers_measured(plan_measurement(smaller), level)
        widths = [size - 1 for size in smaller.sizes]
        weak, medium, strong = chances_moments(
            widths, smaller.rows_or_one, smaller.total, public.neighbours, level, (WEAK, MEDIUM, STRONG)
        )
        return weak, medium, strong

    try:
        found = shows(len(usable), public.epsilon, public.delta)
        if any(map(math.isnan, found)):
            return None
        helps = {} if found[2] >= LEAST_POWER else _helps(shows, len(usable), public.epsilon, public.delta)
        if helps and target is None and not moments and len(usable) > 2:
            helps["with_target"] = shows(len(usable), public.epsilon, public.delta, 0)[2]
        return Look(
            round(public.rows_or_one), public.epsilon, public.delta, *found, columns=len(usable), **helps
        )
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold: the run says so
        return None


def _helps(
    shows: Callable[[int, float, float], Powers], columns: int, epsilon: float, delta: float
) -> dict[str, Any]:
    """What would help a hopeless design."""
    found: dict[str, Any] = {}
    if not delta:
        found["with_delta"] = shows(columns, epsilon, SMALL_DELTA)[2]
    for wanted in (WANTED, LEAST_POWER):
        low, high = 1, columns
        while high > low + 1:
            middle = (low + high) // 2
            low, high = (middle, high) if shows(middle, epsilon, delta)[2] >= wanted else (low, middle)
        if low > 1:
            found["fewer"] = (low, shows(low, epsilon, delta)[2])
            break
    found["enough"] = enough_epsilon(lambda more: shows(columns, more, delta)[2], epsilon)
    return found


def left_in_ledger(ledger: Any, dataset: str | None) -> float | None:
    """Return the epsilon that a ledger has left for a data set; None where that can't be said. No row is looked at."""
    if ledger is None or dataset is None:
        return None
    from dpcausal.privacy.ledger import Ledger  # SQLAlchemy only where a ledger is used

    try:
        opened = Ledger.open(ledger) if isinstance(ledger, str) else ledger
        accounts = opened.show(dataset) if isinstance(opened, Ledger) else []
        return next((account.left_epsilon for account in accounts), None)
    except DpcausalError:  # the charge says so
        return None


def refuse_underpowered(
    schema: Schema,
    public: PublicNumbers,
    level: float,
    method: str,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
) -> None:
    """Refuse a discovery that can show nothing, before anything is charged.

    Only what is public goes in: ``rows`` too. Methods other than ``measured`` and ``moments`` are let through.

    Raises
    ------
    UnderpoweredError
        With what would help.
    """
    if method not in ("measured", "moments"):
        return
    moments = method == "moments"
    if moments:
        kinds = [
            kind._replace(size=2) if isinstance(column, Numeric) else kind
            for kind, column in zip(public.columns, schema.values(), strict=True)
        ]
        public = replace(public, columns=tuple(kinds))
    found = look(public, level, moments=moments)
    if found is not None and found.hopeless:
        found = replace(found, left=left_in_ledger(ledger, dataset))
        raise UnderpoweredError(display().summary(found), found)


NOTABLE_GAIN = 2.0  # times the noise from which on a missing delta is worth a warning


def noise_without_delta(public: PublicNumbers) -> float:
    """Return the noise in a pair without delta over that with ``SMALL_DELTA``, as standard deviations; 1 with a delta.

    >>> def times(sizes):
    ...     return noise_without_delta(PublicNumbers.of_sizes(sizes, 1_000, 1.0, 0.0, Neighbours.REPLACE_ONE))
    >>> times((2,) * 4), times((4,) * 9) > 4, times((4,) * 12) > 4
    (1.0, True, True)
    """
    if public.delta or sum(size > 1 for size in public.sizes) < 2:
        return 1.0
    try:
        pure, small = (
            min(expected_noise(replace(public, delta=delta)).values()) for delta in (0.0, SMALL_DELTA)
        )
    except InputError:  # more noise than there can be: the run says so
        return 1.0
    if not (small > 0 and math.isfinite(small) and math.isfinite(pure)):
        return 1.0  # at the ends of what floats hold
    return max(1.0, math.sqrt(pure / small))
