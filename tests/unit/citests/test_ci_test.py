"""ci_test: answers, costs, memory of answers, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal import testing
from dpcausal.citests.base import Question, TestSettings
from dpcausal.citests.chi2 import Chi2, default_parts, smooth_pvalue
from dpcausal.citests.registry import TESTS, make_table_test
from dpcausal.citests.session import Session
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import ROWS
from dpcausal.counts.memory import MemoryCounts


@pytest.fixture(scope="module")
def asia() -> dc.Dataset:
    return dc.networks.load("asia").sample(20_000, seed=3)


NAMES = sorted(TESTS.keys() - {"crt"})  # crt needs a model: test_crt.py
ASKED = [
    (m, r) for m in NAMES for r in ("replace-one", "add-remove") if (m, r) != ("unit-circle", "add-remove")
]


# By default chi2 and g deal as few parts as 28/epsilon, here 2: then the noise of the median misses any dependence
# once in 250 times. With 64 parts the released cell would have to win against scores 20 higher at epsilon 20: e^-200.
MORE: dict[str, dict[str, int]] = {"chi2": {"parts": 64}, "g": {"parts": 64}}


@pytest.mark.parametrize(("method", "neighbours"), ASKED)
def test_private_answer_costs_what_was_asked(asia: dc.Dataset, method: str, neighbours: str) -> None:
    more = MORE.get(method, {})
    found = dc.ci_test(asia, "smoke", "bronc", epsilon=20.0, method=method, neighbours=neighbours, **more)
    assert not found.independent  # a strong dependence: missed with probability below 1e-9
    assert found.privacy.private
    assert found.privacy.epsilon is not None
    assert 0 < found.privacy.epsilon <= 20.0
    assert found.privacy.neighbours == ("fixed-labels" if method == "unit-circle" else neighbours)
    assert (ROWS in found.privacy.public) == (neighbours == "replace-one")


@pytest.mark.parametrize("method", NAMES)
def test_classical_answer_says_it_is_not_private(asia: dc.Dataset, method: str) -> None:
    found = dc.ci_test(asia, "smoke", "bronc", epsilon=None, method=method)
    assert not found.independent
    assert not found.privacy.private
    assert found.privacy.epsilon is None
    assert dc.ci_test(asia, "asia", "smoke", epsilon=None, method=method).independent


def test_order_of_names_does_not_matter(asia: dc.Dataset) -> None:
    one = dc.ci_test(asia, "xray", "smoke", ["lung", "tub"], epsilon=None, method="kendall")
    two = dc.ci_test(asia, "smoke", "xray", ["tub", "lung"], epsilon=None, method="kendall")
    assert one.pvalue == two.pvalue


def test_a_trimmed_mean_of_parts_finds_what_a_median_finds(asia: dc.Dataset) -> None:
    """Definition 9 of Priv-PC: of 41 p-values the mean of the middle 21; the statement names it."""
    options: dict[str, Any] = {"method": "g", "epsilon": 2.0, "median": "cauchy", "trim": 0.25, "parts": 41}
    with dc.testing.seeded(3):
        found = dc.ci_test(asia, "smoke", "lung", anyway=True, **options)
        null = [dc.ci_test(asia, "asia", "smoke", anyway=True, **options).pvalue for _ in range(8)]
    assert not found.independent
    assert sum(p <= 0.05 for p in null if p is not None) <= 3  # 8 at .05: fails with probability 4e-4
    assert "trimmed mean" in found.summary(full=True)
    assert "median of the p-values" not in found.summary(full=True)
    (event,) = found.privacy.events
    assert event["mechanism"] == "smooth-trimmed-mean-cauchy"


def test_the_same_question_is_paid_once(asia: dc.Dataset) -> None:
    budget = dc.Budget(1.0)
    method = make_table_test("kendall", {})
    session = Session(MemoryCounts(asia), method, level=0.05, epsilon=1.0, budget=budget)
    first = session.ask("smoke", "lung", ["asia", "tub"])
    assert session.ask("lung", "smoke", ["tub", "asia"]) is first
    assert len(budget.events) == 1
    with pytest.raises(dc.BudgetError):
        session.ask("smoke", "tub")


def test_seeded_runs_repeat_and_are_stamped(asia: dc.Dataset) -> None:
    found = []
    for _ in range(2):
        with dc.testing.seeded(7):
            found.append(dc.ci_test(asia, "smoke", "lung", epsilon=0.1, method="kendall"))
    assert found[0].statistic == found[1].statistic
    assert not found[0].privacy.private
    assert dc.ci_test(asia, "smoke", "lung", epsilon=0.1).privacy.private


def test_auto_says_why(asia: dc.Dataset) -> None:
    found = dc.ci_test(asia, "smoke", "lung", epsilon=1.0)
    assert found.method == "kendall"
    assert "chosen because" in found.why
    assert "chosen because" in found.summary(full=True)


def test_result_is_plain_json(asia: dc.Dataset) -> None:
    found = json.loads(dc.ci_test(asia, "smoke", "lung", ["asia"], epsilon=1.0).to_json())
    assert found["given"] == ["asia"]
    assert found["privacy"]["private"] is True


def test_constant_and_empty_blocks_are_no_special_case() -> None:
    schema = dc.Schema(x=dc.Categorical([0, 1]), y=dc.Categorical([0, 1]), z=dc.Categorical(list(range(50))))
    zeros = np.zeros(4, np.uint8)
    data = dc.Dataset(schema, 4, {"x": zeros, "y": zeros.copy(), "z": zeros.copy()})
    for method in TESTS.keys() - {"unit-circle", "crt"}:
        assert dc.ci_test(data, "x", "y", ["z"], epsilon=None, method=method).independent
        dc.ci_test(data, "x", "y", ["z"], epsilon=1.0, method=method, anyway=True)


UNORDERED = dc.Schema(x=dc.Categorical(["a", "b", "c"]), y=dc.Categorical([0, 1]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"x": "smokes"}, "did you mean"),
        ({"y": "smoke"}, "twice"),
        ({"given": "asia,tub"}, "list of columns"),
        ({"given": ["smoke"]}, "twice"),
        ({"level": 0}, "level must lie"),
        ({"level": 1.0}, "level must lie"),
        ({"level": float("nan")}, "level must lie"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -0.1}, "delta"),
        ({"method": "kendal"}, "did you mean"),
        ({"neighbours": "replace"}, "neighbours must be"),
        ({"colour": 3}, "no option"),
        ({"method": "chi2", "trim": 0.1}, "trim needs smooth sensitivity: set median to cauchy"),
        (
            {"method": "g", "median": "cauchy", "trim": 0.5},
            "trim must be a share from 0 to below 1/2, not 0.5",
        ),
        ({"epsilon": None, "delta": 0.1}, "no privacy"),
        ({"ledger": "sqlite:///x.db"}, "ledger"),
    ],
)
def test_bad_arguments_are_one_line(asia: dc.Dataset, arguments: dict[str, Any], words: str) -> None:
    call = {"x": "smoke", "y": "lung", "epsilon": 1.0, **arguments}
    with pytest.raises(dc.DpcausalError, match=words) as caught:
        dc.ci_test(asia, **call)
    assert "\n" not in str(caught.value)


def test_rank_tests_refuse_unordered_levels() -> None:
    question = Question.of(UNORDERED, "x", "y")
    for method in ("kendall", "spearman"):
        with pytest.raises(dc.InputError, match="ordered"):
            make_table_test(method, {}).check(question)


def test_unit_circle_says_what_is_public(asia: dc.Dataset) -> None:
    found = dc.ci_test(asia, "smoke", "bronc", epsilon=1.0, method="unit-circle")
    assert "labels (smoke)" in found.privacy.to_dict()["unit"]
    assert found.pvalue is not None
    for statistic in ("distance", "chi2"):
        decided = dc.ci_test(asia, "smoke", "bronc", epsilon=5.0, method="unit-circle", statistic=statistic)
        assert decided.pvalue is None
        assert not decided.independent
    with pytest.raises(dc.InputError, match="fixed-labels"):
        dc.ci_test(asia, "smoke", "bronc", epsilon=1.0, method="unit-circle", neighbours="add-remove")
    with pytest.raises(dc.InputError, match="nothing given"):
        dc.ci_test(asia, "smoke", "bronc", ["asia"], epsilon=1.0, method="unit-circle")
    with pytest.raises(dc.InputError, match="positives"):
        dc.ci_test(asia, "smoke", "bronc", epsilon=1.0, method="unit-circle", positives=99_999)


@pytest.mark.parametrize("median", ["laplace", "gaussian", "cauchy"])
def test_smooth_medians_cost_their_delta(asia: dc.Dataset, median: str) -> None:
    delta = 0.0 if median == "cauchy" else 1e-6
    found = dc.ci_test(asia, "smoke", "bronc", epsilon=1.5, delta=delta, method="g", median=median, parts=15)
    assert found.privacy.epsilon == pytest.approx(1.5)
    assert found.privacy.delta == pytest.approx(delta)
    assert found.pvalue is not None
    assert 0 < found.pvalue <= 1


@pytest.mark.parametrize(
    ("median", "trim", "epsilon"), [("cauchy", None, 2.0), ("laplace", 0.2, 1.0), ("gaussian", 0.2, 2.0)]
)
def test_the_default_number_of_parts_finds_what_every_part_sees(
    median: Any, trim: float | None, epsilon: float
) -> None:
    """Nine times in ten at least, and 28/epsilon parts alone would not do; 100 draws: .75 is 5 standard errors off."""
    delta = 0.0 if median == "cauchy" else 1e-7
    settings = TestSettings(epsilon, delta, 0.05, Neighbours.REPLACE_ONE, 60_000)
    test = Chi2(median=median, trim=trim)
    m = default_parts(test, settings)
    m -= m % 2 == 0
    best = test.at_best(settings)
    assert best is not None
    assert best >= 0.9
    with testing.seeded(3):
        mechanism = test._smooth(m, settings)
        found = [smooth_pvalue(mechanism.sample(np.zeros(m)), mechanism, m) <= 0.05 for _ in range(100)]
    assert np.mean(found) >= 0.75
    few = replace(test, parts=5).at_best(settings)
    assert few is not None
    assert few < 0.5
    assert Chi2().at_best(settings) is None


def test_test_of_tests_takes_any_test(asia: dc.Dataset) -> None:
    for test in ("kendall", "chi2", "spearman"):
        found = dc.ci_test(asia, "smoke", "bronc", epsilon=5.0, method="test-of-tests", test=test)
        assert not found.independent
        assert test in found.privacy.to_dict()["released"][0]
    with pytest.raises(dc.InputError, match="its own test"):
        dc.ci_test(asia, "smoke", "bronc", epsilon=1.0, method="test-of-tests", test="test-of-tests")


def test_gaussian_table_only_with_delta(asia: dc.Dataset) -> None:
    with pytest.raises(dc.InputError, match="delta"):
        dc.ci_test(asia, "smoke", "lung", epsilon=1.0, method="measured", noise="gaussian")
    found = dc.ci_test(asia, "smoke", "lung", epsilon=0.5, delta=1e-6, method="measured", noise="gaussian")
    assert found.privacy.events[0]["kind"] == "gaussian"


def test_data_must_be_data() -> None:
    with pytest.raises(dc.InputError, match=r"dc\.read"):
        dc.ci_test({"x": [1]}, "x", "y", epsilon=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "n", "said"),
    [
        ([], 500, "With noise the same test is used."),
        (["z"], 500, "With noise the same test is used from epsilon 1.6 on, and gcm below"),
        (["z"], 4000, "With noise the same test is used from epsilon 0.1 on, and gcm below"),
        (["z", "w"], 500, "With noise the same test is used."),
    ],
)
def test_a_classical_answer_says_which_test_a_private_one_takes(given: list[str], n: int, said: str) -> None:
    rng = np.random.default_rng(1)
    schema = dc.Schema(**{name: dc.Numeric(0, 1) for name in "xyzw"})
    data = dc.read({name: rng.random(n) for name in "xyzw"}, schema)
    found = dc.ci_test(data, "x", "y", given, epsilon=None)
    assert said in found.summary()
    assert said in found.summary(full=True)
    for epsilon in (0.05, 0.11, 1.5, 1.7):
        private = dc.ci_test(data, "x", "y", given, epsilon=epsilon, anyway=True)
        assert private.with_noise is None
        assert found.with_noise is not None
        below = found.with_noise.which == "other-below" and epsilon < found.with_noise.epsilon
        assert private.method == (found.with_noise.test if below else found.method)


def test_levels_without_an_order_name_the_test_of_the_noisy_table() -> None:
    rng = np.random.default_rng(1)
    schema = dc.Schema(x=dc.Categorical(["a", "b", "c"]), y=dc.Categorical(["a", "b", "c"]))
    data = dc.read({name: rng.choice(["a", "b", "c"], 600).tolist() for name in "xy"}, schema)
    found = dc.ci_test(data, "x", "y", epsilon=None)
    assert found.to_dict()["facts"]["with_noise"] == {"kind": "same-table", "test": "measured"}
    assert dc.ci_test(data, "x", "y", epsilon=1.0).method == "measured"
    assert dc.ci_test(data, "x", "y", epsilon=None, method="g").with_noise is None


def test_an_answer_keeps_the_order_of_whoever_asked() -> None:
    rows = {"dose": list(range(100)) * 20, "pain": [99 - i for i in range(100)] * 20}
    data = dc.read(rows, dc.Schema(dose=dc.Numeric(0, 99), pain=dc.Numeric(0, 99)))
    for x, y in (("dose", "pain"), ("pain", "dose")):
        found = dc.ci_test(data, x, y, epsilon=2.0)
        assert found.direction is not None
        assert (found.x, found.y) == (found.direction.x, found.direction.y) == (x, y)
        assert found.trend.startswith(f"{y} falls as {x} rises")
        (released,) = found.privacy.to_dict()["facts"]["released"]
        assert (released["x"], released["y"]) == (x, y)
    several = dc.ci_test(data, ["pain"], "dose", epsilon=2.0, method="gcm").privacy.to_dict()["facts"][
        "released"
    ][0]
    assert (several["x"], several["y"]) == ("pain", "dose")
