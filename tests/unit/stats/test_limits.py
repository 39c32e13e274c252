"""Every limit that a proof states is enforced, before anything is charged; tables have none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import Question, TestSettings, ValueTest
from dpcausal.citests.registry import TESTS, make_test
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.schema import Schema
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.scores import Scorer
from dpcausal.discovery.search import Query
from dpcausal.gwas.screen import Screen
from dpcausal.gwas.statistics import MAX_ALLELES, Statistic, allele_distance
from dpcausal.privacy.events import Event
from dpcausal.privacy.mechanisms.base import Mechanism
from dpcausal.stats import limits
from dpcausal.stats.chi2 import chi2_sensitivity
from dpcausal.stats.crt import crt_statistic
from dpcausal.stats.gcm_bins import binned_moments
from dpcausal.stats.unit_circle import fixed_labels_distance, unit_circle_sensitivity
from dpcausal.stats.value_ranks import Ranked, rank_statistics

TOO_MANY = limits.MAX_ROWS + 1


def endless(value: float, kind: type) -> np.ndarray:
    """An array of 2^31 entries that takes no memory: all of them are one number."""
    return np.broadcast_to(np.asarray(value, kind), (TOO_MANY,))


ROW_STATISTICS: dict[str, Callable[[], object]] = {
    "ranks": lambda: rank_statistics(
        Ranked(endless(0, np.int64), 1), Ranked(endless(0, np.int64), 1), endless(0, np.int64), 1
    ),
    "bins": lambda: binned_moments(endless(0.5, float), endless(0.5, float), endless(0, np.int64)),
    "crt": lambda: crt_statistic(endless(0.5, float)[:, None], endless(0.5, float)[:, None]),
}


@pytest.mark.parametrize("name", ROW_STATISTICS)
def test_statistics_of_rows_refuse_more_than_they_are_proved_for(name: str) -> None:
    with pytest.raises(InputError, match="at most 2,147,483,647 rows, not 2,147,483,648"):
        ROW_STATISTICS[name]()


def test_statistics_of_groups_refuse_more_than_they_are_proved_for() -> None:
    half = limits.MAX_GROUP_ROWS // 2
    assert unit_circle_sensitivity(half, half, 3.84) > 0
    for call in (
        lambda: unit_circle_sensitivity(half, half + 1, 3.84),
        lambda: chi2_sensitivity(half + 1, half),
        lambda: fixed_labels_distance(0, 0, half, half + 1, 3.84),
    ):
        with pytest.raises(InputError, match="at most 17,179,869,184 rows together"):
            call()


def test_the_allele_distance_refuses_more_than_it_is_proved_for() -> None:
    assert allele_distance(1, 0, MAX_ALLELES // 2, MAX_ALLELES // 2, 30.0) < 0
    with pytest.raises(InputError, match="at most 1,000,000,000 alleles"):
        allele_distance(1, 0, MAX_ALLELES // 2, MAX_ALLELES // 2 + 1, 30.0)
    with pytest.raises(InputError, match="at most 1,000,000,000 alleles"):
        Statistic("distance", MAX_ALLELES, 2, 30.0)
    with pytest.raises(InputError, match="at most 1,000,000,000 alleles"):
        Screen(snps=10, cases=MAX_ALLELES // 2, controls=2, epsilon=1.0)


class Charges:
    """Takes every charge, and keeps it."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def charge(self, event: Event) -> None:
        self.events.append(event)

    def require(self, event: Event) -> None:
        """All that is asked for can be paid."""


SCHEMA = Schema(
    x=dc.Numeric(0, 1, bins=[0.5]), y=dc.Numeric(0, 1, bins=[0.5]), z=dc.Numeric(0, 1, bins=[0.5])
)


def rows(n: int = 40) -> dc.Dataset:
    numbers = np.random.default_rng(5).uniform(size=(3, n))
    return dc.read(dict(zip("xyz", numbers, strict=True)), SCHEMA)


def drawn(table: dict[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(size=len(table["z"]))


# tests whose answer on rows is an integer or a median over parts, whatever the number of rows: no sum to round
WITHOUT_LIMIT = {
    "gcm parts": "whole scores of parts (gcm_parts.proof.md)",
    "gcm weighted": "whole scores of parts (gcm_parts.proof.md)",
    "gcm moments": "rounding is counted in its sensitivity, by n (rounding.proof.md)",
    "gcm residuals": "rounding is counted in its sensitivity, by n (rounding.proof.md)",
    "test-of-tests": "a count of parts (tulap.proof.md)",
}
OPTIONS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "gcm": [(f"gcm {v}", {"variant": v}) for v in ("parts", "weighted", "bins", "moments", "residuals")],
    "crt": [("crt", {"model": drawn, "score": "ranks"}), ("crt plain", {"model": drawn, "score": "plain"})],
    "test-of-tests": [("test-of-tests", {"test": "gcm"})],
}
CASES = [case for name in TESTS for case in OPTIONS.get(name, [(name, {})])]


@pytest.mark.parametrize(("title", "options"), CASES, ids=[title for title, _ in CASES])
def test_every_test_on_rows_keeps_its_limit(
    title: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the limit lowered to 39 rows, 40 are refused by every registered test that has one, uncharged."""
    test = make_test(title.split()[0], options)
    if not isinstance(test, ValueTest):
        return  # tables: test_every_table_test_takes_tables_of_any_size
    settings = TestSettings(1.0, 0.0, 0.05, Neighbours.REPLACE_ONE, 40)
    question, charges = Question.of(SCHEMA, "x", "y", ["z"]), Charges()
    test.private_values(question, rows(), settings, charges)
    assert charges.events
    assert test.limits_rows(question) == (title not in WITHOUT_LIMIT)  # what a statement says
    charges.events.clear()
    monkeypatch.setattr(limits, "MAX_ROWS", 39)
    if title in WITHOUT_LIMIT:
        test.private_values(question, rows(), settings, charges)
        assert charges.events
        return
    with pytest.raises(InputError, match="at most 39 rows, not 40"):
        test.private_values(question, rows(), settings, charges)
    assert not charges.events


BY_VALUES = {
    "pc",
    "moments",
    "svt-pc",
    "priv-pc",
    "curate",
    "tests",
    "codes",
}  # methods that sum over rows in memory


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_the_limit_of_rows(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"test": "kendall"} if method == "tests" else {}
    epsilon = None if method == "pc" else 1.0
    dc.discover(rows(), epsilon=epsilon, method=method, **options)
    monkeypatch.setattr(limits, "MAX_ROWS", 39)
    if method not in BY_VALUES:
        dc.discover(rows(), epsilon=epsilon, method=method, **options)
        return
    charged: list[object] = []
    monkeypatch.setattr(dc.privacy.budget.Budget, "charge", lambda self, event: charged.append(event))
    with pytest.raises(InputError, match="at most 39 rows, not 40"):
        dc.discover(rows(), epsilon=epsilon, method=method, **options)
    assert not charged


@dataclass
class HugeCounts:
    """Counts that were made up, of any size."""

    schema: Schema
    whole: np.ndarray

    @property
    def n(self) -> int:
        return int(self.whole.sum())

    def tables(self, requests: list[tuple[str, ...]]) -> list[np.ndarray]:
        names = list(self.schema)
        found = []
        for columns in requests:
            gone = tuple(i for i, name in enumerate(names) if name not in columns)
            kept = [name for name in names if name in columns]
            table = self.whole.sum(axis=gone)
            found.append(table.transpose([kept.index(name) for name in columns]))
        return found


LEVELS = Schema(
    a=dc.Categorical([0, 1, 2], ordered=True),
    b=dc.Categorical([0, 1, 2], ordered=True),
    c=dc.Categorical([0, 1]),
)


def whole(n: int) -> np.ndarray:
    table = np.zeros((3, 3, 2), np.int64)
    for i in range(3):
        table[i, i, :] = n // 7
    table[0, 2, 0] = 5
    return table


@pytest.mark.parametrize("n", [10**6, 5 * 10**9, 10**13, 2**60])
@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
def test_scores_of_tables_of_any_size_move_by_at_most_one(n: int, relation: Neighbours) -> None:
    """What svt-pc, priv-pc, em-pc and curate give to their mechanisms."""
    other = whole(n)
    other[0, 2, 1] += 1
    if relation is Neighbours.REPLACE_ONE:
        other[1, 1, 0] -= 1
    questions = [Query("a", "b", ()), Query("a", "b", ("c",)), Query("a", "c", ("b",)), Query("b", "c", ())]
    found = [
        Scorer(HugeCounts(LEVELS, t), 0.05, relation).scores(questions, 3.0, 2.0) for t in (whole(n), other)
    ]
    assert np.abs(found[1] - found[0]).max() <= 1 + 2.0**-12
    assert np.isfinite(found).all()


@pytest.mark.parametrize("n", [10**6, 5 * 10**9, 10**13, 2**60])
@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("name", ["kendall", "spearman", "measured"])
def test_every_table_test_takes_tables_of_any_size(
    name: str, relation: Neighbours, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The integers that enter the mechanism move by at most the sensitivity it was given."""
    seen: list[tuple[np.ndarray, float]] = []

    def keep(mechanism: Mechanism[Any, Any], budget: object, label: str, value: Any) -> np.ndarray:
        seen.append((mechanism.on.to_integers(value), mechanism.steps[0]))
        return np.asarray(value, float)

    for module in ("base", "measured"):
        monkeypatch.setattr(f"dpcausal.citests.{module}.release", keep)
    test, question = make_test(name, {}), Question.of(LEVELS, "a", "b", ["c"])
    settings = TestSettings(1.0, 0.0, 0.05, relation, None if relation is Neighbours.ADD_REMOVE else n)
    other = whole(n)
    other[0, 2, 1] += 1
    if relation is Neighbours.REPLACE_ONE:
        other[1, 1, 0] -= 1
    for table in (whole(n), other):
        test.private(question, np.moveaxis(table, 2, 0), settings, Charges())
    (first, bound), (second, _) = seen
    assert int(np.abs(first - second).sum()) <= bound
