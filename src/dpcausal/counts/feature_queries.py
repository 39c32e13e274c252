"""Sums of integer features as queries that Ibis writes: the integers of ``feature_sums.py``, made where the rows are.

Each query is a few SELECTs, one within the other: numbers within their bounds, places, cells, features, shortened
features, sums. Floats are only ever subtracted, multiplied, divided, compared, rooted and rounded down: IEEE 754 says
to the last bit what these give, and engines keep to it. All else is integers. Tables of cells are look-ups in constant
arrays, which are sent as text. Sums are of 32-bit products in 64 bits, exact in any order.

**Guarantee.** No query holds a value of a row: cells follow from public numbers and from what was released. No value
makes a query fail: nothing underflows (PostgreSQL calls that an error), since shares below 2^-19 are not computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcausal.counts.expressions import Dialect, bin_expression, double, first_place, number_expression
from dpcausal.counts.feature_sums import (
    BLOCK_BITS,
    PLACES,
    SLACK,
    SPAN_BITS,
    Cells,
    Floats,
    Integers,
    Shortening,
    span_starts,
    span_widths,
)
from dpcausal.data.columns import Numeric

if TYPE_CHECKING:
    from ibis.expr import types as ir

SUMS_PER_QUERY = {"pyspark": 96}  # Spark compiles no wider aggregation as a whole
MANY_SUMS = 512
CAST_ONE = ("bigquery", "snowflake")  # they cast no array of texts, and others cast a constant one only once
NO_LIMIT = 1 << 62  # PostgreSQL evaluates what is below a LIMIT once, and would copy it into every use else


@contextmanager
def one_by_one() -> Iterator[None]:
    """Keep Ibis from merging SELECTs within the block; merged ones compute an expression at every use."""
    import ibis

    before = ibis.options.sql.fuse_selects
    ibis.options.sql.fuse_selects = False
    try:
        yield
    finally:
        ibis.options.sql.fuse_selects = before


def number_within(value: ir.Value, name: str, column: Numeric, dialect: Dialect, label: str) -> ir.Value:
    """Return the expression of a numeric cell as a number clamped to its bounds."""
    import ibis

    number, missing = number_expression(value, name, column, dialect, label)
    assert column.other is not None
    return ibis.cases(
        (missing, double(column.other)),
        (number < double(column.lower), double(column.lower)),
        (number > double(column.upper), double(column.upper)),
        else_=number,
    )


def place_of(number: ir.Value, column: Numeric) -> ir.Value:
    """Return the expression of a number's place on the grid of a linear column, as ``places_of`` computes it."""
    above = number - double(column.lower)
    width = column.upper - column.lower
    return _share(above, double(width), double(width * 2.0**-19), PLACES)


def span_of(number: ir.Value, column: Numeric) -> ir.Value:
    """Return the expression of the span of a log scale that a number lies in, by comparisons alone."""
    return bin_expression(number, span_starts(column.lower, column.upper)[1:-1])


def place_in_span(number: ir.Value, span: ir.Value, column: Numeric, dialect: Dialect) -> ir.Value:
    """Return the expression of a number's place on the grid of a log column, as ``places_in_spans`` computes it."""
    starts, parts = span_starts(column.lower, column.upper), 1 << SPAN_BITS
    widths = span_widths(starts)
    above = number - _at(np.array(starts[:-1]), span, dialect)
    least = _at(widths * 2.0 ** -(SPAN_BITS + 1), span, dialect)
    return span.cast("int64") * parts + _share(above, _at(widths, span, dialect), least, parts)


def _share(above: ir.Value, width: ir.Value, least: ir.Value, parts: int) -> ir.Value:
    """Return the expression of which of ``parts`` equal parts of a width a number lies in; 0 below ``least``."""
    import ibis

    part = (above / width * double(float(parts))).floor().cast("int64")
    last = ibis.literal(parts - 1, type="int64")
    return ibis.cases((above < least, ibis.literal(0, type="int64")), (part > last, last), else_=part)


def _at(numbers: Integers | Floats, place: ir.Value, dialect: Dialect) -> ir.Value:
    """Return the expression of the entry at a place of a constant table, which is sent as text."""
    import ibis

    type_ = "float64" if numbers.dtype == np.float64 else "int32"
    table = ibis.literal(",".join(map(repr, numbers.tolist()))).split(",")
    at = place.cast("int32")  # Spark takes no other
    if dialect.name in CAST_ONE:
        return table[at].cast(type_)
    return table.cast(f"array<{type_}>")[at]


class FeatureQueries:
    """Writes queries about a table: ``codes`` of its categorical columns, declarations of its ``numbers``."""

    def __init__(
        self,
        table: ir.Table,
        codes: Mapping[str, ir.Value],
        numbers: Mapping[str, Numeric],
        dialect: Dialect,
        label: str,
    ) -> None:
        self._table, self._codes, self._numbers = table, codes, numbers
        self._dialect, self._label = dialect, label

    def _barrier(self, table: ir.Table) -> ir.Table:
        """Keep PostgreSQL from merging a subquery, by a limit that is never reached; other tables unchanged."""
        return table.limit(NO_LIMIT) if self._dialect.name == "postgres" else table

    def _number(self, name: str) -> ir.Value:
        """Return the expression of a column's clamped number."""
        return number_within(self._table[name], name, self._numbers[name], self._dialect, self._label)

    def places(self, name: str) -> ir.Table:
        """Return the query for the number of rows at each grid place of a numeric column."""
        numbers = self._barrier(self._table.select(place=self._number(name)))
        placed = self._placed(numbers, {name: "place"})
        return placed.group_by("place").aggregate(weight=placed.count())

    def _placed(self, numbers: ir.Table, called: Mapping[str, str]) -> ir.Table:
        """Return the rows with grid places instead of numbers; codes stay."""
        scaled = [x for x in called if x in self._numbers and self._numbers[x].scale != "linear"]
        if scaled:  # a span is used several times
            spans = {f"span{called[x]}": span_of(numbers[called[x]], self._numbers[x]) for x in scaled}
            numbers = self._barrier(numbers.select(*called.values(), **spans))

        def place(name: str, here: str) -> ir.Value:
            if name not in self._numbers:
                return numbers[here]
            if name in scaled:
                return place_in_span(
                    numbers[here], numbers[f"span{here}"], self._numbers[name], self._dialect
                )
            return place_of(numbers[here], self._numbers[name])

        return numbers.select(**{here: place(name, here) for name, here in called.items()})

    def cells(self, columns: Mapping[str, Cells]) -> tuple[ir.Table, dict[str, str]]:
        """Return the query that gives every row's cell in each column, and the names of its result columns.

        A cell is a level, or a range of numbers, whose rows share the same feature vector.
        """
        called = {name: f"c{i}" for i, name in enumerate(columns)}
        first = self._barrier(
            self._table.select(
                **{called[x]: self._number(x) if x in self._numbers else self._codes[x] for x in columns}
            )
        )
        places = self._barrier(self._placed(first, called))
        found = {}
        for name, cells in columns.items():
            here = places[called[name]]
            if cells.first is not None and cells.parts is not None:
                block = here >> BLOCK_BITS
                inside = here - block * (1 << BLOCK_BITS)
                parts = _at(cells.parts, block, self._dialect)
                here = _at(cells.first, block, self._dialect) + ((inside * parts) >> BLOCK_BITS)
            found[called[name]] = here
        return self._barrier(places.select(**found)), called

    def _length(self, cells: ir.Table, called: Mapping[str, str], columns: Mapping[str, Cells]) -> ir.Value:
        """Return the expression of the squared length of a row's feature vector."""
        import ibis

        total: Any = ibis.literal(0, type="int64")
        for name, table in columns.items():
            if table.width:
                total = total + _at(table.squares, cells[called[name]], self._dialect).cast("int64")
        return total

    def lengths(self, columns: Mapping[str, Cells], limits: Integers) -> ir.Table:
        """Return the query for the number of rows by the first limit that their squared length is within."""
        cells, called = self.cells(columns)
        lengths = self._barrier(cells.select(length=self._length(cells, called, columns)))
        at = first_place(len(limits), lambda place: lengths.length > int(limits[place]))
        sorted_in = lengths.select(at=at)
        return sorted_in.group_by("at").aggregate(weight=sorted_in.count())

    def sums(
        self, columns: Mapping[str, Cells], short: Shortening, pairs: Sequence[tuple[int, int]]
    ) -> ir.Table:
        """Return the query for sums over rows of products of pairs of features; -1 is the constant 1."""
        import ibis

        used = sorted({f for pair in pairs for f in pair if f >= 0})
        cells, called = self.cells(columns)
        wanted: dict[str, Any] = {"length": self._length(cells, called, columns)}
        place = 0
        for name, table in columns.items():
            for f in range(table.width):
                if place + f in used:
                    wanted[f"h{place + f}"] = _at(table.features[:, f], cells[called[name]], self._dialect)
            place += table.width
        features = self._barrier(cells.select(**wanted))
        # a row whose features are all 0 is within every limit; but PostgreSQL and Spark fail where its length divides
        root = ibis.greatest(features.length, 1).cast("float64").sqrt()
        factor = (double(float(short.bound)) / root * double(SLACK)).name("factor")
        with_factor = self._barrier(features.select(*features.columns, factor=factor)) if used else features
        cut = self._barrier(
            with_factor.select(**{f"h{f}": _cut(with_factor, f"h{f}", short) for f in used})
            if used
            else features.select(length=features.length)
        )
        return cut.aggregate(
            rows=cut.count(),
            **{
                f"s{i}": (cut[f"h{b}"] if a < 0 else cut[f"h{a}"] * cut[f"h{b}"]).sum()
                for i, (a, b) in enumerate(pairs)
            },
        )

    def in_parts(self, columns: Mapping[str, Cells]) -> list[list[tuple[int, int]]]:
        """Return all pairs of features, the constant included, in lists of one query each."""
        size = sum(cells.width for cells in columns.values())
        most = SUMS_PER_QUERY.get(self._dialect.name, MANY_SUMS)
        side = max(int(np.sqrt(most)) - 1, 1)
        blocks = [range(low, min(low + side, size)) for low in range(0, size, side)]
        parts = []
        for i, one in enumerate(blocks):
            for other in blocks[i:]:
                pairs = [(a, b) for a in one for b in other if a <= b]
                if one is other:
                    pairs = [(-1, b) for b in other] + pairs
                parts.append(pairs)
        return parts


def _cut(features: ir.Table, name: str, short: Shortening) -> ir.Value:
    """Return the expression of one feature of a row, shortened to the allowed length, as a 32-bit integer."""
    import ibis

    h = features[name]
    scaled = h.cast("float64") * features.factor
    nearer = (h >= 0).ifelse(scaled.floor(), scaled.ceil())
    return ibis.cases(
        (features.length <= short.limit, h.cast("int64") * (1 << short.finer)),
        else_=nearer.cast("int64"),
    ).cast("int32")
