"""A protocol is public, survives its file, is refused where it was changed, and says what each site is asked to do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.sites.protocol import load_protocol

YES_NO = dc.Categorical(["no", "yes"])
SCHEMA = dc.Schema(dict.fromkeys("abcdefghijk", YES_NO))


def made(**terms: object) -> dc.Protocol:
    return dc.protocol(SCHEMA, [1000, 1000, 1000], 1.0, 1e-6, **terms)  # type: ignore[arg-type]


@pytest.mark.parametrize("terms", [{}, {"rounds": 2, "persons": "several-sites", "neighbours": "add-remove"}])
def test_its_file_gives_it_back(terms: dict[str, object], tmp_path: Path) -> None:
    protocol = made(**terms)
    assert load_protocol(protocol.save(tmp_path / "protocol.json")) == protocol
    second = protocol.for_promising([("a", "b"), ("b", "c")], ["north"])
    assert load_protocol(second.save(tmp_path / "protocol-2.json")) == second
    assert second.first == second.first_id == protocol.id != second.id


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "protocol.json"
    for change in ({"epsilon": 2.0}, {"rounds": 2}, {"persons": "several-sites"}):
        file.write_text(json.dumps({**made().to_dict(), **change}))
        with pytest.raises(dc.InputError, match="damaged or was changed"):
            load_protocol(file)
    for text, why in (("{}", "no protocol"), ("no", "not JSON"), ('{"rounds": 1, "schema": ""}', "damaged")):
        file.write_text(text)
        with pytest.raises(dc.InputError, match=why):
            load_protocol(file)
    file.write_text(json.dumps({**made().to_dict(), "format": 99}))
    with pytest.raises(dc.InputError, match="newer version"):
        load_protocol(file)
    with pytest.raises(dc.InputError, match="can't read"):
        load_protocol(tmp_path / "nothing.json")


@pytest.mark.parametrize(
    "terms",
    [{"rounds": 3}, {"rounds": True}, {"persons": "all"}, {"neighbours": "fixed-labels"}, {"level": 2.0}],
)
def test_what_can_not_be_asked_is_refused(terms: dict[str, object]) -> None:
    with pytest.raises(dc.InputError):
        made(**terms)


@pytest.mark.parametrize("rows", [[], [0, 10], [2.5], "1000"])
def test_rows_are_whole_numbers(rows: object) -> None:
    with pytest.raises(dc.InputError):
        dc.protocol(SCHEMA, rows, 1.0)  # type: ignore[arg-type]


def test_more_sites_find_weaker_links() -> None:
    """The figures of eleven columns and 1,000 rows a site, at epsilon 1: about .16, .09 and .05."""
    ten = dc.protocol(SCHEMA, [1000] * 10, 1.0, 1e-6)
    found = [ten.least_found(sites) for sites in (1, 3, 10)]
    assert found == sorted(found, reverse=True)
    # noise adds up as variances do, so that k sites find what is sqrt(k) times weaker
    assert found[0] / found[1] == pytest.approx(3**0.5, rel=0.1)
    assert found[0] / found[2] == pytest.approx(10**0.5, rel=0.15)


def test_what_is_measured_twice_has_less_noise() -> None:
    one, two = (dc.protocol(SCHEMA, [1000], 1.0, 1e-6, rounds=rounds) for rounds in (1, 2))
    assert not two.levels_first
    assert two.noise(1000) < one.noise(1000)
    assert two.least_found() < one.least_found()


def test_the_plan_of_a_site_is_its_own_in_rows_columns_and_budget() -> None:
    protocol = made().for_promising([("a", "b"), ("a", "k")], ["north"])
    plan = protocol.plan_for(SCHEMA.select(list("abc")), 500, 0.5, 0.0, Neighbours.ADD_REMOVE).measurement
    assert plan.only == ((0, 1),)
    assert (plan.public.rows, plan.public.epsilon, plan.public.delta) == (500, 0.5, 0.0)
    assert not plan.gaussian
    assert plan.shares.rows > 0
    assert made().plan_for(SCHEMA, 1000).measurement.gaussian
    with pytest.raises(dc.InputError, match="nothing to measure"):
        protocol.plan_for(SCHEMA.select(list("cde")), 500)


def test_columns_of_another_schema_are_refused() -> None:
    other = dc.Schema(a=YES_NO, b=dc.Categorical(["no", "yes", "perhaps"]))
    for schema, why in (
        (other, "otherwise"),
        (dc.Schema(a=YES_NO, z=YES_NO), 'no column "z"'),
        (SCHEMA.select(["b", "a"]), "another sequence"),
        (SCHEMA.select(["a"]), "two columns"),
    ):
        with pytest.raises(dc.InputError, match=why):
            made().plan_for(schema, 1000)


def test_levels_that_noise_leaves_no_room_for_are_named() -> None:
    wide = dc.Schema({**SCHEMA, "many": dc.Categorical(range(40))})
    assert set(dc.protocol(wide, [500], 0.5, 1e-6).crowded) == {"many"}
    assert made().crowded == {}


def test_only_levels_with_an_order_are_merged() -> None:
    """Their neighbours are known; which of the others may be merged their names alone say."""
    grades, names = dc.Categorical(range(9), ordered=True), dc.Categorical(range(9))
    both = dc.Schema({**dict.fromkeys("abcde", grades), **dict.fromkeys("fghijk", names)})
    once, twice = (dc.protocol(both, [1000], 1.0, 1e-6, rounds=rounds) for rounds in (1, 2))
    assert set(twice.crowded) == set(both)
    assert (once.to_merge, list(twice.to_merge)) == ({}, list("abcde"))
    assert "--rounds 2" in str(once)
    assert "Declare fewer levels" in str(twice)
    assert "a (" not in str(twice)
    second = twice.for_common({name: np.arange(1.0, 10.0) for name in both}, ["north"])
    assert [name for name, _ in second.groups] == list("abcde")
    for _, groups in second.groups:
        assert list(groups) == sorted(groups)
    alone = dc.protocol(dc.Schema(dict.fromkeys("abcdefghijk", names)), [1000], 1.0, 1e-6, rounds=2)
    assert not alone.levels_first
    assert "--rounds 2" not in str(alone)


def test_two_rounds_share_the_budget() -> None:
    wide = dc.Schema(dict.fromkeys("abcdefghijk", dc.Categorical(range(9), ordered=True)))
    crowded = dc.protocol(wide, [1000], 1.0, 1e-6, rounds=2)
    pure = dc.protocol(SCHEMA, [1000], 1.0, rounds=2)
    for first, levels in ((crowded, True), (made(rounds=2), False), (pure, False)):
        second = first.for_promising(None, ["north"])
        assert (first.of_levels, second.of_levels) == (levels, False)
        plans = [one.plan_for(one.schema, 1000).measurement for one in (first, second)]
        assert [plan.public.epsilon for plan in plans] == [1.0, 1.0]  # one charge
        assert [plan.gaussian for plan in plans] == [first.delta > 0] * 2
        totals = [plan.public.total for plan in plans]
        whole = Filter(1.0, first.delta)
        if first.delta:
            assert sum(total.rho for total in totals) == pytest.approx(whole.rho, rel=1e-14)
        else:
            assert sum(total.epsilon for total in totals) == 1.0


def test_few_columns_have_laplace_noise_in_both_rounds() -> None:
    """With less of it a pair alone is measured so: then both rounds go by epsilon, and no delta is charged."""
    two = dc.Schema(a=YES_NO, b=YES_NO)
    protocols = [dc.protocol(two, [1000], 30.0, 1e-12, rounds=rounds) for rounds in (1, 2)]
    assert not protocols[0].plan_for(two, 1000).measurement.gaussian
    for one in (protocols[1], protocols[1].for_promising(None, ["north"])):
        plan = one.plan_for(two, 1000).measurement
        assert not plan.gaussian
        assert plan.public.delta == 0.0
        assert plan.public.total.epsilon == 15.0


def test_groups_that_are_none_are_refused(tmp_path: Path) -> None:
    wide = dc.Schema({**SCHEMA, "many": dc.Categorical(range(4), ordered=True)})
    first = dc.protocol(wide, [1000], 1.0, 1e-6, rounds=2)
    second = first.for_promising(None, ["north"])
    for which in ((0, 1), (0, 0, 0, 0), (0, 2, 2, 2), (-1, 0, 1, 1)):
        file = replace(second, groups=(("many", which),)).save(tmp_path / "protocol-2.json")
        with pytest.raises(dc.InputError, match="damaged or was changed"):
            load_protocol(file)
    assert load_protocol(
        replace(second, groups=(("many", (0, 1, 1, 0)),)).save(tmp_path / "good.json")
    ).groups
