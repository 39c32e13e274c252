"""scale = "log" and missing_level: public, and a map of one number by itself."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcausal as dc
from dpcausal.citests.base import Question
from dpcausal.citests.quantiles import exact_spread
from dpcausal.citests.rank import blocks_of
from dpcausal.citests.regression_columns import columns_of
from dpcausal.counts.feature_sums import PLACES, UNIT_BITS, cells_of, places_in_spans, span_starts
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.stream import count_files, count_table
from dpcausal.data.check import check
from dpcausal.discovery.moments import feature_cells, longest
from dpcausal.present.schema import check_lines

# ---- scale


def test_bins_of_equal_width_are_cut_on_the_scale() -> None:
    assert dc.Numeric(0.01, 100, scale="log").bins == (0.1, 1, 10)
    assert dc.Numeric(0, 9999, scale="log").bins == (9, 99, 999)
    assert dc.Numeric(1, 16, [3], scale="log").bins == (3,)
    assert dc.Numeric(0, 100).scale == "linear"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("lower = -1\nupper = 5\nscale = 'log'", 'scale = "log" needs lower above 0, or 0'),
        ("lower = 1\nupper = 5\nscale = 'sqrt'", """scale must be "linear" or "log", not 'sqrt'"""),
        ("lower = 1\nupper = 5\nmissing_level = 'yes'", "missing_level must be true or false, not 'yes'"),
    ],
)
def test_a_fault_names_its_line(entries: str, message: str) -> None:
    with pytest.raises(dc.SchemaError) as error:
        dc.Schema.from_toml_string(f"[columns.x]\ntype = 'numeric'\n{entries}\n")
    assert str(error.value).startswith('schema:5: column "x": ')
    assert message in str(error.value)


def test_both_entries_survive_the_schema_file() -> None:
    schema = dc.Schema(
        dose=dc.Numeric(1, 1000, scale="log", missing_level=True, missing=[-9]), x=dc.Numeric(0, 1)
    )
    text = schema.to_toml()
    assert 'scale = "log"\n' in text
    assert "missing_level = true\n" in text
    assert text.count("scale") == 1
    assert dc.Schema.from_toml_string(text) == schema
    assert schema != dc.Schema(dose=dc.Numeric(1, 1000, missing=[-9]), x=dc.Numeric(0, 1))


@pytest.mark.parametrize("lower", [0.0, 1e-300, 0.5])
def test_a_value_stays_between_the_mapped_bounds_and_keeps_its_order(lower: float) -> None:
    column = dc.Numeric(lower, 500, scale="log")
    values = np.unique(np.concatenate([np.geomspace(max(lower, 1e-300), 500, 999), [lower, 500.0]]))
    values = np.clip(values, lower, 500)
    mapped, (low, high) = column.on_scale(values), column.scaled_bounds
    assert (np.diff(mapped) >= 0).all()
    assert mapped[0] == low
    assert mapped[-1] == high
    assert np.isfinite(mapped).all()


@pytest.mark.parametrize(
    ("lower", "upper"), [(0.0, 500.0), (1e-3, 500.0), (1e-300, 1e100), (5.0, 5.000000000000002)]
)
def test_places_follow_the_logarithm_and_keep_the_order(lower: float, upper: float) -> None:
    column = dc.Numeric(lower, upper, bins=[], scale="log")
    starts = np.array(span_starts(lower, upper))
    assert (np.diff(starts) >= 0).all()
    values = np.concatenate(
        [starts, np.nextafter(starts, -1), np.geomspace(max(lower, 1e-300), upper, 5000), [lower, 5e-324]]
    )
    values = np.sort(np.clip(values, lower, upper))
    places = places_in_spans(values, span_starts(lower, upper))
    assert (np.diff(places) >= 0).all()
    assert places[0] >= 0
    assert places[-1] <= PLACES - 1
    if lower < 5:  # else hardly a number lies between the bounds
        assert places[0] == 0
        assert places[-1] == PLACES - 1
    if upper < 1e6 and lower < 5:
        low, high = column.scaled_bounds
        exact = (column.on_scale(values) - low) / (high - low)
        bend = math.log((upper + (lower == 0)) / (lower or 1)) / 64 / 8  # of a span, at most
        assert np.abs(places / PLACES - exact).max() < bend / 64 + 1 / PLACES


def rows(scale: str, n: int = 4000, seed: int = 3) -> dc.Dataset:
    """z is lognormal, and x and y follow its logarithm and nothing else."""
    rng = np.random.default_rng(seed)
    z = rng.lognormal(1, 1.2, n)
    x, y = (np.log(z) + rng.normal(size=n) for _ in "xy")
    bounds = dc.Numeric(-6, 10)
    return dc.read(
        {"x": x, "y": y, "z": z}, dc.Schema(x=bounds, y=bounds, z=dc.Numeric(0.01, 500, scale=scale))
    )


def features(data: dc.Dataset, harmonics: int) -> Any:
    """What moments sees of every row."""
    columns = feature_cells(data.schema, harmonics)
    cells = cells_of(data.schema, columns, data.values)
    return np.hstack([table.features[cells[name]] for name, table in columns.items()]) / 2.0**UNIT_BITS


def test_values_are_as_they_were_read_and_only_methods_see_the_scale() -> None:
    plain, scaled = rows("linear"), rows("log")
    assert (plain.values["z"] == scaled.values["z"]).all()
    question = Question.of(scaled.schema, "x", "y", ["z"])
    blocks, count = blocks_of(question, scaled, {"z": 8})
    assert count == 8
    assert np.bincount(blocks, minlength=8).max() < 0.5 * scaled.n
    assert np.bincount(blocks_of(question, plain, {"z": 8})[0], minlength=8).max() > 0.9 * plain.n
    for data in (plain, scaled):
        assert (features(data, 0)[:, :2] == features(plain, 0)[:, :2]).all()
        z = columns_of(question, data).z
        assert ((z >= 0) & (z <= 1)).all()
    assert np.corrcoef(features(scaled, 0)[:, 2], np.log(scaled.values["z"]))[0, 1] > 1 - 1e-4


def test_features_on_the_scale_are_no_longer_than_the_sensitivity_takes_them() -> None:
    """Rows at the bounds, beyond them and between, in every scale: ``longest`` is what the proof relies on."""
    rng = np.random.default_rng(2)
    for lower in (0.0, 1e-3, 5.0):
        for harmonics in (0, 3):
            column = dc.Numeric(lower, 800, scale="log")
            cells = np.concatenate(
                [[lower, 800, -1, 1e300, np.inf, np.nan, 5e-324], rng.lognormal(1, 3, 200)]
            )
            data = dc.read({"a": cells, "b": cells[::-1]}, dc.Schema(a=column, b=column))
            lengths = (features(data, harmonics) ** 2).sum(axis=1)
            assert lengths.max() <= longest(data.schema, harmonics) * (1 + 1e-12)


def test_features_on_the_scale_follow_from_their_own_row_alone() -> None:
    """Another row at a bound, where a scale by the rows would move all: the rest stays as it is."""
    cells = np.random.default_rng(4).lognormal(1, 0.3, 50)
    for lower, column in ((0.0, dc.Numeric(0, 800, scale="log")), (0.1, dc.Numeric(0.1, 800, scale="log"))):
        schema = dc.Schema(a=column)
        seen = [
            features(dc.read({"a": np.append(cells, last)}, schema), 2)[:-1] for last in (2.0, lower, 800.0)
        ]
        assert np.array_equal(seen[0], seen[1])
        assert np.array_equal(seen[0], seen[2])


def test_a_spread_is_measured_and_used_on_the_same_scale() -> None:
    data = rows("log")
    spread = exact_spread(data, "z")
    strata = spread.strata(*data.on_scale("z"), 10)
    counts = np.bincount(strata, minlength=10)
    assert counts.max() < 2.5 * counts.min()


def test_strata_on_the_scale_keep_the_level_where_equal_widths_lose_it() -> None:
    """Forty strata of equal width: z is held nearly constant on its scale, and hardly at all without it."""
    answers = {
        scale: dc.ci_test(rows(scale), "x", "y", ["z"], epsilon=None, method="kendall", strata=40)
        for scale in ("log", "linear")
    }
    assert answers["linear"].pvalue is not None
    assert answers["linear"].pvalue < 1e-20
    assert answers["log"].pvalue is not None
    assert answers["log"].pvalue > 1e-4


# ---- a level for missing numbers

AGE = dc.Numeric(0, 100, bins=[40, 60], other=50, missing=[999], missing_level=True)


def test_missing_numbers_have_a_bin_of_their_own_and_the_value_of_other() -> None:
    cells = [30, None, 999, float("nan"), 70, 1000, "x", 50]
    data = dc.read({"age": cells}, dc.Schema(age=AGE))
    assert data.codes["age"].tolist() == [0, 3, 3, 3, 2, 2, 3, 1]
    assert data.values["age"].tolist() == [30, 50, 50, 50, 70, 100, 50, 50]
    assert data.sizes(["age"]) == (4,)
    assert AGE.other_code == 3
    assert dc.Numeric(0, 100, bins=[40, 60], other=50).other_code == 1
    by_hand = dc.Dataset(dc.Schema(age=AGE), 2, {"age": np.array([1, 9], np.uint8)})
    assert by_hand.codes["age"].tolist() == [1, 3]


def test_every_engine_gives_missing_numbers_their_bin(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"age": [30.0, None, 999.0, float("nan"), 70.0, 50.0]}), path)
    schema = dc.Schema(age=AGE)
    expected = [1, 1, 1, 3]
    assert MemoryCounts(dc.read(path, schema)).table(["age"]).tolist() == expected
    assert count_files(path, schema).table(["age"]).tolist() == expected
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT * FROM '{path}'")
    assert count_table(connection, "t", schema).table(["age"]).tolist() == expected


def test_a_check_counts_the_bin_of_missing_numbers() -> None:
    found = check({"age": [30, 50, 70]}, dc.Schema(age=AGE)).columns[0]
    assert found.empty == ["missing"]
    filled = check({"age": [30, 50, 70, None]}, dc.Schema(age=AGE))
    assert filled.columns[0].empty == []
    told = [line for line in check_lines(filled) if "have a bin of their own in tables" in line]
    assert len(told) == 1
    assert told[0].startswith("age: 1 missing cells")
    assert told[0].endswith("replace them by 50")


def test_that_a_number_is_missing_can_be_found() -> None:
    """Without its own bin a missing number hides in the bin of ``other``; a graph on tables then misses the edge."""
    rng = np.random.default_rng(5)
    sick = rng.random(3000) < 0.3
    age = np.where(rng.random(3000) < np.where(sick, 0.5, 0.1), np.nan, 50.0)
    cells = {"sick": np.where(sick, "yes", "no"), "age": age}
    for missing_level, edges in ((True, 1), (False, 0)):
        column = dc.Numeric(0, 100, bins=[40, 60], other=50, missing_level=missing_level)
        data = dc.read(cells, dc.Schema(sick=dc.Categorical(["no", "yes"]), age=column))
        with dc.testing.seeded(1):
            found = dc.discover(data, epsilon=3.0, delta=1e-6, method="measured", confidence=0, anyway=True)
        assert len(found.graph.skeleton) == edges
