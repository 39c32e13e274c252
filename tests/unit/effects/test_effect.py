"""``dc.effect``: what is estimated, what is refused, and what is charged."""

from __future__ import annotations

import html
import json
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.forecast import Remedy
from dpcausal.core.statement import KeptForEffects, MissingAs
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.effect_after import (
    HELD_AFTER_SELECTION,
    HELD_WITH_FEW_ROWS,
    ReleasedTables,
    _no_table,
)
from dpcausal.discovery.measured.tables import Components
from dpcausal.discovery.result import replaced as replace
from dpcausal.effects.adjustment import AdjustsForDescendant, LeavesBackDoorOpen
from dpcausal.effects.levels import refuse_biased
from dpcausal.effects.report import strata_left_out
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import (
    AdjustsForLater,
    ColumnsEnter,
    Contradicted,
    EffectNote,
    Everyone,
    FreshNoise,
    MissingCounts,
    MissingHeld,
    MissingLeftOut,
    NothingKnown,
    NumberRules,
    OpenPairs,
    OutcomeBins,
    OutcomeEarlier,
    RestsOn,
    SameRelease,
    StrataLeftOut,
    TreatmentBins,
    WideInterval,
)
from dpcausal.present.effect import edge_effects_mean, note_words, raw_lines
from dpcausal.present.statement import fact_words
from dpcausal.privacy.accounting.composition import Filter, Spent
from dpcausal.privacy.events import event_from_dict

ROOT = Path(__file__).parents[3]
ASIA = dc.networks.load("asia")
BIT = dc.Categorical(["no", "yes"])


def rows(n: int = 4_000, seed: int = 1, effect: float = 0.3) -> dc.Dataset:
    """z makes both x and y likelier; x adds ``effect`` to the risk of y, and 8 to a number."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    x = rng.random(n) < 0.2 + 0.25 * z
    y = rng.random(n) < 0.1 + 0.2 * z + effect * x
    columns = {
        "x": np.where(x, "yes", "no").tolist(),
        "y": np.where(y, "yes", "no").tolist(),
        "z": [["a", "b", "c"][k] for k in z],
        "grade": np.minimum(z + x, 2).tolist(),
        "weight": 40 + 5 * z + 8.0 * x + rng.normal(0, 3, n),
    }
    schema = dc.Schema(
        x=BIT,
        y=BIT,
        z=dc.Categorical(["a", "b", "c"]),
        grade=dc.Categorical([0, 1, 2], ordered=True),
        weight=dc.Numeric(0, 100),
    )
    return dc.read(columns, schema)


DATA = rows()
THREE = dc.Schema(x=BIT, y=BIT, z=dc.Categorical(["a", "b"]))


def test_the_adjusted_effect_is_found_and_the_unadjusted_one_is_not() -> None:
    """With failure probability below 1e-6: the interval is ten times its width from the wrong answer."""
    exact = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=None)
    with dc.testing.seeded(1):
        found = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=1.0)
    assert found.interval[0] < 0.3 < found.interval[1]
    assert abs(found.estimate - exact.estimate) < 0.03
    raw = dc.effect(DATA, "x", "y", adjust=[], epsilon=None)
    assert raw.interval[0] > 0.3
    assert list(raw.notes) == [RestsOn("unadjusted")]


def test_second_minus_first_and_named_levels() -> None:
    usual = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=None)
    turned = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=None, compare=("yes", "no"))
    other = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=None, event="no")
    assert usual.compare == ("no", "yes")
    assert usual.event == "yes"
    assert turned.estimate == pytest.approx(-usual.estimate)
    assert other.estimate == pytest.approx(-usual.estimate)


def by_hand(kind: str) -> float:
    """The standardised effect from the rows themselves."""
    codes = DATA.codes
    risks = []
    for arm in (0, 1):
        parts = [
            (codes["y"][(codes["x"] == arm) & (codes["z"] == z)].mean(), (codes["z"] == z).mean())
            for z in range(3)
        ]
        risks.append(sum(risk * share for risk, share in parts))
    odds = [risk / (1 - risk) for risk in risks]
    return {"difference": risks[1] - risks[0], "risk": risks[1] / risks[0], "odds": odds[1] / odds[0]}[kind]


@pytest.mark.parametrize(
    ("estimand", "kind"), [("risk difference", "difference"), ("risk ratio", "risk"), ("odds-ratio", "odds")]
)
def test_without_privacy_it_is_standardisation_by_hand(estimand: str, kind: str) -> None:
    found = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=None, estimand=estimand)
    assert found.estimate == pytest.approx(by_hand(kind), rel=1e-9)
    assert found.interval[0] < found.estimate < found.interval[1]
    assert found.estimand == estimand.replace("-", " ")
    assert found.privacy.private is False


def test_a_ratio_has_the_interval_of_its_logarithm() -> None:
    """Against the delta method, which is right for 4,000 rows: within a tenth of the width."""
    found = dc.effect(DATA, "x", "y", adjust=[], epsilon=None, estimand="risk ratio")
    codes = DATA.codes
    risks = [codes["y"][codes["x"] == arm].mean() for arm in (0, 1)]
    counts = [(codes["x"] == arm).sum() for arm in (0, 1)]
    error = math.sqrt(sum((1 - risk) / (risk * count) for risk, count in zip(risks, counts, strict=True)))
    wanted = [math.exp(math.log(risks[1] / risks[0]) + sign * 1.96 * error) for sign in (-1, 1)]
    width = wanted[1] - wanted[0]
    assert found.interval == (
        pytest.approx(wanted[0], abs=width / 10),
        pytest.approx(wanted[1], abs=width / 10),
    )


def test_means_of_numbers_and_of_ordered_levels() -> None:
    with dc.testing.seeded(1):
        weight = dc.effect(DATA, "x", "weight", adjust=["z"], epsilon=1.0)
        grade = dc.effect(DATA, "x", "grade", adjust=["z"], epsilon=1.0)
    assert weight.estimand == grade.estimand == "mean difference"
    assert weight.interval[0] < 8.0 < weight.interval[1]
    assert weight.interval[1] - weight.interval[0] < 2.0
    assert grade.interval[0] < 2 / 3 < grade.interval[1]  # nobody rises beyond the last of three
    assert weight.means[1] - weight.means[0] == pytest.approx(weight.estimate)


def test_counts_answer_like_rows() -> None:
    with dc.testing.seeded(3):
        one = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=1.0)
    with dc.testing.seeded(3):
        other = dc.effect(MemoryCounts(DATA), "x", "y", adjust=["z"], epsilon=1.0)
    assert one.interval == other.interval
    with pytest.raises(dc.InputError, match="the bin 0 to 25 is 25% of the range of 'weight'"):
        dc.effect(MemoryCounts(DATA), "x", "weight", adjust=["z"], epsilon=None)
    binned = dc.effect(MemoryCounts(DATA), "x", "weight", adjust=["z"], epsilon=None, anyway=True)
    assert [note.off for note in binned.notes if isinstance(note, OutcomeBins)] == [25.0]
    assert binned.interval[1] - binned.interval[0] > 2 * 25.0


def test_three_arms_compare_two_and_count_the_rest_for_the_strata() -> None:
    found = dc.effect(DATA, "grade", "y", adjust=["z"], epsilon=None, compare=(0, 1))
    codes = DATA.codes
    kept = [
        z for z in range(3) if all((((codes["grade"] == g) & (codes["z"] == z)).sum() >= 3) for g in (0, 1))
    ]
    weights = [(codes["z"] == z).mean() for z in kept]
    effects = [
        codes["y"][(codes["grade"] == 1) & (codes["z"] == z)].mean()
        - codes["y"][(codes["grade"] == 0) & (codes["z"] == z)].mean()
        for z in kept
    ]
    assert found.estimate == pytest.approx(np.average(effects, weights=weights))
    assert found.share == pytest.approx(sum(weights))
    assert found.left_out == tuple((("a", "b", "c")[z],) for z in range(3) if z not in kept)


def test_strata_left_out_widen_the_interval_for_all_rows() -> None:
    """With no noise and one arm empty in a stratum, the ends are Manski's bounds around those of the other strata."""
    columns = {"x": ["no", "yes"] * 500 + ["no"] * 250, "y": ["no"] * 1250, "z": ["a"] * 1000 + ["b"] * 250}
    data = dc.read(columns, THREE)
    found = dc.effect(data, "x", "y", adjust=["z"], epsilon=None)
    assert found.left_out == (("b",),)
    low, high = found.interval
    assert found.everyone == pytest.approx((0.8 * low - 0.2, 0.8 * high + 0.2))
    ratio = dc.effect(data, "x", "y", adjust=["z"], epsilon=None, event="no", estimand="risk ratio")
    assert ratio.everyone[0] < ratio.interval[0] <= ratio.interval[1] < ratio.everyone[1]
    assert StrataLeftOut(pytest.approx(0.2), noise=False) in found.notes
    assert Everyone(*found.everyone) in found.notes
    assert json.loads(found.to_json())["everyone"] == pytest.approx(list(found.everyone))
    whole = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=None)
    assert whole.everyone == whole.interval


def test_a_graph_says_what_to_hold_fixed() -> None:
    data = ASIA.sample(5_000, seed=1)
    found = dc.effect(data, "bronc", "dysp", graph=ASIA.dag, epsilon=1.0)
    assert found.adjust == ("smoke",)
    several = dc.effect(data, "bronc", "dysp", graph=ASIA.cpdag, epsilon=1.0)
    assert [one.adjust for one in several.possible] == [(), ("smoke",)]
    assert several.interval[0] == min(one.interval[0] for one in several.possible)
    assert np.isnan([several.estimate, *several.means]).all()  # none of them is the effect
    assert "2 possible" in repr(several)
    assert several.to_dict()["estimate"] is None


def test_no_effect_is_among_the_possible_ones_where_the_edge_may_point_back() -> None:
    edge = dc.Graph(["x", "y"], undirected=[("x", "y")])
    found = dc.effect(DATA, "x", "y", graph=edge, epsilon=1.0)
    assert [one.adjust for one in found.possible] == [(), None]
    assert found.possible[1].interval == (0.0, 0.0)


@pytest.mark.parametrize("anyway", [False, True])
def test_a_graph_in_which_the_outcome_is_always_a_cause_of_the_treatment_is_refused(anyway: bool) -> None:
    """A path x - z - y may be one of arrows, but y is a parent of x in every graph that is allowed."""
    graph = dc.Graph(["x", "y", "z"], directed=[("y", "x")], undirected=[("x", "z"), ("y", "z")])
    for ask in (dc.effect, dc.forecast_effect):
        with pytest.raises(dc.InputError, match="no path of arrows"):
            ask(DATA, "x", "y", graph=graph, epsilon=1.0, anyway=anyway)


def test_nothing_is_known_of_an_arm_that_noise_hides() -> None:
    few = rows(30)
    with dc.testing.seeded(1):
        found = dc.effect(few, "x", "y", adjust=[], epsilon=0.001, anyway=True)
        ratio = dc.effect(few, "x", "y", adjust=[], epsilon=0.001, estimand="odds ratio", anyway=True)
    assert (found.share, found.interval) == (0.0, (-1.0, 1.0))
    assert math.isnan(found.estimate)  # no number that somebody could quote
    assert ratio.interval == (0.0, math.inf)
    assert json.loads(ratio.to_json())["interval"] == [0.0, None]
    assert json.loads(ratio.to_json())["estimate"] is None
    assert NothingKnown(noise=True) in found.notes


def test_an_interval_for_all_rows_that_nothing_limits_is_none_in_json() -> None:
    few, open_ended = rows(150), 0
    with dc.testing.seeded(3):
        for _ in range(30):
            asked: dict[str, Any] = {"compare": (0, 1), "estimand": "risk ratio", "anyway": True}
            found = dc.effect(few, "grade", "y", adjust=["z"], epsilon=0.2, **asked)
            ends = json.loads(found.to_json())["everyone"]
            assert (ends[1] is None) == math.isinf(found.everyone[1])
            noted = [note for note in found.notes if isinstance(note, Everyone)]
            open_ended += any(math.isinf(note.high) for note in noted)
    assert open_ended  # else nothing was tested


def test_the_budget_and_its_statement() -> None:
    found = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=0.7)
    assert (found.privacy.delta, found.privacy.definition) == (0.0, "pure")
    assert found.privacy.epsilon == pytest.approx(0.7)
    assert found.privacy.epsilon <= 0.7
    gaussian = dc.effect(DATA, "x", "y", adjust=["z"], epsilon=0.05, delta=1e-2, anyway=True)
    assert gaussian.privacy.events[0]["kind"] == "gaussian"
    assert gaussian.privacy.epsilon <= 0.05
    regression = dc.effect(
        DATA, "x", "y", adjust=["z", "weight"], epsilon=1.0, delta=1e-6, method="regression"
    )
    assert len(regression.privacy.events) == 2
    assert regression.privacy.epsilon <= 1.0
    assert regression.method == "regression"


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    ("outcome", "asked"),
    [
        ("y", {"adjust": []}),
        ("y", {"adjust": ["z"]}),
        ("grade", {"adjust": ["z"]}),
        ("weight", {"adjust": ["z"]}),
        ("y", {"adjust": ["z"], "method": "regression"}),
        ("y", {"graph": dc.Graph(["x", "y", "z", "grade"], [("x", "y")], [("x", "z"), ("x", "grade")])}),
    ],
    ids=["two cells", "strata", "levels", "number", "regression", "several sets"],
)
def test_a_delta_is_charged_where_the_noise_is_gaussian_and_nowhere_else(
    outcome: str, asked: dict[str, Any], neighbours: Any
) -> None:
    """The charge knows which noise will be taken, at either side of where it changes."""
    kinds = set()
    for delta in (1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.02, 0.1):
        found = dc.effect(
            DATA, "x", outcome, **asked, epsilon=0.5, delta=delta, neighbours=neighbours, anyway=True
        )
        drawn = {event["kind"] for event in found.privacy.events}
        assert found.privacy.asked is not None
        assert found.privacy.asked["delta"] == (delta if "gaussian" in drawn else 0.0)
        assert found.privacy.epsilon is not None
        assert found.privacy.epsilon <= 0.5
        kinds |= drawn
    assert kinds == {"gaussian", "laplace"}  # else one side was not tried


def test_auto_takes_a_regression_where_a_table_would_hold_noise_only() -> None:
    columns: dict[str, Any] = {f"z{i}": dc.Categorical([0, 1, 2]) for i in range(7)}
    schema = dc.Schema(**columns, x=BIT, y=BIT)
    rng = np.random.default_rng(1)
    raw = {name: rng.integers(0, 3, 2_000).tolist() for name in columns}
    raw |= {name: rng.choice(["no", "yes"], 2_000).tolist() for name in "xy"}
    data = dc.read(raw, schema)
    assert dc.effect(data, "x", "y", adjust=list(columns), epsilon=1.0, anyway=True).method == "regression"
    assert dc.effect(data, "x", "y", adjust=["z0"], epsilon=1.0).method == "table"


def test_regression_takes_out_what_a_table_can_t_hold() -> None:
    """With failure probability below 1e-6 by the widths: 8 lies ten of them from the unadjusted answer."""
    data = rows(40_000)
    with dc.testing.seeded(1):
        found = dc.effect(data, "x", "weight", adjust=["z"], epsilon=2.0, delta=1e-6, method="regression")
    raw = dc.effect(data, "x", "weight", adjust=[], epsilon=None)
    assert found.interval[0] < 8.0 < found.interval[1]
    assert raw.interval[0] > 9.0


class Counting:
    """A ledger that counts charges and allows none."""

    def __init__(self) -> None:
        self.charged = 0

    def charge(self, *_: Any, **__: Any) -> None:
        """Count and stop."""
        self.charged += 1
        raise RuntimeError("as asked")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"outcome": "x"}, "both treatment and outcome"),
    ({"adjust": ["x"]}, "can't adjust for"),
    ({"adjust": ["z", "z"]}, "twice"),
    ({"adjust": "z,y"}, "must be a list of columns"),
    ({"adjust": ["nope"]}, 'no column "nope"'),
    ({"adjust": ["nope", "neither"]}, 'no columns "nope".*"neither"'),
    ({"treatment": "weight", "compare": (1, 2)}, "no level '1'"),
    ({"treatment": "z", "adjust": []}, "3 levels without an order"),
    ({"outcome": "z", "adjust": []}, "event="),
    ({"compare": ("no", "maybe")}, "no level 'maybe'"),
    ({"compare": ("no", "no")}, "two different levels"),
    ({"event": "maybe"}, "no level 'maybe'"),
    ({"outcome": "weight", "event": "1"}, "is a number"),
    ({"outcome": "weight", "estimand": "risk ratio"}, "two levels"),
    ({"estimand": "risk"}, "no estimand"),
    ({"level": 0.05}, "confidence of the interval"),
    ({"level": 2}, "strictly between"),
    ({"epsilon": 0.0}, "above zero"),
    ({"epsilon": 1e9}, "epsilon must lie within"),
    ({"epsilon": -1}, "above zero"),
    ({"epsilon": 0.001}, "this can say nothing, so nothing was charged"),
    ({"delta": 1.0}, "below 1"),
    ({"neighbours": "fixed-labels"}, "replace-one or add-remove"),
    ({"graph": "x -> y"}, "must be a dc.Graph"),
    ({"method": "magic"}, "auto, table or regression"),
    ({"method": "regression", "estimand": "odds ratio"}, "gives a difference"),
    ({"method": "regression", "epsilon": None}, "without privacy"),
    ({"epsilon": None, "delta": 0.1}, "no delta"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_bad_input_is_one_line_and_charges_nothing(change: dict[str, Any], words: str) -> None:
    ledger = Counting()
    given: dict[str, Any] = {"treatment": "x", "outcome": "y", "adjust": ["z"], "epsilon": 1.0} | change
    treatment, outcome = given.pop("treatment"), given.pop("outcome")
    kept = {} if given["epsilon"] is None else {"ledger": ledger, "dataset": "d"}
    with pytest.raises(dc.InputError, match=words) as error:
        dc.effect(DATA, treatment, outcome, **given, **kept)
    assert "\n" not in str(error.value)
    assert ledger.charged == 0
    if kept:  # and what is right is charged there, once
        with pytest.raises(RuntimeError, match="as asked"):
            dc.effect(DATA, "x", "y", adjust=["z"], epsilon=1.0, **kept)
        assert ledger.charged == 1


def test_one_level_and_missing_epsilon_are_refused() -> None:
    schema = dc.Schema(x=BIT, one=dc.Categorical(["only"]))
    data = dc.read({"x": ["no", "yes"], "one": ["only", "only"]}, schema)
    for treatment, outcome in (("x", "one"), ("one", "x")):
        with pytest.raises(dc.InputError, match="has one level"):
            dc.effect(data, treatment, outcome, epsilon=1.0)
    with pytest.raises(dc.InputError, match="effect needs an epsilon"):
        dc.effect(DATA, "x", "y")


def test_a_descendant_is_refused_and_anyway_warned_of() -> None:
    graph = dc.Graph(["x", "y", "z", "grade"], directed=[("z", "x"), ("z", "y"), ("x", "y"), ("x", "grade")])
    with pytest.raises(dc.InputError, match='"x" changes grade'):
        dc.effect(DATA, "x", "y", adjust=["z", "grade"], graph=graph, epsilon=1.0)
    with pytest.warns(dc.AdjustsForDescendant, match="may change grade"):
        found = dc.effect(DATA, "x", "y", adjust=["z", "grade"], graph=graph, epsilon=1.0, anyway=True)
    assert any(isinstance(note, AdjustsForLater) and note.by == "descendant" for note in found.notes)
    maybe = dc.Graph(["x", "y", "z"], directed=[("x", "y")], undirected=[("x", "z")])
    with pytest.warns(dc.AdjustsForDescendant, match="may change z"):
        dc.effect(DATA, "x", "y", adjust=["z"], graph=maybe, epsilon=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fine = dc.Graph(["x", "y", "z"], directed=[("x", "y"), ("z", "x")])
        assert dc.effect(DATA, "x", "y", adjust=["z"], graph=fine, epsilon=1.0).share > 0


def test_a_pag_answers_where_no_hidden_cause_can_matter_and_else_says_that_one_is_possible() -> None:
    edges = [("z", "o->", "x"), ("grade", "o->", "x"), ("z", "->", "y"), ("x", "->", "y")]
    known = dc.PAG(["z", "grade", "x", "y"], edges)
    found = dc.effect(DATA, "x", "y", graph=known, epsilon=None)
    assert found.adjust == ("z",)
    assert found.estimate == dc.effect(DATA, "x", "y", adjust=["z"], epsilon=None).estimate
    assert RestsOn("hidden-causes") in found.notes
    open_ended = dc.PAG(["x", "y"], [("x", "o->", "y")])
    with pytest.raises(dc.InputError, match='a hidden common cause of "x" and "y" is possible'):
        dc.effect(DATA, "x", "y", graph=open_ended, epsilon=1.0)


def test_too_many_cells_are_refused() -> None:
    schema = dc.Schema(**{f"z{i}": dc.Categorical(list(range(40))) for i in range(4)}, x=BIT, y=BIT)
    data = dc.read({name: [column.levels[0]] * 5 for name, column in schema.items()}, schema)
    with pytest.raises(dc.InputError, match="cells: at most"):
        dc.effect(
            data, "x", "y", adjust=[f"z{i}" for i in range(4)], epsilon=1.0, method="table", anyway=True
        )


def test_strata_are_named() -> None:
    schema = dc.Schema(age=dc.Numeric(0, 100, [40]), z=dc.Categorical(["a", "b"]))
    kept = [True, False, True, True]
    assert strata_left_out(schema, ("age", "z"), kept) == (("below 40", "b"),)


def test_after_a_discovery_it_is_free_or_fresh() -> None:
    data = ASIA.sample(20_000, seed=1)
    tiers = [["asia", "smoke"], ["tub", "lung", "bronc"], ["either"], ["xray", "dysp"]]
    result = dc.discover(data, epsilon=2.0, tiers=tiers, required=[("bronc", "dysp")], confidence=0)
    free = result.effect("bronc", "dysp")
    assert free.privacy == result.privacy
    assert any(isinstance(note, SameRelease) for note in free.notes)
    assert bool(raw_lines(free)) == bool(free.adjust)
    assert raw_lines(result.effect("bronc", "dysp", adjust=["smoke"], anyway=True))
    assert not raw_lines(result.effect("bronc", "dysp", adjust=[], anyway=True))
    fresh = result.effect("bronc", "dysp", data=data, epsilon=0.5)
    assert not raw_lines(fresh)
    assert fresh.privacy.epsilon == 0.5
    assert FreshNoise("fresh-noise") in fresh.notes
    assert free.estimate == pytest.approx(fresh.estimate, abs=0.1)
    with pytest.raises(dc.InputError, match="needs an epsilon of its own"):
        result.effect("bronc", "dysp", data=data)
    with pytest.raises(dc.InputError, match="costs nothing"):
        result.effect("bronc", "dysp", epsilon=1.0)


def test_what_is_said_of_free_intervals_was_measured() -> None:
    runs = json.loads((ROOT / "benchmarks" / "results" / "effects.json").read_text())["runs"]
    for rows, least, said in (("10000", 2_000, HELD_AFTER_SELECTION), ("2000", 400, HELD_WITH_FEW_ROWS)):
        free = [
            tally[:2] for key, tally in runs.items() if key.startswith("after|free") and f"|{rows}|" in key
        ]
        answers, held = np.sum(free, axis=0)
        assert answers > least
        assert round(held / answers, 2) == said


@pytest.mark.parametrize(
    ("tiers", "why"),
    [
        ([["y"], ["x"]], '"y" was declared to be earlier in time'),
        ([], "contradicts itself about the direction of grade - x, x - z"),
    ],
)
def test_a_result_answers_like_its_file_where_the_graph_contradicts_itself(
    tmp_path: Path, tiers: list[list[str]], why: str
) -> None:
    names = ["z", "x", "y", "grade"]
    graph = dc.Graph(names, directed=[("z", "x"), ("x", "y"), ("z", "y"), ("x", "grade")])
    known = {"tiers": tiers, "forbidden": [{"x", "y"}], "confidence": 0}
    first = dc.discover(DATA, epsilon=2.0, **known)  # type: ignore[arg-type]
    torn = frozenset({frozenset({"z", "x"}), frozenset({"x", "grade"})})
    result = replace(first, graph=graph, conflicts=torn, open=frozenset({frozenset({"y", "grade"})}))
    result = replace(result, separating={})
    path = tmp_path / "graph.json"
    path.write_text(
        json.dumps({**json.loads(graph.to_json()), **{k: result.to_dict()[k] for k in KEPT_DOUBTS}})
    )
    by_file: dict[str, Any] = {"data": DATA, "graph": path, "epsilon": 1.0}
    ways: list[dict[str, Any]] = [{}, {"data": DATA, "epsilon": 1.0}]
    with pytest.raises(dc.InputError, match=why) as refused:
        dc.effect(treatment="x", outcome="y", **by_file)
    for way in ways:
        with pytest.raises(dc.InputError) as also:
            result.effect("x", "y", **way)
        assert str(also.value) == str(refused.value)
    told = dc.effect(treatment="x", outcome="y", anyway=True, **by_file)
    kinds: set[type[EffectNote]] = {Contradicted, OpenPairs}
    kinds |= {OutcomeEarlier} if tiers else set()
    assert {type(note) for note in told.notes} >= kinds
    for way in ways:
        found = result.effect("x", "y", anyway=True, **way)
        assert {str(note) for note in told.notes if type(note) in kinds} <= {
            str(note) for note in found.notes
        }
        assert [one.adjust for one in found.possible] == [one.adjust for one in told.possible]
    named = result.effect("x", "y", adjust=["z"], anyway=True)
    assert any(isinstance(note, Contradicted) for note in named.notes)


def test_effects_named_beforehand_have_a_share_and_equal_parts() -> None:
    known: dict[str, Any] = {
        "required": [("x", "y"), ("z", "x"), ("z", "y")],
        "tiers": [["z"], ["x"], ["y", "grade", "weight"]],
        "confidence": 0,
    }
    result = dc.discover(DATA, epsilon=2.0, effect=[("x", "y"), ("x", "grade")], **known)
    assert KeptForEffects(0.3) in result.privacy.public
    assert result.reserve is not None
    with pytest.raises(dc.BudgetError, match="is kept for that of x on y and x on grade"):
        result.effect("x", "weight", adjust=["z"])
    found = result.effect("x", "y", adjust=["z"])
    assert FreshNoise("reserved", 0.3) in found.notes
    assert result.reserve.left == 0.5
    result.effect("x", "grade", adjust=["z"])
    assert result.reserve.left == 0.0
    free = dc.discover(DATA, epsilon=2.0, effect=("x", "y"), reserve=0, **known)
    assert free.reserve is None
    for wrong, words in (
        ("x", "must be a pair"),
        (("x", "y", "z"), "must be a pair"),
        ([("x", "y"), ("x", "y")], "twice"),
        (("x", "x"), "both treatment and outcome"),
        (("x", "nothing"), "no column"),
        (3, "must be a pair"),
    ):
        with pytest.raises(dc.InputError, match=words):
            dc.discover(DATA, epsilon=2.0, effect=wrong, **known)  # type: ignore[arg-type]
    with pytest.raises(dc.InputError, match="without privacy there is none"):
        dc.discover(DATA, epsilon=None, method="pc", effect=("x", "y"))


KEPT_DOUBTS = ("conflicts", "open", "declared")  # of graph.json, beside the graph


def kept(delta: float = 0.0, **options: Any) -> dc.DiscoveryResult:
    """A discovery on ``DATA`` that leaves 0.4 of its budget."""
    return dc.discover(
        DATA,
        epsilon=2.0,
        delta=delta,
        required=[("x", "y"), ("z", "x"), ("z", "y")],
        tiers=[["z"], ["x"], ["y", "grade", "weight"]],
        reserve=0.4,
        **options,
    )


@pytest.mark.parametrize(("method", "delta"), [("measured", 0.0), ("curate", 1e-6), ("moments", 1e-6)])
def test_a_share_that_was_kept_pays_for_effects_within_the_total(
    method: str, delta: float, tmp_path: Path
) -> None:
    address = f"sqlite:///{tmp_path / 'budget.db'}"
    ledger = dc.Ledger.open(address, create=True)
    ledger.create("rows", 2.0, delta)
    result = kept(delta, method=method, max_order=0, ledger=address, dataset="rows")
    whole = Filter(2.0, delta)
    before = Spent().plus(map(event_from_dict, result.privacy.events))
    assert before.epsilon <= 1.2001 or before.rho <= 0.6001 * whole.rho  # the search was held to its part
    assert (result.privacy.epsilon, result.privacy.delta) == (2.0, delta)  # and the promise is for both
    assert KeptForEffects(0.4) in result.privacy.public
    first = result.effect("x", "y", adjust=["z"], part=0.5)
    assert FreshNoise("reserved", 0.4) in first.notes
    again = result.effect("x", "y", adjust=["z"], estimand="risk ratio")  # the same table: free
    assert again.privacy == first.privacy
    second = result.effect("x", "y", adjust=[], anyway=True)  # z is left out, whatever the graph says
    after = Spent().plus(map(event_from_dict, second.privacy.events))
    assert whole.allows(after)
    assert len(second.privacy.events) == len(first.privacy.events) + 1 == len(result.privacy.events) + 2
    # nearly all of the share is spent: 1% more of it would not have been allowed
    spent = [float(after.epsilon - before.epsilon) / 2.0] if before.epsilon.is_finite() else []
    spent += [float(after.rho - before.rho) / whole.rho] if whole.rho else []
    assert min(abs(one - 0.4) for one in spent) < 0.004
    assert (second.privacy.epsilon, second.privacy.delta) == (2.0, delta)
    assert first.interval[0] < 0.3 < first.interval[1]
    with pytest.raises(dc.BudgetError, match="0% is left"):
        result.effect("x", "grade", adjust=["z"])
    assert [entry.epsilon for entry in ledger.log("rows")] == ["2.0", "2.0"]  # the account, and one charge


def test_a_share_that_was_kept_is_not_spent_by_refusals_copies_or_the_report(tmp_path: Path) -> None:
    result = kept(confidence=0)
    for change, words in (
        ({"adjust": ["nothing"]}, "no column"),
        ({"part": 2.0}, "at most 1"),
        ({"epsilon": 1.0}, "no epsilon of its own"),
        ({"level": 0.05}, "confidence"),
        ({"data": DATA, "epsilon": 1.0, "free": True}, "do not go with it"),
    ):
        with pytest.raises(dc.InputError, match=words):
            result.effect("x", "y", **change)
    result.report(tmp_path / "report.html")
    free = result.effect("x", "y", adjust=["z"], free=True)
    assert any(isinstance(note, SameRelease) for note in free.notes)
    assert free.privacy == result.privacy
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301
    with pytest.raises(dc.InputError, match="a copy"):
        copy.effect("x", "y", adjust=["z"])
    assert result.reserve is not None
    assert result.reserve.left == 1.0
    with pytest.raises(dc.InputError, match=r"reserve=0\.3"):
        dc.discover(DATA, epsilon=1.0, confidence=0).effect("x", "y", part=0.5)
    for share in (1.0, -0.1, True, "half"):
        with pytest.raises(dc.InputError, match="reserve"):
            dc.discover(DATA, epsilon=1.0, reserve=share)  # type: ignore[arg-type]
    with pytest.raises(dc.InputError, match="no budget to keep"):
        dc.discover(DATA, epsilon=None, reserve=0.3)


def test_after_moments_a_regression_is_free() -> None:
    known: dict[str, Any] = {
        "required": [("x", "y"), ("z", "x"), ("z", "y")],
        "tiers": [["z"], ["x"], ["y", "grade", "weight"]],
    }
    data = rows(20_000)
    with dc.testing.seeded(1):
        result = dc.discover(
            data, epsilon=2.0, delta=1e-6, method="moments", max_order=0, confidence=0, harmonics=0, **known
        )
        found = result.effect("x", "y", adjust=["z"])
    assert found.method == "regression"
    assert found.privacy == result.privacy  # free
    assert found.interval[0] < 0.3 < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.15
    (raw,) = raw_lines(found)
    assert raw in found.summary(full=True).splitlines()
    with pytest.warns(LeavesBackDoorOpen):  # as it says
        assert not raw_lines(result.effect("x", "y", adjust=[], anyway=True))
    turned = result.effect("x", "y", adjust=["z"], compare=("yes", "no"), event="yes")
    assert turned.estimate == pytest.approx(-found.estimate)
    assert {SameRelease, ColumnsEnter} <= {type(note) for note in found.notes}
    assert 0.2 < result.effect("x", "grade", adjust=["z"]).estimate < 1.0
    for change, words in (
        ({"estimand": "risk ratio"}, "a difference, not a risk ratio"),
        ({"compare": ("no", "maybe")}, "no level 'maybe'"),
    ):
        with pytest.raises(dc.InputError, match=words):
            result.effect("x", "y", adjust=["z"], **change)
    with pytest.raises(dc.InputError, match="compares two"):
        result.effect("z", "y", adjust=[])
    assert (
        0.8 < result.effect("x", "weight", adjust=["z"]).estimate < 1.6
    )  # 8 of some 7 to a standard deviation


def test_after_moments_numbers_count_in_standard_deviations_of_their_scores() -> None:
    """y falls by 0.5 of its standard deviations for one of x, and by 0.6 in the treated: normal laws."""
    rng = np.random.default_rng(5)
    n = 20_000
    z, treated = rng.normal(size=n), rng.random(n) < 0.5
    x = 0.6 * z + 0.8 * rng.normal(size=n)
    y = -0.5 * x + 0.3 * z + np.sqrt(1 - 0.25 - 0.09 + 0.18) * rng.normal(size=n)
    w = rng.normal(size=n) - 0.6 * treated
    columns = {
        "z": z,
        "x": np.exp(x),
        "y": 50 + 5 * y,
        "w": w,
        "drug": np.where(treated, "yes", "no").tolist(),
    }
    bounds = {"z": (-6, 6), "x": (0, 60), "y": (0, 100), "w": (-8, 8)}
    schema = dc.Schema({**{name: dc.Numeric(*ends) for name, ends in bounds.items()}, "drug": BIT})
    with dc.testing.seeded(1):
        result = dc.discover(
            dc.read(columns, schema), epsilon=2.0, delta=1e-6, method="moments", confidence=0, max_order=1
        )
    found = result.effect("x", "y", adjust=["z"])
    assert found.interval[0] < -0.5 < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.15
    assert found.compare == ("as it is", "one standard deviation more")
    assert ColumnsEnter("scored", ("x", "y")) in found.notes
    shifted = result.effect("drug", "w", adjust=[])
    truth = -0.6 / np.sqrt(1 + 0.09)  # the score of a mixture of two normal laws so near is nearly linear
    assert shifted.interval[0] < truth < shifted.interval[1]
    assert ColumnsEnter("scored", ("w",)) in shifted.notes


def test_tables_that_were_not_released_are_told_with_what_they_cost() -> None:
    data = dc.networks.load("sachs").sample(10_000, seed=1)
    with dc.testing.seeded(1):
        result = dc.discover(
            data, epsilon=1.0, delta=1e-6, confidence=0, required=[("PKC", "PKA"), ("PKC", "Raf")]
        )
    with pytest.raises(dc.InputError, match=r"do not hold .* epsilon"):
        result.effect("PKA", "Raf", adjust=["PIP2", "PIP3", "Plcg"], anyway=True)
    causes = {(cause, end) for cause in ("PIP2", "PIP3", "Plcg") for end in ("PKA", "Raf")}
    graph = dc.Graph(result.graph.nodes, directed={*causes, ("PKA", "Raf")})
    with pytest.raises(
        dc.InputError,
        match=r"graph says to hold .*PIP2.* fixed; adjust=\[\], anyway=True holds nothing fixed",
    ):
        replace(result, graph=graph).effect("PKA", "Raf")
    other = dc.discover(data, epsilon=1.0, delta=1e-6, method="svt-pc", max_order=0)
    with pytest.raises(dc.InputError, match="released no tables"):
        other.effect("PKC", "PKA", adjust=[])


def test_an_edge_of_the_report_opens_to_its_effect(tmp_path: Path) -> None:
    tiers = [["asia", "smoke"], ["tub", "lung", "bronc"], ["either"], ["xray", "dysp"]]
    tiers[:1] = [["asia"], ["smoke"]]
    known: dict[str, Any] = {
        "required": [("smoke", "bronc")],
        "forbidden": [{"asia", "smoke"}],
        "confidence": 0,
    }
    result = dc.discover(ASIA.sample(20_000, seed=1), epsilon=2.0, tiers=tiers, **known)
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    found = result.effect("smoke", "bronc")
    first = str(found).splitlines()[0]
    assert first in page
    assert page.count(edge_effects_mean(found.privacy)) == 1  # what all of them rest on, once
    (note,) = (note for note in found.notes if isinstance(note, SameRelease))
    assert note.held == HELD_AFTER_SELECTION
    other = dc.discover(ASIA.sample(500, seed=1), epsilon=None, method="pc")
    other.report(tmp_path / "other.html")
    assert "Risk difference" not in (tmp_path / "other.html").read_text()


@pytest.mark.parametrize("cuts", [[0], [-25, 0, 25], [-10, -5, 0, 5, 10]])
def test_a_free_mean_by_the_middles_of_bins_is_refused_where_they_rule_it(
    cuts: list[int], tmp_path: Path
) -> None:
    """Rows within bins can put it off by more than half of what the interval reaches to a side: no number is said."""
    rng = np.random.default_rng(1)
    drug = rng.integers(0, 2, 3000)
    gain = np.clip(rng.normal(3.0 * drug, 8.0), -50, 50)
    schema = dc.Schema(drug=BIT, gain=dc.Numeric(-50, 50, cuts))
    data = dc.read({"drug": np.array(["no", "yes"])[drug], "gain": gain}, schema)
    with dc.testing.seeded(1):
        result = dc.discover(data, epsilon=2.0, confidence=0, method="measured", required=[("drug", "gain")])
    with pytest.raises(dc.InputError, match="rows within the bins of 'gain' can put a difference") as refused:
        result.effect("drug", "gain", adjust=[])
    cut = cuts[len(cuts) // 2]
    assert f"event='>= {cut}'" in str(refused.value)
    assert "data= and epsilon=" in str(refused.value)
    result.report(tmp_path / "report.html")
    page = html.unescape((tmp_path / "report.html").read_text())
    assert "Mean difference" not in page
    wide = result.effect("drug", "gain", adjust=[], anyway=True)
    off = next(note.off for note in wide.notes if isinstance(note, OutcomeBins))
    assert off <= max(np.diff([-50, *cuts, 50]))
    assert wide.interval[0] < 3.0 < wide.interval[1]
    assert wide.interval[1] - wide.interval[0] > 2 * off
    free = result.effect("drug", "gain", adjust=[], event=f">= {cut}")
    truth = (gain[drug == 1] >= cut).mean() - (gain[drug == 0] >= cut).mean()
    assert free.estimate == pytest.approx(truth, abs=0.01)
    assert free.interval[0] < truth < free.interval[1]
    assert (free.estimand, free.event) == ("risk difference", f">= {cut}")
    with pytest.raises(
        dc.InputError, match=rf"no event '>= 3'.*declared cuts are {', '.join(map(str, cuts))};"
    ):
        result.effect("drug", "gain", adjust=[], event=">= 3")


def test_finely_cut_numbers_have_a_mean_with_an_interval_that_holds_the_bins() -> None:
    rng = np.random.default_rng(2)
    rows = {"drug": rng.choice(["no", "yes"], 200), "pain": rng.uniform(0, 100, 200)}
    data = dc.read(rows, dc.Schema(drug=BIT, pain=dc.Numeric(0, 100, np.arange(2, 100, 2))))
    with dc.testing.seeded(1):
        result = dc.discover(data, epsilon=5.0, confidence=0, method="measured")
    found = result.effect("drug", "pain", adjust=[])
    assert [note.off for note in found.notes if isinstance(note, OutcomeBins)] == [pytest.approx(2.0)]
    with pytest.raises(dc.InputError, match="can put a difference of means off by 2"):
        refuse_biased(dc.Numeric(0, 100), "pain", 2.0, (-3.9, 4.0))


@pytest.mark.parametrize("event", [">=48", ">= 48", "48 or more", "at least 48", "< 48", "below 48"])
def test_rows_that_are_measured_take_any_cut_of_a_number(event: str) -> None:
    found = dc.effect(DATA, "x", "weight", adjust=["z"], epsilon=None, event=event)
    below = "<" in event or "below" in event
    assert found.event == ("< 48" if below else ">= 48")
    values, codes = DATA.values["weight"], DATA.codes
    happens = (values < 48) if below else (values >= 48)
    strata = [codes["z"] == z for z in range(3)]
    arms = [sum(s.mean() * happens[s & (codes["x"] == arm)].mean() for s in strata) for arm in (0, 1)]
    assert found.estimate == pytest.approx(arms[1] - arms[0], abs=1e-9)
    assert not any(isinstance(note, OutcomeBins) for note in found.notes)
    ahead = dc.forecast_effect(DATA, "x", "weight", adjust=["z"], epsilon=1.0, event=event)
    assert ahead.question.two_levels


def test_a_cut_of_a_number_names_those_there_are() -> None:
    for bad in ("48", ">= 200", "yes", "> 25"):
        with pytest.raises(
            dc.InputError, match=r"declared cuts are 25, 50, 75; .*any number between 0 and 100"
        ):
            dc.effect(DATA, "x", "weight", epsilon=None, event=bad)
    for odd in ("> 40", "<=40", "≤ 40"):
        with pytest.raises(dc.InputError, match=f"has no event '{odd}': only >= and < are understood"):
            dc.effect(DATA, "x", "weight", epsilon=None, event=odd)
    with pytest.raises(dc.InputError, match="has no event '>= 48'"):
        dc.effect(MemoryCounts(DATA), "x", "weight", epsilon=None, event=">= 48")
    declared = dc.effect(MemoryCounts(DATA), "x", "weight", epsilon=None, event=">= 50")
    rows = dc.effect(DATA, "x", "weight", epsilon=None, event="50 or more")
    assert declared.estimate == pytest.approx(rows.estimate)
    middle = dc.effect(DATA, "x", "weight", epsilon=None, event="25 to 50")
    assert (middle.estimand, middle.event) == ("risk difference", "25 to 50")


def test_rows_with_a_missing_outcome_are_in_neither_group() -> None:
    rows = {"drug": ["no", "yes"] * 200, "visits": [1.0, 3.0] * 150 + [None, None] * 50}
    schema = dc.Schema(drug=BIT, visits=dc.Numeric(0, 8, [4], other=7, missing_level=True))
    found = dc.effect(dc.read(rows, schema), "drug", "visits", epsilon=None, event=">= 2")
    assert found.means == (0.0, pytest.approx(1.0))
    left_out = MissingLeftOut("visits", ("drug",))
    assert left_out in found.notes
    mean = dc.effect(dc.read(rows, schema), "drug", "visits", epsilon=None)
    assert mean.means == (pytest.approx(1.0), pytest.approx(3.0))
    ahead = dc.forecast_effect(schema, "drug", "visits", rows=400, epsilon=1.0, event=">= 2")
    assert ahead.notes == (left_out,)


def missing_together(outcome: dc.Categorical, *, rows: int = 300) -> dc.Dataset:
    """Half of the rows lack outcome and test result; in the others the drug raises the risk from 0.2 to 0.8."""
    drug = ["no", "yes"] * (5 * rows)
    risk = (["bad"] + ["good"] * 4, ["good"] + ["bad"] * 4)
    known = [risk[i % 2][(i // 2) % 5] for i in range(5 * rows)]
    lack: list[str | None] = [None] * (5 * rows)
    result = ["neg", "pos", "pos"] * 5 * rows
    cells = {"drug": drug, "result": [*result[: 5 * rows], *lack], "health": [*known, *lack]}
    held = dc.Categorical(["neg", "pos", "missing"], other="missing")
    return dc.read(cells, dc.Schema(drug=BIT, result=held, health=outcome))


@pytest.mark.parametrize("epsilon", [None, 20.0])
@pytest.mark.parametrize("adjust", [[], ["result"]])
def test_values_that_are_missing_together_do_not_shrink_an_effect(
    epsilon: float | None, adjust: list[str]
) -> None:
    data = missing_together(dc.Categorical(["good", "bad", "unknown"], other="unknown"))
    with dc.testing.seeded(3):
        found = dc.effect(data, "drug", "health", adjust=adjust, event="bad", epsilon=epsilon)
    assert found.estimate == pytest.approx(0.6, abs=0.02)  # 0.3 where the missing ones count as "good"
    assert found.share == pytest.approx(0.5 if adjust else 1.0, abs=0.01)
    assert found.left_out == ((("missing",),) if adjust else ())
    assert (MissingHeld(("result",)) in found.notes) == bool(adjust)
    asked = dc.effect(data, "drug", "health", event="unknown", epsilon=None)
    assert asked.means == (pytest.approx(0.5), pytest.approx(0.5))
    assert not any(isinstance(note, MissingLeftOut) for note in asked.notes)


def test_an_effect_among_some_people_keeps_all_rows_and_leaves_the_others_out() -> None:
    """The recipe of docs/guides/schema.md: outcome and columns held fixed are emptied of everybody else."""
    rng = np.random.default_rng(5)
    group, age, drug = rng.random(4_000) < 0.4, rng.random(4_000) < 0.3, rng.random(4_000) < 0.5
    bad = rng.random(4_000) < 0.2 + 0.3 * (drug & group) + 0.2 * age
    words = {"drug": np.where(drug, "yes", "no"), "age": np.where(age, "old", "young")}
    cells = {**words, "health": np.where(bad, "bad", "good")}
    schema = dc.Schema(
        drug=BIT,
        age=dc.Categorical(["young", "old", "missing"], other="missing"),
        health=dc.Categorical(["good", "bad", "missing"], other="missing"),
    )
    some = dc.read({name: column[group] for name, column in cells.items()}, schema)
    kept = {name: np.where(group, cells[name], "") for name in ("age", "health")}
    every = dc.read({**cells, **kept}, schema)
    asked = {"adjust": ["age"], "event": "bad", "epsilon": None}
    found, among = dc.effect(every, "drug", "health", **asked), dc.effect(some, "drug", "health", **asked)
    assert found.estimate == pytest.approx(among.estimate, abs=1e-9)
    assert found.interval == pytest.approx(among.interval, abs=1e-3)
    assert found.left_out == (("missing",),)
    with dc.testing.seeded(1):
        noisy = dc.effect(every, "drug", "health", **{**asked, "epsilon": 5.0})
    assert noisy.left_out == (("missing",),)
    assert noisy.estimate == pytest.approx(among.estimate, abs=0.02)


def test_free_effects_of_a_graph_leave_missing_outcomes_out() -> None:
    data = missing_together(dc.Categorical(["good", "bad", "unknown"], other="unknown"))
    with dc.testing.seeded(4):
        result = dc.discover(data, epsilon=60.0, method="measured", max_order=1)
        found = result.effect("drug", "health", adjust=[], event="bad", anyway=True, free=True)
    assert found.estimate == pytest.approx(0.6, abs=0.03)
    assert MissingLeftOut("health", ("drug",)) in found.notes


def test_ordered_levels_are_scored_without_the_one_for_missing_values() -> None:
    grade = dc.Categorical([1, 2, 3, "unknown"], ordered=True, other="unknown")
    rows = {"drug": ["no", "yes"] * 200, "grade": [1, 3] * 150 + [None, None] * 50}
    found = dc.effect(dc.read(rows, dc.Schema(drug=BIT, grade=grade)), "drug", "grade", epsilon=None)
    assert found.means == (pytest.approx(1.0), pytest.approx(3.0))


def test_a_regression_says_what_a_missing_outcome_counts_as() -> None:
    rows = {"drug": ["no", "yes"] * 200, "age": [30.0, 50.0, 70.0, 40.0] * 100, "visits": [1.0, 3.0] * 200}
    schema = dc.Schema(
        drug=BIT, age=dc.Numeric(0, 90), visits=dc.Numeric(0, 8, [4], other=2, missing_level=True)
    )
    asked = {"adjust": ["age"], "epsilon": 5.0, "method": "regression"}
    found = dc.effect(dc.read(rows, schema), "drug", "visits", **asked)
    assert MissingCounts("visits", 2, regression=True, number=True) in found.notes
    coded = dc.Schema(drug=BIT, age=dc.Numeric(0, 90), visits=dc.Numeric(0, 8, [4], other=2, missing=[99]))
    ahead = dc.forecast_effect(coded, "drug", "visits", rows=400, epsilon=5.0)
    assert ahead.notes == (MissingCounts("visits", 2, regression=False, number=True),)


def test_reserved_effects_of_two_cuts_are_two_tables() -> None:
    with dc.testing.seeded(1):
        result = dc.discover(DATA, epsilon=4.0, reserve=0.5, confidence=0, method="measured", max_order=0)
        low = result.effect("x", "weight", adjust=[], event=">= 48", part=0.5)
        high = result.effect("x", "weight", adjust=[], event=">= 41", part=0.5)
    assert abs(low.means[0] - high.means[0]) > 0.2


def test_what_a_missing_outcome_counts_as_is_said() -> None:
    rows = {"drug": ["no", "yes"] * 200, "visits": [1.0, 3.0] * 199 + [None, 2.0]}
    for column, named in (
        (dc.Numeric(0, 8, other=1, missing_level=True), True),
        (dc.Numeric(0, 8, other=1), False),
    ):
        data = dc.read(rows, dc.Schema(drug=BIT, visits=column))
        found = dc.effect(data, "drug", "visits", epsilon=1.0)
        missing = () if named else (("visits", 1),)
        assert NumberRules(missing, (("visits", 0, 8),)) in found.notes
        (missing_as,) = (fact for fact in found.privacy.public if isinstance(fact, MissingAs))
        assert fact_words(missing_as) in found.summary(full=True)
        assert [(column[0], column[3]) for column in missing_as.columns] == [
            ("drug", False),
            ("visits", named),
        ]
        held = dc.effect(data, "drug", "visits", epsilon=1.0, event=">= 2")
        assert (MissingLeftOut("visits", ("drug",)) in held.notes) == named
        assert (NumberRules(missing, ()) in held.notes) != named


def test_columns_that_come_later_by_declared_tiers_are_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(
        '{"nodes": ["x", "y", "z", "grade"], "directed": [], '
        '"declared": {"tiers": [["z"], ["x"], ["grade"], ["y"]]}}'
    )
    with pytest.warns(AdjustsForDescendant, match="grade was declared to come after x in time"):
        found = dc.effect(DATA, "x", "y", adjust=["z", "grade"], graph=path, epsilon=None)
    assert [note.columns for note in found.notes if isinstance(note, AdjustsForLater)] == [("grade",)]
    assert RestsOn("graph-checks") in found.notes
    known = {"tiers": [["z"], ["x"], ["grade", "weight"], ["y"]], "confidence": 0, "method": "measured"}
    result = dc.discover(DATA, epsilon=2.0, max_order=1, **known)
    with pytest.warns(AdjustsForDescendant, match="may change it"):
        result.effect("x", "y", adjust=["grade"], free=True, anyway=True)


def test_an_outcome_that_is_earlier_in_time_is_refused_before_the_charge(tmp_path: Path) -> None:
    path, where = tmp_path / "graph.json", f"sqlite:///{tmp_path / 'budget.db'}"
    path.write_text(
        '{"nodes": ["x", "y", "z"], "directed": [], "undirected": [["x", "z"]], '
        '"declared": {"tiers": [["y"], ["x", "z"]]}}'
    )
    book = dc.Ledger.open(where, create=True)
    book.create("study", epsilon=1.0)
    words = '"y" was declared to be earlier in time than "x", which can\'t change it: ask for the effect of y on x'
    paid = {"ledger": where, "dataset": "study", "epsilon": 0.5}
    for adjust in (None, [], ["z"]):
        with pytest.raises(dc.InputError, match=words):
            dc.effect(DATA, "x", "y", adjust=adjust, graph=path, **paid)
        with pytest.raises(dc.InputError, match=words):
            dc.forecast_effect(DATA, "x", "y", adjust=adjust, graph=path, epsilon=0.5)
    assert book.show("study")[0].left_epsilon == 1.0
    dc.forecast_effect(DATA, "x", "y", adjust=[], graph=path, epsilon=0.5, anyway=True)
    found = dc.effect(DATA, "x", "y", adjust=["z"], graph=path, anyway=True, **paid)
    assert any(isinstance(note, OutcomeEarlier) for note in found.notes)


def test_a_hazard_ratio_is_refused_with_the_way_to_a_risk() -> None:
    with pytest.raises(dc.InputError, match="Survival") as refused:
        dc.effect(DATA, "x", "y", epsilon=1.0, estimand="hazard ratio")
    assert "did you mean" not in str(refused.value)


def test_confounders_are_not_dropped_without_a_word() -> None:
    schema = dc.Schema(drug=BIT, pain=dc.Numeric(0, 10), age=dc.Numeric(0, 100, range(5, 100, 5)), sex=BIT)
    ahead = dc.forecast_effect(schema, "drug", "pain", adjust=["age", "sex"], rows=150, epsilon=0.3)
    assert ahead.says_nothing
    told = str(replace(ahead, remedies=(Remedy("adjust", ("sex",)),)))
    assert "leaving age out" in told


def test_a_number_as_treatment_goes_by_its_bins() -> None:
    usual = dc.effect(DATA, "weight", "y", adjust=[], epsilon=None)
    assert usual.compare == ("below 25", "75 or more")
    found = dc.effect(DATA, "weight", "y", adjust=[], epsilon=None, compare=("25 to 50", "50 to 75"))
    codes = DATA.codes
    risks = [codes["y"][codes["weight"] == code].mean() for code in (1, 2)]
    assert found.estimate == pytest.approx(risks[1] - risks[0])
    assert any(isinstance(note, TreatmentBins) for note in found.notes)


def test_a_regression_names_the_limit_of_rows_where_rows_are_protected() -> None:
    given: dict[str, Any] = {"adjust": ["z"], "epsilon": 1.0, "method": "regression"}
    protected = dc.effect(DATA, "x", "y", neighbours="add-remove", **given)
    assert "at most 2,147,483,647 rows" in protected.privacy.to_json()
    assert "at most 2,147,483,647 rows" not in dc.effect(DATA, "x", "y", **given).privacy.to_json()


def test_a_result_is_answered_with_the_line_to_write() -> None:
    result = dc.discover(ASIA.sample(500, seed=1), epsilon=None, method="pc")
    with pytest.raises(
        dc.InputError, match=r"result\.effect\('smoke', 'lung'\) answers from what was released"
    ):
        dc.effect(result, "smoke", "lung", epsilon=1.0)


def learned(**more: Any) -> Any:
    """A result with the graph x -> y and z -> x, made by hand in the shell of a real one."""
    names = ["x", "y", "z", "grade", "weight"]
    graph = dc.Graph(names, directed=[("x", "y")])
    with dc.testing.seeded(1):
        first = dc.discover(DATA, epsilon=2.0, confidence=0)
    return replace(first, graph=graph, **{"open": frozenset(), "conflicts": frozenset(), **more})


def test_a_graph_that_does_not_know_a_common_cause_does_not_say_what_to_hold_fixed() -> None:
    unsure = "The graph does not say what to hold fixed"
    open_pairs = frozenset({frozenset({"z", "x"}), frozenset({"z", "y"})})
    found = learned(open=open_pairs).effect("x", "y")
    assert OpenPairs(("z",), both=True) in found.notes
    assert unsure in str(found)
    one = learned(open=frozenset({frozenset({"z", "y"})})).effect("x", "y")
    assert OpenPairs(("z",), both=False) in one.notes
    assert unsure not in str(one)
    weak = learned(confidence={frozenset({"x", "y"}): 0.3}).effect("x", "y")
    assert RestsOn("hint-itself") in weak.notes
    assert unsure in str(weak)


def test_a_release_knows_weak_hints_as_the_first_run_did(monkeypatch: pytest.MonkeyPatch) -> None:
    result = learned()
    weak = {frozenset({"x", "y"}): 0.3}

    def searched(release: object, **options: Any) -> Any:
        assert options.get("confidence") is None  # with repeats, as many as in the first run
        return replace(result, confidence=weak)

    monkeypatch.setattr(type(result.release), "discover", searched)
    assert RestsOn("hint-itself") in result.release.effect("x", "y").notes


def test_columns_that_no_table_holds_are_not_asked_about_by_groups() -> None:
    tables = ReleasedTables(DATA.schema, Components([2, 2, 3, 2, 4]), 1.0, {"grade": (0, 0, 1)})
    asked = EffectRequest("x", "grade")
    told = _no_table(tables, asked, ("z", "x", "grade"), ["grade"], together=False)
    assert "z, x, grade" in told
    assert "adjust=[]" in told
    assert told.endswith("(with event='2')")
    assert "(event='2')" in _no_table(tables, asked, ("x", "grade"), ["grade"])


def test_every_remark_on_an_effect_has_a_line_of_its_own() -> None:
    with dc.testing.seeded(1):
        found = dc.effect(rows(600), "x", "weight", adjust=["z"], epsilon=0.4, anyway=True)
    lines = str(found).splitlines()
    assert lines[1].startswith("Causal if z ")
    wide, rules = WideInterval, NumberRules
    told = [note_words(note) for note in found.notes if isinstance(note, wide | rules)]
    assert len(told) == 2
    assert {f"{words[:1].upper()}{words[1:]}." for words in told} <= {*lines}
    assert all(line in found.to_dict()["assumes"] for line in lines[1:-1])


def test_what_was_released_is_told_by_what_its_cells_hold() -> None:
    told = {
        ("y", None): "numbers of rows with and without y = yes in the arms of x",
        ("weight", ">= 50"): "numbers of rows with and without weight >= 50 in the arms of x",
        ("grade", None): "numbers of rows by level of grade in the arms of x",
        ("weight", None): "rows and sums of weight in the arms of x",
    }
    for (outcome, event), words in told.items():
        found = dc.effect(DATA, "x", outcome, event=event, adjust=[], epsilon=1.0)
        assert found.privacy.to_dict()["released"][0].startswith(words)
        again = dc.PrivacyStatement.from_json(found.privacy.to_json())
        assert again.to_dict()["released"] == found.privacy.to_dict()["released"]


def test_a_forecast_is_a_function_of_its_own() -> None:
    for function, name in (
        (dc.effect, "forecast_effect"),
        (dc.ci_test, "forecast_ci_test"),
        (dc.discover, "plan"),
    ):
        with pytest.raises(dc.InputError, match=f"takes no forecast: dc.{name} says for nothing"):
            function(DATA, "x", "y", forecast=True)  # type: ignore[operator]


def test_examples_are_no_missing_values() -> None:
    schema = dc.Schema(
        t=dc.Categorical([-1, 0, 1, "missing"]), y=dc.Categorical(["a", "b", "unknown"]), z=BIT
    )
    data = dc.read({"t": [0, 1], "y": ["a", "b"], "z": ["no", "yes"]}, schema)
    with pytest.raises(dc.InputError, match=r"such as compare=\('0', '1'\)"):
        dc.effect(data, "t", "z", epsilon=None)
    with pytest.raises(dc.InputError, match="such as event='b', or declare"):
        dc.effect(data, "z", "y", epsilon=None)
