"""The conformance suite of counting backends (``tests/conformance/test_counts.py``) on every engine, both ways.

Fewer examples than there: each compiles SQL, which takes longer than counting.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.counts.engine import EngineCounts
from engine_tables import Loader

sys.path.append(str(Path(__file__).parents[1] / "conformance"))

from test_counts import dataset, reference

SHAPES = [[3], [2, 3, 4], [250, 2, 300], [5, 1, 4, 2, 3], [4] * 40]  # 40 columns of two bits: two keys


def counted(load: Loader, data: dc.Dataset, limit: int | None) -> EngineCounts:
    wide = {name: codes.astype(np.int32) for name, codes in data.codes.items()}
    found = dc.connect(load.put(pa.table(wide)), data.schema, memory_limit=limit)
    assert isinstance(found, EngineCounts)
    return found


@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize("sizes", SHAPES, ids=lambda sizes: f"{len(sizes)} columns")
def test_tables_are_those_of_the_reference(load: Loader, sizes: list[int], limit: int | None) -> None:
    data = dataset(sizes, 301, seed=len(sizes), used=0.7)
    counts = counted(load, data, limit)
    rng = np.random.default_rng(len(sizes))
    requests = [
        [str(name) for name in rng.permutation(data.columns)[: rng.integers(0, min(3, len(sizes)) + 1)]]
        for _ in range(5)
    ]
    for columns, table in zip(requests, counts.tables(requests), strict=True):
        assert table.dtype == np.int64
        assert np.array_equal(table, reference(data, columns))
    assert counts.n == 301


def test_a_subsample_is_a_part_of_the_whole(load: Loader) -> None:
    data = dataset([2, 3, 4], 400, seed=4)
    counts = counted(load, data, None)
    for m in (0, 37, 400):
        whole, drawn = counts.table(["c0", "c1", "c2"]), counts.subsample(m).table(["c0", "c1", "c2"])
        assert m == drawn.sum()
        assert (drawn <= whole).all()


def test_bad_requests_are_one_line(load: Loader) -> None:
    counts = counted(load, dataset([2, 3], 10, seed=5), None)
    for columns, words in ((["c9"], 'no column "c9"'), (["c0", "c0"], "twice"), ("c0", "list of names")):
        with pytest.raises(dc.InputError, match=words) as caught:
            counts.table(columns)
        assert "\n" not in str(caught.value)
    assert counts.tables([]) == []


def test_an_empty_table_is_refused(load: Loader) -> None:
    source = load.put(pa.table({"x": pa.array([], pa.int32()), "y": pa.array([], pa.int32())}))
    with pytest.raises(dc.InputError, match="has no rows"):
        dc.discover(
            dc.connect(source, dc.Schema(x=dc.Categorical([0, 1]), y=dc.Categorical([0]))), epsilon=1.0
        )
