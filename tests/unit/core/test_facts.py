"""Facts: typed, immutable and plain data; and the one way up to their words."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any, Literal

import pytest

from dpcausal.core import display as hook
from dpcausal.core.errors import InputError
from dpcausal.core.facts import Fact
from dpcausal.core.statement import ONE_ROW, Limit, OneUnit, Public, Released, Stated, Unit, WholeUnit


class Forecast(Fact):
    """What the weather will be."""


class ColdNight(Forecast):
    degrees: float
    places: tuple[tuple[str, int], ...] = ()


class Wet(Forecast, named_by="what"):
    what: Literal["rain", "snow"]
    millimetres: int


class Change(Forecast, kind="then"):
    first: Forecast
    later: Forecast


def test_a_fact_cannot_be_changed() -> None:
    fact = ColdNight(-3.0)
    with pytest.raises(FrozenInstanceError):
        fact.degrees = 4.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        ColdNight(-3.0, millimetres=4)  # type: ignore[call-arg]


def test_copies_are_equal_and_cannot_be_changed_either() -> None:
    """Results hold facts, and results are pickled (scikit-learn does) and copied."""
    fact = OneUnit(WholeUnit("person"))
    for other in (pickle.loads(pickle.dumps(fact)), copy.deepcopy(fact), copy.copy(fact)):  # noqa: S301
        assert other == fact
        assert hash(other) == hash(fact)
        with pytest.raises(FrozenInstanceError):
            other.unit = ONE_ROW


def test_equal_are_facts_of_one_class_with_the_same_values() -> None:
    assert Wet("rain", 1) != Wet("rain", 2)
    assert Wet("rain", 1) != Wet("snow", 1)
    assert Wet("rain", 1) != "rain"
    assert len({Wet("rain", 1), Wet(millimetres=1, what="rain")}) == 1


@pytest.mark.parametrize(
    ("fact", "data"),
    [
        (ColdNight(-3.0), {"kind": "cold-night", "degrees": -3.0}),
        (ColdNight(0.0, (("Ulm", 1),)), {"kind": "cold-night", "degrees": 0.0, "places": [["Ulm", 1]]}),
        (Wet("snow", 30), {"kind": "snow", "millimetres": 30}),
        (
            Change(Wet("rain", 2), ColdNight(1.0)),
            {
                "kind": "then",
                "first": {"kind": "rain", "millimetres": 2},
                "later": {"kind": "cold-night", "degrees": 1.0},
            },
        ),
    ],
)
def test_facts_are_plain_data_and_come_back(fact: Fact, data: dict[str, Any]) -> None:
    assert fact.to_dict() == data
    assert fact.kind == data["kind"]
    assert Forecast.from_dict(data) == fact


def test_a_fact_may_belong_to_several_families() -> None:
    for family in (Limit, Public, Released, Unit):
        assert family.from_dict({"kind": "stated", "text": "a"}) == Stated("a")
    assert "cold-night" not in Limit.kinds


@pytest.mark.parametrize("data", [{"kind": "hail"}, {}, {"kind": None}, {"kind": "wet"}])
def test_a_kind_that_is_not_known_is_one_line(data: dict[str, object]) -> None:
    with pytest.raises(InputError, match="forecast") as caught:
        Forecast.from_dict(data)
    assert "\n" not in str(caught.value)


def test_words_are_asked_for_once_and_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "_loaders", [])
    monkeypatch.setattr(hook, "_loaded", [])
    called = []

    class Room:
        def words(self, fact: Fact) -> str:
            return f"it will be a {fact.kind}"

    def load() -> Room:
        called.append(1)
        return Room()

    hook.register(load)  # type: ignore[arg-type]
    assert called == []
    assert [hook.display().words(ColdNight(0.0)) for _ in range(2)] == ["it will be a cold-night"] * 2
    assert called == [1]
