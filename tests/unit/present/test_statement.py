"""Privacy statements in words, what a release cost in brief, and where the budget went."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import (
    FORMAT,
    Composition,
    Exact,
    NoiseSource,
    NotPrivate,
    PrivacyStatement,
    SearchedAgain,
    Stated,
    UncheckedDraft,
)
from dpcausal.present.statement import (
    COMPOSITIONS,
    DEFINITIONS,
    WEAK,
    Step,
    chart,
    enum_words,
    event_rows,
    fact_words,
    guess_words,
    ledger_line,
    meaning_words,
    promise,
    right_guess,
    steps,
)
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import ApproximateEvent, Event, GaussianEvent, LaplaceEvent, PureEvent
from dpcausal.privacy.ledger import Ledger

LAPLACE = LaplaceEvent(label="count <b>", neighbours="replace-one", sensitivity=1, scale=10)
PURE = PureEvent(label="p", neighbours=Neighbours.REPLACE_ONE, mechanism="m", cost=1.0)
COUNT = Stated(text="a count")
GRAPH = Exact("graph-from-rows")
DRAFT = UncheckedDraft()


def made(**changes: object) -> PrivacyStatement:
    budget = Budget(1.0)
    budget.charge(LAPLACE)
    return budget.statement(**({"released": [COUNT], "adaptive": False} | changes))  # type: ignore[arg-type]


def test_no_privacy_in_words() -> None:
    none = Budget.none().statement(released=[GRAPH])
    assert none.not_private is NotPrivate.NOT_ASKED
    assert none.summary().startswith(f"NOT PRIVATE: {enum_words(NotPrivate.NOT_ASKED)}.")


def test_summary_and_html() -> None:
    statement = made(released=[Stated(text="<script>")])
    assert "epsilon 0.1" in statement.summary()
    assert statement.definition == "pure"
    assert DEFINITIONS["pure"] in statement.summary()
    assert " 1.11 times " in statement.summary()
    assert statement.composition is Composition.FIXED_EPSILON
    plain, technical = COMPOSITIONS[statement.composition]
    assert statement.to_dict()["composition"] == f"{plain} ({technical})"
    assert technical not in statement.summary()  # the field's own words stay in the statement
    assert "&lt;script&gt;" in statement._repr_html_()
    assert "<script>" not in statement._repr_html_()


def test_weak_promises_are_told() -> None:
    """In the limits, and in every summary."""
    large = Budget(100.0).statement(released=[])
    assert not [line for line in large.to_dict()["limits"] if line.startswith(WEAK)]  # nothing was charged
    budget = Budget(100.0, 0.1)
    budget.charge(LAPLACE)
    for rows, lines in ((None, 1), (8000, 2)):
        found = budget.statement(released=[COUNT], rows=rows)
        weak = [line for line in found.to_dict()["limits"] if line.startswith(WEAK)]
        assert weak == [fact_words(limit) for limit in found.weak]
        assert [limit.kind for limit in found.weak] == ["weak-epsilon", "weak-delta"][:lines]
        for told in (
            found.summary(),
            unescape(found._repr_html_()),
        ):  # Python callers see no warning of the command
            assert told.count(WEAK) == lines
    assert WEAK not in made(rows=8000).summary()


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_promised_goes_by_epsilon(neighbours: Neighbours, delta: float) -> None:
    """Each range has a sentence of its own with its own number; none above 1 makes it sound small."""
    small = re.compile("nearly|little|hardly|not depend|a hint, not")
    kinds = {}
    for epsilon in (0.1, 1.0, 1.01, 3.0, 3.01, 10.0, 800.0):
        told = meaning_words(epsilon, delta, neighbours)
        assert guess_words(epsilon, delta) in told
        assert bool(small.search(told)) == (epsilon <= 1)
        kinds.setdefault(told.replace(guess_words(epsilon, delta), ""), []).append(epsilon)
    assert list(kinds.values()) == [[0.1, 1.0], [1.01, 3.0], [3.01, 10.0, 800.0]]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 5.0, 10.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
def test_the_guess_is_the_best_against_a_mechanism_that_uses_all_it_may(epsilon: float, delta: float) -> None:
    """Randomised response that tells the truth outright with probability delta attains the bound."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    right = delta + (1 - delta) * keep  # said outright, or else the answer is believed
    assert right_guess(epsilon, delta) == pytest.approx(right)
    words = guess_words(epsilon, delta)
    number = float(re.findall(r"[\d,]+", words)[0].replace(",", ""))
    said = number / 100 if "%" in words else 1 - 1 / number
    assert right <= said <= min(right + 0.0101, 1)  # rounded up


def test_pages_for_people_have_the_numbers_of_the_sentence() -> None:
    """The table for ethics boards, and what the README says of epsilon 1 and 3."""
    root = Path(__file__).parents[3]
    page = (root / "docs" / "explain" / "boards.md").read_text()
    rows = re.findall(
        r"^\| ([\d.]+) \| (?:all but once in )?([\d,]+)(?:%| times) \|", page, flags=re.MULTILINE
    )
    assert [epsilon for epsilon, _ in rows] == ["0.1", "0.5", "1", "2", "3", "10"]
    for epsilon, number in rows:
        assert f" {number}" in guess_words(float(epsilon), 0.0)
    readme = (root / "README.md").read_text()
    assert guess_words(1.0, 0.0) in readme
    assert f"(at epsilon 3, {guess_words(3.0, 0.0).split()[4]})" in readme


def test_a_seeded_release_promises_nothing(statement_of: Callable[..., PrivacyStatement]) -> None:
    seeded = replace(statement_of([PURE]), private=False, not_private=NotPrivate.SEEDED)
    for told in (" ".join(promise(seeded)), seeded.summary()):
        assert guess_words(1.0, 0.0) not in told
    assert "no privacy guarantee" in promise(seeded)[0]


def test_the_words_for_a_search_say_what_the_filter_means() -> None:
    statement = made(adaptive=True)
    assert statement.composition is Composition.FILTER_EPSILON
    plain, technical = COMPOSITIONS[statement.composition]
    assert f"{plain[0].upper()}{plain[1:]}." in statement.summary()
    assert technical in statement.to_dict()["composition"]
    assert "filter" not in statement.summary()
    budget = Budget(1.0, 1e-6)
    budget.charge(GaussianEvent(label="t", neighbours="replace-one", sensitivity=1, sigma=10))
    for adaptive, definition in ((True, "approximate"), (False, "zCDP")):
        found = budget.statement(released=[COUNT], adaptive=adaptive)
        assert found.definition == definition
        assert DEFINITIONS[definition] in found.summary()


def test_the_summary_says_whether_a_ledger_keeps_count(tmp_path: Path) -> None:
    assert ledger_line(made()).startswith("Ledger: none")
    assert ledger_line(made()) in made().summary()
    assert "ledger=, dataset=" in ledger_line(made())
    assert "edger" not in PrivacyStatement.none(released=[GRAPH]).summary()
    url = f"sqlite:///{tmp_path}/budget.db"
    Ledger.open(url, create=True).create("cohort", 1.0, 0.0)
    budget = Budget(0.5, ledger=url, dataset="cohort")
    budget.charge(LAPLACE)
    told = budget.statement(released=[COUNT], adaptive=False)
    assert told.epsilon == 0.1  # less than was asked for, and the ledger keeps what was asked for
    line = "Ledger: cohort, entry 2; charged epsilon 0.5, delta 0; left epsilon 0.5, delta 0."
    assert line in told.summary().splitlines()
    again = replace(told, released=(*told.released, SearchedAgain("r1")))
    assert "cohort, entry 2" in ledger_line(again)
    assert "left" not in ledger_line(again)  # what was left then says nothing now
    assert told.to_dict()["ledger"]["left"] == {"epsilon": 0.5, "delta": 0.0}


def test_charges_are_counted_alike_everywhere() -> None:
    """The number in the summary is that of the events in the statement."""
    budget = Budget(1.0)
    for _ in range(4):
        budget.charge(LAPLACE)
    statement = budget.statement(released=[COUNT])
    assert "\nCost: 4 noisy steps, together not more than this epsilon. " in statement.summary()
    assert len(statement.to_dict()["events"]) == 4


def test_a_draft_is_told_in_the_summary() -> None:
    assert fact_words(DRAFT) in made(limits=[DRAFT]).summary()
    assert "draft" not in made().summary()


def test_the_promise_has_the_factor_and_the_exception(statement_of: Callable[..., PrivacyStatement]) -> None:
    told = " ".join(promise(statement_of([PURE])))
    assert "2.72" in told
    assert "delta" not in told
    assert "(delta)" in promise(replace(statement_of([PURE]), delta=1e-6))[0]
    assert "edger" in promise(statement_of([PURE]))[-1]
    assert "2.72" not in " ".join(promise(PrivacyStatement.none(released=[GRAPH])))


def test_someone_with_more_rows_is_told(statement_of: Callable[..., PrivacyStatement]) -> None:
    third = promise(statement_of([PURE]))[2]
    assert "k times epsilon" in third
    assert "delta" not in third
    assert "delta" in promise(replace(statement_of([PURE]), delta=1e-6))[2]


# Written by the last version with format 1: what it put into privacy.json, and its summary.
OLD = Path(__file__).parents[2] / "data" / "statements"
FORMAT_1 = ("private", "weak_draft", "seeded", "not_private")


@pytest.mark.parametrize("name", FORMAT_1)
def test_a_statement_of_format_1_keeps_its_words(name: str) -> None:
    text = (OLD / f"format_1_{name}.json").read_text()
    data = json.loads(text)
    assert data["format"] == 1
    assert "facts" not in data
    read = PrivacyStatement.from_json(text)
    written = read.to_dict()
    assert {key: value for key, value in written.items() if key not in ("facts", "format")} == {
        key: value for key, value in data.items() if key != "format"
    }
    assert list(written) == [*data, "facts"]
    assert (read.private, read.epsilon, read.delta) == (data["private"], data["epsilon"], data["delta"])
    assert read.why_not_private == data.get("why_not_private")


@pytest.mark.parametrize("name", FORMAT_1)
def test_the_summary_of_format_1_is_as_it_was(name: str) -> None:
    """Its caveats too; the line on costs has all words now, the ledger and the promise have new ones."""
    text = (OLD / f"format_1_{name}.json").read_text()
    read = PrivacyStatement.from_json(text)
    now, then = read.summary().splitlines(), (OLD / f"format_1_{name}.txt").read_text().splitlines()
    now = [line for line in now if not line.startswith("Protects ") and line not in promise(read)]
    then = [line for line in then if not line.startswith("Protects ")]
    assert len(now) == len(then)
    for new, old in zip(now, then, strict=True):
        if old.startswith("Cost: "):
            begins = json.loads(text)["composition"]
            assert new.endswith(f"{begins[:1].upper()}{begins[1:]}.")
            assert new[: new.index(". ")] == old[: old.index(". ")]
        elif not old.startswith(("Ledger: ", "No ledger: ")):
            assert new == old


@pytest.mark.parametrize("name", FORMAT_1)
def test_a_statement_of_format_1_is_written_as_this_format(name: str) -> None:
    read = PrivacyStatement.from_json((OLD / f"format_1_{name}.json").read_text())
    assert read.format == FORMAT
    again = PrivacyStatement.from_json(read.to_json())
    assert again == read
    assert again.to_json() == read.to_json()
    assert again.summary() == read.summary()
    assert (read.composition, read.noise) == (Composition.STATED, NoiseSource.STATED)
    assert read.not_private is (None if read.private else NotPrivate.STATED)
    assert {type(fact) for fact in (read.unit, *read.public, *read.released, *read.limits)} == {Stated}


def test_caveats_of_format_1_are_caveats() -> None:
    read = PrivacyStatement.from_json((OLD / "format_1_weak_draft.json").read_text())
    assert [limit.caveat for limit in read.caveats if isinstance(limit, Stated)] == ["weak", "draft"]
    assert "0.01" in fact_words(read.caveats[0])
    assert read.weak == read.caveats[:1]
    assert PrivacyStatement.from_json((OLD / "format_1_private.json").read_text()).caveats == ()


@pytest.mark.parametrize("name", ["composition", "noise"])
def test_a_statement_of_format_1_without_a_part_is_no_statement(name: str) -> None:
    data = json.loads((OLD / "format_1_private.json").read_text())
    del data[name]
    with pytest.raises(ValueError, match=name):
        PrivacyStatement.from_json(json.dumps(data))


Made = Callable[..., PrivacyStatement]


def pure(label: str, cost: float) -> PureEvent:
    return PureEvent(label=label, neighbours=Neighbours.REPLACE_ONE, mechanism="m", cost=cost)


def test_steps_sum_events_by_label_in_the_order_charged(statement_of: Made) -> None:
    events: list[Event] = [pure("b", 0.25), *(pure(f"a: {i}", 0.03125) for i in range(20))]
    assert steps(statement_of(events)) == [Step("b", 1, 0.25, "epsilon"), Step("a", 20, 0.625, "epsilon")]
    assert [step.label for step in steps(statement_of(events[:3]))] == ["b", "a: 0", "a: 1"]


def test_bars_never_sum_to_more_than_was_promised(statement_of: Made) -> None:
    """Small charges that fit by rho alone: sums of their epsilon are no cost of this release."""
    many: list[Event] = [pure("a", 0.125)] * 20  # 2.5 in epsilon, of 1; 20/128 in rho
    assert steps(statement_of(many, "approximate")) == [Step("a", 20, 20 / 128, "rho")]


def test_steps_have_the_unit_that_every_event_has(statement_of: Made) -> None:
    one = Neighbours.REPLACE_ONE
    gauss = GaussianEvent(label="g", neighbours=one, sensitivity=1.0, sigma=2.0)
    both = steps(statement_of([pure("p", 0.5), gauss], "zCDP"))
    assert [(step.unit, step.cost) for step in both] == [("rho", 0.125), ("rho", 0.125)]
    odd = ApproximateEvent(label="o", neighbours=one, mechanism="m", cost=0.1, slack=1e-6)
    assert {step.unit for step in steps(statement_of([gauss, odd]))} == {"events"}
    assert 'class="bar"' in chart(both)
    assert chart([]) == ""


def test_bars_have_shares_and_rho_is_explained() -> None:
    parts = [Step("one", 1, 0.125, "rho"), Step("two", 3, 0.375, "rho")]
    drawing = chart(parts)
    assert ">25%</text>" in drawing
    assert "<title>two (3 times): rho 0.375 (75%)</title>" in drawing
    assert "%" not in chart([Step("one", 2, 2.0, "events")])
    assert "(" not in chart([Step("free", 1, 0.0, "rho")])


def test_a_cost_that_an_event_has_not_is_an_empty_cell(statement_of: Made) -> None:
    gauss = GaussianEvent(label="g", neighbours=Neighbours.REPLACE_ONE, sensitivity=1.0, sigma=2.0)
    (row,) = event_rows(statement_of([gauss], "zCDP").events)
    assert (row["epsilon"], row["rho"]) == ("", "0.125")
