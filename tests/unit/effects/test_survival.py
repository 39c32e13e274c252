"""Follow-up as an outcome: states, life tables, and that all kinds of data give the same answer."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from scipy.stats import CensoredData, ecdf

import dpcausal as dc
from dpcausal.core.statement import MissingAs
from dpcausal.effects.estimate import estimate_follow_up
from dpcausal.effects.question import EffectQuestion
from dpcausal.effects.result import FollowedUp, MissingLeftOut
from dpcausal.effects.survival import FollowUp, follow_up, state_codes, time_bins, with_states
from dpcausal.stats.life_table import cumulative_risks, exact_arms, scored
from dpcausal.stats.strata import StrataTable

BIT = dc.Categorical([0, 1])
SCHEMA = dc.Schema(x=BIT, z=BIT, t=dc.Numeric(0, 10), status=dc.Categorical([0, 1, 2]))
ASKED = dc.Survival("t", "status", 5.0, [1, 2, 3, 4])


def rows(n: int = 3_000, seed: int = 0) -> dict[str, Any]:
    """Two arms, a confounder, exponential times, half of the rows censored, a few competing events."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    x = (rng.random(n) < 0.3 + 0.4 * z).astype(int)
    event, other = rng.exponential(8 / np.exp(0.5 * z - 0.6 * x)), rng.exponential(25, n)
    end = rng.uniform(0, 9, n)
    t = np.minimum(np.minimum(event, other), end)
    return {"x": x, "z": z, "t": t, "status": np.where(t == event, 1, np.where(t == other, 2, 0))}


def test_a_life_table_by_hand() -> None:
    # 200 rows: 20 events and 12 censored, then 15 and 10, then 8 and 30; the rest is followed beyond
    cells = np.zeros((1, 2, 7))
    cells[0, 0] = [20, 12, 15, 10, 8, 30, 105]
    cells[0, 1, -1] = 50
    alive = (1 - 20 / (200 - 6)) * (1 - 15 / (168 - 5)) * (1 - 8 / (143 - 15))
    found = cumulative_risks(cells, 2).values[0]
    assert found[0, -1] == pytest.approx(1 - alive, abs=1e-12)
    assert found[1].tolist() == [0.0, 0.0, 0.0]


def test_competing_events_by_hand() -> None:
    cells = np.array([[[10.0, 5.0, 4.0, 6.0, 9.0, 0.0, 66.0]] * 2])
    first, second = 100 - 2, 81  # rows at risk
    later = (1 - 15 / first) * 6 / second
    assert cumulative_risks(cells, 3).values[0, 0].tolist() == pytest.approx([10 / first, 10 / first + later])


def test_without_censoring_the_risk_is_the_share() -> None:
    cells = np.array([[[10.0, 0.0, 30.0, 0.0, 60.0], [1.0, 0.0, 1.0, 0.0, 2.0]]])
    assert cumulative_risks(cells, 2).values[0, :, -1].tolist() == pytest.approx([0.4, 0.5])


def test_with_many_cuts_it_is_kaplan_and_meier() -> None:
    found = rows(4_000)
    ends = [0.05 * i for i in range(1, 100)]
    asked = dc.Survival("t", "status", 5.0, ends)
    schema = dc.Schema({**SCHEMA, "status": BIT})
    found["status"] = np.where(found["status"] == 1, 1, 0)
    answer = dc.effect(dc.read(found, schema), "x", asked, adjust=[], epsilon=None)
    for arm in (0, 1):
        ours = found["x"] == arm
        t, seen = found["t"][ours], found["status"][ours] == 1
        curve = ecdf(CensoredData(uncensored=t[seen], right=t[~seen])).sf
        assert 1 - answer.means[arm] == pytest.approx(float(curve.evaluate(5.0)), abs=2e-3)


@pytest.mark.parametrize("kinds", [2, 3])
def test_the_derivative_is_that_of_the_risks(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    cells = rng.uniform(20, 60, (3, 2, 4 * kinds + 1))
    found = cumulative_risks(cells, kinds)
    for cell in range(cells.shape[-1]):
        more, less = cells.copy(), cells.copy()
        more[..., cell] += 1e-5
        less[..., cell] -= 1e-5
        slope = (cumulative_risks(more, kinds).values - cumulative_risks(less, kinds).values) / 2e-5
        assert found.gradient[..., cell] == pytest.approx(slope, abs=1e-8)


def test_the_variance_without_noise_is_greenwoods() -> None:
    cells = np.array([[[20.0, 12, 15, 10, 8, 30, 105]] * 2])
    arms = exact_arms(StrataTable(cells, (), 0.0), 2)
    risk = arms.sums[0, 0] / arms.counts[0, 0]
    at_risk, died = [194.0, 163.0, 128.0], [20.0, 15.0, 8.0]
    greenwood = (1 - risk) ** 2 * sum(d / (r * (r - d)) for d, r in zip(died, at_risk, strict=True))
    # a censored row counts half, so that the multinomial variance is a little smaller
    assert arms.factor[0, 0] * risk * (1 - risk) / 200 == pytest.approx(greenwood, rel=0.03)


def test_what_states_count_sums_to_the_risks_of_every_stratum() -> None:
    """Without noise, whatever the strata; with much noise a stratum's states count what they do in its arm."""
    rng = np.random.default_rng(4)
    cells = rng.integers(20, 90, (6, 2, 10)).astype(float)
    for until in (1, 2, 3):
        expected = cumulative_risks(cells, 3).values[..., until - 1]
        found = scored(StrataTable(cells, (2, 3), 0.0), 3, until)
        assert np.sum(cells * found.scores, axis=2) / cells.sum(axis=2) == pytest.approx(expected)
    alone = np.ptp(scored(StrataTable(cells, (2, 3), 0.0), 3).scores, axis=0)
    drawn = np.ptp(scored(StrataTable(cells, (2, 3), 3_000.0), 3).scores, axis=0)
    assert drawn.max() < alone.max() / 4


@pytest.mark.parametrize("estimand", ["risk difference", "risk ratio", "odds ratio"])
def test_with_many_rows_and_little_noise_it_is_the_textbook(estimand: str) -> None:
    """Life tables in every stratum, standardised by hand: to a tenth of a standard error."""
    rng = np.random.default_rng(5)
    cells = 1e6 * rng.uniform(0.5, 1.5, (6, 2, 7)) * np.array([3, 1, 2, 2, 3, 1, 20])
    risk = cumulative_risks(cells, 2).values[..., -1]
    first, second = cells.sum(axis=(1, 2)) @ risk / cells.sum()
    odds = [one / (1 - one) for one in (first, second)]
    expected = {
        "risk difference": second - first,
        "risk ratio": second / first,
        "odds ratio": odds[1] / odds[0],
    }
    ends = (1.0, 2.0, 3.0)
    asked = EffectQuestion(
        "x",
        "status",
        ("z",),
        (0, 1),
        ("0", "1"),
        2,
        (0.0,) * 7,
        False,
        0.0,
        1.0,
        "1",
        estimand,
        (),
        FollowUp("t", "status", ends, "1", "0", (), missing=False),
    )
    found = estimate_follow_up(StrataTable(cells, (2, 3), 1e-6), asked, 0.95)
    assert found.estimate == pytest.approx(expected[estimand], rel=2e-3)
    assert found.interval[0] < expected[estimand] < found.interval[1]
    assert found.curves is not None
    assert found.curves.risks[1][-1] == pytest.approx(second, rel=1e-3)


# ---- states


def states(t: list[float], status: list[int], schema: dc.Schema = SCHEMA) -> list[str]:
    """The states of rows, by name."""
    data = dc.read({"x": [0] * len(t), "z": [0] * len(t), "t": t, "status": status}, schema)
    found = with_states(data, follow_up(schema, ASKED))
    assert isinstance(found, dc.Dataset)
    column = found.schema["status"]
    assert isinstance(column, dc.Categorical)
    return [column.printed[code] for code in found.codes["status"]]


def test_an_event_at_a_cut_belongs_to_the_interval_that_ends_there() -> None:
    assert states([2.0, 2.0, 2.0, 5.0, 5.0, 5.1], [1, 2, 0, 1, 0, 1]) == [
        "event, 1 to 2",
        "competing event, 1 to 2",
        "censored, 2 to 3",
        "event, 4 to 5",
        "followed beyond 5",
        "followed beyond 5",
    ]


@pytest.mark.parametrize("asked", [ASKED, dc.Survival("t", "status", 5.0)], ids=["cuts", "no cuts"])
@pytest.mark.filterwarnings("error")
def test_the_state_of_a_row_follows_from_this_row(asked: dc.Survival) -> None:
    """With others or without, also where no row has the event and where nothing is known of some: none is left out."""
    unknown = {
        "t": dc.Numeric(0, 10, missing_level=True),
        "status": dc.Categorical([0, 1, 2, "missing"], other="missing"),
    }
    schema = dc.Schema({**SCHEMA, **unknown})
    given: dict[str, list[Any]] = {name: cells.tolist() for name, cells in rows(200).items()}
    given["t"][::7], given["status"][::5] = [None] * 29, [None] * 40
    found = follow_up(schema, asked)

    def those(places: list[int]) -> tuple[int, list[int], dc.Schema]:
        data = dc.read({name: [cells[i] for i in places] for name, cells in given.items()}, schema)
        made = with_states(data, found)
        assert isinstance(made, dc.Dataset)
        return made.n, made.codes["status"].tolist(), made.schema

    n, states, columns = those(list(range(200)))
    assert n == 200
    none = [i for i in range(200) if given["status"][i] != 1]
    for places in (none, list(range(0, 200, 7)), [3], list(range(150))):
        assert those(places) == (len(places), [states[i] for i in places], columns)


def test_missing_and_undeclared_values_go_where_the_schema_sends_them() -> None:
    schema = dc.Schema(
        {**SCHEMA, "t": dc.Numeric(0, 10, other=3.5), "status": dc.Categorical([0, 1, 2], other=2)}
    )
    assert states([math.nan, 1.5, 99.0, -4.0], [1, 7, 1, 1], schema) == [
        "event, 3 to 4",
        "competing event, 1 to 2",
        "followed beyond 5",
        "event, 0 to 1",
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"t": dc.Numeric(0, 10, missing_level=True)},
        {"status": dc.Categorical([0, 1, 2, "missing"], other="missing")},
    ],
)
def test_rows_of_which_nothing_is_known_are_in_neither_arm(changed: dict[str, Any]) -> None:
    schema = dc.Schema({**SCHEMA, **changed})
    found: dict[str, list[Any]] = {name: list(column) for name, column in rows(2_000).items()}
    known = dc.effect(dc.read(found, schema), "x", ASKED, adjust=["z"], epsilon=None)
    more = {name: column + column[:200] for name, column in found.items()}
    name = next(iter(changed))
    more[name][-200:] = [None] * 200
    answer = dc.effect(dc.read(more, schema), "x", ASKED, adjust=[], epsilon=None)
    alone = dc.effect(dc.read(found, schema), "x", ASKED, adjust=[], epsilon=None)
    assert answer.estimate == pytest.approx(alone.estimate, abs=1e-12)
    assert any(isinstance(note, MissingLeftOut) for note in answer.notes)
    assert known.adjust == ("z",)


def test_a_horizon_at_the_upper_bound_counts_clamped_times_as_followed() -> None:
    schema = dc.Schema({**SCHEMA, "t": dc.Numeric(0, 5)})
    assert states([4.9, 5.0, 8.0, 5.0], [1, 1, 1, 0], schema) == ["event, 4 to 5", *["followed beyond 5"] * 3]


def test_every_pair_of_a_bin_and_a_level_has_one_state() -> None:
    schema = SCHEMA.with_bins("t", time_bins(SCHEMA["t"], ASKED.ends))  # type: ignore[arg-type]
    found = follow_up(schema, ASKED)
    codes = state_codes(schema, found)
    assert codes.shape == (11, 3)
    assert set(codes.ravel().tolist()) == set(range(found.states))


def test_levels_that_read_as_censored_are_taken_for_that() -> None:
    found = follow_up(
        dc.Schema(t=dc.Numeric(0, 9), s=dc.Categorical(["dead", "alive"])), dc.Survival("t", "s", 5)
    )
    assert (found.event_level, found.censored, found.competing) == ("dead", "alive", ())
    schema = dc.Schema(t=dc.Numeric(0, 9), s=dc.Categorical(["1", "2", "3"]))
    found = follow_up(schema, dc.Survival("t", "s", 5, event_level="3"))
    assert (found.event_level, found.censored, found.competing) == ("3", "1", ("2",))


# ---- answers


def sources(tmp_path: Path, found: dict[str, Any]) -> dict[str, Any]:
    """The same rows as a dict, a Parquet file and a table on an engine."""
    import ibis

    file = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table(found), file)
    backend = ibis.duckdb.connect()
    backend.con.execute(f"CREATE TABLE patients AS SELECT * FROM read_parquet('{file}')")
    return {
        "dict": dc.read(found, SCHEMA),
        "file": dc.read(file, SCHEMA),
        "stream": dc.connect(file, SCHEMA),
        "engine": dc.connect(backend.table("patients"), SCHEMA),
    }


def test_files_frames_and_engines_give_the_same_answer(tmp_path: Path) -> None:
    table = rows()
    table["t"] = np.round(table["t"], 1)  # with ties at cuts
    found = {
        name: dc.effect(data, "x", ASKED, adjust=["z"], epsilon=None)
        for name, data in sources(tmp_path, table).items()
    }
    first = found["dict"]
    assert first.curves is not None
    assert first.means[1] - first.means[0] == pytest.approx(first.estimate)
    for name, answer in found.items():
        assert (answer.estimate, answer.interval, answer.curves) == (
            first.estimate,
            first.interval,
            first.curves,
        ), name


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("status", [0, 1, 2])
def test_rows_that_all_ended_alike_are_answered_like_any(tmp_path: Path, status: int) -> None:
    """From all kinds of data: an error or a warning would tell that nobody had the event, or that all had it."""
    table = rows(600)
    table["status"] = np.full(600, status)
    for name, data in sources(tmp_path, table).items():
        answer = dc.effect(data, "x", ASKED, adjust=["z"], epsilon=1.0, anyway=True)
        assert answer.privacy.epsilon == 1.0, name


def test_an_answer_is_charged_once_and_says_what_it_is() -> None:
    answer = dc.effect(dc.read(rows(), SCHEMA), "x", ASKED, adjust=["z"], epsilon=1.0)
    assert (answer.estimand, answer.population, answer.outcome, answer.event) == (
        "risk difference",
        "all",
        "status",
        "1",
    )
    assert answer.privacy.epsilon == 1.0
    assert len(answer.privacy.events) == 1
    assert answer.curves is not None
    assert answer.curves.times == (1.0, 2.0, 3.0, 4.0, 5.0)
    for arm in (0, 1):
        for low, risk, high in zip(
            answer.curves.low[arm], answer.curves.risks[arm], answer.curves.high[arm], strict=True
        ):
            assert 0 <= low <= risk <= high <= 1
    notes = [note for note in answer.notes if isinstance(note, FollowedUp)]
    assert [(note.happens, note.censored, note.competing) for note in notes] == [("1", "0", ("2",))]


def test_as_many_numbers_are_released_as_there_are_states() -> None:
    from dpcausal.effects.asked import ask
    from dpcausal.effects.plan import allowed_by, plan_effect
    from dpcausal.effects.request import EffectRequest

    found = follow_up(SCHEMA, ASKED)
    data = with_states(dc.read(rows(500), SCHEMA), found)
    request = EffectRequest("x", "status", survival=ASKED, adjust=["z"])
    asked = ask(data.schema, request, has_rows=True, values=False, found=found)
    (one,) = plan_effect(data, asked, allowed_by(1.0, 0.0), 500).releases
    assert one.mechanism.size == 2 * 2 * 16  # type: ignore[union-attr]
    assert one.mechanism.sensitivity == 2.0  # type: ignore[union-attr]


@pytest.mark.parametrize("estimand", ["risk ratio", "odds ratio"])
def test_ratios_are_of_the_same_risks(estimand: str) -> None:
    answer = dc.effect(dc.read(rows(), SCHEMA), "x", ASKED, adjust=["z"], epsilon=None, estimand=estimand)
    first, second = answer.means
    odds = estimand == "odds ratio"
    expected = second / (1 - second) / (first / (1 - first)) if odds else second / first
    assert answer.estimate == pytest.approx(expected)
    assert answer.interval[0] < answer.estimate < answer.interval[1]


def test_nothing_is_said_where_noise_hides_both_arms() -> None:
    data = dc.read(rows(60), SCHEMA)
    answer = dc.effect(data, "x", ASKED, adjust=["z"], epsilon=0.01, anyway=True)
    assert math.isnan(answer.estimate)
    assert answer.interval == (-1.0, 1.0)
    assert answer.curves is None
    with pytest.raises(dc.UnderpoweredError):
        dc.effect(data, "x", ASKED, adjust=["z"], epsilon=0.01)


def test_a_forecast_is_of_the_same_table() -> None:
    few = dc.forecast_effect(SCHEMA, "x", ASKED, adjust=["z"], rows=3_000, epsilon=0.5)
    many = dc.forecast_effect(SCHEMA, "x", ASKED, adjust=["z"], rows=30_000, epsilon=0.5)
    assert not few.says_nothing
    assert many.width < few.width < 1.0
    assert few.method == "table"


@pytest.mark.parametrize(
    ("asked", "options", "says"),
    [
        (dc.Survival("t", "status", 50.0), {}, "beyond the upper bound"),
        (dc.Survival("z", "status", 0.5), {}, "must be a number"),
        (dc.Survival("t", "nothing", 5.0), {}, "nothing"),
        (dc.Survival("t", "status", 5.0, event_level="9"), {}, "no level"),
        (dc.Survival("t", "status", 5.0, event_level=0, censored=0), {}, "both"),
        (dc.Survival("t", "status", 5.0), {"adjust": ["t"]}, "time of the outcome"),
        (dc.Survival("t", "status", 5.0), {"event": "1"}, "event_level"),
        (dc.Survival("t", "status", 5.0), {"method": "regression"}, "no regression"),
        (dc.Survival("t", "status", 5.0), {"population": "exposed"}, "among all"),
    ],
)
def test_what_does_not_go_together_is_refused(asked: dc.Survival, options: dict[str, Any], says: str) -> None:
    with pytest.raises(dc.DpcausalError, match=says):
        dc.effect(dc.read(rows(200), SCHEMA), "x", asked, **{"adjust": [], "epsilon": 1.0, **options})


@pytest.mark.parametrize(
    "given",
    [{"horizon": -1}, {"horizon": 5, "cuts": [2, 1]}, {"horizon": 5, "cuts": [5]}, {"horizon": math.inf}],
)
def test_horizon_and_cuts_increase(given: dict[str, Any]) -> None:
    with pytest.raises(dc.InputError):
        dc.Survival("t", "status", **given)


def test_counts_of_bins_that_reach_over_a_cut_are_refused() -> None:
    from dpcausal.counts.memory import MemoryCounts

    counts = MemoryCounts(dc.read(rows(200), SCHEMA))
    with pytest.raises(dc.InputError, match="declare the cuts"):
        dc.effect(counts, "x", ASKED, adjust=[], epsilon=None)
    cut = SCHEMA.with_bins("t", [1, 2, 3, 4, 5])
    counts, data = MemoryCounts(dc.read(rows(), cut)), dc.read(rows(), SCHEMA)
    one, other = (dc.effect(source, "x", ASKED, adjust=[], epsilon=None) for source in (counts, data))
    assert one.estimate == pytest.approx(other.estimate, abs=1e-12)  # no time lies on a cut


def test_the_page_draws_both_curves_with_bands() -> None:
    from dpcausal.present.curves import curves_svg, effect_page

    answer = dc.effect(dc.read(rows(), SCHEMA), "x", ASKED, adjust=["z"], epsilon=1.0)
    drawn = curves_svg(answer)
    assert drawn.count("<polygon") == drawn.count("<polyline") == 2
    assert drawn in effect_page(answer)
    assert drawn in answer._repr_html_()
    plain = dc.effect(dc.read(rows(), SCHEMA), "x", "z", adjust=[], epsilon=1.0)
    assert curves_svg(plain) == ""


def test_what_a_missing_value_becomes_is_said_of_declared_columns() -> None:
    """Of time and status, and not of the states that are made of them."""
    from dpcausal.counts.memory import MemoryCounts

    for source in (
        dc.read(rows(), SCHEMA),
        MemoryCounts(dc.read(rows(), SCHEMA.with_bins("t", [1, 2, 3, 4, 5]))),
    ):
        answer = dc.effect(source, "x", ASKED, adjust=["z"], epsilon=1.0)
        said = [fact for fact in answer.privacy.public if isinstance(fact, MissingAs)]
        assert [{name for name, *_ in fact.columns} for fact in said] == [{"x", "z", ASKED.time, ASKED.event}]


@pytest.mark.parametrize("epsilon", [1.0, None])
def test_nothing_is_said_of_a_horizon_that_nobody_reaches(epsilon: float | None) -> None:
    """All are censored by time 2: what happens until 4 is not in the rows."""
    rng = np.random.default_rng(3)
    x, end = rng.integers(0, 2, 3_000), rng.uniform(0, 2, 3_000)
    event = rng.exponential(5, 3_000) * np.where(x, 1.6, 1)
    table = {"x": x, "z": x, "t": np.minimum(event, end), "status": (event <= end).astype(int)}
    asked = dc.Survival("t", "status", 4.0, [0.5, 1, 2, 3])
    answer = dc.effect(dc.read(table, SCHEMA), "x", asked, adjust=[], epsilon=epsilon)
    assert math.isnan(answer.estimate)
    assert answer.interval == (-1.0, 1.0)
    assert answer.curves is None


def test_ticks_are_round_and_plain() -> None:
    """Days of five years: no 1.83e+03."""
    from dpcausal.present.curves import _axes

    drawn = _axes(1826.0, 0.57, lambda time, risk: f"{time:.1f},{risk:.1f}")
    shown = re.findall(r">([0-9][^<]*)</text>", drawn)
    assert shown == ["0", "500", "1000", "1500", "0%", "10%", "20%", "30%", "40%", "50%"]


def test_the_command_asks_the_same(tmp_path: Path) -> None:
    import json

    from typer.testing import CliRunner

    from dpcausal.cli.app import app

    found = rows(2_000)
    text = "\n".join(
        [",".join(found), *(",".join(map(str, row)) for row in zip(*found.values(), strict=True))]
    )
    (tmp_path / "rows.csv").write_text(text + "\n")
    SCHEMA.write(tmp_path / "schema.toml")
    base = [
        "effect",
        str(tmp_path / "rows.csv"),
        "--schema",
        str(tmp_path / "schema.toml"),
        "--treatment",
        "x",
    ]
    more = [
        "--time",
        "t",
        "--event",
        "status",
        "--horizon",
        "5",
        "--cuts",
        "1,2",
        "--cuts",
        "3,4",
        "--adjust",
        "z",
    ]
    answer = CliRunner().invoke(app, [*base, *more, "--no-privacy", "--json"])
    assert answer.exit_code == 0
    told = json.loads(answer.stdout)
    ours = dc.effect(dc.read(found, SCHEMA), "x", ASKED, adjust=["z"], epsilon=None)
    assert told["estimate"] == pytest.approx(ours.estimate)
    assert told["curves"]["times"] == [1, 2, 3, 4, 5]
    out = CliRunner().invoke(app, [*base, *more, "--epsilon", "1", "--out", str(tmp_path / "out")])
    assert out.exit_code == 0
    assert "<polygon" in (tmp_path / "out" / "report.html").read_text()
    for wrong in (
        ["--horizon", "5"],
        ["--time", "t"],
        ["--time", "t", "--event", "status", "--outcome", "z"],
        [],
    ):
        assert isinstance(CliRunner().invoke(app, [*base, *wrong, "--epsilon", "1"]).exception, dc.InputError)
