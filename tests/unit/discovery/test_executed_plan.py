"""A plan that was made before is measured exactly, from its file too; one that does not fit is refused uncharged."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.facts import content_id
from dpcausal.planning import measurement_plan
from dpcausal.planning.measurement_plan import MeasurementPlan, PublicNumbers
from dpcausal.planning.plan import CONTENT, ExecutablePlan
from dpcausal.privacy.ledger import Ledger

DELTA = 1e-6
RELATIONS = ["replace-one", "add-remove"]


def chain(rows: int, levels: int, columns: int) -> dc.Dataset:
    """Columns of which each follows the one before, two times in three."""
    rng = np.random.default_rng(3)
    schema = dc.Schema({f"c{j:02}": dc.Categorical(range(levels)) for j in range(columns)})
    codes, before = {}, rng.integers(0, levels, rows)
    for name in schema:
        codes[name] = before.astype(np.uint8)
        before = np.where(rng.random(rows) < 1 / 3, rng.integers(0, levels, rows), before)
    return dc.Dataset(schema, rows, codes)


# what is measured -> rows, levels, columns, target
CASES: dict[str, tuple[int, int, int, str | None]] = {
    "joint": (2_000, 2, 5, None),
    "merged, in rounds": (1_000, 9, 8, None),
    "larger": (40_000, 3, 9, None),
    "tree": (800, 3, 24, None),
    "target": (1_000, 9, 9, "c03"),
}


def planned(case: str, neighbours: str, **more: Any) -> tuple[dc.Dataset, Any]:
    rows, levels, columns, target = CASES[case]
    data = chain(rows, levels, columns)
    asked: dict[str, Any] = {"epsilon": 1.0, "delta": DELTA, "target": target, **more}
    return data, dc.plan(data.schema, rows, neighbours=neighbours, max_order=0, **asked)  # type: ignore[arg-type]


def run(data: dc.Dataset, **asked: Any) -> dc.DiscoveryResult:
    with dc.testing.seeded(5):
        return dc.discover(data, confidence=0, anyway=True, **asked)


def test_the_cases_are_what_they_say() -> None:
    kinds = {}
    for case in CASES:
        made = planned(case, "replace-one")[1].measurement
        kinds[case] = (
            made.joint,
            made.merged,
            made.larger,
            made.tree,
            made.public.target,
            len(made.shares.again),
        )
    assert kinds["joint"][0]
    assert kinds["merged, in rounds"] == (False, True, False, False, None, 2)
    assert kinds["larger"] == (False, False, True, False, None, 0)
    assert kinds["tree"][3]
    assert kinds["target"] == (False, True, False, False, 3, 1)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("case", CASES)
def test_a_saved_plan_is_measured_exactly(case: str, neighbours: str, tmp_path: Path) -> None:
    """The same mechanisms with the same shares as without a file, in the events of the statement; and the same graph.

    Under add-remove a run without a plan goes by the number of rows that it releases. So close to the guess it makes
    the same plan, and the events differ in nothing.
    """
    data, plan = planned(case, neighbours)
    plan.save(tmp_path / "plan.json")
    terms: dict[str, Any] = {"epsilon": 1.0, "delta": DELTA, "neighbours": neighbours, "method": "measured"}
    free = run(data, target=CASES[case][3], **terms)
    for given in (tmp_path / "plan.json", str(tmp_path / "plan.json"), plan):
        found = run(data, plan=given)
        assert found.privacy.events == free.privacy.events
        assert found.privacy.asked == free.privacy.asked
        assert (found.privacy.neighbours, found.method) == (free.privacy.neighbours, "measured")
        assert found.graph == free.graph
        assert found.open == free.open
    assert (
        run(data, plan=plan, target=CASES[case][3], **terms).graph == free.graph
    )  # said twice, and the same


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_the_plan_decides_and_not_the_rows_that_are_there(neighbours: str) -> None:
    """Planned for 40,000 rows, run on 1,000: larger tables and no merged levels, as planned; without a plan neither."""
    rows, levels, columns, _ = CASES["larger"]
    schema = chain(10, levels, columns).schema
    plan = dc.plan(schema, rows, 1.0, DELTA, neighbours=neighbours, max_order=0)  # type: ignore[arg-type]
    few = chain(1_000, levels, columns)
    found = run(few, plan=plan)
    free = run(few, epsilon=1.0, delta=DELTA, neighbours=neighbours, method="measured")
    assert found.release is not None
    assert found.release.values.plan.shares == plan.measurement.shares  # type: ignore[union-attr]
    assert found.release.values.plan.larger  # type: ignore[union-attr]
    assert not free.release.values.plan.larger  # type: ignore[union-attr]
    assert found.privacy.events != free.privacy.events


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("case", CASES)
def test_what_an_executed_plan_released_is_searched_again(case: str, neighbours: str, tmp_path: Path) -> None:
    data, plan = planned(case, neighbours)
    plan.save(tmp_path / "plan.json")
    found = run(data, plan=tmp_path / "plan.json")
    assert found.release is not None
    for again in (
        found.release.discover(),
        dc.load_release(found.release.save(tmp_path / "release.json")).discover(),
    ):
        assert again.graph == found.graph
        assert again.open == found.open
        assert again.release is not None
        assert again.release.values.plan == found.release.values.plan  # type: ignore[union-attr]


Spoil = Callable[[dict[str, Any]], Any]


def share(name: str, value: Any) -> Spoil:
    def spoil(data: dict[str, Any]) -> None:
        data["measurement"]["shares"][name] = value

    return spoil


SPOILT: dict[str, tuple[Spoil, str]] = {
    "a smaller share": (share("pairs", 0.1), "its id"),
    "a larger share": (share("pairs", 5.0), "its id"),
    "a budget": (lambda data: data["measurement"].update(epsilon=50.0), "its id"),
    "a level": (lambda data: data.update(level=0.5), "its id"),
    "no measurement": (lambda data: data.pop("measurement"), "is no plan"),
    "no id": (lambda data: data.pop("id"), "damaged or was changed: no 'id'"),
    "a newer format": (lambda data: data.update(format=99), "newer version"),
}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True)
    made.create("cohort", 50.0, 1e-3)
    return made


def refused(data: dc.Dataset, ledger: Ledger, said: str, **asked: Any) -> None:
    """One line, and the ledger as it was."""
    with pytest.raises(dc.InputError, match=said) as error:
        run(data, ledger=ledger, dataset="cohort", **asked)
    assert "\n" not in str(error.value)
    (account,) = ledger.show("cohort")
    assert (account.releases, account.spent_epsilon, account.spent_delta) == (0, 0.0, 0.0)


@pytest.mark.parametrize("what", SPOILT)
def test_a_changed_or_damaged_file_is_refused_uncharged(what: str, ledger: Ledger, tmp_path: Path) -> None:
    data, plan = planned("target", "replace-one")
    spoil, said = SPOILT[what]
    written = json.loads(plan.to_json())
    spoil(written)
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(written))
    refused(data, ledger, said, plan=file)


def test_a_file_that_is_no_plan_is_refused_uncharged(ledger: Ledger, tmp_path: Path) -> None:
    data, plan = planned("joint", "replace-one")
    file = tmp_path / "plan.json"
    for text, said in (("", "not JSON"), (plan.to_json()[:500], "not JSON"), ("[1]", "is no plan")):
        file.write_text(text)
        refused(data, ledger, said, plan=file)
    refused(data, ledger, "can't read the plan", plan=tmp_path / "none.json")
    refused(data, ledger, "plan must be", plan=3)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (chain(500, 2, 4), "which the schema does not declare"),
        (chain(500, 2, 6), "which it does not have"),
        (chain(500, 3, 5), "otherwise than the schema"),
    ],
)
def test_a_plan_for_another_schema_is_refused_uncharged(other: dc.Dataset, said: str, ledger: Ledger) -> None:
    refused(other, ledger, said, plan=planned("joint", "replace-one")[1])


def test_columns_in_another_order_are_refused_uncharged(ledger: Ledger) -> None:
    data, plan = planned("joint", "replace-one")
    turned = data.schema.select(list(data.schema)[::-1])
    other = dc.Dataset(turned, data.n, {name: data.codes[name] for name in turned})
    refused(other, ledger, "in another order", plan=plan)


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"epsilon": 2.0}, "the plan has epsilon 1.0, not 2.0"),
        ({"delta": 1e-5}, "the plan has delta"),
        ({"level": 0.01}, "the plan has level"),
        ({"neighbours": "add-remove"}, "the plan has neighbours replace-one"),
        ({"neighbours": dc.Neighbours.ADD_REMOVE}, "the plan has neighbours replace-one"),
        ({"method": "svt-pc"}, "the plan has method measured"),
        ({"target": "c01"}, "the plan has target None"),
        ({"reserve": 0.3}, "spends the whole budget"),
        ({"effect": ("c00", "c01")}, "spends the whole budget"),
    ],
)
def test_other_terms_than_the_plans_are_refused_uncharged(
    terms: dict[str, Any], said: str, ledger: Ledger
) -> None:
    data, plan = planned("joint", "replace-one")
    refused(data, ledger, said, plan=plan, **terms)


def test_the_level_of_the_plan_is_that_of_the_search() -> None:
    data, plan = planned("joint", "replace-one", level=0.01)
    assert run(data, plan=plan).level == 0.01


def test_a_plan_charges_what_it_says(ledger: Ledger) -> None:
    data, plan = planned("merged, in rounds", "replace-one")
    run(data, plan=plan, ledger=ledger, dataset="cohort")
    (account,) = ledger.show("cohort")
    assert (account.releases, account.spent_epsilon, account.spent_delta) == (1, 1.0, DELTA)


def test_protected_rows_do_not_decide_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under add-remove no plan is made with the rows that there are, but with those that were released."""
    seen: list[float | None] = []
    real = measurement_plan.plan_measurement

    def watched(public: PublicNumbers, *settings: Any) -> MeasurementPlan:
        seen.append(public.rows)
        return real(public, *settings)

    data, plan = planned("merged, in rounds", "add-remove")
    for name, module in list(sys.modules.items()):
        if name.startswith("dpcausal.") and getattr(module, "plan_measurement", None) is real:
            monkeypatch.setattr(module, "plan_measurement", watched)
    found = run(data, epsilon=1.0, delta=DELTA, method="measured", neighbours="add-remove")
    assert found.release is not None
    assert seen == [None, found.release.values.rows]
    assert found.release.values.rows != data.n
    seen.clear()
    run(data, plan=plan)
    assert seen == []


UNPAID: dict[str, tuple[str, dict[str, Any]]] = {
    "more than there is": ("merged, in rounds", {"pairs": 5.0}),
    "negative": ("merged, in rounds", {"pairs": -0.1}),
    "no number": ("merged, in rounds", {"pairs": float("nan")}),
    "no single columns": ("merged, in rounds", {"singles": 0.0}),
    "no levels": ("merged, in rounds", {"levels": 0.0}),
    "no rows": ("merged, in rounds", {"rows": 0.0}),
    "no second look": ("target", {"again": ()}),
    "a tree about a target": ("target", {"choice": 0.01}),
}


@pytest.mark.parametrize("what", UNPAID)
def test_shares_that_can_not_be_spent_are_no_plan(what: str) -> None:
    """Even where the id was made anew: else a run would break off with part of its budget spent."""
    case, shares = UNPAID[what]
    executable = planned(case, "add-remove")[1].executable
    wrong = replace(executable.measurement, shares=replace(executable.measurement.shares, **shares))
    assert MeasurementPlan.from_dict(executable.measurement.to_dict()) == executable.measurement
    with pytest.raises(ValueError, match="shares"):
        MeasurementPlan.from_dict(wrong.to_dict())


def test_a_target_that_is_no_column_is_no_plan(tmp_path: Path) -> None:
    written = planned("target", "replace-one")[1].executable.to_dict()
    written["measurement"]["target"] = 99
    written["id"] = content_id({name: written[name] for name in CONTENT})
    (tmp_path / "plan.json").write_text(json.dumps(written))
    with pytest.raises(dc.InputError, match="does not fit its own schema"):
        ExecutablePlan.load(tmp_path / "plan.json")


@pytest.mark.parametrize("delta", [0.0, DELTA])
@pytest.mark.parametrize("case", CASES)
def test_one_discovery_makes_its_plan_once(case: str, delta: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of ``plan_measurement`` from any module, counted by their public numbers; rows are public.

    One call has the numbers of the run. Any other asks what another budget or fewer columns would show. A run that
    executes a plan makes none of its own.
    """
    calls: list[PublicNumbers] = []
    real = measurement_plan.plan_measurement

    def counted(public: PublicNumbers, *settings: Any) -> MeasurementPlan:
        calls.append(public)
        return real(public, *settings)

    data, plan = planned(case, "replace-one", delta=delta)
    for name, module in list(sys.modules.items()):
        if name.startswith("dpcausal.") and getattr(module, "plan_measurement", None) is real:
            monkeypatch.setattr(module, "plan_measurement", counted)
    own = plan.measurement.public
    run(data, epsilon=1.0, delta=delta, method="measured", target=CASES[case][3])
    assert calls.count(own) == 1
    assert all(len(public.columns) < len(own.columns) for public in calls if public != own)
    calls.clear()
    run(data, plan=plan)
    assert own not in calls
