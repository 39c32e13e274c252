"""A design that can show nothing is refused before it is paid for, from public numbers alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import Question
from dpcausal.citests.forecast import forecast_of_test, power_curve
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.rank import KendallTest
from dpcausal.cli.app import run
from dpcausal.core.forecast import LEAST_POWER, Power, PowerForecast, Remedy, UnderpoweredError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import for_command_line
from dpcausal.planning.forecast import best_curve, forecast_graph
from dpcausal.planning.measurement_plan import PublicNumbers, plan_measurement
from dpcausal.planning.power import moments_curve
from dpcausal.present.planning import refusal_words
from dpcausal.privacy.ledger import Ledger
from dpcausal.stats.gcm_parts import expected_sum, pairs_power, part_power

LEVELS = dc.Schema({f"c{i}": dc.Categorical(list("abcd")) for i in range(12)})
NUMBERS = dc.Schema({f"c{i}": dc.Numeric(0, 1) for i in range(6)})
REPLACE = Neighbours.REPLACE_ONE


def table(schema: dc.Schema, n: int = 300, seed: int = 1) -> dc.Dataset:
    rng = np.random.default_rng(seed)
    numbers = schema is NUMBERS
    return dc.read(
        {name: rng.random(n) if numbers else rng.choice(list("abcd"), n).tolist() for name in schema}, schema
    )


@pytest.mark.parametrize(("schema", "epsilon"), [(LEVELS, 0.3), (NUMBERS, 0.02)])
def test_it_is_refused_uncharged_with_what_would_help(
    schema: dc.Schema, epsilon: float, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'l.db'}"
    ledger = Ledger.open(url, create=True)
    ledger.create("cohort", 5.0, 1e-5)
    data = table(schema)
    with pytest.raises(UnderpoweredError, match="can show hardly anything, so nothing was charged") as caught:
        dc.discover(data, epsilon=epsilon, ledger=url, dataset="cohort")
    assert "\n" not in str(caught.value)
    found = caught.value.forecast
    assert found.strong is not None
    assert found.strong < LEAST_POWER
    assert found.enough is not None
    assert found.left == 5.0
    proposed = f"epsilon={found.enough:g} (80%)" in str(caught.value)
    assert proposed == (found.enough <= 5.0)  # no more than the ledger has
    assert ledger.show()[0].releases == 0
    result = dc.discover(data, epsilon=epsilon, ledger=url, dataset="cohort", anyway=True)
    assert result.privacy.epsilon <= epsilon
    assert ledger.show()[0].releases == 1


@pytest.mark.parametrize("schema", [LEVELS, NUMBERS])
def test_rows_that_are_protected_refuse_nothing(schema: dc.Schema) -> None:
    """Whether there are many rows or few: under add-remove no branch may depend on it."""
    for n in (1, 300):
        found = dc.discover(table(schema, n), epsilon=0.01, neighbours="add-remove", max_order=0)
        assert found.privacy.epsilon <= 0.01


def test_other_rows_of_the_same_number_are_refused_in_the_same_words() -> None:
    said = set()
    for seed in range(3):
        with pytest.raises(UnderpoweredError) as caught:
            dc.discover(table(LEVELS, seed=seed), epsilon=0.3)
        said.add(str(caught.value))
    assert len(said) == 1


def test_methods_of_papers_are_left_as_they_are() -> None:
    assert dc.discover(table(LEVELS), epsilon=0.01, method="svt-pc", max_order=0).method == "svt-pc"


def public(
    columns: int,
    rows: float,
    epsilon: float,
    delta: float = 0.0,
    *,
    target: int | None = None,
    levels: int = 4,
) -> PublicNumbers:
    return PublicNumbers.of_sizes((levels,) * columns, rows, epsilon, delta, REPLACE, target)


def by_measured(columns: int, rows: float, epsilon: float, delta: float = 0.0, levels: int = 4) -> Power:
    planned = plan_measurement(public(columns, rows, epsilon, delta, levels=levels))
    return Power.of(best_curve(planned, 0.05))


def by_moments(columns: int, rows: float, epsilon: float, delta: float, levels: int) -> Power:
    numbers = PublicNumbers.of_sizes((levels,) * columns, rows, epsilon, delta, REPLACE)
    return Power.of(moments_curve(numbers, 0.05))


def look(numbers: PublicNumbers) -> PowerForecast:
    found = forecast_graph(numbers, 0.05)
    assert found is not None
    return found


@pytest.mark.parametrize("powers", [by_measured, by_moments])
def test_more_of_everything_shows_more(powers: Any) -> None:
    def strong(columns: int = 12, rows: int = 1000, epsilon: float = 0.5, delta: float = 0.0) -> float:
        weak, medium, found, *_ = powers(columns, rows, epsilon, delta, 2)
        assert weak <= medium <= found
        return float(found)

    usual = strong()
    assert usual < strong(rows=3000)
    assert usual < strong(epsilon=1.5)
    assert usual < strong(delta=1e-6)
    assert usual < strong(columns=6)


def test_what_would_help_does() -> None:
    found = look(public(12, 300, 0.3))
    assert found.hopeless
    assert found.remedy("delta") is None
    assert by_measured(12, 300, 0.3, 1e-6).strong < LEAST_POWER
    assert found.enough is not None
    assert by_measured(12, 300, found.enough).strong >= 0.8
    assert by_measured(12, 300, 0.9 * found.enough).strong < 0.8
    larger = look(public(12, 2000, 0.3))
    delta, fewer = larger.remedy("delta"), larger.remedy("columns")
    assert delta is not None
    assert delta.chance == by_measured(12, 2000, 0.3, 1e-6).strong
    assert fewer is not None
    assert fewer.chance == by_measured(fewer.to, 2000, 0.3).strong >= 0.8
    assert by_measured(fewer.to + 1, 2000, 0.3).strong < 0.8


def test_one_target_may_show_what_a_graph_does_not() -> None:
    graph, one = (look(public(20, 1000, 0.31, 1e-6, target=target)) for target in (None, 7))
    assert graph.strong is not None
    assert one.strong is not None
    assert graph.strong < LEAST_POWER < one.strong
    assert graph.remedy("target") == Remedy("target", 1, one.strong)
    assert "one target (" in refusal_words(graph)
    with for_command_line():
        assert "one --target (" in refusal_words(graph)
    schema = dc.Schema({f"c{i}": dc.Categorical(list("abcd")) for i in range(20)})
    data = table(schema, 1000)
    with pytest.raises(UnderpoweredError):
        dc.discover(data, epsilon=0.31, delta=1e-6)
    assert dc.discover(data, epsilon=0.31, delta=1e-6, target="c7").privacy.epsilon <= 0.31


def test_a_fair_design_is_not_looked_at_further() -> None:
    found = look(public(8, 1000, 1.0, levels=2))
    assert not found.hopeless
    assert (found.remedies, found.enough) == ((), None)
    for unknown in (
        PublicNumbers.of_sizes((2, 1, 1), 1000, 1.0, 0.0, REPLACE),
        public(2, 0, 1.0),
        replace(public(2, 9, 1.0), rows=None),
    ):
        assert forecast_graph(unknown, 0.05) is None
    assert forecast_graph(public(12, 300, 0.3), 0.05, "svt-pc") is None


def test_words_name_what_helps_and_only_that() -> None:
    bare = PowerForecast(
        about="graph",
        method="measured",
        rows=1629,
        epsilon=0.3,
        delta=0.0,
        level=0.05,
        power=Power(0.0, 0.0, 0.05, None),
        columns=12,
    )
    assert "help: more rows. " in refusal_words(bare)
    remedies = (Remedy("delta", 1e-6, 0.98), Remedy("columns", 5, 0.33), Remedy("epsilon", 1.5, 0.8))
    full = replace(bare, remedies=remedies)
    with for_command_line():
        told = refusal_words(full)
    ways = ("--delta 1e-6 (98%)", "5 columns or fewer (33%)", "--epsilon 1.5 (80%)", "more rows")
    assert "; ".join(ways) in told  # whole refusals: tests/data/golden/answers.txt
    short = refusal_words(replace(full, left=0.5))  # no more is proposed than the ledger has
    assert "epsilon=1.5" not in short
    assert "has 0.5 left" in short
    assert "--anyway" in told
    assert "--" not in refusal_words(full)


def test_the_command_refuses_and_can_be_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    LEVELS.write("s.toml")
    rng = np.random.default_rng(1)
    text = [",".join(LEVELS), *(",".join(rng.choice(list("abcd"), len(LEVELS))) for _ in range(300))]
    (tmp_path / "t.csv").write_text("\n".join(text) + "\n")
    asked = ["discover", "t.csv", "--schema", "s.toml", "--epsilon", "0.3", "--out", "out"]
    assert run(asked) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "--delta 1e-6" not in said.err  # it would not be enough
    assert "--anyway runs it all the same" in said.err
    assert not (tmp_path / "out" / "privacy.json").exists()
    assert run([*asked, "--anyway"]) == 0
    assert (tmp_path / "out" / "privacy.json").exists()


PAIR = dc.Schema(a=dc.Categorical(list("ab")), b=dc.Categorical(list("ab")), z=dc.Categorical(list("abcd")))
PAIR_OF_THREE = dc.Schema(
    a=dc.Categorical(list("abc")), b=dc.Categorical(list("abc")), z=dc.Categorical(list("abcd"))
)


@pytest.mark.parametrize(
    ("schema", "method"),
    [
        (PAIR, "kendall"),
        (PAIR, "spearman"),
        (PAIR, "gcm"),
        (PAIR_OF_THREE, "gcm"),
        (PAIR_OF_THREE, "measured"),
    ],
)
def test_a_single_test_is_refused_uncharged(schema: dc.Schema, method: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'l.db'}"
    ledger = Ledger.open(url, create=True)
    ledger.create("cohort", 5.0, 1e-5)
    rng = np.random.default_rng(1)
    data = dc.read({name: rng.choice(list("ab"), 60).tolist() for name in schema}, schema)
    asked: dict[str, Any] = {"method": method, "ledger": url, "dataset": "cohort"}
    with pytest.raises(UnderpoweredError, match="can show hardly anything, so nothing was charged") as caught:
        dc.ci_test(data, "a", "b", ["z"], epsilon=0.1, **asked)
    assert "\n" not in str(caught.value)
    assert ("cells" in str(caught.value)) == (method == "measured")
    assert ledger.show()[0].releases == 0
    assert dc.ci_test(data, "a", "b", ["z"], epsilon=0.1, anyway=True, **asked).privacy.epsilon <= 0.1
    assert (
        dc.ci_test(data, "a", "b", ["z"], epsilon=0.1, neighbours="add-remove", method=method).method
        == method
    )
    enough = caught.value.forecast.enough
    if enough is not None:
        assert dc.ci_test(data, "a", "b", ["z"], epsilon=enough, method=method).privacy.epsilon <= enough


@pytest.mark.slow
def test_the_power_of_a_single_test_is_about_that_of_the_test() -> None:
    """kendall on 2 x 2 tables with w = .5: 400 draws; the standard error is .025, and the look is optimistic."""
    rng = np.random.default_rng(3)
    chance = np.array([[0.375, 0.125], [0.125, 0.375]]).ravel()
    pair = PAIR.select(["a", "b"])
    for n, epsilon in ((60, 0.3), (200, 0.1)):
        expected = forecast_of_test(KendallTest(), Question.of(pair, "a", "b"), n, epsilon, 0.0, 0.05)
        assert expected.strong is not None
        hits = 0
        with dc.testing.seeded(5):
            for _ in range(400):
                cells = rng.choice(4, n, p=chance)
                data = dc.read(
                    {
                        "a": np.array(list("ab"))[cells // 2].tolist(),
                        "b": np.array(list("ab"))[cells % 2].tolist(),
                    },
                    pair,
                )
                hits += not dc.ci_test(
                    data, "a", "b", epsilon=epsilon, method="kendall", anyway=True
                ).independent
        assert expected.strong - 0.2 < hits / 400 < expected.strong + 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon", "w"), [(400, 1.0, 0.3), (1500, 0.3, 0.3)])
def test_the_power_of_gcm_is_about_that_of_the_test(n: int, epsilon: float, w: float) -> None:
    """x and y with a correlation of w, given two numbers: 60 draws; the standard error is at most .065."""
    rng = np.random.default_rng(7)
    schema = dc.Schema({name: dc.Numeric(-5, 5) for name in ("x", "y", "a", "b")})
    expected = forecast_of_test(Gcm(), Question.of(schema, "x", "y", ["a", "b"]), n, epsilon, 0.0, 0.05)
    assert expected.power is not None
    weak, medium, strong, *_ = expected.power
    assert weak < medium < strong
    hits = 0
    with dc.testing.seeded(5):
        for _ in range(60):
            x, e, a, b = rng.normal(size=(4, n))
            y = w * x + np.sqrt(1 - w * w) * e
            data = dc.read({"x": x + a, "y": y + a - b, "a": a, "b": b}, schema)
            found = dc.ci_test(data, "x", "y", ["a", "b"], epsilon=epsilon, method="gcm", anyway=True)
            hits += not found.independent
    assert medium - 0.3 < hits / 60 < medium + 0.15


ARMS = dc.Schema(arm=dc.Categorical(list("abcd")), y=dc.Numeric(-6, 6), z=dc.Numeric(-5, 5))


def arms(rng: np.random.Generator, n: int, w: float) -> dc.Dataset:
    """One arm of four differs from the others, which are alike: eta = w, given z."""
    arm, z, e = rng.integers(4, size=n), *rng.normal(size=(2, n))
    shift = ((arm == 0) - 0.25) / np.sqrt(0.25 * 0.75)
    y = w * shift + np.sqrt(1 - w * w) * e + z
    return dc.read({"arm": np.array(list("abcd"))[arm].tolist(), "y": y, "z": z}, ARMS)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon", "w"), [(2000, 0.2, 0.5), (2000, 0.2, 0.3), (600, 1.0, 0.3)])
def test_the_power_of_gcm_with_several_columns_is_about_that_of_the_test(
    n: int, epsilon: float, w: float
) -> None:
    """Four arms without an order and a number: 60 draws; the standard error is at most .065."""
    question = Question.of(ARMS, "arm", "y", ["z"])
    curve = power_curve(Gcm(), question, n, epsilon, 0.0, 0.05)
    assert curve is not None
    found = [curve(size) for size in (0.1, w, 0.9)]
    assert found[0] < found[1] < found[2]
    rng, hits = np.random.default_rng(7), 0
    with dc.testing.seeded(5):
        for _ in range(60):
            asked: dict[str, Any] = {"epsilon": epsilon, "method": "gcm", "anyway": True}
            hits += not dc.ci_test(arms(rng, n, w), "arm", "y", ["z"], **asked).independent
    assert found[1] - 0.3 < hits / 60 < found[1] + 0.15


def test_the_noise_of_several_columns_does_not_grow_with_their_number() -> None:
    """The largest sum has the noise of one. Without dependence it is the level; few pairs find more."""
    design = (2139, 1, 0.2, 0.05)
    none, weak, strong = (pairs_power(*design, w, numeric=True, count=4) for w in (0.0, 0.1, 0.5))
    assert none == pytest.approx(0.05, abs=0.002)
    assert none < weak < strong
    assert strong > 0.85
    many = pairs_power(*design, 0.5, numeric=True, count=64)
    assert strong - 0.1 < many < strong < part_power(*design, 0.5, numeric=True)
    law = expected_sum(2139, 1, 0.2 / 1.25, 0.05, 0.3, numeric=True)
    rng, size = np.random.default_rng(3), 100_000  # drawn: the standard error is at most .0016
    sums = rng.normal(0.0, np.sqrt(law.null_variance), (size, 4))
    noise = rng.laplace(0.0, law.scale, size)
    cut = np.quantile(np.abs(sums).max(axis=1) + noise, 0.95)
    sums[:, 0] = rng.normal(law.mean, np.sqrt(law.variance), size)
    found = np.mean(np.abs(sums).max(axis=1) + noise[::-1] > cut)
    assert pairs_power(*design, 0.3, numeric=True, count=4) == pytest.approx(found, abs=0.015)


def test_what_a_test_that_does_not_reject_would_miss_is_said_and_only_then() -> None:
    """1,000 rows: a noiseless test with one degree of freedom finds w = .0886 in 4 of 5 cases; more rows find less."""
    pair = PAIR.select(["a", "b"])
    free = {"a": ["a", "b"] * 500, "b": ["a", "a", "b", "b"] * 250}
    with dc.testing.seeded(1):
        found = dc.ci_test(dc.read(free, pair), "a", "b", epsilon=1.0, method="kendall")
        noisy = dc.ci_test(dc.read(free, pair), "a", "b", epsilon=0.1, method="kendall")
        other = dc.ci_test(dc.read(free, pair), "a", "b", epsilon=1.0, method="g")
        hidden = dc.ci_test(dc.read(free, pair), "a", "b", epsilon=1.0, neighbours="add-remove")
    assert found.missed is not None
    assert found.missed.power is not None
    smallest = found.missed.power.smallest
    assert smallest is not None
    assert 0.0886 < smallest < 0.1
    line = next(line for line in str(found).splitlines() if line.startswith("Power: "))
    assert f"w = {smallest:g} " in line
    assert line in found.summary(full=True)
    assert noisy.missed is not None
    assert noisy.missed.power is not None
    assert noisy.missed.power.smallest is not None
    assert noisy.missed.power.smallest > smallest
    few = dc.read({"a": ["a", "b"] * 60, "b": ["a", "a", "b", "b"] * 30}, pair)
    with dc.testing.seeded(1):
        poor = dc.ci_test(few, "a", "b", epsilon=0.2, method="kendall")
    # not refused, yet far from sure: the very figure that decides on a refusal is reported
    assert poor.missed == forecast_of_test(KendallTest(), Question.of(pair, "a", "b"), 120, 0.2, 0.0, 0.05)
    assert poor.missed is not None
    assert poor.missed.power is not None
    assert poor.missed.power.smallest is None
    assert LEAST_POWER < poor.missed.power.strong < 0.8
    assert f" {poor.missed.power.strong:.0%} of cases" in str(poor)
    assert other.missed is not None
    told = other.missed.to_dict()
    assert (told["power"], told["without_noise"]["smallest"]) == (None, 0.089)
    same = dc.ci_test(dc.read({**free, "b": free["a"]}, pair), "a", "b", epsilon=1.0)
    assert same.missed is None
    assert "Power" not in str(same)
    assert hidden.missed is None  # the number of rows is protected


@pytest.mark.parametrize("command", ["discover", "test", "effect"])
def test_a_ledger_with_too_little_left_is_told_before_any_advice(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What could be bought with more is no help to who has nothing left; ``test`` and ``effect`` alike."""
    monkeypatch.chdir(tmp_path)
    PAIR.write("s.toml")
    (tmp_path / "t.csv").write_text("a,b,z\n" + "a,b,c\nb,b,d\n" * 30)
    ledger = Ledger.open("sqlite:///l.db", create=True)
    ledger.create("cohort", 1.0, 0.0)
    ledger.charge("cohort", "first", 0.95)
    columns = {
        "discover": ["--out", "out"],
        "test": ["--x", "a", "--y", "b"],
        "effect": ["--treatment", "a", "--outcome", "b"],
    }
    charged = ["--ledger", "sqlite:///l.db", "--dataset", "cohort"]
    asked = [command, "t.csv", "--schema", "s.toml", *columns[command], *charged]
    assert run([*asked, "--epsilon", "0.06"]) == 3
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert all(part in said.err for part in ("epsilon 0.06", "spent 0.95", "left 0.05"))
    assert run([*asked, "--epsilon", "0.02"]) == 2  # there is as much: advice
    assert "nothing" in capsys.readouterr().err
    ledger.charge("cohort", "second", 0.05)
    assert run([*asked, "--epsilon", "0.02"]) == 3
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "left 0;" in said.err
    assert ledger.show()[0].releases == 2


def test_help_says_what_anyway_overrides(capsys: pytest.CaptureFixture[str]) -> None:
    """The very figure that a refusal rests on."""
    for command in ("test", "discover"):
        assert run([command, "--help"]) == 0
        said = " ".join(capsys.readouterr().out.replace("│", " ").split())
        assert f"under {LEAST_POWER:.0%} of cases" in said


def test_the_command_for_a_test_refuses_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    PAIR.write("s.toml")
    (tmp_path / "t.csv").write_text("a,b,z\n" + "a,b,c\nb,b,d\n" * 30)
    asked = ["test", "t.csv", "--schema", "s.toml", "--x", "a", "--y", "b", "--epsilon", "0.1"]
    assert run(asked) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "--epsilon " in said.err
    assert "--anyway runs it all the same" in said.err
    assert run([*asked, "--anyway"]) == 0
