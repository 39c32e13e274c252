"""Facts: a kind with values, immutable and plain data; and the one way up to their words."""

from __future__ import annotations

import copy
import pickle
from enum import StrEnum

import pytest

from dpcausal.core import display as hook
from dpcausal.core.errors import InputError
from dpcausal.core.facts import Fact
from dpcausal.core.statement import Limit, LimitKind, Public, Unit, UnitKind


class Weather(StrEnum):
    RAIN = "rain"
    SUN = "sun"


class Forecast(Fact):
    kinds = Weather


def test_a_fact_cannot_be_changed() -> None:
    fact = Forecast(Weather.RAIN, places=["a", "b"])
    with pytest.raises(AttributeError):
        fact.kind = Weather.SUN
    with pytest.raises(AttributeError):
        fact.more = 1  # type: ignore[attr-defined]
    assert fact["places"] == ("a", "b")
    with pytest.raises(KeyError):
        fact["millimetres"]


def test_copies_are_equal_and_cannot_be_changed_either() -> None:
    """Results hold facts, and results are pickled (scikit-learn does) and copied."""
    fact = Limit(LimitKind.ONE_UNIT, unit=Unit(UnitKind.PERSON))
    for other in (pickle.loads(pickle.dumps(fact)), copy.deepcopy(fact), copy.copy(fact)):  # noqa: S301
        assert other == fact
        assert other.kind is LimitKind.ONE_UNIT
        with pytest.raises(AttributeError):
            other.kind = LimitKind.TIMING


def test_kinds_are_those_of_the_class() -> None:
    assert Forecast("rain") == Forecast(Weather.RAIN)
    with pytest.raises(ValueError, match="snow"):
        Forecast("snow")
    assert Forecast(Weather.RAIN).is_a(Weather.SUN, Weather.RAIN)
    assert not Forecast(Weather.RAIN).is_a(Weather.SUN)


def test_equal_are_facts_of_one_class_with_the_same_values() -> None:
    assert Limit("stated", text="a") != Public("stated", text="a")
    assert Forecast("rain", amount=1) != Forecast("rain", amount=2)
    assert Forecast("rain", amount=1) != Forecast("sun", amount=1)
    assert Forecast("rain", amount=1) != "rain"
    assert Forecast("rain", places={"b", "a"}) == Forecast("rain", places=("a", "b"))
    same = {Forecast("rain", a=1, b=2), Forecast("rain", b=2, a=1)}
    assert len(same) == 1


def test_facts_in_facts_are_plain_data() -> None:
    fact = Limit(LimitKind.ONE_UNIT, unit=Unit(UnitKind.ROW), more=(Unit(UnitKind.ALLELE), UnitKind.PERSON))
    assert fact.to_dict() == {
        "kind": "one-unit",
        "unit": {"kind": "row"},
        "more": [{"kind": "allele"}, "person"],
    }
    assert type(fact.to_dict()["more"][1]) is str


@pytest.mark.parametrize("data", [{"kind": "snow"}, {}, {"kind": None}])
def test_a_kind_that_is_not_known_is_one_line(data: dict[str, object]) -> None:
    with pytest.raises(InputError, match="unknown kind of forecast") as caught:
        Forecast.from_dict(data)
    assert "\n" not in str(caught.value)


def test_words_are_asked_for_once_and_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "_loaders", [])
    monkeypatch.setattr(hook, "_loaded", [])
    called = []

    class Room:
        def words(self, fact: Fact) -> str:
            return f"it will {fact.kind}"

    def load() -> Room:
        called.append(1)
        return Room()

    hook.register(load)  # type: ignore[arg-type]
    assert called == []
    assert [hook.display().words(Forecast("rain")) for _ in range(2)] == ["it will rain"] * 2
    assert called == [1]
