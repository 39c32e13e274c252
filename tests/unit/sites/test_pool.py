"""Contributions become one ordinary result; what can't be combined is refused in a line that names both sites."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import (
    Composition,
    DeltaNotNeeded,
    Known,
    MeasuredTables,
    OfSites,
    PersonsOfSites,
    PrivacyStatement,
    RoundOfTwo,
    SitesPooled,
    WholeUnit,
)
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.measured.tables import Components
from dpcausal.discovery.search import SitesDiffer, SitesMeasured
from dpcausal.sites.levels import merged
from dpcausal.sites.pool import next_protocol, pooled_release
from dpcausal.sites.protocol import load_protocol
from dpcausal.stats.components import interaction

Given = Callable[..., list[dc.Contribution]]
Sites = Callable[..., dc.Dataset]
CHAIN = {frozenset("ab"), frozenset("bc")}
FOUR = dc.Categorical(["0", "1", "2", "3"], ordered=True)
GRADES = dc.Schema({**dict.fromkeys("abc", FOUR), "d": dc.Categorical(["no", "yes"]), "e": dc.Numeric(0, 4)})


def grades(site: int, rows: int = 600) -> dc.Dataset:
    """A chain of three graded columns, and two alone."""
    rng = np.random.default_rng(site)
    codes = {name: rng.choice(4, rows, p=[0.5, 0.25, 0.15, 0.1]) for name in "abce"}
    codes["b"] = np.where(rng.random(rows) < 0.1, codes["b"], codes["a"])
    codes["c"] = np.where(rng.random(rows) < 0.1, codes["c"], codes["b"])
    return dc.Dataset(GRADES, rows, {**codes, "d": rng.integers(0, 2, rows)})


def test_three_sites_give_an_ordinary_result(contribute: Given, tmp_path: Path) -> None:
    result = dc.pool([one.save(tmp_path / one.site) for one in contribute()])
    assert result.graph.skeleton >= CHAIN
    every = {frozenset((x, y)) for i, x in enumerate("abcdef") for y in "abcdef"[:i]}
    assert set(result.detectable) == every - CHAIN
    assert result.open <= every - CHAIN
    assert all(0.0 <= result.confidence[pair] <= 1.0 for pair in CHAIN)  # type: ignore[index]
    assert result.direction["a", "b"] + result.direction["b", "a"] == pytest.approx(1.0)
    (note,) = (one for one in result.notes if isinstance(one, SitesMeasured))
    assert [(name, rows) for name, rows, *_ in note.sites] == [
        (n, 2000.0) for n in ("east", "north", "south")
    ]
    report = Path(result.report(tmp_path / "report.html")).read_text()
    assert all(name in report for name in ("east", "north", "south"))


def test_sequence_and_form_of_contributions_do_not_matter(contribute: Given, tmp_path: Path) -> None:
    given = contribute()
    first = pooled_release(given)
    again = pooled_release([given[2], given[0].save(tmp_path / "east"), given[1]])
    assert again.id == first.id


def test_what_was_pooled_can_be_searched_again_from_its_file(contribute: Given, tmp_path: Path) -> None:
    release = pooled_release(contribute())
    read = dc.load_release(release.save(tmp_path / "release.json"))
    assert read.id == release.id
    first, later = read.discover(confidence=0), read.discover(confidence=0, tiers=[["c"], ["b"], ["a"]])
    assert first.graph == release.discover(confidence=0).graph
    assert {("c", "b"), ("b", "a")} <= later.graph.directed
    assert later.privacy.epsilon == release.privacy.epsilon


def test_effects_are_taken_within_sites(contribute: Given) -> None:
    """Sites differ in how common "yes" is; inside each, b is a with probability .7, and else as common as elsewhere."""
    found = dc.pool(contribute(), confidence=0).effect("a", "b", adjust=[], anyway=True)
    assert found.interval[0] <= 0.7 <= found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.2


def test_a_random_split_without_noise_gives_the_graph_of_all_rows() -> None:
    rng = np.random.default_rng(3)
    data = dc.networks.load("cancer").sample(30_000, seed=3)
    part = rng.integers(0, 3, data.n)
    protocol = dc.protocol(data.schema, [10_000] * 3, 1e5)
    given = []
    for site in range(3):
        codes = {name: data.codes[name][part == site] for name in data.schema}
        rows = dc.Dataset(data.schema, int((part == site).sum()), codes)
        given.append(dc.contribute(rows, protocol, f"site {site}"))
    whole = dc.contribute(data, protocol, "whole")
    pooled, alone = (dc.pool(one, confidence=0) for one in (given, [whole]))
    assert pooled.graph.skeleton == alone.graph.skeleton
    evidence = [
        one.values.contrasts().pair_evidence[np.triu_indices(len(data.schema), 1)]
        for one in (pooled_release(given), pooled_release([whole]))
        if isinstance(one.values, Measurements)
    ]
    # between sites of a random split there is nothing but sampling: a few entries out of N
    np.testing.assert_allclose(evidence[0], evidence[1], rtol=0.02, atol=2.0)


# ---- the promise


def test_each_person_in_one_site_is_protected_as_by_the_weakest(site: Sites) -> None:
    protocol = dc.protocol(site(0).schema, [2000, 2000], 1.0, 1e-6)
    given = [
        dc.contribute(site(0), protocol, "east"),
        dc.contribute(site(1), protocol, "north", epsilon=0.5, delta=1e-7),
    ]
    assert (given[1].privacy.epsilon or 9.0) <= 0.5
    statement = dc.pool(given, confidence=0).privacy
    assert statement.private
    assert (statement.epsilon, statement.delta) == (given[0].privacy.epsilon, given[0].privacy.delta)
    assert statement.composition is Composition.PARALLEL_SITES
    assert PersonsOfSites("one-site") in statement.public
    (told,) = (fact for fact in statement.released if isinstance(fact, SitesPooled))
    assert [(name, ids) for name, _, _, ids in told.sites] == [(one.site, (one.release.id,)) for one in given]
    assert {event["label"].split(":")[0] for event in statement.events} == {"east", "north"}


def test_persons_in_several_sites_pay_the_sum(site: Sites) -> None:
    protocol = dc.protocol(site(0).schema, [2000, 2000], 1.0, 1e-6, persons="several-sites")
    given = [dc.contribute(site(i), protocol, name) for i, name in enumerate(("east", "north"))]
    statement = dc.pool(given, confidence=0).privacy
    assert statement.epsilon == pytest.approx(sum(one.privacy.epsilon or 0 for one in given))
    assert statement.delta == pytest.approx(sum(one.privacy.delta or 0 for one in given))
    assert statement.composition is Composition.SUM_OF_SITES


def test_other_neighbours_and_other_noise_are_combined(site: Sites) -> None:
    """Laplace and add-remove here, Gaussian and replace-one there."""
    protocol = dc.protocol(site(0).schema, [2000, 2000], 2.0, 1e-6)
    given = [
        dc.contribute(site(0), protocol, "east"),
        dc.contribute(site(1), protocol, "north", epsilon=1.5, delta=0.0, neighbours="add-remove"),
    ]
    assert [one.values.plan.gaussian for one in given] == [True, False]
    result = dc.pool(given, confidence=0)
    assert frozenset("ab") in result.graph.skeleton
    assert result.privacy.neighbours is Neighbours.REPLACE_ONE
    assert given[1].privacy.epsilon is not None
    # one row replaced is one removed and one added
    both = dc.pool([given[0], given[1]], confidence=0).privacy
    assert both.epsilon == max(given[0].privacy.epsilon or 0, 2 * given[1].privacy.epsilon)
    alone = dc.pool([given[1]], confidence=0).privacy
    assert (alone.epsilon, alone.neighbours) == (given[1].privacy.epsilon, Neighbours.ADD_REMOVE)


def test_what_is_public_of_some_sites_alone_names_them(site: Sites) -> None:
    """A round that one site left out, a number of rows that one protects, a delta that one did not need."""
    first = dc.protocol(site(0).schema, [2000, 2000], 2.0, 1e-6, rounds=2)
    given = [
        dc.contribute(site(0), first, "east"),
        dc.contribute(site(1), first, "north", neighbours="add-remove"),
    ]
    second = next_protocol(given)
    assert second is not None
    given.append(dc.contribute(site(0), second, "east", rest_of=given[0]))
    statement = dc.pool(given, confidence=0).privacy
    part = {number: RoundOfTwo(number, 0.5, in_ledger=False) for number in (1, 2)}
    assert part[1] in statement.public
    assert OfSites(("east",), part[2]) in statement.public
    assert OfSites(("east",), Known("rows")) in statement.public
    assert OfSites(("north",), Known("not-empty")) in statement.public
    assert not {part[2], Known("rows"), Known("not-empty")} & set(statement.public)
    tables = {fact.what for fact in statement.released if isinstance(fact, MeasuredTables)}
    assert {"pairs of columns of east", "number of rows of north"} <= tables
    assert PrivacyStatement.from_json(statement.to_json()) == statement


def test_a_delta_that_one_site_did_not_need_was_needed_by_another(site: Sites) -> None:
    protocol = dc.protocol(site(0).schema, [2000, 2000], 30.0, 1e-6)
    two = site(1).schema.select(["a", "b"])
    rows = dc.Dataset(two, 2000, {name: site(1).codes[name] for name in two})
    given = [dc.contribute(site(0), protocol, "east"), dc.contribute(rows, protocol, "north")]
    assert [one.privacy.delta for one in given] == [1e-6, 0.0]
    privacy = dc.pool(given, confidence=0).privacy
    assert DeltaNotNeeded(1e-6) in given[1].privacy.public
    assert OfSites(("north",), DeltaNotNeeded(1e-6)) in privacy.public
    assert "none was needed" not in str(privacy)


def test_a_seeded_contribution_is_not_private(contribute: Given) -> None:
    assert not dc.pool(contribute(), confidence=0).privacy.private


# ---- two rounds


def test_a_second_round_sharpens_promising_pairs_and_a_site_may_leave(contribute: Given, site: Sites) -> None:
    first = contribute(rounds=2, delta=0.0)
    protocol = next_protocol(first)
    assert protocol is not None
    assert protocol.pairs is not None
    assert {("a", "b"), ("b", "c")} <= set(protocol.pairs)
    assert protocol.sites == ("east", "north", "south")
    with dc.testing.seeded(3):
        second = [dc.contribute(site(i), protocol, one.site, rest_of=one) for i, one in enumerate(first[:2])]
    assert next_protocol([*first, *second]) is None
    before, after = (pooled_release(given).values for given in (first, [*first, *second]))
    assert isinstance(before, Measurements)
    assert isinstance(after, Measurements)
    assert len(after.tables.sites) == 3  # type: ignore[attr-defined]
    assert after.tables.variance((0, 1)) < before.tables.variance((0, 1))
    assert len(after.rounds) == 2
    result = dc.pool([*first, *second])
    assert result.graph.skeleton >= CHAIN
    assert result.privacy.epsilon == 2.0  # one charge for both rounds


def test_a_first_round_of_single_columns_decides_for_all_sites_which_levels_are_merged(
    tmp_path: Path,
) -> None:
    first = dc.protocol(GRADES, [600] * 3, 1.0, 1e-6, rounds=2)
    assert first.of_levels
    assert set(first.crowded) == {"a", "b", "c", "e"}
    with dc.testing.seeded(5):
        given = [dc.contribute(grades(i), first, name) for i, name in enumerate(("east", "north", "south"))]
        assert all(len(one) < 2 for one in given[0].values.components.values)
        nothing = dc.pool(given)  # no pair was measured, so none is found and none absent
        assert not nothing.graph.skeleton
        assert len(nothing.open) == 10
        protocol = next_protocol(given)
        assert protocol is not None
        assert load_protocol(protocol.save(tmp_path / "protocol-2.json")) == protocol
        assert protocol.pairs is None
        assert [name for name, _ in protocol.groups] == ["a", "b", "c", "e"]
        second = [
            dc.contribute(grades(i), protocol, one.site, rest_of=one) for i, one in enumerate(given[:2])
        ]
    for one in second:
        assert [one.values.groups[j] for j in sorted(one.values.groups)] == [
            which for _, which in protocol.groups
        ]
    values = pooled_release([*given, *second]).values
    assert isinstance(values, Measurements)
    assert values.groups == second[0].values.groups
    # the noise of the merged first round and that of the second, by inverse variance
    assert values.tables.variance((0,)) < sum(one.values.tables.variance((0,)) for one in second) + 1e6
    result = dc.pool([*given, *second])
    assert {frozenset("ab"), frozenset("bc")} <= result.graph.skeleton
    assert (result.privacy.epsilon, result.privacy.delta) == (1.0, 1e-6)  # one charge for both rounds
    with dc.testing.seeded(6):
        south = dc.contribute(grades(2), protocol, "south", rest_of=given[2])
    assert dc.pool([*given, *second, south], confidence=0).graph.nodes == tuple("abcde")


def test_a_site_merges_what_the_protocol_says_whatever_its_rows_look_like() -> None:
    common = {name: np.array([1.0, 1.0, 1.0, 97.0]) for name in "abce"}  # in truth the first level is
    before = dc.protocol(GRADES, [600], 1.0, 1e-6, rounds=2)
    protocol = before.for_common(common, ["east"])
    assert dict(protocol.groups) == dict.fromkeys("abce", (0, 0, 0, 1))
    found = dc.contribute(grades(0), protocol, "east", rest_of=dc.contribute(grades(0), before, "east"))
    assert {j: tuple(which) for j, which in found.values.groups.items()} == dict.fromkeys(
        (0, 1, 2, 4), (0, 0, 0, 1)
    )
    assert found.values.tables.sizes == (2, 2, 2, 2, 2)
    assert "merged" in str(protocol)


def test_the_second_round_alone_is_refused(contribute: Given, site: Sites) -> None:
    protocol = next_protocol(contribute(rounds=2))
    assert protocol is not None
    first = contribute(rounds=2)
    with dc.testing.seeded(4):
        second = dc.contribute(site(0), protocol, "east", rest_of=first[0])
    other = replace(second, release=replace(second.release, rows=1900))
    with pytest.raises(dc.InputError, match="second round alone"):
        dc.pool([second])
    with pytest.raises(dc.InputError, match="east has another number of rows"):
        dc.pool([*first, other])


# ---- sites that differ


def test_a_site_may_lack_columns(contribute: Given, site: Sites) -> None:
    protocol = contribute()[0].protocol
    whole = site(2)
    part = whole.schema.select(list("abc"))
    rows = dc.Dataset(part, whole.n, {name: whole.codes[name] for name in part})
    with dc.testing.seeded(4):
        given = [*contribute()[:2], dc.contribute(rows, protocol, "south")]
    result = dc.pool(given, confidence=0)
    assert result.graph.skeleton >= CHAIN
    (note,) = (one for one in result.notes if isinstance(one, SitesMeasured))
    assert note.sites[2][3] == ("d", "e", "f")


def test_a_site_may_have_merged_levels() -> None:
    """By a schema of its own: what both tell apart is asked about."""
    protocol = dc.protocol(GRADES, [6000] * 2, 5.0, 1e-6)
    few = dc.Categorical(["0", "more"], ordered=True, aliases=dict.fromkeys("123", "more"))
    own = dc.Schema({**GRADES, "a": few, "e": dc.Numeric(0, 4, [2])})
    whole = grades(1, 6000)
    codes = {**whole.codes, "a": np.minimum(whole.codes["a"], 1), "e": whole.codes["e"] // 2}
    given = [
        dc.contribute(grades(0, 6000), protocol, "east"),
        dc.contribute(dc.Dataset(own, 6000, codes), protocol, "north"),
    ]
    values = pooled_release(given).values
    assert isinstance(values, Measurements)
    assert values.groups == {0: (0, 1, 1, 1), 4: (0, 0, 1, 1)}
    assert {frozenset("ab"), frozenset("bc")} <= dc.pool(given, confidence=0).graph.skeleton
    other = dc.Schema({**GRADES, "a": dc.Categorical(["low", "high"], ordered=True)})
    with pytest.raises(dc.InputError, match='declares "a" otherwise'):
        dc.contribute(dc.Dataset(other, 6000, {**codes, "e": whole.codes["e"]}), protocol, "south")
    rest = dc.Categorical(["3", "less"], ordered=True, aliases=dict.fromkeys("012", "less"))
    third = dc.Schema({**GRADES, "a": rest})
    south = dc.Dataset(third, 6000, {**whole.codes, "a": (whole.codes["a"] < 3).astype(int)})
    assert pooled_release([given[0], dc.contribute(south, protocol, "south")]).schema == GRADES
    given = []
    for name, first in (("north", "3"), ("south", "03")):  # 3 against the rest, and 0 and 3 against the rest
        two = dc.Categorical(
            ["in", "out"], aliases={cell: "in" if cell in first else "out" for cell in "0123"}
        )
        cut = np.isin(whole.codes["a"], [int(cell) for cell in first], invert=True).astype(int)
        rows = dc.Dataset(dc.Schema({**GRADES, "a": two}), 6000, {**whole.codes, "a": cut})
        given.append(dc.contribute(rows, protocol, name))
    middle = dc.Categorical(["in", "out"], aliases={"0": "in", "1": "out", "2": "out", "3": "out"})
    rows = dc.Dataset(
        dc.Schema({**GRADES, "a": middle}), 6000, {**whole.codes, "a": np.minimum(whole.codes["a"], 1)}
    )
    with pytest.raises(dc.InputError, match=r'\w+ and \w+ have merged levels of "a" so that none'):
        dc.pool([*given, dc.contribute(rows, protocol, "west")])


def test_merged_tables_have_no_more_noise_than_is_claimed() -> None:
    rng, into = np.random.default_rng(12), {0: (0, 1, 1, 2), 1: (0, 0, 1)}
    sets, variances = ((), (0,), (1,), (0, 1)), (0.0, 30.0, 50.0, 25.0)

    def components(exact: np.ndarray, noisy: bool) -> Components:
        found = Components((4, 3))
        for columns, variance in zip(sets, variances, strict=True):
            table = exact.sum(axis=tuple(axis for axis in (0, 1) if axis not in columns))
            table = table + noisy * rng.normal(0.0, math.sqrt(variance), table.shape)
            found = found.with_measured([(columns, table)], variance)
        return found

    exact = rng.integers(0, 50, (4, 3)).astype(float)
    rows = np.array([exact[0], exact[1] + exact[2], exact[3]])
    coarse = np.stack([rows[:, 0] + rows[:, 1], rows[:, 2]], axis=1)
    for columns, margin in (((0,), coarse.sum(axis=1)), ((1,), coarse.sum(axis=0)), ((0, 1), coarse)):
        value, variance = merged(components(exact, False), columns, into)
        np.testing.assert_allclose(value, interaction(margin), atol=1e-9)
        drawn = [merged(components(exact, True), columns, into)[0].ravel() for _ in range(2000)]
        top = np.linalg.eigvalsh(np.cov(np.array(drawn).T))[-1]
        assert 0.7 * variance < top < 1.15 * variance


def test_a_pair_that_no_site_has_is_open(site: Sites) -> None:
    schema = site(0).schema
    protocol = dc.protocol(schema, [2000, 2000], 5.0, 1e-6)
    given = []
    for i, names in enumerate(("abc", "cdef")):
        rows = dc.Dataset(schema.select(list(names)), 2000, {name: site(i).codes[name] for name in names})
        given.append(dc.contribute(rows, protocol, names))
    result = dc.pool(given, confidence=0)
    assert {frozenset((x, y)) for x in "ab" for y in "def"} <= result.open


def test_a_link_of_one_site_alone_is_reported(site: Sites) -> None:
    protocol = dc.protocol(site(0).schema, [4000, 4000], 8.0, 1e-6)
    rng = np.random.default_rng(5)
    loose = {name: rng.integers(0, 2, 4000) for name in site(0).schema}
    given = [
        dc.contribute(site(0, 4000), protocol, "east"),
        dc.contribute(dc.Dataset(site(0).schema, 4000, loose), protocol, "north"),
    ]
    (note,) = (one for one in dc.pool(given, confidence=0).notes if isinstance(one, SitesDiffer))
    assert {frozenset(pair[:2]) for pair in note.pairs} >= CHAIN


# ---- refusals


def test_mistakes_are_refused_in_one_line_that_names_both_sites(contribute: Given, site: Sites) -> None:
    east, north, _ = contribute()
    other = dc.contribute(site(1), dc.protocol(site(1).schema, [2000], 1.0), "west")
    copied = dc.Contribution("west", east.protocol, east.release)
    person = replace(north.release, privacy=replace(north.privacy, unit=WholeUnit("person")))
    for given, words in (
        ([east, east], ("two folders of east", "same release")),
        ([east, copied], ("east and west", "same release")),
        ([east, other], ("east and west", "different protocols")),
        (
            [east, dc.Contribution("east", north.protocol, north.release)],
            ("two folders of east", "same round"),
        ),
        ([east, dc.Contribution("north", north.protocol, person)], ("east and north", "units")),
    ):
        with pytest.raises(dc.InputError) as refusal:
            dc.pool(given)
        assert all(word in str(refusal.value) for word in words), str(refusal.value)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("given", [[], "folder", [3], None])
def test_what_is_no_list_of_folders_is_refused(given: object) -> None:
    with pytest.raises(dc.InputError):
        dc.pool(given)  # type: ignore[arg-type]


def test_sites_with_strong_effects_on_margins_keep_the_level() -> None:
    """Independent columns in two sites with opposite margins: at most one pair in twenty is found, by chance."""
    schema = dc.Schema({name: dc.Categorical(["no", "yes"]) for name in "abcdef"})
    protocol = dc.protocol(schema, [5000, 5000], 10.0, 1e-6)
    found = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        with dc.testing.seeded(seed):
            given = [
                dc.contribute(
                    dc.Dataset(schema, 5000, {name: (rng.random(5000) < p).astype(int) for name in schema}),
                    protocol,
                    name,
                )
                for name, p in (("low", 0.15), ("high", 0.85))
            ]
        found += len(dc.pool(given, confidence=0).graph.skeleton)
    assert found <= binom.ppf(1 - 1e-6, 8 * math.comb(6, 2), 0.05)
