"""The privacy statement: the facts it must hold, and that it can be written and read back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dpcausal._version import __version__
from dpcausal.core.errors import InputError
from dpcausal.core.statement import (
    FORMAT,
    ONE_ROW,
    ChosenRidge,
    Composition,
    Exact,
    Known,
    NoiseSource,
    Noisy,
    NoPrivacy,
    NotPrivate,
    OneAnswer,
    OneUnit,
    PrivacyStatement,
    Stated,
    UncheckedDraft,
    WeakDelta,
    WeakEpsilon,
    WholeUnit,
    known_limits,
    weak_limits,
)
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import ApproximateEvent, GaussianEvent, LaplaceEvent
from dpcausal.testing import seeded

LAPLACE = LaplaceEvent(label="count <b>", neighbours="replace-one", sensitivity=1, scale=10)
COUNT = Stated(text="a count")
GRAPH = Exact("graph-from-rows")
TABLE = Noisy("table")


def made(**changes: object) -> PrivacyStatement:
    budget = Budget(1.0)
    budget.charge(LAPLACE)
    public = [Known("rows"), Stated(text="domains")]
    arguments = {"released": [COUNT], "public": public, "adaptive": False}
    return budget.statement(**(arguments | changes))  # type: ignore[arg-type]


def test_says_what_a_reader_must_be_told() -> None:
    data = json.loads(made().to_json())
    assert next(iter(data)) == "private"
    assert data["private"] is True
    assert "why_not_private" not in data
    assert (data["definition"], data["parameters"]) == ("pure", {"epsilon": 0.1})
    assert (data["epsilon"], data["delta"], data["neighbours"], data["unit"]) == (
        0.1,
        0.0,
        "replace-one",
        "one row",
    )
    assert (data["public"], data["released"]) == (["the number of rows", "domains"], ["a count"])
    assert data["events"] == [LAPLACE.to_dict()]
    assert "sum" in data["composition"]
    assert data["asked"] == {"epsilon": 1.0, "delta": 0.0}
    assert "operating system" in data["noise"]
    assert len(data["limits"]) == len(known_limits(ONE_ROW))
    assert any("Timing" in limit for limit in data["limits"])
    assert any("precision" in limit for limit in data["limits"])
    assert data["software"]["dpcausal"] == __version__
    assert data["format"] == FORMAT


def test_facts_stand_beside_the_words() -> None:
    """One fact for every line of words, in the same order, and nothing in words alone."""
    statement = made(limits=[UncheckedDraft()])
    data = json.loads(statement.to_json())
    assert data["facts"] == {
        "not_private": None,
        "unit": {"kind": "row"},
        "public": [{"kind": "rows"}, {"kind": "stated", "text": "domains"}],
        "released": [{"kind": "stated", "text": "a count"}],
        "composition": "fixed-epsilon",
        "noise": "operating-system",
        "limits": [
            {"kind": "timing"},
            {"kind": "rounding"},
            {"kind": "exact-sums"},
            {"kind": "this-release-only"},
            {"kind": "one-unit", "unit": {"kind": "row"}},
            {"kind": "draft-schema"},
        ],
    }
    for name in ("public", "released", "limits"):
        assert len(data[name]) == len(data["facts"][name])
        assert all(isinstance(words, str) and words for words in data[name])


def test_the_unit_is_named_in_the_limits() -> None:
    unit = Stated(text="one person's genotypes")
    other = Budget(1.0).statement(released=[COUNT], public=[], adaptive=False, unit=unit)
    assert other.limits == known_limits(unit)
    assert other.limits[-1] == OneUnit(unit)
    told = other.to_dict()["limits"]
    assert "as named here (one person's genotypes)" in told[-1]
    assert not any("one row" in line for line in told)


def test_round_trip() -> None:
    more = Stated(text="one more")
    statement = made(limits=[more])
    assert PrivacyStatement.from_json(statement.to_json()) == statement
    assert statement.limits[-1] == more
    assert statement.to_dict()["limits"][-1] == "one more"


def test_round_trip_of_facts_in_facts() -> None:
    """A released fact in another one and the unit in a limit come back as facts, not as dictionaries."""
    ridge = ChosenRidge(TABLE)
    answer = OneAnswer(x="a", y="b", given=("c",), released=ridge)
    person = WholeUnit("person")
    budget = Budget(12.0, 0.1)
    budget.charge(LAPLACE)
    statement = budget.statement(released=[answer], unit=person, rows=50)
    assert statement.limits[-2:] == weak_limits(12.0, 0.1, 50)
    again = PrivacyStatement.from_json(statement.to_json())
    assert again == statement
    assert again.released == (answer,)
    assert again.limits[-3] == OneUnit(person)
    assert again.to_json() == statement.to_json()
    assert again.summary() == statement.summary()


def test_adaptive_statement_gives_the_total_not_the_reading() -> None:
    statement = made(adaptive=True)
    assert (statement.epsilon, statement.reading["epsilon"]) == (1.0, 0.1)
    assert statement.composition is Composition.FILTER_EPSILON
    assert "adaptive" in statement.to_dict()["composition"]


def test_nothing_charged_costs_nothing() -> None:
    statement = Budget(1.0, 1e-6).statement(released=[])
    assert (statement.epsilon, statement.delta, statement.events) == (0.0, 0.0, ())


def test_zcdp_statement_names_its_rho() -> None:
    budget = Budget(1.0, 1e-6)
    budget.charge(GaussianEvent(label="t", neighbours="replace-one", sensitivity=1, sigma=10))
    statement = budget.statement(released=[TABLE], adaptive=False)
    assert statement.definition == "zCDP"
    assert statement.composition is Composition.FIXED_RHO
    assert statement.parameters == {"rho": budget.events[0].rho}
    assert statement.epsilon is not None
    assert 0 < statement.epsilon < 1
    assert statement.delta == 1e-6
    adaptive = budget.statement(released=[TABLE])
    assert (adaptive.definition, adaptive.epsilon, adaptive.delta) == ("approximate", 1.0, 1e-6)
    assert adaptive.composition is Composition.FILTER


def test_approximate_statement() -> None:
    budget = Budget(1.0, 1e-6, reserve=1e-6)
    budget.charge(ApproximateEvent(label="t", neighbours="replace-one", mechanism="m", cost=0.5, slack=1e-7))
    statement = budget.statement(released=[COUNT], adaptive=False)
    assert (statement.definition, statement.epsilon, statement.delta) == ("approximate", 0.5, 1e-7)


def test_no_privacy() -> None:
    statement = Budget.none().statement(released=[GRAPH])
    assert (statement.private, statement.epsilon, statement.delta) == (False, None, None)
    assert (statement.not_private, statement.noise) == (NotPrivate.NOT_ASKED, NoiseSource.NONE)
    assert (statement.composition, statement.limits) == (Composition.NOTHING, (NoPrivacy(),))
    data = json.loads(statement.to_json())
    assert list(data)[:2] == ["private", "why_not_private"]
    assert "no privacy" in data["why_not_private"]
    assert data["facts"]["not_private"] == "not-asked"
    assert PrivacyStatement.from_json(statement.to_json()) == statement


def test_seeded_runs_are_stamped_wherever_the_block_lies() -> None:
    with seeded(7):
        inside = Budget(1.0)
        during = inside.statement(released=[])
    after = inside.statement(released=[])
    around = Budget(1.0)
    with seeded(7):
        pass
    across = around.statement(released=[])
    for statement in (during, after, across):
        assert statement.private is False
        assert statement.not_private is NotPrivate.SEEDED
        assert statement.why_not_private == "made under dpcausal.testing.seeded: the noise was predictable"
        assert statement.noise is NoiseSource.SEEDED
        assert "seeded" in statement.to_dict()["noise"]
        assert PrivacyStatement.from_json(statement.to_json()) == statement
    assert Budget(1.0).statement(released=[]).private is True


def test_a_caller_can_say_why_not() -> None:
    why = "levels were read from the data"
    stated = {"why_not_private": why}
    statement = replace(made(), private=False, not_private=NotPrivate.STATED, stated=stated)
    assert (statement.private, statement.why_not_private) == (False, why)
    assert why in statement.summary()
    again = PrivacyStatement.from_json(statement.to_json())
    assert again == statement
    assert again.why_not_private == why


def test_print_gives_the_words_and_repr_stays() -> None:
    statement = made()
    assert str(statement) == statement.summary()
    assert repr(statement).startswith("PrivacyStatement(private=True")


def test_weak_promises_are_named() -> None:
    """Above epsilon 3, and from delta 1/n on where n is public."""
    assert weak_limits(3.0, 1e-4, 8000) == ()
    assert weak_limits(None, None, 8000) == ()
    assert weak_limits(3.1, 1 / 8000, 8000) == (
        WeakEpsilon(3.1),
        WeakDelta(delta=1 / 8000, rows=8000),
    )
    assert weak_limits(1.0, 0.1) == ()  # the number of rows is protected
    assert Budget(100.0).statement(released=[]).weak == ()  # nothing was charged
    budget = Budget(100.0, 0.1)
    budget.charge(LAPLACE)
    for rows, kinds in (
        (None, [WeakEpsilon]),
        (8000, [WeakEpsilon, WeakDelta]),
    ):
        found = budget.statement(released=[COUNT], rows=rows)
        assert [type(limit) for limit in found.weak] == kinds
        assert found.caveats == found.weak
    draft = UncheckedDraft()
    assert budget.statement(released=[COUNT], limits=[draft]).caveats == (*found.weak[:1], draft)
    assert made().caveats == ()


def test_a_person_with_several_rows_is_in_the_limits() -> None:
    assert OneUnit(ONE_ROW) in made().limits
    assert any("k times less" in line for line in made().to_dict()["limits"])


def changed(**values: object) -> str:
    return json.dumps(json.loads(made().to_json()) | values)


FACTS = made().facts()


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[1]",
        "{}",
        '{"private": true, "colour": 1}',
        changed(colour=1),
        changed(private=False),
        changed(epsilon=None),
        changed(format=FORMAT + 1),
        changed(neighbours="cousins"),
        changed(facts=None),
        changed(facts="words"),
        changed(facts={}),
        changed(facts=FACTS | {"composition": "by guess"}),
        changed(facts=FACTS | {"noise": "none at all"}),
        changed(facts=FACTS | {"unit": {"kind": "galaxy"}}),
        changed(facts=FACTS | {"unit": "one row"}),
        changed(facts=FACTS | {"limits": [{"kind": "no-such-limit"}]}),
        changed(facts=FACTS | {"limits": [{}]}),
        changed(facts=FACTS | {"public": None}),
        changed(facts=FACTS | {"not_private": "seeded"}),  # and private
        json.dumps({name: value for name, value in made().to_dict().items() if name != "facts"}),
    ],
)
def test_unreadable_statements(text: str) -> None:
    with pytest.raises(InputError) as caught:
        PrivacyStatement.from_json(text)
    assert "\n" not in str(caught.value)
