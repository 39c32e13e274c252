"""The sentence on numeric conditioning columns is true of what the test did."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import Question
from dpcausal.citests.forecast import strata_cut
from dpcausal.citests.quantiles import exact_spread
from dpcausal.citests.rank import KendallTest, Strata, bins_for, blocks_of, counted_blocks, strata_for
from dpcausal.citests.registry import make_test
from dpcausal.citests.result import HeldBy, HeldBySpread, HeldByStrata
from dpcausal.cli.app import run
from dpcausal.counts.memory import counts_of

SCHEMA = dc.Schema(
    x=dc.Categorical(["a", "b"]),
    y=dc.Categorical(["a", "b", "c"]),
    z=dc.Numeric(0, 1, [0.5]),
    w=dc.Categorical([0, 1]),
)


@pytest.fixture(scope="module")
def data() -> dc.Dataset:
    rng = np.random.default_rng(1)
    return dc.read(
        {
            "x": rng.choice(["a", "b"], 2000),
            "y": rng.choice(["a", "b", "c"], 2000),
            "z": rng.random(2000),
            "w": rng.choice([0, 1], 2000),
        },
        SCHEMA,
    )


def test_strata_are_those_that_the_rank_tests_make(data: dc.Dataset) -> None:
    """2,000 rows, three levels of y, about four rows to a cell: 166."""
    question = Question.of(SCHEMA, "x", "w", ["z", "y"])
    kendall = make_test("kendall", {})
    assert kendall.held_fixed(question, data, 2000) == HeldBySpread(("z",), 166)
    assert kendall.held_fixed(question, data, None) == HeldBySpread(("z",), None)
    cut = strata_for(question, data, ("z",), 2000.0)
    _, blocks = counted_blocks(question, data, {"z": exact_spread(data, "z")}, cut)
    assert blocks == 3 * 166
    seven = make_test("kendall", {"strata": 7})
    assert seven.held_fixed(question, data, 2000) == HeldByStrata(("z",), 7, model=False)
    assert blocks_of(question, data, bins_for(question, data, 7, 2000))[1] == 3 * 7


@pytest.mark.parametrize("strata", ["auto", "schema", 7])
@pytest.mark.parametrize("given", [["z"], ["z", "y"], ["z", "v", "u"], ["z", "v", "u", "y"], ["y"]])
def test_a_forecast_counts_the_strata_that_the_rank_tests_make(strata: Strata, given: list[str]) -> None:
    rng, n = np.random.default_rng(2), 900
    schema = dc.Schema({**SCHEMA, "u": dc.Numeric(0, 1), "v": dc.Numeric(0, 1)})
    numbers = {name: rng.random(n) for name in "zuv"}
    levels = {"x": ["a"] * n, "y": rng.choice(["a", "b", "c"], n), "w": [0] * n}
    data = dc.read({**levels, **numbers}, schema)
    question = Question.of(schema, "x", "w", given)
    numeric = tuple(name for name in question.given if name != "y")
    if strata == "auto" and numeric:
        spreads = {name: exact_spread(data, name) for name in numeric}
        _, made = counted_blocks(question, data, spreads, strata_for(question, data, numeric, float(n)))
    else:
        _, made = blocks_of(question, data, bins_for(question, data, strata, n))
    assert strata_cut(KendallTest(strata=strata), question, n) == made
    assert strata_cut(KendallTest(strata=strata, on="table"), question, n) == question.k


def test_equal_values_share_a_stratum_so_that_fewer_values_make_fewer_strata() -> None:
    """1,566 rows given an age of 49 whole years and the sex: at most 195 strata each, and 49 of them hold rows."""
    rng = np.random.default_rng(4)
    two = dc.Categorical([0, 1])
    schema = dc.Schema(x=two, y=two, age=dc.Numeric(0, 100), sex=dc.Categorical(["f", "m"]))
    ages = np.concatenate([np.arange(25, 74), rng.integers(25, 74, 1566 - 49)]).astype(float)
    columns = {name: rng.integers(0, 2, 1566) for name in ("x", "y")}
    data = dc.read({**columns, "age": ages, "sex": rng.choice(["f", "m"], 1566)}, schema)
    cut = strata_for(Question.of(schema, "x", "y", ["age", "sex"]), data, ("age",), 1566.0)
    assert cut == 195
    strata = exact_spread(data, "age").strata(*data.on_scale("age"), cut)
    assert len(np.unique(ages)) == len(np.unique(strata)) == 49
    assert all(len(np.unique(strata[ages == age])) == 1 for age in np.unique(ages))


def test_other_methods_and_nothing_numeric(data: dc.Dataset) -> None:
    question = Question.of(SCHEMA, "x", "w", ["z"])
    for method in ("gcm", "test-of-tests:gcm"):
        assert make_test(method, {}).held_fixed(question, data, 2000) == HeldBy(("z",), "regression")
    declared = HeldBy(("z",), "declared-bins")
    for method in ("chi2", "g", "measured", "test-of-tests"):
        assert make_test(method, {}).held_fixed(question, data, 2000) == declared
    kendall = make_test("kendall", {})
    assert kendall.held_fixed(Question.of(SCHEMA, "x", "w", ["y"]), data, 2000) is None
    assert kendall.held_fixed(question, counts_of(data), 2000) == declared
    for options in ({"strata": "schema"}, {"on": "table"}):
        assert make_test("kendall", options).held_fixed(question, data, 2000) == declared
    bins = make_test("gcm", {"variant": "bins"})
    assert bins.held_fixed(question, data, 2000) == HeldBy(("z",), "equal-widths")


@pytest.mark.parametrize(
    ("epsilon", "relation", "cuts"),
    [(1.0, "replace-one", " (at most 500; fewer where values are few)"), (1.0, "add-remove", "")],
)
def test_python_callers_are_told_too(data: dc.Dataset, epsilon: float, relation: str, cuts: str) -> None:
    """2,000 rows, about four to a cell; no number where that of rows is protected. Notebooks show what print does."""
    found = dc.ci_test(data, "x", "w", ["z"], epsilon=epsilon, neighbours=relation)
    sentence = f"z held fixed in strata of about equal counts, cut where noisy counts say{cuts}; equal values share one"
    assert found.why.endswith(f"; {sentence}")
    assert f"; {sentence}.\n" in found.summary(full=True)
    assert unescape(found._repr_html_()) == f"<div>{'<br>'.join(found.summary().splitlines())}</div>"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--method", "gcm", "--y", "w"], "regression on the numbers themselves"),
        (["--method", "auto", "--y", "y"], "regression on the numbers themselves"),
        (["--method", "measured", "--y", "y"], "z held fixed by the declared bins"),
    ],
)
def test_the_result_says_it_once(
    asked: list[str], said: str, data: dc.Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SCHEMA.write(tmp_path / "s.toml")
    columns = [data.values.get(name, data.codes[name]) for name in SCHEMA]
    levels = {"x": "ab", "y": "abc"}
    lines = [
        ",".join(
            levels[name][int(v)] if name in levels else str(v) for name, v in zip(SCHEMA, row, strict=True)
        )
        for row in zip(*columns, strict=True)
    ]
    (tmp_path / "d.csv").write_text("\n".join([",".join(SCHEMA), *lines]))
    files = [str(tmp_path / "d.csv"), "--schema", str(tmp_path / "s.toml")]
    assert run(["test", *files, "--x", "x", "--given", "z", "--epsilon", "1", "--json", *asked]) == 0
    why = json.loads(capsys.readouterr().out)["why"]
    assert said in why
    assert why.count("declared bins") == 1
    assert run(["test", "--help"]) == 0
    assert "bins of the schema" in capsys.readouterr().out
