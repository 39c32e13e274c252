"""Two rounds share one charge: it is made whole before the first, and its rest is spent once, whatever happens."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpcausal as dc
from dpcausal.core.facts import content_id
from dpcausal.core.json_files import save_text
from dpcausal.core.statement import RoundOfTwo, SitesPooled
from dpcausal.privacy.accounting.composition import Filter, PartOfTotal
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import event_from_dict
from dpcausal.privacy.ledger.chain import REST
from dpcausal.privacy.mechanisms import additive
from dpcausal.sites.contribute import load_contribution
from dpcausal.sites.pool import next_protocol

Sites = Callable[..., dc.Dataset]
TERMS = [(delta, neighbours) for delta in (0.0, 1e-6) for neighbours in ("replace-one", "add-remove")]


def two_rounds(
    site: Sites, delta: float = 1e-6, neighbours: Any = "replace-one", **count: Any
) -> tuple[dc.Contribution, dc.Protocol]:
    """The first round of a site, and the protocol of the second."""
    protocol = dc.protocol(site(0).schema, [2000], 2.0, delta, neighbours=neighbours, rounds=2)
    first = dc.contribute(site(0), protocol, "east", **count)
    second = next_protocol([first])
    assert second is not None
    return first, second


@pytest.fixture
def count(tmp_path: Path) -> dict[str, str]:
    """A ledger with room for one charge."""
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    dc.Ledger.open(url, create=True).create("cohort", 2.0, 1e-6)
    return {"ledger": url, "dataset": "cohort"}


def kinds(count: dict[str, str]) -> list[str]:
    ledger = dc.Ledger.open(count["ledger"])
    assert ledger.verify().ok
    return [entry.kind for entry in ledger.log("cohort")]


@pytest.mark.parametrize(("delta", "neighbours"), TERMS)
def test_both_rounds_together_spend_one_total(delta: float, neighbours: str, site: Sites) -> None:
    first, second = two_rounds(site, delta, neighbours)
    both = [first, dc.contribute(site(0), second, "east", rest_of=first)]
    assert [(one.privacy.epsilon, one.privacy.delta) for one in both] == [(2.0, delta)] * 2
    whole, unit = Filter(2.0, delta), "rho" if delta else "epsilon"
    spent = [math.fsum(getattr(event, unit) for event in events_of(one)) for one in both]
    assert sum(spent) == pytest.approx(getattr(whole, unit), rel=1e-9)
    assert sum(spent) <= getattr(whole, unit)
    assert spent[0] == pytest.approx(spent[1])  # half for all pairs, half for the promising ones
    pooled = dc.pool(both, confidence=0).privacy
    assert (pooled.epsilon, pooled.delta) == (2.0, delta)


def events_of(one: dc.Contribution) -> list[Any]:
    return [event_from_dict(event) for event in one.privacy.events]


def test_merged_levels_and_a_share_of_a_tenth(site: Sites) -> None:
    schema = dc.Schema(dict.fromkeys("abcdef", dc.Categorical(range(9), ordered=True)))
    rows = dc.Dataset(schema, 2000, {name: site(0).codes[name] * 8 for name in schema})
    protocol = dc.protocol(schema, [2000], 1.0, 1e-6, rounds=2)
    first = dc.contribute(rows, protocol, "east")
    second = next_protocol([first])
    assert second is not None
    assert second.groups
    found = dc.contribute(rows, second, "east", rest_of=first)
    spent = [math.fsum(event.rho for event in events_of(one)) for one in (first, found)]
    assert sum(spent) <= Filter(1.0, 1e-6).rho
    assert spent[0] / sum(spent) == pytest.approx(0.1)


def test_a_ledger_is_charged_for_both_before_the_first_and_the_rest_is_spent_once(
    site: Sites, count: dict[str, str]
) -> None:
    first, second = two_rounds(site, **count)
    assert dc.Ledger.open(count["ledger"]).show("cohort")[0].left_epsilon == 0.0
    found = dc.contribute(site(0), second, "east", rest_of=first, **count)  # type: ignore[arg-type]
    assert kinds(count) == ["create", "charge", "rest"]
    assert (found.privacy.ledger or {})["release"] == f"{REST}:{(first.privacy.ledger or {})['release']}"
    with pytest.raises(dc.BudgetError, match="entry 2 of data set 'cohort' was spent already"):
        dc.contribute(site(0), second, "east", rest_of=first, **count)  # type: ignore[arg-type]
    assert kinds(count) == ["create", "charge", "rest"]


def test_a_crash_after_the_mark_loses_the_rest(
    site: Sites, count: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two_rounds(site, **count)

    def crash(*_: object) -> None:
        raise RuntimeError("the power failed")

    with monkeypatch.context() as patch:
        patch.setattr(additive.Gaussian, "sample", crash)
        with pytest.raises(RuntimeError):
            dc.contribute(site(0), second, "east", rest_of=first, **count)  # type: ignore[arg-type]
    assert kinds(count) == ["create", "charge", "rest"]
    with pytest.raises(dc.BudgetError, match="spent already"):
        dc.contribute(site(0), second, "east", rest_of=first, **count)  # type: ignore[arg-type]


DRAW = """
import sys
import dpcausal as dc
first, second, url = sys.argv[1:]
schema = dc.Schema(dict.fromkeys("abcdef", dc.Categorical(["no", "yes"])))
rows = dc.dummy(schema, 2000)
try:
    dc.contribute(rows, second, "east", rest_of=first, ledger=url, dataset="cohort")
except dc.BudgetError as error:
    sys.exit("refused" if "spent already" in str(error) else str(error))
"""


def test_of_processes_that_race_one_spends_the_rest(
    site: Sites, count: dict[str, str], tmp_path: Path
) -> None:
    first, second = two_rounds(site, **count)
    paths = [first.save(tmp_path / "first"), second.save(tmp_path / "second.json")]
    command = [sys.executable, "-c", DRAW, *paths, count["ledger"]]
    racing = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = sorted(one.communicate()[1].strip() for one in racing)
    assert sorted(one.returncode for one in racing) == [0, 1, 1]
    assert [line.endswith("refused") for line in said] == [False, True, True]
    assert kinds(count) == ["create", "charge", "rest"]


def test_without_a_ledger_a_process_spends_the_rest_once_and_says_what_is_assumed(site: Sites) -> None:
    first, second = two_rounds(site)
    found = dc.contribute(site(0), second, "east", rest_of=first)
    assert RoundOfTwo(2, 0.5, in_ledger=False) in found.privacy.public
    with pytest.raises(dc.BudgetError, match="spent already"):
        dc.contribute(site(0), second, "east", rest_of=first)


def test_a_second_round_that_asks_for_more_than_the_rest_is_refused(
    site: Sites, count: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two_rounds(site, **count)
    monkeypatch.setattr("dpcausal.sites.protocol.SHARE_PAIRS", 0.2)
    greedy = replace(second)  # a value of its own, which has not worked out its share yet
    assert greedy.part == PartOfTotal(2, 0.2)
    with pytest.raises(dc.InputError, match="another share"):
        dc.contribute(site(0), greedy, "east", rest_of=first, **count)  # type: ignore[arg-type]
    # and whatever a caller does, the ledger
    ledger = dc.Ledger.open(count["ledger"])
    release = str((first.privacy.ledger or {})["release"])
    with pytest.raises(dc.BudgetError, match=r"the first left 0\.5"):
        ledger.take_rest("cohort", release, "x", 2.0, 1e-6, note={"part": [2, 0.2]})
    with pytest.raises(dc.LedgerError, match="another total"):
        ledger.take_rest("cohort", release, "x", 3.0, 1e-6, note={"part": [2, 0.5]})
    with pytest.raises(dc.LedgerError, match="no charge for the first round"):
        ledger.take_rest("cohort", "another", "x", 2.0, 1e-6, note={"part": [2, 0.5]})
    assert kinds(count) == ["create", "charge"]


def test_a_charge_for_one_round_has_no_rest(count: dict[str, str]) -> None:
    ledger = dc.Ledger.open(count["ledger"])
    ledger.charge("cohort", "alone", 1.0)
    with pytest.raises(dc.LedgerError, match="not charged for two rounds"):
        ledger.take_rest("cohort", "alone", "x", 1.0, note={"part": [2, 0.5]})


def test_what_is_not_the_first_of_these_two_is_refused_uncharged(
    site: Sites, count: dict[str, str], tmp_path: Path
) -> None:
    first, second = two_rounds(site, **count)
    alone = dc.contribute(site(0), first.protocol, "west")
    other = dc.contribute(site(0), dc.protocol(site(0).schema, [2000], 1.0, rounds=2), "east")
    other_set: Any = {**count, "dataset": "another"}
    for terms, why in (
        ({}, "name the ledger, or the folder of this site's first contribution"),
        ({"rest_of": alone}, "west's contribution"),
        ({"rest_of": other}, "not east's to"),
        ({"rest_of": tmp_path}, "no contribution"),
        ({"rest_of": first}, "charged to a ledger"),
        ({"rest_of": first, **other_set}, "charged to data set 'cohort'"),
        ({"rest_of": first, "epsilon": 1.0, **count}, "for both: leave out others"),
        ({"rest_of": first, "neighbours": "add-remove", **count}, "for both: leave out others"),
    ):
        with pytest.raises(dc.InputError, match=why):
            dc.contribute(site(0), second, "east", **terms)  # type: ignore[arg-type]
    with pytest.raises(dc.InputError, match="only the second round"):
        dc.contribute(site(0), first.protocol, "east", rest_of=first)
    assert kinds(count) == ["create", "charge"]


def test_the_rest_of_another_charge_is_not_pooled_as_one(site: Sites, tmp_path: Path) -> None:
    first, second = two_rounds(site)
    again = dc.contribute(site(0), first.protocol, "east")
    found = dc.contribute(site(0), second, "east", rest_of=again)
    with pytest.raises(dc.InputError, match="the rest of another first round"):
        dc.pool([first, found])
    # its folder says whose rest it is, and is refused once that is changed
    folder = Path(found.save(tmp_path / "east"))
    assert load_contribution(folder).rest_of == again.id
    text = (folder / "contribution.json").read_text()
    save_text(folder / "contribution.json", text.replace(again.id, first.id))
    with pytest.raises(dc.InputError, match="was changed"):
        load_contribution(folder)


def test_a_site_whose_first_round_is_not_pooled_is_counted_all_the_same(site: Sites) -> None:
    first, _ = two_rounds(site)
    other = dc.contribute(site(1), first.protocol, "north")
    second = next_protocol([first, other])
    assert second is not None
    found = dc.contribute(site(0), second, "east", rest_of=first)
    privacy = dc.pool([other, found], confidence=0).privacy
    costs = next(one for one in privacy.released if isinstance(one, SitesPooled)).sites
    assert {name: cost for name, cost, *_ in costs} == {"east": 2.0, "north": 2.0}


def test_a_budget_knows_what_it_is_the_rest_of() -> None:
    for terms in ({"part": PartOfTotal(2, 0.5)}, {"part": PartOfTotal(1, 0.5), "later": 0.1}):
        with pytest.raises(dc.InputError):
            Budget(1.0, **terms)  # type: ignore[arg-type]
    for part in (PartOfTotal(1, 0.0), PartOfTotal(1, 1.0), PartOfTotal(3, 0.5)):
        with pytest.raises(dc.InputError):
            Filter(1.0).part(part)


def test_a_second_protocol_keeps_all_that_was_agreed_on(site: Sites, tmp_path: Path) -> None:
    """Nothing but pairs, sites and groups is new in it, whether it comes from a file or not."""
    _, second = two_rounds(site)
    few = dc.Schema({name: second.schema[name] for name in "ab"})
    for change in ({"schema": few, "pairs": None}, {"rows": (5,)}, {"epsilon": 3.0}, {"level": 0.1}):
        with pytest.raises(dc.InputError, match="keeps all that was agreed on"):
            replace(second, **change)
    changed = {**second.to_dict(), "schema": few.to_toml(), "pairs": None}
    content = {
        name: changed[name] for name in second.to_dict() if name not in ("format", "software", "id", "words")
    }
    save_text(tmp_path / "second.json", json.dumps({**changed, "id": content_id(content)}))
    with pytest.raises(dc.InputError, match="was changed"):
        dc.contribute(site(0), tmp_path / "second.json", "east")


@pytest.mark.parametrize(
    "pairs", [[("a", "b"), ("a", "b")], [("a", "b"), ("b", "a")], [("a", "a")], [("a", "z")]]
)
def test_a_pair_is_measured_again_once(site: Sites, pairs: list[tuple[str, str]]) -> None:
    first, _ = two_rounds(site)
    with pytest.raises(dc.InputError, match="different pairs"):
        first.protocol.for_promising(pairs, ["east"])


def test_both_rounds_are_of_the_same_persons(site: Sites, count: dict[str, str]) -> None:
    schema = site(0).schema
    visits = {"pid": list(range(1000)) * 2, **{name: ["no", "yes"] * 1000 for name in schema}}
    persons = dc.read(visits, schema, unit="pid")
    protocol = dc.protocol(schema, [1000], 2.0, 1e-6, rounds=2)
    first = dc.contribute(persons, protocol, "east", **count)  # type: ignore[arg-type]
    second = next_protocol([first])
    for rows, why in ((dc.read(visits, schema), "another unit"), (site(0), "another unit")):
        with pytest.raises(dc.InputError, match=why):
            dc.contribute(rows, second, "east", rest_of=first, **count)  # type: ignore[arg-type]
    ledger = dc.Ledger.open(count["ledger"])
    release = str((first.privacy.ledger or {})["release"])
    with pytest.raises(dc.LedgerError, match="relation or unit"):
        ledger.take_rest("cohort", release, "x", 2.0, 1e-6, note={"part": [2, 0.5]})
    assert kinds(count) == ["create", "charge"]
    alone, later = two_rounds(site)
    with pytest.raises(dc.InputError, match="of 2,000 rows, and these are 500"):
        dc.contribute(
            dc.read({name: ["no", "yes"] * 250 for name in schema}, schema), later, "east", rest_of=alone
        )


def test_a_second_round_by_another_kind_of_noise_is_refused(
    site: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two_rounds(site)
    assert first.values.plan.gaussian
    monkeypatch.setattr(type(second), "_public", laplace_of(type(second)._public))
    with pytest.raises(dc.InputError, match="another kind of noise"):
        dc.contribute(site(0), second, "east", rest_of=first)


def laplace_of(public: Callable[..., Any]) -> Callable[..., Any]:
    """The public numbers of a version that takes Laplace noise for these columns."""
    return lambda *terms: replace(public(*terms), delta=0.0)


def test_the_ledger_knows_the_first_round_where_its_folder_is_not_named(
    site: Sites, count: dict[str, str]
) -> None:
    first, second = two_rounds(site, **count)
    found = dc.contribute(site(0), second, "east", **count)  # type: ignore[arg-type]
    assert kinds(count) == ["create", "charge", "rest"]
    pooled = dc.pool([first, found], confidence=0).privacy
    assert (pooled.epsilon, pooled.delta) == (2.0, 1e-6)
    with pytest.raises(dc.BudgetError, match="spent already"):
        dc.contribute(site(0), second, "east", **count)  # type: ignore[arg-type]


def test_a_ledger_without_the_first_round_refuses_the_second(site: Sites, count: dict[str, str]) -> None:
    _, second = two_rounds(site)
    with pytest.raises(dc.LedgerError, match="no charge for the first round"):
        dc.contribute(site(0), second, "east", **count)  # type: ignore[arg-type]


def test_a_second_round_from_another_ledger_is_not_the_rest_of_this_first_one(
    site: Sites, count: dict[str, str]
) -> None:
    first, second = two_rounds(site)
    two_rounds(site, **count)
    found = dc.contribute(site(0), second, "east", **count)  # type: ignore[arg-type]
    with pytest.raises(dc.InputError, match="the rest of another first round"):
        dc.pool([first, found])
