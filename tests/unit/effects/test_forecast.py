"""What is said of an interval before it is paid for: near what it is, from public numbers, and the advice is true."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.effects.adjustment import doubt_notes
from dpcausal.effects.plan import allowed_by
from dpcausal.effects.question import effect_question
from dpcausal.effects.regression import planned_regression
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import OpenPairs
from dpcausal.effects.widths import (
    MOST_STRATA,
    shares,
    typical_noise,
    typical_strata,
)
from dpcausal.graphs.doubts import Doubts
from dpcausal.planning.measurement_plan import noise_variance
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace

BIT = dc.Categorical(["no", "yes"])
SCHEMA = dc.Schema(
    x=BIT, y=BIT, z=dc.Categorical(["a", "b", "c"]), weight=dc.Numeric(0, 100), dose=dc.Numeric(0, 10)
)


def rows(n: int) -> dc.Dataset:
    """Uneven rows, as real ones are."""
    rng = np.random.default_rng(1)
    z = rng.choice(3, n, p=[0.5, 0.35, 0.15])
    x = rng.random(n) < 0.2 + 0.2 * z
    return dc.read(
        {
            "x": np.where(x, "yes", "no").tolist(),
            "y": np.where(rng.random(n) < 0.15 + 0.2 * x, "yes", "no").tolist(),
            "z": [["a", "b", "c"][k] for k in z],
            "weight": 30 + 5 * z + rng.normal(0, 12, n),
            "dose": 3 + z + rng.normal(0, 1, n),
        },
        SCHEMA,
    )


ASKED: list[tuple[int, float, float, str, list[str], str]] = [
    (1_000, 0.2, 0.0, "y", ["z"], "auto"),
    (1_000, 1.0, 0.0, "weight", ["z"], "auto"),
    (5_000, 0.1, 0.0, "weight", [], "auto"),
    (5_000, 0.3, 0.0, "y", ["z", "dose"], "auto"),
    (2_000, 1.0, 1e-6, "weight", ["z", "dose"], "regression"),
    (5_000, 1.0, 0.0, "y", ["z", "dose"], "regression"),
]


@pytest.mark.parametrize(("n", "epsilon", "delta", "outcome", "adjust", "method"), ASKED)
def test_the_width_is_what_was_forecast_to_a_factor_of_three(
    n: int, epsilon: float, delta: float, outcome: str, adjust: list[str], method: Any
) -> None:
    """The median of five answers; failure by chance needs three widths of five out of a factor of three."""
    data = rows(n)
    given: dict[str, Any] = {"adjust": adjust, "epsilon": epsilon, "delta": delta, "method": method}
    ahead = dc.forecast_effect(data, "x", outcome, **given)
    widths = []
    for seed in range(5):
        with dc.testing.seeded(seed):
            low, high = dc.effect(data, "x", outcome, **given, anyway=True).interval
        widths.append(high - low)
    assert ahead.width / 3 < float(np.median(widths)) < 3 * ahead.width
    assert ahead.width_without_noise < ahead.width


@pytest.mark.parametrize(
    ("n", "sizes", "epsilon"), [(3_000, (2,), 1.0), (3_000, (3, 2, 4), 1.0), (10_000, (2,) * 8, 1.0)]
)
@pytest.mark.parametrize("method", ["table", "regression"])
def test_where_rows_are_as_assumed_widths_are_within_a_quarter_of_the_forecast(
    n: int, sizes: tuple[int, ...], epsilon: float, method: Any
) -> None:
    """Independent columns, levels as common as 1, 1/2, 1/3, a risk of a third; the median of five answers."""
    rng = np.random.default_rng(1)
    names = [f"z{i}" for i in range(len(sizes))]
    columns = {name: dc.Categorical(list(range(size))) for name, size in zip(names, sizes, strict=True)}
    schema = dc.Schema({"x": BIT, "y": BIT, **columns})
    codes = {"x": rng.random(n) < 1 / 3, "y": rng.random(n) < 1 / 3}
    codes |= {name: rng.choice(schema[name].size, n, p=shares(schema[name].size)) for name in names}
    data = dc.Dataset(schema, n, {name: one.astype(np.uint8) for name, one in codes.items()})
    given: dict[str, Any] = {"adjust": names, "epsilon": epsilon, "method": method}
    ahead, widths = dc.forecast_effect(data, "x", "y", **given), []
    for seed in range(5):
        with dc.testing.seeded(seed):
            low, high = dc.effect(data, "x", "y", anyway=True, **given).interval
        widths.append(high - low)
    assert float(np.median(widths)) == pytest.approx(ahead.width, rel=0.25)


def test_it_depends_on_nothing_but_the_schema_and_the_number_of_rows() -> None:
    same = {"x": ["no"], "y": ["yes"], "z": ["c"], "weight": [1.0], "dose": [2.0]}
    other = dc.read({name: 1_000 * values for name, values in same.items()}, SCHEMA)
    given: dict[str, Any] = {"adjust": ["z"], "epsilon": 0.5}
    found = dc.forecast_effect(rows(1_000), "x", "weight", **given)
    assert found == dc.forecast_effect(other, "x", "weight", **given)
    assert found == dc.forecast_effect(SCHEMA, "x", "weight", rows=1_000, **given)
    with pytest.raises(dc.InputError, match="needs rows="):
        dc.forecast_effect(SCHEMA, "x", "weight", **given)
    with pytest.raises(dc.InputError, match="rows is protected"):
        dc.forecast_effect(other, "x", "weight", neighbours="add-remove", **given)


def test_the_advice_is_true() -> None:
    data = rows(600)
    given: dict[str, Any] = {"adjust": ["z", "dose", "y"], "epsilon": 0.3}
    with pytest.raises(dc.UnderpoweredError, match="nothing was charged") as refused:
        dc.effect(data, "x", "weight", **given)
    ahead = refused.value.forecast
    assert ahead.enough is not None
    assert ahead.fewer is not None
    for change in ({"epsilon": ahead.enough}, {"adjust": list(ahead.fewer)}):
        assert not dc.forecast_effect(data, "x", "weight", **{**given, **change}).says_nothing
        dc.effect(data, "x", "weight", **{**given, **change})
    assert dc.effect(data, "x", "weight", **given, anyway=True).privacy.epsilon == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("delta", "noise", "size"),
    [(0.01, Gaussian, "sigma"), (0.0, Laplace, "scale")],
    ids=["Gaussian", "Laplace"],
)
def test_the_noise_is_that_of_the_answer(delta: float, noise: type, size: str) -> None:
    """What is assumed of noise is what ``effect`` then draws."""
    data = rows(2_000)
    asked: dict[str, Any] = {"epsilon": 1.0, "delta": delta, "method": "regression", "anyway": True}
    found = dc.effect(data, "x", "y", adjust=["z", "dose"], **asked)
    question = effect_question(SCHEMA, EffectRequest("x", "y"), ("z", "dose"))
    planned = planned_regression(SCHEMA, question, allowed_by(1.0, delta), Neighbours.REPLACE_ONE)
    first, second = planned.moments, planned.sums
    assert found.privacy.released[0].sd == pytest.approx(math.sqrt(noise_variance(first) / 2))
    assert isinstance(first, noise)
    assert found.privacy.events[1][size] == pytest.approx(second.event("sums").to_dict()[size])


def test_typical_noise_has_the_variance_of_its_law() -> None:
    laplace = Laplace(sensitivity=2.0, epsilon=0.5, neighbours=Neighbours.REPLACE_ONE, size=1)
    drawn = typical_noise(20_000, 1, laplace)
    assert drawn.mean() == pytest.approx(0.0, abs=0.02 * drawn.std())
    assert drawn.var() == pytest.approx(noise_variance(laplace), rel=0.02)
    assert np.array_equal(drawn, typical_noise(20_000, 1, laplace))


def test_strata_beyond_the_most_are_lumped() -> None:
    schema = dc.Schema(**{f"z{i}": dc.Categorical(list(range(10))) for i in range(4)})
    found = typical_strata(schema, list(schema))
    assert len(found.shares) == MOST_STRATA
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.lumped == 10**4 - MOST_STRATA + 1


def test_most_of_the_width_being_noise_is_said_with_the_bounds_that_rule_it() -> None:
    data = rows(2_000)
    with dc.testing.seeded(1):
        noisy = dc.effect(data, "x", "weight", adjust=["z"], epsilon=0.1)
        clear = dc.effect(data, "x", "weight", adjust=["z"], epsilon=10.0)
    assert "privacy noise: tighter bounds of weight in the schema (now 0 to 100)" in str(noisy)
    assert "noise hides less of a yes/no outcome (event='>= NUMBER')" in str(noisy)
    assert "privacy noise" not in str(clear)
    ahead = dc.forecast_effect(data, "x", "weight", adjust=["z"], epsilon=0.1)
    assert "Noise hides less of a yes/no outcome (event='>= NUMBER')." in str(ahead)
    bare = dc.forecast_effect(data, "x", "y", epsilon=0.05)  # nothing is held fixed, and y has two levels
    assert "Most of it is privacy noise: more epsilon shortens it." in str(bare)
    assert "what is held fixed" not in str(bare)


def test_an_event_is_only_proposed_where_it_would_say_something() -> None:
    asked: dict[str, Any] = {"adjust": ["z"], "rows": 600}
    told = {}
    for epsilon in (0.03, 0.1, 0.2, 0.3):
        found = dc.forecast_effect(SCHEMA, "x", "weight", epsilon=epsilon, **asked)
        risk = dc.forecast_effect(SCHEMA, "x", "weight", event=">= 40", epsilon=epsilon, **asked)
        told[epsilon] = found.event
        assert (found.event is None) == risk.says_nothing
        assert ("a yes/no outcome (event='>= NUMBER')" in str(found)) == (found.event is not None)
    assert told == {0.03: None, 0.1: None, 0.2: ">= NUMBER", 0.3: ">= NUMBER"}
    assert dc.forecast_effect(SCHEMA, "x", "weight", epsilon=0.2, **asked).says_nothing
    clear = dc.forecast_effect(SCHEMA, "x", "weight", epsilon=10.0, **asked)
    assert clear.event is None


def test_levels_with_an_order_have_no_bounds() -> None:
    pain = dc.Categorical(["none", "some", "much"], ordered=True)
    found = dc.forecast_effect(dc.Schema(x=BIT, pain=pain), "x", "pain", rows=120, epsilon=0.15)
    assert found.says_nothing
    assert found.event is None
    assert "bounds" not in str(found)


def test_a_released_interval_that_is_too_wide_says_what_helps_where_no_forecast_did() -> None:
    """The number of rows is protected, so that nothing was forecast."""
    data = rows(400)
    asked: dict[str, Any] = {"neighbours": "add-remove", "adjust": ["z"]}
    with dc.testing.seeded(1):
        wide = dc.effect(data, "x", "weight", epsilon=0.15, **asked)
        clear = dc.effect(data, "x", "weight", epsilon=10.0, **asked)
    assert wide.interval[1] - wide.interval[0] > 50 > clear.interval[1] - clear.interval[0]
    told = (
        "The interval is too wide to say much: a yes/no outcome (event='>= NUMBER'), tighter bounds of weight in the "
        "schema (now 0 to 100), coarser bins of what is held fixed, more epsilon or more rows would help"
    )
    assert told in str(wide)
    assert "too wide" not in str(clear)


def test_the_estimate_is_nearer_to_the_adjusted_effect_than_means_drawn_to_their_arm() -> None:
    """Confounding in 24 strata: .35 without adjustment; the bound is four standard errors of the mean of ten draws."""
    rng = np.random.default_rng(3)
    n = 6_000
    z = rng.integers(0, 24, n)
    x = rng.random(n) < 0.1 + 0.8 * z / 23
    y = rng.random(n) < 0.1 + 0.7 * z / 23
    schema = dc.Schema(x=BIT, y=BIT, z=dc.Categorical(list(range(24))))
    data = dc.read({"x": np.where(x, "yes", "no"), "y": np.where(y, "yes", "no"), "z": z}, schema)
    errors = []
    for seed in range(10):
        with dc.testing.seeded(seed):
            found = dc.effect(data, "x", "y", adjust=["z"], epsilon=0.3, method="table")
        asked: dict[str, Any] = {"adjust": ["z"], "epsilon": None, "population": found.population}
        errors.append(found.estimate - dc.effect(data, "x", "y", **asked).estimate)
    assert abs(float(np.mean(errors))) < 0.08


def test_what_comes_later_in_time_is_not_proposed_to_be_held_fixed() -> None:
    """Pairs with visits and income stayed open, but both were declared to come after sex: no common cause."""
    left = frozenset(frozenset(("sex", name)) for name in ("visits", "income", "age"))
    tiers = (frozenset({"sex", "age"}), frozenset({"income"}), frozenset({"visits"}))
    for known, names in (((), ("age", "income")), (tiers, ("age",))):
        request = EffectRequest("sex", "visits", doubts=Doubts(open=left, tiers=known))
        notes = doubt_notes(request, (), dc.Graph(["sex", "age", "income", "visits"]))
        assert [note.columns for note in notes if isinstance(note, OpenPairs)] == [names]


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("columns", "needed"), [(2, False), (9, True)])
def test_a_regression_uses_a_delta_only_where_that_is_expected_to_be_narrower(
    columns: int, needed: bool, neighbours: str
) -> None:
    rng = np.random.default_rng(1)
    names = [f"z{i}" for i in range(columns)]
    held: dict[str, Any] = {name: dc.Numeric(-4, 4) for name in names}
    schema = dc.Schema({**held, "t": dc.Categorical([0, 1]), "y": dc.Numeric(-9, 9)})
    drawn = {name: rng.normal(size=3_000) for name in names}
    treated = (rng.random(3_000) < 0.5).astype(int)
    data = dc.read({**drawn, "t": treated, "y": treated + rng.normal(size=3_000)}, schema)
    asked: dict[str, Any] = {"adjust": names, "method": "regression", "neighbours": neighbours}
    found = dc.effect(data, "t", "y", epsilon=1.0, delta=1e-6, anyway=True, **asked)
    assert found.privacy.delta == (1e-6 if needed else 0.0)
    wide, pure = (
        dc.forecast_effect(schema, "t", "y", rows=3_000, epsilon=1.0, delta=delta, **asked).width
        for delta in (1e-6, 0.0)
    )
    assert wide < pure if needed else wide == pure


@pytest.mark.parametrize(
    ("treatment", "more", "says"),
    [
        ("dose", {}, '"dose" is declared with 4 bins: leave method= out'),
        ("dose", {"compare": ["below 2.5", "7.5 or more"]}, "one cut \\(bins = \\[CUT\\]\\)"),
        (
            "z",
            {"adjust": [], "compare": ["a", "b"]},
            '"z" is declared with 3: .* or declare it with two levels',
        ),
        ("x", {"estimand": "risk ratio"}, "not a risk ratio: leave method= out"),
    ],
)
def test_a_forecast_refuses_the_regression_that_a_run_refuses(
    treatment: str, more: dict[str, Any], says: str
) -> None:
    asked = {"adjust": ["weight"], "epsilon": 1.0, "method": "regression", **more}
    with pytest.raises(dc.InputError, match=says) as run:
        dc.effect(rows(2_000), treatment, "y", **asked)
    for source in ({"source": rows(2_000)}, {"source": SCHEMA, "rows": 2_000}):
        with pytest.raises(dc.InputError) as ahead:
            dc.forecast_effect(**source, treatment=treatment, outcome="y", **asked)
        assert str(ahead.value) == str(run.value)
    del asked["method"]  # the remedy that is named
    assert dc.effect(rows(2_000), treatment, "y", **asked, anyway=True).method == "table"


def test_the_remedy_of_one_cut_makes_the_regression_possible() -> None:
    one = dc.Schema(dose=dc.Numeric(0, 10, [5]), y=BIT, weight=SCHEMA["weight"])
    own = dc.Schema(dose=dc.Numeric(0, 10, [5], missing_level=True), y=BIT, weight=SCHEMA["weight"])
    asked: dict[str, Any] = {"adjust": ["weight"], "rows": 2_000, "epsilon": 1.0, "method": "regression"}
    assert dc.forecast_effect(one, "dose", "y", **asked).method == "regression"
    with pytest.raises(dc.InputError, match="without missing_level"):
        dc.forecast_effect(own, "dose", "y", **asked)


@pytest.mark.parametrize(
    ("adjust", "epsilon", "least", "most"),
    [(["z"], 0.1, 0.2, 0.35), (["z"], 1.0, 0.0, 0.02), (["z", "dose"], 0.3, 0.9, 1.0), ([], 0.02, 0.0, 0.0)],
)
def test_a_forecast_says_how_likely_strata_are_left_out(
    adjust: list[str], epsilon: float, least: float, most: float
) -> None:
    """By public numbers, and near how often it happens; a risk in two arms leaves none out."""
    data = rows(1_000)
    asked: dict[str, Any] = {"adjust": adjust, "epsilon": epsilon, "method": "table"}
    ahead = dc.forecast_effect(data, "x", "weight", **asked)
    assert least <= ahead.left_out <= most
    assert ahead == dc.forecast_effect(SCHEMA, "x", "weight", rows=1_000, **asked)
    assert ahead.to_dict()["left_out"] == ahead.left_out
    told = "noise is expected to hide one of the two groups" in str(ahead)
    assert told == (ahead.left_out >= 0.05 and not ahead.says_nothing)
    with dc.testing.seeded(3):
        found = [dc.effect(data, "x", "weight", **asked, anyway=True) for _ in range(20)]
    happened = sum(bool(one.left_out) for one in found) / 20 if adjust else 0.0
    assert abs(happened - ahead.left_out) < 0.5
    assert dc.forecast_effect(data, "x", "y", **asked).left_out == 0.0


def test_a_regression_leaves_no_strata_out() -> None:
    ahead = dc.forecast_effect(
        SCHEMA, "x", "y", adjust=["z", "dose"], rows=1_000, epsilon=0.3, method="regression"
    )
    assert ahead.left_out == 0.0


def test_a_forecast_names_the_test_where_whether_is_the_smaller_question() -> None:
    """Held against runs: the test finds what the interval does not tell from none, and where not, nothing is said."""
    asked: dict[str, Any] = {"adjust": ["z"], "rows": 1_600, "epsilon": 0.2}
    ahead = dc.forecast_effect(SCHEMA, "x", "weight", **asked)
    assert ahead.test is not None
    name, chance = ahead.test
    assert (name, chance >= 0.9) == ("kendall", True)
    line = "is found by dc.ci_test (kendall) in over 99%, at best."
    assert line in str(ahead)
    assert ahead.to_dict()["test"] == [name, chance]
    rng = np.random.default_rng(4)
    n, told, tested = 1_600, 0, 0
    with dc.testing.seeded(5):
        for _ in range(20):
            x = rng.random(n) < 1 / 3
            columns: dict[str, Any] = {
                "x": np.where(x, "yes", "no").tolist(),
                "y": ["no", "yes"] * (n // 2),
                "z": np.array(["a", "b", "c"])[rng.choice(3, n, p=[0.5, 0.3, 0.2])].tolist(),
                "weight": 33 + 6.0 * x + rng.normal(0, 16, n),
                "dose": rng.uniform(0, 10, n),
            }
            data = dc.read(columns, SCHEMA)
            found = dc.effect(data, "x", "weight", adjust=["z"], epsilon=0.2)
            told += found.interval[0] > 0
            tested += bool(dc.ci_test(data, "x", "weight", ["z"], epsilon=0.2).rejected)
    assert tested >= told + 5


@pytest.mark.parametrize(
    ("outcome", "more"),
    [
        ("y", {"adjust": ["dose"]}),  # gcm finds less of a yes/no outcome than the interval
        ("weight", {"event": ">= 40"}),  # another question than that of the test
        ("weight", {"neighbours": "add-remove"}),
        ("z", {"event": "a", "adjust": []}),
        ("y", {"estimand": "risk ratio"}),
    ],
)
def test_no_test_is_named_where_it_is_not_known_to_be_the_smaller_question(
    outcome: str, more: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"adjust": ["z"], "rows": 1_600, "epsilon": 0.2, **more}
    ahead = dc.forecast_effect(SCHEMA, "x", outcome, **asked)
    assert ahead.test is None
    assert "takes less budget" not in str(ahead)


def test_a_rare_treatment_is_forecast_as_such():
    """At 3% exposed a paid interval is as wide as said, where a third exposed would be far narrower."""
    names = ["x", "y", "age", "smoke"]
    yes_no = dc.Categorical(["no", "yes"])
    schema = dc.Schema(dict.fromkeys(names, yes_no))
    asked = {"adjust": ["age", "smoke"], "epsilon": 1.0, "rows": 20_000}
    usual = dc.forecast_effect(schema, "x", "y", **asked)
    rare = dc.forecast_effect(schema, "x", "y", **asked, share=0.05)
    rarer = dc.forecast_effect(schema, "x", "y", **asked, share=0.03)
    assert usual.width < rare.width < rarer.width
    assert usual.rare == rare.width
    assert rare.rare is None
    rng = np.random.default_rng(3)
    rows = {name: rng.random(20_000) < (0.03 if name == "x" else 1 / 3) for name in names}
    data = dc.read({name: np.where(values, "yes", "no") for name, values in rows.items()}, schema)
    with dc.testing.seeded(4):
        low, high = dc.effect(data, "x", "y", adjust=["age", "smoke"], epsilon=1.0).interval
    assert rarer.width / 1.5 < high - low < 1.5 * rarer.width
    assert high - low > 1.5 * usual.width


def test_a_forecast_names_the_population_and_the_share_that_its_width_is_of() -> None:
    """A rarer treatment makes ``auto`` choose the exposed: the first line says so, and no width switches unsaid."""
    yes_no, held = dc.Categorical(["no", "yes"]), ["age", "smoke", "sex"]
    schema = dc.Schema(dict.fromkeys(["x", "y", *held], yes_no))
    asked: dict[str, Any] = {"adjust": held, "epsilon": 1.0, "rows": 2_500}
    usual, rare, rarer = (
        dc.forecast_effect(schema, "x", "y", **asked, share=one) for one in (None, 0.03, 0.02)
    )
    assert [one.population for one in (usual, rare, rarer)] == ["all", "all", "exposed"]
    firsts = [str(one).splitlines()[0] for one in (usual, rare, rarer)]
    assert " among all, if 33% of rows have x yes: " in firsts[0]
    assert " among all, if 3% of rows have x yes: " in firsts[1]
    assert " among those with x yes, if 2% of rows have x yes: " in firsts[2]
    of_all = dc.forecast_effect(schema, "x", "y", **asked, share=0.02, population="all")
    assert of_all.population == "all"
    assert of_all.width > rarer.width
    assert rarer.to_dict()["population"] == "exposed"


def test_a_rare_treatment_of_which_nothing_could_be_said():
    yes_no = dc.Categorical(["no", "yes"])
    found = dc.forecast_effect(dc.Schema(x=yes_no, y=yes_no), "x", "y", epsilon=0.1, rows=2_000)
    assert not found.says_nothing
    assert found.rare == math.inf
    assert found.to_dict()["with_rare_treatment"] == {"share": 0.05, "width": None, "population": "all"}


@pytest.mark.parametrize("share", [0.0, -0.1, 0.6, True, "few"])
def test_a_share_that_is_none_is_refused(share):
    yes_no = dc.Categorical(["no", "yes"])
    with pytest.raises(dc.InputError, match="share must be above 0"):
        dc.forecast_effect(dc.Schema(x=yes_no, y=yes_no), "x", "y", epsilon=1.0, rows=2_000, share=share)
    more = dc.Schema(x=dc.Categorical(["a", "b", "c"]), y=yes_no)
    with pytest.raises(dc.InputError, match="two levels"):
        dc.forecast_effect(more, "x", "y", compare=["a", "b"], epsilon=1.0, rows=2_000, share=0.1)
