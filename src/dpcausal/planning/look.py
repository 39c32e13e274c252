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

from dpcausal.core.arguments import checked_column
from dpcausal.core.display import display
from dpcausal.core.errors import DpcausalError, InputError
from dpcausal.core.look import LEAST_POWER, MEDIUM, STRONG, WANTED, WEAK, Hopeless, Look, enough_epsilon
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Numeric, has_order
from dpcausal.data.schema import Schema
from dpcausal.planning.designs import Aim, NoiseDesign, power_at
from dpcausal.planning.measurement import SMALL_DELTA
from dpcausal.privacy.accounting.composition import Filter, check_total
from dpcausal.stats.moments import moment_sensitivity

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

Powers = tuple[float, float, float]
Shows = Callable[[int, float, float], Powers]  # of so many columns, epsilon and delta


def powers_measured(
    sizes: Sequence[int],
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    level: float,
    target: int | None = None,
    ordered: Sequence[bool] = (),
) -> Powers:
    """Chance that ``measured`` finds a weak, medium and strong dependence between the columns with fewest levels.

    At best: if merged levels keep all of it, for what could show something is not refused. ``ordered`` says whose
    levels have an order; empty: none's.

    >>> [round(part, 2) for part in powers_measured((2,) * 10, 1000, 1.0, 1e-6, Neighbours.REPLACE_ONE, 0.05)]
    [0.33, 1.0, 1.0]
    """
    design = NoiseDesign(tuple(sizes), rows, epsilon, delta, neighbours, target, tuple(ordered))
    ranked = sorted(range(len(sizes)), key=lambda j: (j != target, sizes[j], j))
    aim = Aim(rows, level, WANTED, STRONG, None)
    weak, medium, strong = (
        power_at(design, (ranked[1], ranked[0]), w, aim, at_best=True) for w in (WEAK, MEDIUM, STRONG)
    )
    return weak, medium, strong


def powers_moments(
    widths: Sequence[int], rows: int, epsilon: float, delta: float, neighbours: Neighbours, level: float
) -> Powers:
    """The same for ``moments`` at best; ``widths`` are numbers of features (1 for a number).

    >>> [round(part, 2) for part in powers_moments((1,) * 10, 1000, 1.0, 1e-6, Neighbours.REPLACE_ONE, 0.05)]
    [0.34, 1.0, 1.0]
    """
    weak, medium, strong = chances_moments(
        widths, rows, epsilon, delta, neighbours, level, (WEAK, MEDIUM, STRONG)
    )
    return weak, medium, strong


def chances_moments(
    widths: Sequence[int],
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    level: float,
    effects: Sequence[float],
) -> list[float]:
    """Chance that ``moments`` finds a correlation of each of these sizes, at best."""
    length = math.sqrt(len(widths))
    moved = moment_sensitivity(neighbours, length / 2, length)
    rho = Filter(epsilon, delta).rho
    noise = moved / math.sqrt(2 * rho) if rho > 0 else moved * (1 + sum(widths)) / epsilon
    variance = 1.0 / rows + (math.sqrt(0.5) * noise / rows) ** 2
    cut = float(chdtri(1.0, level))
    return [float(1 - chndtr(cut, 1.0, min(w * w / variance, 1e5))) for w in effects]


def look(
    sizes: Sequence[int],
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    level: float,
    *,
    moments: bool = False,
    target: int | None = None,
    ordered: Sequence[bool] = (),
) -> Look | None:
    """What a discovery is expected to show; None where that can't be said.

    Parameters
    ----------
    sizes
        Declared numbers of levels; for ``moments`` of features, 1 for a number.
    rows
        The public number of rows.
    epsilon, delta, neighbours, level
        The budget and the size of a test.
    moments
        Whether the method is ``moments``, else ``measured``.
    target
        The place of the one column asked about.
    ordered
        Whose levels have an order; empty: none's.
    """
    least = 1 if moments else 2
    if target is not None and sizes[target] < least:
        return None
    known = [*zip(sizes, ordered or [False] * len(sizes), strict=True)]
    rest = sorted(one for j, one in enumerate(known) if one[0] >= least and j != target)
    columns_of = rest if target is None else [known[target], *rest]
    usable, in_order = [size for size, _ in columns_of], [order for _, order in columns_of]
    if rows < 1 or len(usable) < 2:
        return None

    def shows(columns: int, with_epsilon: float, with_delta: float) -> Powers:
        public = (rows, with_epsilon, with_delta, neighbours, level)
        if moments:
            return powers_moments(usable[:columns], *public)
        place = None if target is None else 0
        return powers_measured(usable[:columns], *public, place, in_order[:columns])

    try:
        found = shows(len(usable), epsilon, delta)
        if any(map(math.isnan, found)):
            return None
        helps = {} if found[2] >= LEAST_POWER else _helps(shows, len(usable), epsilon, delta)
        if helps and target is None and not moments and len(usable) > 2:
            public = (rows, epsilon, delta, neighbours, level)
            helps["with_target"] = powers_measured(usable, *public, 0, in_order)[2]
        return Look(rows, epsilon, delta, *found, columns=len(usable), **helps)
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold: the run says so
        return None


def _helps(shows: Shows, columns: int, epsilon: float, delta: float) -> dict[str, Any]:
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


def refuse_hopeless(
    schema: Schema,
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    level: float,
    method: str,
    target: str | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
) -> None:
    """Refuse a discovery that can show nothing, before anything is charged.

    Only what is public goes in: ``rows`` too. Methods other than ``measured`` and ``moments`` are let through.

    Raises
    ------
    Hopeless
        With what would help.
    SchemaError
        If the target is not a column.
    """
    if method not in ("measured", "moments"):
        return
    check_total(epsilon, delta)
    moments = method == "moments"
    sizes = [1 if moments and isinstance(one, Numeric) else one.size - moments for one in schema.values()]
    place = None if target is None else list(schema).index(checked_column(target, schema, "target"))
    ordered = [has_order(column) for column in schema.values()]
    found = look(
        sizes, rows, epsilon, delta, neighbours, level, moments=moments, target=place, ordered=ordered
    )
    if found is not None and found.hopeless:
        found = replace(found, left=left_in_ledger(ledger, dataset))
        raise Hopeless(display().summary(found), found)
