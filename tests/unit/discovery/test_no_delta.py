"""A budget without delta that costs much noise is told, from public numbers, before anything is charged."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.core.errors import BudgetError
from dpcausal.core.forecast import SMALL_DELTA
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import DeltaNotNeeded
from dpcausal.discovery.discover import NoDelta
from dpcausal.discovery.search import WithoutDelta
from dpcausal.planning.forecast import NOTABLE_GAIN, noise_without_delta
from dpcausal.planning.measurement_plan import (
    MeasurementPlan,
    PublicNumbers,
    expected_noise,
    plan_measurement,
)
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.ledger import Ledger

MANY = dc.Schema({f"c{i}": dc.Categorical(["a", "b", "c", "d"]) for i in range(12)})
FEW = MANY.select(["c0", "c1", "c2"])
REPLACE = Neighbours.REPLACE_ONE


def rows(schema: dc.Schema, n: int = 3000) -> dict[str, list[str]]:
    rng = np.random.default_rng(1)
    return {name: rng.choice(list("abcd"), n).tolist() for name in schema}


def test_the_ratio_is_that_of_the_driver_s_own_noise() -> None:
    def public(sizes: list[int], epsilon: float = 1.0, delta: float = 0.0) -> PublicNumbers:
        return PublicNumbers.of_sizes(sizes, 3000, epsilon, delta, REPLACE)

    sizes = [4] * 9
    noise = [min(expected_noise(public(sizes, 1.0, delta)).values()) for delta in (0.0, SMALL_DELTA)]
    assert plan_measurement(public([2] * 3)).first_look == min(expected_noise(public([2] * 3)).values())
    assert noise_without_delta(public(sizes)) == pytest.approx(math.sqrt(noise[0] / noise[1]))
    assert noise_without_delta(public(sizes)) > NOTABLE_GAIN
    assert plan_measurement(public([4] * 12, 0.5, SMALL_DELTA)).tree
    assert noise_without_delta(public([4] * 12, 0.5)) > NOTABLE_GAIN
    assert noise_without_delta(public(sizes, 1.0, 1e-9)) == 1.0
    assert noise_without_delta(public([4, 1, 1])) == 1.0
    for epsilon in (1e-9, 1e-6, 1e3, 1e6):
        assert math.isfinite(noise_without_delta(public(sizes, epsilon)))


def test_it_warns_where_tables_are_many_and_only_there() -> None:
    many, few = (dc.read(rows(schema), schema) for schema in (MANY, FEW))
    with pytest.warns(NoDelta, match=r"times larger: add delta=1e-6") as warned:
        found = dc.discover(many, epsilon=1.0, method="measured", max_order=0)
    assert [one.filename for one in warned] == [__file__]  # it points to the call
    assert any(isinstance(note, WithoutDelta) for note in found.notes)
    assert "Without a delta the noise" in found.summary(full=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not any(isinstance(note, WithoutDelta) for note in dc.discover(few, epsilon=1.0).notes)
        dc.discover(many, epsilon=1.0, delta=1e-6, max_order=0)
        dc.discover(many, epsilon=1.0, method="priv-pc", max_order=0)


def test_it_comes_before_the_charge(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'l.db'}"
    ledger = Ledger.open(url, create=True)
    ledger.create("cohort", 0.5, 0.0)
    many = dc.read(rows(MANY), MANY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BudgetError):  # what can't be paid for gets no advice
            dc.discover(many, epsilon=1.0, ledger=url, dataset="cohort")
        with pytest.raises(NoDelta):
            dc.discover(many, epsilon=0.5, ledger=url, dataset="cohort")
    assert ledger.show()[0].releases == 0


def test_the_command_says_it_once_and_not_beside_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    MANY.write("s.toml")
    cells = rows(MANY)
    text = [",".join(cells), *(",".join(row) for row in zip(*cells.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(text) + "\n")
    asked = ["discover", "t.csv", "--schema", "s.toml", "--epsilon", "1", "--out", "out", "--max-order", "0"]
    assert run(asked) == 0
    said = capsys.readouterr().err
    assert said.startswith("dpcausal: without a delta the noise in a table of two columns is ")
    assert said.count("without a delta") == 1
    assert "add --delta 1e-6" in said
    assert run([*asked, "--delta", "1e-6"]) == 0
    assert "without a delta" not in capsys.readouterr().err
    before: list[str] = []
    monkeypatch.setattr(Budget, "_enter_ledger", lambda _: before.append(capsys.readouterr().err))
    assert run(asked) == 0
    assert "without a delta" in before[0]  # told when nothing is charged yet
    (tmp_path / "t.csv").unlink()
    assert run(asked) == 2
    assert capsys.readouterr().err.count("\n") == 1  # an error is one line


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_laplace_noise_charges_no_delta(neighbours: str, tmp_path: Path) -> None:
    """What the ledger books, what the statement promises and what the noise needs are one: by public numbers."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'budget.db'}", create=True)
    ledger.create("d", 10.0, 1e-5, neighbours=neighbours)
    asked = {"epsilon": 0.5, "delta": 1e-6, "ledger": ledger, "dataset": "d", "neighbours": neighbours}
    few = dc.networks.load("cancer").sample(3000, seed=1)
    pair = few.schema.select(
        ["Smoker", "Cancer"]
    )  # components of two columns: the pair with the target, twice
    two = dc.Dataset(pair, few.n, {name: few.codes[name] for name in pair})
    joint, about, gaussian = (
        dc.discover(data, confidence=0, anyway=True, **more, **asked)
        for data, more in ((few, {}), (two, {"target": "Cancer"}), (few, {"target": "Xray"}))
    )
    for found, delta, kind in (
        (joint, 0.0, "laplace"),
        (about, 0.0, "laplace"),
        (gaussian, 1e-6, "gaussian"),
    ):
        assert found.privacy.asked == {"epsilon": 0.5, "delta": delta}
        assert found.privacy.delta == delta
        assert {event["kind"] for event in found.privacy.events} >= {kind}
        unused = [fact.delta for fact in found.privacy.public if isinstance(fact, DeltaNotNeeded)]
        assert unused == ([] if delta else [1e-6])
        assert ("(none was needed)" in str(found)) == (not delta)
    assert len(joint.privacy.events) == 1 < len(about.privacy.events)
    assert (about.privacy.ledger or {})["left"]["delta"] == 1e-5
    assert (gaussian.privacy.ledger or {})["left"]["delta"] == pytest.approx(9e-6)
    kept = dc.discover(few, confidence=0, anyway=True, reserve=0.3, **asked)  # an effect may use it
    assert kept.privacy.asked["delta"] == 1e-6
    assert ledger.show("d")[0].spent_delta == pytest.approx(2e-6)


@pytest.mark.parametrize("target", [None, 1])
@pytest.mark.parametrize("relation", list(Neighbours)[:2])
def test_the_plan_without_delta_is_the_plan_that_needs_none(relation: Neighbours, target: int | None) -> None:
    """The budget is made without the delta, so that what is measured may not depend on it then."""

    def measures(made: MeasurementPlan) -> tuple[object, ...]:
        return made.joint, made.gaussian, made.levels, made.larger, made.shares, made.total

    pure = 0
    for sizes in ([2] * 3, [2] * 5, [4] * 4, [2, 3, 4, 5], [10, 4, 4, 2, 2, 2], [3] * 9):
        for epsilon in (0.05, 0.5, 3.0):
            for delta in (1e-9, 1e-6, 1e-2):
                made, without = (
                    plan_measurement(PublicNumbers.of_sizes(sizes, 2000, epsilon, one, relation, target))
                    for one in (delta, 0.0)
                )
                if not made.gaussian:
                    pure += 1
                    assert measures(made) == measures(without)
    assert 0 < pure < 54
