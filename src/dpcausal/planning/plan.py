"""``dc.plan``: what can be learned at a budget, before any data is touched.

**Formula.** ``planning/measurement_plan.py`` has the noise, ``planning/forecast.py`` what shows through it.
**Guarantee.** Only the schema, a number of rows and a budget go in: nothing is charged and nothing can leak. Under
add-remove the number of rows is protected, so give a public guess and not the real one.
**Cost** a few hundredths of a second an order.
**Assumes** equally common levels, or a stated share of the rarest one. Real columns are less even and show less: the
first line answers for ``RARE_SHARE``, and ``share`` plans for another.

**The file** of a plan is one JSON object, of which ``discover(plan=...)`` measures what ``ExecutablePlan`` reads:
``format``; ``id``, a hash of the rest; ``schema``, the declared columns as a schema file; ``level``; and
``measurement``, the ``MeasurementPlan``. It holds public numbers alone, and is executed only on rows that were read
with the same schema. A file that was damaged or edited is refused.

**Time and memory** (``cost_of``). Reading and coding takes time and memory by the cell. The search, with its repeats,
works on matrices with a row for every level but one of every column; its time grows with their squares. The constants
are the slopes measured by ``benchmarks/hospital_time.py`` and by reading CSV files, rounded up, on one core of two at 3
GHz; compiling the kernels, once on a machine, is not in them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Literal

from dpcausal._version import __version__
from dpcausal.core.arguments import checked_column, checked_count, checked_level, checked_part
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.facts import content_id
from dpcausal.core.forecast import Power, PowerForecast
from dpcausal.core.json_files import check_kind, read_json, refuse_damaged, save_text
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.data.columns import DEFAULT_BINS, Numeric
from dpcausal.data.schema import Schema
from dpcausal.planning.forecast import (
    Aim,
    OrderPlan,
    columns_within_reach,
    curve_at,
    graph_forecast,
    least_found,
    order_plan,
    places_of,
)
from dpcausal.planning.measurement_plan import MeasurementPlan, PublicNumbers, plan_measurement
from dpcausal.planning.power import moments_curve, moments_pay
from dpcausal.planning.settings import MAX_SET
from dpcausal.privacy.accounting.composition import FirstCharge, check_total

DEFAULT_ORDERS = 5  # shown unless more are asked for
# of the rarest level of every column, for which the first line answers: runs on columns as uneven as those of a survey
# find what it says (``benchmarks/plan_shares.py``)
RARE_SHARE = 0.2
MAX_CONDITIONING_CELLS = 2048
MEASURE = (
    "Cohen's w in every block of the table: sqrt(chi2/n); the correlation phi where x and y have two levels"
)
FORMAT = 1
CONTENT = ("schema", "level", "measurement")  # what the id is made of
START_SECONDS = 2.0
SECONDS_A_CELL = 1.5e-7
SECONDS_A_SQUARE = 4e-4  # of the number of levels but one, summed over columns
START_MEBIBYTES = 270.0
BYTES_A_CELL = 10.0


@dataclass(frozen=True)
class ExecutablePlan:
    """What is to be measured, on rows of which schema, and the level of every test.

    A file has no more than that; a protocol of sites also says the other fields.
    """

    schema: Schema
    measurement: MeasurementPlan
    level: float
    noted: Mapping[str, Any] = field(default_factory=dict, compare=False)  # in a ledger, besides
    # in the second of two rounds: the charge of the first, whose rest is spent
    rest_of: FirstCharge | None = field(default=None, compare=False)
    searched: bool = field(default=True, compare=False)  # for a graph, after it was measured

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        content = {
            "schema": self.schema.to_toml(),
            "level": self.level,
            "measurement": self.measurement.to_dict(),
        }
        return {
            "format": FORMAT,
            "software": f"dpcausal {__version__}",
            "id": content_id(content),
            **content,
        }

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ExecutablePlan:
        """Read a plan that ``Plan.save`` wrote.

        Raises
        ------
        InputError
            If there is no such file, or it is no plan, or one of a newer version.
        """
        name, data = fspath(path), read_json(path, "plan")
        check_kind(data, name, "plan", has=["measurement"], newest=FORMAT, written_by="dpcausal plan --out")
        with refuse_damaged(name):
            if data["id"] != content_id({name: data[name] for name in CONTENT}):
                raise ValueError("its id is not that of its contents")
            schema = Schema.from_toml_string(data["schema"])
            found = cls(schema, MeasurementPlan.from_dict(data["measurement"]), checked_level(data["level"]))
            found.check_fits(schema)
        return found

    def check_fits(self, schema: Schema) -> None:
        """Refuse rows of another schema than the one that was planned for.

        Raises
        ------
        InputError
            With the first column that differs.
        """
        for name in (*self.schema, *schema):
            if name not in schema:
                raise InputError(
                    f'the plan does not fit: it has a column "{name}", which the schema does not declare'
                )
            if name not in self.schema:
                raise InputError(
                    f'the plan does not fit: the schema declares "{name}", which it does not have'
                )
            if schema[name] != self.schema[name]:
                raise InputError(f'the plan does not fit: it declares "{name}" otherwise than the schema')
        if list(schema) != list(self.schema):
            raise InputError("the plan does not fit: it has the columns in another order than the schema")
        public = self.measurement.public
        planned = PublicNumbers.of_schema(
            schema, public.rows, public.epsilon, public.delta, public.neighbours
        )
        if planned.columns != public.columns or not (
            public.target is None or 0 <= public.target < len(schema)
        ):
            raise InputError("the plan does not fit its own schema: it was changed by hand")


@dataclass(frozen=True)
class Cost:
    """What a run takes.

    Attributes
    ----------
    seconds : float
        Of one core, about, once kernels are compiled.
    mebibytes : float
        Of memory, about.
    """

    seconds: float
    mebibytes: float


def cost_of(sizes: Sequence[int], rows: int) -> Cost:
    """Return the time and memory that a discovery takes for so many rows and levels.

    >>> found = cost_of((3,) * 20, 20_000)
    >>> round(found.seconds, 1), round(found.mebibytes)
    (2.7, 274)
    """
    cells, features = rows * len(sizes), sum(max(size - 1, 0) for size in sizes)
    seconds = START_SECONDS + SECONDS_A_CELL * cells + SECONDS_A_SQUARE * features**2
    return Cost(seconds, START_MEBIBYTES + BYTES_A_CELL * cells / 2**20)


@dataclass(frozen=True)
class Plan:
    """The answer of ``dc.plan``: what a budget can show. Print it, or read its parts.

    Attributes
    ----------
    schema : Schema
        The declared columns.
    aim : Aim
        What was planned for: rows, level, power, effect, share and pair.
    measurement : MeasurementPlan
        What will be measured, with which noise, shares and levels; ``discover(plan=...)`` measures exactly that.
    orders : tuple of OrderPlan
        For every size of the conditioning set, the smallest dependence (Cohen's w) that is found, and more.
    chances : tuple of PowerForecast
        How likely a weak, medium and strong dependence of the two columns of the first order is found: by the graph,
        and by ``moments`` where columns hold numbers (at best).
    numbers : bool
        Whether ``auto`` takes ``moments``, another method than the one planned here: most columns hold numbers.
    coarser : float or None
        The smallest dependence at the first order if no number had more than four bins; None where that shows no more.
    fewer : int or None
        Among how many columns most pairs could be decided, found or called absent, where among these they can't.

    Examples
    --------
    >>> yes_no = Schema.from_toml_string('[columns.a]\\ntype = "categorical"\\nlevels = ["no", "yes"]\\n')["a"]
    >>> found = plan(Schema(a=yes_no, b=yes_no), rows=1000, epsilon=0.1)
    >>> found.to_dict()["noise"], found.testable_orders
    ('Laplace', (0,))
    """

    schema: Schema = field(repr=False, compare=False)
    aim: Aim
    measurement: MeasurementPlan
    orders: tuple[OrderPlan, ...]
    chances: tuple[PowerForecast, ...]
    numbers: bool = False
    coarser: float | None = None
    fewer: int | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the schema."""
        return tuple(self.schema)

    @property
    def target(self) -> str | None:
        """The one column that the graph is about; None for all."""
        target = self.measurement.public.target
        return None if target is None else self.columns[target]

    @property
    def noise_sd(self) -> float:
        """Standard deviation of the noise in a count of the two columns of the first order, in rows."""
        return math.sqrt(self.measurement.variance(self.orders[0].levels))

    @property
    def _rare_aim(self) -> Aim:
        """The same aim for columns whose rarest level is rare."""
        return replace(self.aim, share=RARE_SHARE)

    @cached_property
    def with_rare_levels(self) -> OrderPlan | None:
        """The forecast of the first order if every column's rarest level is rare; None where a share was given."""
        return None if self.aim.share is not None else order_plan(self.measurement, 0, self._rare_aim)

    @cached_property
    def rare_power(self) -> Power:
        """The power at the first order if every column's rarest level is rare."""
        return Power.of(curve_at(self.measurement, self.orders[0].places, self._rare_aim))

    @property
    def cost(self) -> Cost:
        """About how much time and memory learning the graph takes."""
        return cost_of(self.measurement.public.sizes, self.aim.rows)

    def named(self, places: tuple[int, ...]) -> list[str]:
        """Return the names of the columns at these places."""
        return [self.columns[j] for j in places]

    @property
    def testable_orders(self) -> tuple[int, ...]:
        """The orders at which the driver can call a pair independent; at others edges stay as untested."""
        return tuple(plan.order for plan in self.orders if plan.testable)

    @property
    def epsilon_enough(self) -> float | None:
        """The epsilon with which ``effect`` is found at every order planned; None where none is enough."""
        needed = [plan.epsilon_enough for plan in self.orders]
        return None if None in needed else max(value for value in needed if value is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        public, aim, rare = self.measurement.public, self.aim, self.with_rare_levels
        return {
            "columns": len(self.columns),
            "rows": aim.rows,
            "epsilon": public.epsilon,
            "delta": public.delta,
            "neighbours": str(public.neighbours),
            "level": aim.level,
            "power": aim.power,
            "effect": aim.effect,
            "share": aim.share,
            "pair": None if aim.pair is None else self.named(aim.pair),
            "target": self.target,
            "chances": [
                {"way": one.way, "method": one.method, **one.power._asdict()}
                for one in self.chances
                if one.power is not None
            ],
            "measure": MEASURE,
            "design": "joint" if self.measurement.joint else "components",
            "design_words": display().summary(self, part="design"),
            "noise": self.measurement.law,
            "noise_sd": self.noise_sd,
            "with_rare_levels": None
            if rare is None
            else {"share": RARE_SHARE, "smallest": rare.to_dict()["smallest"], "testable": rare.testable},
            "testable_orders": list(self.testable_orders),
            "epsilon_enough": self.epsilon_enough,
            "columns_within_reach": self.fewer,
            "smallest_with_four_bins": self.coarser,
            "orders": [plan.to_dict() | {"places": self.named(plan.places)} for plan in self.orders],
            "cost": asdict(self.cost),
            **self.executable.to_dict(),
        }

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan to a file that ``discover(data, plan=path)`` measures exactly as planned.

        Parameters
        ----------
        path : str or PathLike
            The file, JSON.

        Raises
        ------
        InputError
            If the file can't be written.

        Examples
        --------
        >>> import tempfile, pathlib, dpcausal as dc
        >>> network = dc.networks.load("cancer")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "plan.json"
        ...     dc.plan(network.schema, rows=20_000, epsilon=1.0).save(path)
        ...     dc.discover(network.sample(20_000, seed=1), plan=path).privacy.epsilon
        1.0
        """
        save_text(path, self.to_json() + "\n")

    @property
    def executable(self) -> ExecutablePlan:
        """What ``discover(plan=...)`` executes."""
        return ExecutablePlan(self.schema, self.measurement, self.aim.level)

    def summary(self, width: int = 110, *, full: bool = False) -> str:
        """Return the table and what it means, as text.

        Parameters
        ----------
        width : int, default 110
            Characters to a line.
        full : bool, default False
            Whether to explain the table, and say what would be measured.
        """
        return display().summary(self, width=width, full=full)

    def plot(self, ax: Any = None) -> Any:
        """Draw power curves with matplotlib on ``ax`` or on new axes; return the axes."""
        return display().plot(self, ax)

    def draw(self, path: str | PathLike[str]) -> None:
        """Write a picture as PNG to ``path``: the smallest dependence that is found, by epsilon and by order."""
        display().report(self, path)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """Return the plan as HTML for a notebook."""
        return display().html(self)


def plan(
    schema: Schema | str | PathLike[str],
    rows: int,
    epsilon: float,
    delta: float = 0.0,
    *,
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
    level: float = 0.05,
    max_order: int | None = None,
    effect: float = 0.1,
    power: float = 0.8,
    share: float | None = None,
    pair: tuple[str, str] | None = None,
    target: str | None = None,
) -> Plan:
    """Say what ``discover(method="measured")`` will be able to show at a budget, before any data is touched.

    **Guarantee**: only the schema, a number of rows and a budget go in, so nothing is charged and nothing can leak.
    Under add-remove the number of rows is protected: give a public guess, not the real one.

    The plan assumes equally common levels, or a stated share of the rarest one. Real columns are less even and show
    less: plan once more with ``share``.

    Parameters
    ----------
    schema : Schema or path
        The declared columns, or the schema file.
    rows : int
        The number of rows.
    epsilon : float
        What the discovery may cost in total.
    delta : float, default 0.0
        The probability with which the guarantee of ``epsilon`` may fail; above 0 it allows Gaussian noise.
    neighbours : str or Neighbours, default "replace-one"
        ``"replace-one"`` or ``"add-remove"``, as in ``discover``.
    level : float, default 0.05
        The size of every test.
    max_order : int or None, default None
        The largest number of columns to condition on; None plans the first five orders.
    effect : float, default 0.1
        The dependence that should be found, as Cohen's w (0 to 1); ``Plan.epsilon_enough`` answers for it.
    power : float, default 0.8
        The probability with which a dependence should be found; above ``level``.
    share : float or None, default None
        The share of rows, up to 0.5, in the rarest level of every column; None means equally common levels.
    pair : tuple of two str or None, default None
        The two columns to plan for; None takes two with a middle number of levels.
    target : str or None, default None
        The one column that is asked about, as in ``discover(target=...)``: the budget then goes to tables with it.

    Returns
    -------
    Plan
        The smallest dependence that is found at each order, and what would be enough; print it.

    Raises
    ------
    InputError
        If an argument can't be used as given, or the schema can't be planned for.

    Examples
    --------
    >>> import dpcausal as dc
    >>> yes_no = dc.Categorical(["no", "yes"])
    >>> found = dc.plan(dc.Schema(a=yes_no, b=yes_no, c=yes_no), rows=10_000, epsilon=1.0)
    >>> found.testable_orders, round(found.orders[0].smallest, 3), found.epsilon_enough
    ((0, 1), 0.032, 0.025)
    """
    declared = schema if isinstance(schema, Schema) else Schema.from_toml(schema)
    if len(declared) < 2:
        raise InputError("a graph needs at least two columns in the schema")
    _check_rows(rows)
    check_total(epsilon, delta)
    relation = Neighbours.parse(neighbours, labels=False)
    aim = Aim(
        rows,
        checked_level(level),
        checked_level(power, "power"),
        checked_part(effect, "effect", 1),
        None if share is None else checked_part(share, "share", 0.5),
        _checked_pair(pair, declared),
    )
    if aim.power <= aim.level:
        raise InputError(f"power must be above the level ({level:g}), not {power:g}")
    sizes = tuple(column.size for column in declared.values())
    usable = sum(size > 1 for size in sizes)
    if usable < 2:
        raise InputError("a plan needs at least two columns with two or more declared levels")
    if max_order is not None:
        max_order = checked_count(max_order, "max_order")
    last = min(usable - 2, DEFAULT_ORDERS - 1 if max_order is None else max_order)
    last = last if target is None else min(last, MAX_SET)
    if max_order is None:
        while last and _conditioning_cells(sizes, last, aim.pair) > MAX_CONDITIONING_CELLS:
            last -= 1
    else:
        _check_blocks(sizes, last, aim.pair)
    _check_target(target, declared, aim.pair)
    public = PublicNumbers.of_schema(declared, rows, float(epsilon), float(delta), relation, target)
    measurement = plan_measurement(public)
    orders = tuple(order_plan(measurement, order, aim) for order in range(last + 1))
    numeric = [name for name, column in declared.items() if isinstance(column, Numeric)]
    chances = _graph_chances(measurement, aim, orders[0].places[:2])
    decided = (chances[0].medium or 0.0) >= aim.power and orders[0].testable
    too_many = target is None and aim.share is None and not decided
    return Plan(
        declared,
        aim,
        measurement,
        orders,
        chances,
        numbers=target is None
        and moments_pay(tuple(declared), numeric, rows, public.epsilon, public.delta, relation),
        coarser=_coarser(measurement, aim, orders[0]),
        fewer=columns_within_reach(measurement, aim.level) if too_many else None,
    )


def _graph_chances(
    measurement: MeasurementPlan, aim: Aim, places: tuple[int, ...]
) -> tuple[PowerForecast, ...]:
    """Return the forecasts of what a graph finds between the columns at two places."""
    public = measurement.public
    curves = {"measured": curve_at(measurement, places, aim)}
    if public.target is None and any(public.columns[j].number for j in places):
        curves["moments"] = moments_curve(public, aim.level)
    return tuple(
        graph_forecast(public, method, aim.level, curve, aim.effect) for method, curve in curves.items()
    )


def _check_target(target: object, schema: Schema, pair: tuple[int, int] | None) -> None:
    """Refuse a target of one level, and a pair without the target."""
    if target is None:
        return
    target = checked_column(target, schema, "target")
    if schema[target].size < 2:
        raise InputError(f"target: nothing can depend on {target}, which has one level")
    if pair is not None and list(schema).index(target) not in pair:
        raise InputError(f"pair must name the target, {target}: no other pairs are measured")


COARSER_GAIN = 0.95  # coarser bins are proposed where they lower the smallest dependence by 5%


def _coarser(measurement: MeasurementPlan, aim: Aim, first: OrderPlan) -> float | None:
    """Return the least w that is found with at most four bins for each number; None if that is no gain."""
    public = measurement.public
    columns = tuple(
        kind._replace(size=min(kind.size, DEFAULT_BINS + kind.missing)) if kind.number else kind
        for kind in public.columns
    )
    if columns == public.columns:
        return None
    coarse = plan_measurement(replace(public, columns=columns), measurement.settings)
    found = least_found(coarse, first.places, aim)
    return found if found < COARSER_GAIN * min(first.smallest, first.largest_possible) else None


def _conditioning_cells(sizes: tuple[int, ...], last: int, pair: tuple[int, int] | None) -> int:
    """Return the number of combinations of levels of ``last`` columns held fixed."""
    return math.prod(sizes[j] for j in places_of(sizes, last, pair)[2:])


def _check_blocks(sizes: tuple[int, ...], last: int, pair: tuple[int, int] | None) -> None:
    """Refuse ``last`` columns held fixed that have too many combinations of levels."""
    cells = _conditioning_cells(sizes, last, pair)
    if cells > MAX_CONDITIONING_CELLS:
        fewer = spelled(f"--max-order {last - 1}", f"max_order={last - 1}")
        raise InputError(
            f"with {last} columns held fixed at once there are up to {cells:,} combinations of their levels, and at "
            f"most {MAX_CONDITIONING_CELLS:,} can be planned for: try {fewer}"
        )


def _checked_pair(pair: object, schema: Schema) -> tuple[int, int] | None:
    """Return the places of a pair of columns in the schema; refuse anything else."""
    if pair is None:
        return None
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2 or pair[0] == pair[1]:
        raise InputError(f"pair takes two different columns, not {pair!r}")
    for name in pair:
        if schema[checked_column(name, schema, "pair")].size < 2:
            raise InputError(f"pair: nothing can depend on {name}, which has one level")
    names = list(schema)
    return names.index(pair[0]), names.index(pair[1])


def _check_rows(rows: object) -> None:
    """Refuse a number of rows that is not a whole number above zero."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise InputError(f"rows must be a whole number above zero, not {rows!r}")
