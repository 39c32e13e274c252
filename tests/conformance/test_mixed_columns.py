"""Every kind of column can take part: x, y and given of each kind, both relations, with privacy and without."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import Question
from dpcausal.citests.registry import choose
from dpcausal.citests.result import ManyCells, NoOrder, NumbersGiven
from dpcausal.present.citest import reason_words

pytestmark = pytest.mark.long_file

KINDS = ("number", "ordered", "unordered", "binary")
LEVELS = {"ordered": ["low", "mid", "high"], "unordered": ["p", "q", "r"], "binary": ["no", "yes"]}
GIVEN: tuple[tuple[str, ...], ...] = (
    (),
    ("z_number",),
    ("z_unordered",),
    ("z_number", "z_ordered"),
    ("z_number", "w_number", "v_number"),
)
N = 1500


def column(kind: str) -> dc.Numeric | dc.Categorical:
    if kind == "number":
        return dc.Numeric(-4, 4)
    return dc.Categorical(LEVELS[kind], ordered=kind == "ordered")


def coded(kind: str, latent: np.ndarray) -> object:
    """A column of that kind that follows ``latent``."""
    if kind == "number":
        return latent
    cuts = [0.0] if kind == "binary" else [-0.5, 0.5]
    return [LEVELS[kind][i] for i in np.digitize(latent, cuts)]


def mixed(n: int, seed: int) -> dc.Dataset:
    """Columns x_kind, y_kind of every kind from one latent pair, and given columns that tell nothing about it."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    latent = {end: 0.8 * shared + 0.6 * rng.normal(size=n) for end in "xy"}
    columns, values = {}, {}
    for end in "xy":
        for kind in KINDS:
            columns[f"{end}_{kind}"], values[f"{end}_{kind}"] = column(kind), coded(kind, latent[end])
    for name in ("z_number", "w_number", "v_number", "z_unordered", "z_ordered", "u_number"):
        kind = name.split("_")[1]
        columns[name], values[name] = column(kind), coded(kind, rng.normal(size=n))
    return dc.read(values, dc.Schema(columns))


@pytest.fixture(scope="module")
def data() -> dc.Dataset:
    return mixed(N, seed=1)


PAIRS = list(combinations_with_replacement(KINDS, 2))


@pytest.mark.thin(9)
@pytest.mark.parametrize(("x", "y"), PAIRS)
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("epsilon", [None, 20.0])
def test_auto_answers_every_combination(
    data: dc.Dataset, x: str, y: str, given: tuple[str, ...], epsilon: float | None
) -> None:
    """A correlation of .64 between the latents of 1,500 rows is missed with probability below 1e-6, except by gcm."""
    for neighbours in ("replace-one", "add-remove"):
        if epsilon is None and neighbours == "add-remove":
            continue
        found = dc.ci_test(data, f"x_{x}", f"y_{y}", given, epsilon=epsilon, neighbours=neighbours)
        assert not found.independent or found.method == "gcm", (found.method, neighbours)
        assert "chosen because" in found.why
        assert found.privacy.private == (epsilon is not None)


@pytest.mark.parametrize("x", KINDS)
@pytest.mark.parametrize("given", [(), ("z_number",), ("z_unordered",)])
def test_auto_keeps_independent_columns(data: dc.Dataset, x: str, given: tuple[str, ...]) -> None:
    with dc.testing.seeded(3):
        found = dc.ci_test(data, f"x_{x}", "u_number", given, epsilon=2.0, level=0.001)
    assert found.independent


def test_auto_says_where_bins_are_all_there_is() -> None:
    schema = mixed(10, seed=2).schema
    unordered = Question.of(schema, "x_unordered", "y_number", ["z_number"])
    name, why = choose(unordered, 1.0, rows=False)
    assert name == "measured"
    assert isinstance(why, NoOrder)
    assert "declared bins" in reason_words(why)
    assert choose(unordered, 1.0)[0] == "gcm"
    assert isinstance(choose(unordered, 1.0)[1], NumbersGiven)


def test_auto_takes_strata_for_one_number_and_regression_where_they_would_be_coarse() -> None:
    schema = mixed(10, seed=2).schema
    for given in (["z_number", "w_number"], ["z_number", "w_number", "v_number"]):
        for n in (None, 1000, 100_000):
            name, why = choose(Question.of(schema, "x_number", "y_number", given), 1.0, n=n)
            assert name == "gcm"
            assert why == NumbersGiven("numeric-given", len(given))
    one = Question.of(schema, "x_number", "y_binary", ["z_number"])
    found = [choose(one, epsilon, n=n) for epsilon, n in ((1.0, None), (0.2, 2000), (1.0, 500), (0.5, 999))]
    assert [name for name, _ in found] == ["kendall", "kendall", "gcm", "gcm"]
    assert [why.to_dict()["kind"] for _, why in found] == [
        "one-numeric",
        "one-numeric",
        "few-rows",
        "few-rows",
    ]
    assert choose(one, None, n=500)[0] == "kendall"
    levels = ["z_number", "z_ordered", "z_unordered"]
    name, why = choose(Question.of(schema, "x_number", "y_number", levels), 1.0, n=800)
    assert name == "gcm"
    assert isinstance(why, ManyCells)
    assert choose(Question.of(schema, "x_number", "y_number", levels), 1.0, n=2000)[0] == "kendall"


@pytest.mark.parametrize(
    ("method", "options"),
    [("kendall", {}), ("spearman", {}), ("gcm", {"variant": "bins"}), ("gcm", {"variant": "weighted"})],
)
def test_tests_of_order_refuse_unordered_columns_in_words(
    data: dc.Dataset, method: str, options: dict[str, str]
) -> None:
    with pytest.raises(dc.InputError, match="ordered levels"):
        dc.ci_test(data, "x_unordered", "y_number", epsilon=1.0, method=method, **options)


@pytest.mark.parametrize("strata", ["auto", "schema", 7])
@pytest.mark.parametrize("method", ["kendall", "spearman"])
def test_bins_of_given_numbers_are_an_option(data: dc.Dataset, method: str, strata: str | int) -> None:
    found = dc.ci_test(
        data, "x_number", "y_number", ["z_number", "z_unordered"], epsilon=5.0, method=method, strata=strata
    )
    assert not found.independent


@pytest.mark.parametrize("options", [{"strata": 0}, {"strata": "many"}, {"strata": True}, {"on": "rows"}])
def test_bad_options_are_refused(data: dc.Dataset, options: dict[str, object]) -> None:
    with pytest.raises(dc.InputError, match="must be"):
        dc.ci_test(data, "x_number", "y_number", epsilon=1.0, method="kendall", **options)


def test_fine_bins_keep_the_level_where_declared_ones_lose_it() -> None:
    """x and y both follow z: at .05, 30 runs reject at most 8 times (P < 1e-4) with fine bins, most with four."""
    schema = dc.Schema(x=dc.Numeric(-6, 6), y=dc.Numeric(-6, 6), z=dc.Numeric(-4, 4))
    rejected = {"auto": 0, "schema": 0}
    with dc.testing.seeded(4):
        for seed in range(30):
            rng = np.random.default_rng(seed)
            z, a, b = rng.normal(size=(3, 2000))
            rows = dc.read({"x": z + a, "y": z + b, "z": z}, schema)
            for strata in rejected:
                test = dc.ci_test(rows, "x", "y", ["z"], epsilon=1.0, method="kendall", strata=strata)
                rejected[strata] += not test.independent
    assert rejected["auto"] <= 8
    assert rejected["schema"] >= 20


def test_auto_keeps_its_level_where_the_given_number_is_skewed() -> None:
    """x and y follow log z, z between 0 and 500: at .05, 30 runs reject at most 8 times (P < 1e-4).

    With strata of equal width 30 of 30 were rejected, with 29% of binary ones at 8,000 rows.
    """
    for column, code in (
        (dc.Numeric(-6, 8), lambda v: v),
        (dc.Categorical([0, 1]), lambda v: (v > 1).astype(int)),
    ):
        schema = dc.Schema(x=column, y=column, z=dc.Numeric(0, 500))
        rejected = {"auto": 0, "equal": 0}
        with dc.testing.seeded(5):
            for seed in range(30):
                rng = np.random.default_rng(seed)
                z, (a, b) = rng.lognormal(1, 1.2, 2000), rng.normal(size=(2, 2000))
                rows = dc.read({"x": code(np.log(z) + a), "y": code(np.log(z) + b), "z": z}, schema)
                rejected["auto"] += not dc.ci_test(rows, "x", "y", ["z"], epsilon=1.0).independent
                equal = dc.ci_test(rows, "x", "y", ["z"], epsilon=1.0, method="kendall", strata=256)
                rejected["equal"] += not equal.independent
        assert rejected["auto"] <= 8
        assert rejected["equal"] >= (30 if column.size > 2 else 5)


@pytest.mark.slow
def test_unordered_levels_keep_the_level_where_bins_lose_it() -> None:
    """Three wards and a number follow z: 20 runs of gcm reject at most 6 times (P < 1e-3), tables of bins 15."""
    schema = dc.Schema(x=dc.Categorical(["a", "b", "c"]), y=dc.Numeric(-6, 6), z=dc.Numeric(-4, 4))
    rejected = {"auto": 0, "measured": 0}
    with dc.testing.seeded(6):
        for seed in range(20):
            rng = np.random.default_rng(seed)
            z, a, b = rng.normal(size=(3, 1500))
            levels = np.array(["b", "c", "a"])[np.digitize(z + a, [-0.7, 0.7])]
            rows = dc.read({"x": levels, "y": z + b, "z": z}, schema)
            for method in rejected:
                found = dc.ci_test(rows, "x", "y", ["z"], epsilon=2.0, method=method)
                rejected[method] += not found.independent
    assert rejected["auto"] <= 6
    assert rejected["measured"] >= 15


def with_middle_level(effect: float) -> dc.Dataset:
    """3,000 rows; the level in the middle of x has its own mean of y, which codes in a row can't show."""
    rng = np.random.default_rng(7)
    z, b = rng.normal(size=(2, 3000))
    levels = rng.integers(0, 3, 3000)
    schema = dc.Schema(x=dc.Categorical(["a", "b", "c"]), y=dc.Numeric(-6, 6), z=dc.Numeric(-4, 4))
    y = z + b + effect * (levels == 1)
    return dc.read({"x": np.array(["a", "b", "c"])[levels], "y": y, "z": z}, schema)


def test_unordered_levels_are_seen_by_gcm() -> None:
    """The level in the middle has its own mean: at epsilon 5 and 3,000 rows it is missed with P < 1e-6."""
    rows = with_middle_level(1.0)
    with dc.testing.seeded(7):
        found = dc.ci_test(rows, "x", "y", ["z"], epsilon=5.0)
    assert (found.independent, found.method, found.direction) == (False, "gcm", None)
    assert not dc.ci_test(rows, "x", "y", ["z"], epsilon=None).independent


@pytest.mark.parametrize(("effect", "independent"), [(1.0, False), (0.0, True)])
def test_unordered_levels_are_seen_by_gcm_on_parts(effect: float, independent: bool) -> None:
    """The gcm of every part takes levels by indicators too; fixed seed."""
    with dc.testing.seeded(7):
        found = dc.ci_test(
            with_middle_level(effect), "x", "y", ["z"], epsilon=5.0, method="test-of-tests:gcm"
        )
    assert found.independent is independent


@pytest.mark.parametrize("method", ["svt-pc", "priv-pc", "curate", "tests", "moments", "measured"])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_discover_takes_mixed_columns(method: str, neighbours: str) -> None:
    """x - y dependent, u alone: at epsilon 50 every driver sees both."""
    data = mixed(4000, seed=5)
    schema = data.schema.select(["x_number", "y_unordered", "y_binary", "u_number", "z_unordered"])
    part = dc.Dataset(
        schema,
        data.n,
        {name: data.codes[name] for name in schema},
        {name: data.values[name] for name in schema if name in data.values},
    )
    with dc.testing.seeded(6):
        found = dc.discover(
            part, epsilon=50.0, delta=1e-6, method=method, level=0.001, max_order=1, neighbours=neighbours
        )
    assert frozenset(("x_number", "y_unordered")) in found.graph.skeleton
    assert frozenset(("x_number", "u_number")) not in found.graph.skeleton
    assert found.privacy.epsilon is not None
    assert found.privacy.epsilon <= 50.0


def test_pc_takes_any_test_on_values() -> None:
    rng = np.random.default_rng(7)
    a = rng.normal(size=1000)
    b = a + 0.5 * rng.normal(size=1000)
    c = b + 0.5 * rng.normal(size=1000)
    schema = dc.Schema(a=dc.Numeric(-5, 5), b=dc.Numeric(-5, 5), c=dc.Numeric(-5, 5))
    data = dc.read({"a": a, "b": b, "c": c}, schema)
    chain = {frozenset("ab"), frozenset("bc")}
    for test in ("kendall", "spearman", "moments", "auto", "gcm"):
        found = dc.discover(data, epsilon=None, method="pc", test=test, level=0.001)
        assert found.graph.skeleton == chain, test
    with pytest.raises(dc.InputError, match="can't drive a search"):
        dc.discover(data, epsilon=None, method="pc", test="crt")


def test_tests_stop_at_the_total_and_say_what_was_not_tested() -> None:
    data = mixed(300, seed=8)
    schema = data.schema.select(["x_number", "y_number", "u_number", "z_number", "w_number"])
    part = dc.Dataset(schema, data.n, {n: data.codes[n] for n in schema}, {n: data.values[n] for n in schema})
    with dc.testing.seeded(8):
        found = dc.discover(part, epsilon=1.0, method="tests", test="kendall", test_epsilon=0.3)
    assert sum(event["label"].startswith("kendall: ") for event in found.privacy.events) == 3
    assert found.privacy.epsilon <= 1.0
    assert found.open
    assert not found.open & found.graph.skeleton
    with pytest.raises(dc.InputError, match="test_epsilon"):
        dc.discover(part, epsilon=1.0, method="tests", test_epsilon=2.0)
