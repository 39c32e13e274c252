"""What the console shows of a result: edges with their confidence, what marks mean, and counts that agree."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
import tempfile
from collections import Counter
from io import StringIO
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.spelling import for_command_line
from dpcausal.core.statement import PersonRows
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.evidence import Evidence
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult, OpenBecause, OpenWhy, PairState
from dpcausal.discovery.result import replaced as replace
from dpcausal.discovery.search import (
    CoarseEdges,
    JointTableMeasured,
    MergedLevels,
    MethodByCall,
    OpenReason,
    ScoredGraphs,
    SharedMissing,
    TablesMeasured,
    unanswered,
)
from dpcausal.networks import clinic
from dpcausal.present.files import pairs_csv
from dpcausal.present.graph_words import (
    NOTHING_HELD_SENTENCE,
    PAIRS_SHOWN,
    PUBLISHED,
    absent_means,
    again_line,
    arrows_mean,
    edge_table,
    fits_words,
    joined_words,
    legend,
    merged_line,
    open_line,
    sure_line,
    tiers_words,
    why_open_words,
)
from dpcausal.present.notes import method_words, note_words
from dpcausal.present.page import TableOfPairs, pairs_mean, render
from dpcausal.present.paper import conclusion, evidence, methods_paragraph
from dpcausal.present.statement import fact_words
from dpcausal.present.tables import (
    NONE_TO_HOLD,
    NOTHING_HELD_MEANS,
    ONE_LEVEL_ONLY,
    WHY_OPEN,
    EdgeFact,
    EdgeNotes,
    absent_rows,
    edge_rows,
    merged_pair_words,
    merged_unordered,
    pair_rows,
)
from dpcausal.present.text import as_sentence

HIDES_MEDIUM, GRAPH_LACKS = WHY_OPEN[OpenBecause.HIDES_MEDIUM], WHY_OPEN[OpenBecause.BEST_GRAPH_LACKS]

NAMES = ["a", "b", "long_name"]


def facts(result: DiscoveryResult) -> list[set[EdgeFact]]:
    """What must be known of each edge."""
    return [{*row.facts} for row in edge_rows(result)]


@pytest.fixture(scope="module")
def result() -> DiscoveryResult:
    """A graph made by hand in the shell of a real result."""
    found = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0)
    graph = dc.Graph(NAMES, directed=[("a", "b")], undirected=[("b", "long_name")])
    return replace(
        found,
        graph=graph,
        open=frozenset(),
        given_up_to={},
        conflicts=frozenset(),
        confidence=None,
        held=None,
        separating={},
        evidence={},
    )


AB, BL = frozenset("ab"), frozenset(("b", "long_name"))


def test_without_confidence_there_are_edges_and_a_legend(result: DiscoveryResult) -> None:
    assert result.edge_lines() == [*edge_table(result), *legend(result)]
    assert facts(result) == [set(), {EdgeFact.UNDECIDED}]
    assert arrows_mean(result) in legend(result)
    many = [f"c{i}" for i in range(11)]
    (line,) = replace(result, graph=dc.Graph(many)).edge_lines()
    assert line.endswith(f": {', '.join(many)})")
    plain = replace(result, graph=dc.Graph(NAMES, undirected=[("b", "long_name")]))
    assert len(legend(plain)) == 1  # no word of arrows that are not there
    assert arrows_mean(plain) == ""


def test_confidence_stands_beside_each_edge_and_is_explained(result: DiscoveryResult) -> None:
    sure = replace(result, confidence={frozenset("ab"): 1.0, frozenset(("b", "long_name")): 0.45})
    wanted = [*edge_table(sure), *legend(sure), sure_line(sure), again_line(sure)]
    assert [row.again for row in edge_rows(sure)] == ["95% or more", "less than half"]
    assert facts(sure) == [set(), {EdgeFact.UNDECIDED, EdgeFact.HINT}]
    assert sure.edge_lines() == wanted
    assert "\n".join(wanted) in sure.summary(full=True)
    assert sure.to_dict()["confidence"][0] == {"pair": ["a", "b"], "found_again": 1.0}


def test_a_required_edge_has_no_confidence(result: DiscoveryResult) -> None:
    known = Knowledge.of(NAMES, required=[("a", "b")])
    sure = replace(
        result, confidence={frozenset("ab"): 1.0, frozenset(("b", "long_name")): 0.45}, known=known
    )
    first, second = edge_rows(sure)
    assert {*first.facts} == {EdgeFact.EDGE_DECLARED, EdgeFact.DIRECTION_DECLARED}
    assert first.found_again is None
    assert "%" not in sure.edge_lines()[1]
    assert (second.found_again, {*second.facts}) == (0.45, {EdgeFact.UNDECIDED, EdgeFact.HINT})


def test_all_the_words_say_of_an_edge_what_the_table_says(result: DiscoveryResult) -> None:
    known = Knowledge.of(NAMES, tiers=[["a"], ["b"]])
    missing = SharedMissing(pairs=(("a", "b"),))
    told = replace(result, known=known, notes=(missing,))
    row = edge_rows(told)[0]
    assert {*row.facts} == {EdgeFact.DIRECTION_DECLARED, EdgeFact.SHARED_MISSING}
    assert told.edge_lines()[1] == f"  a -> b         {row.note}"
    assert f"  a -> b         {row.note}" in told.summary()
    half = replace(told, graph=dc.Graph(NAMES, directed=[("a", "b"), ("long_name", "b")]))
    assert ["in every graph" in arrows_mean(one) for one in (result, told, half)] == [True, False, True]
    assert ["eclared" in arrows_mean(one) for one in (result, told, half)] == [False, True, True]


def test_every_method_is_explained(result: DiscoveryResult) -> None:
    asked = MethodByCall("as-asked")
    for name, method in METHODS.items():
        told = replace(result, method=name, reason=asked).summary(full=True).splitlines()[0]
        assert told.endswith(f"(method {name}, as asked: {method.description})")
    assert method_words("measured", "chosen because x").endswith(METHODS["measured"].description)


def test_printing_shows_edges_one_per_line(result: DiscoveryResult) -> None:
    assert str(result) == result.summary()
    assert str(dc.Graph([*NAMES, "d"], directed=[("a", "b")], undirected=[("b", "long_name")])) == (
        "a -> b\nb - long_name\nd (no edge)"
    )


@pytest.mark.parametrize(
    ("relation", "rows"), [("replace-one", ""), ("add-remove", "the number of rows and ")]
)
def test_measured_tables_are_counted_once(relation: str, rows: str) -> None:
    """Ten columns and 45 pairs are always measured; the number of rows is no table of columns."""
    data = clinic.sample(200, seed=1)
    found = dc.discover(
        data, epsilon=1.0, delta=1e-6, method="measured", max_order=1, neighbours=relation, anyway=True
    )
    measured = found.notes[0]
    assert isinstance(measured, TablesMeasured)
    assert (measured.singles, measured.pairs, measured.larger) == (10, 45, 0)
    assert measured.rows_measured == bool(rows)
    assert "(10 single, 45 pairs)" in note_words(measured)
    assert (rows in note_words(measured)) == bool(rows) or not rows
    charged = len(found.privacy.events)
    assert f"Cost: {charged} noisy steps, " in found.summary(full=True)
    assert (measured.mean_cell is None) == bool(rows)  # the number of rows is public only there
    assert charged == len(found.privacy.released)
    labels = [event["label"] for event in found.privacy.events]
    rounds = ["promising pairs, round 1", "promising pairs, round 2"]
    first = [] if relation == "replace-one" else ["number of rows"]
    assert labels == [*first, "how common levels are", "single columns", "pairs of columns", *rounds]


def test_an_edge_says_up_to_how_many_columns_it_was_asked_about(result: DiscoveryResult) -> None:
    left = replace(result, given_up_to={AB: 0, BL: 1}, confidence={AB: 1.0, BL: 0.45})
    assert facts(left) == [
        {EdgeFact.NOTHING_HELD},
        {EdgeFact.UNDECIDED, EdgeFact.TESTED_UP_TO, EdgeFact.HINT},
    ]
    assert "up to 1 column " in edge_rows(left)[1].note
    assert len(legend(left)) == len(legend(replace(left, given_up_to={}))) + 2  # what both mean
    assert NOTHING_HELD_SENTENCE in legend(left)
    assert left.unsure_arrows == {("a", "b")}
    assert left.to_dict()["unsure_arrows"] == [["a", "b"]]
    assert left.to_dict()["given_up_to"][0] == {"pair": ["a", "b"], "columns": 0}
    told = replace(left, known=Knowledge.of(NAMES, tiers=[["a"], ["b"]]))
    assert told.unsure_arrows == frozenset()


def test_open_pairs_are_counted_named_and_listed(result: DiscoveryResult) -> None:
    names = [*NAMES, *"cdefg"]
    graph = dc.Graph(names, directed=[("a", "b")], undirected=[("b", "long_name")])
    pairs = [("f", "g"), ("a", "long_name"), *((x, y) for x in "cd" for y in "efg")]
    left = replace(result, graph=graph, open=frozenset(map(frozenset, pairs)))
    lines = left.summary(full=True).splitlines()
    assert lines[0].startswith("2 edges found ")
    (told,) = (line for line in lines if line.startswith("Open: "))
    assert told == open_line(left, every=True)
    assert told.count(" ? ") == 8  # all of them: whoever asks for everything gets it
    assert "%" not in told
    assert ": a ? long_name, c ? e" in open_line(left)  # near an edge first
    assert f" and {8 - PAIRS_SHOWN} more " in open_line(left)
    assert "f ? g" not in open_line(left)
    assert not any(line.startswith("Open: ") for line in result.summary(full=True).splitlines())
    found = json.loads(left.to_json())
    assert found["open"] == sorted(sorted(pair) for pair in pairs)
    assert found["facts"]["pairs"] == {"found": 2, "hints": 0, "absent": 18, "open": 8}
    assert "8 pairs open" in repr(left)


def test_a_pair_has_one_of_three_states(result: DiscoveryResult) -> None:
    names = [*NAMES, "d"]
    graph = dc.Graph(names, directed=[("a", "b")])
    left = replace(result, graph=graph, open=frozenset([frozenset("ad")]))
    assert [left.state(*pair) for pair in (("b", "a"), ("d", "a"), ("b", "d"))] == ["found", "open", "absent"]
    assert Counter(left.states.values()) == {"found": 1, "open": 1, "absent": 4}
    assert {pair for pair, state in left.states.items() if state is PairState.ABSENT} == left.absent
    with pytest.raises(dc.InputError, match='no node "z"'):
        left.state("a", "z")
    with pytest.raises(dc.InputError, match="itself"):
        left.state("a", "a")


def test_a_missing_edge_is_no_independence(result: DiscoveryResult) -> None:
    assert absent_means(result) in result.summary(full=True)
    assert "single test" not in absent_means(
        result
    )  # it finds no more than the graph where its noise is larger
    full = replace(
        result, graph=dc.Graph(NAMES, undirected=[("a", "b"), ("b", "long_name"), ("a", "long_name")])
    )
    assert absent_means(full) == ""
    assert absent_means(replace(result, open=frozenset([frozenset(("a", "long_name"))]))) == ""
    forbidden = Knowledge.of(NAMES, forbidden=[{"a", "long_name"}])
    assert absent_means(replace(result, known=forbidden)) == ""  # the other two are there
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert "with this many rows" in absent_means(exact)
    assert "ci_test" not in exact.summary(full=True)


def test_arrows_without_an_order_of_time_are_told_to_be_unsure(result: DiscoveryResult) -> None:
    assert tiers_words(result) in result.summary(full=True)
    assert "back in time" in tiers_words(result)
    for quiet in (
        replace(result, graph=dc.Graph(NAMES, undirected=[("a", "b")])),
        replace(result, known=Knowledge.of(NAMES, tiers=[["a"], ["b"]])),
        replace(result, known=Knowledge.of(NAMES, required=[("a", "b")])),
    ):
        assert tiers_words(quiet) == ""


def test_the_legend_claims_no_more_than_the_method_does(result: DiscoveryResult) -> None:
    both = dc.Graph(NAMES, directed=[("a", "b"), ("long_name", "b")])
    odd = replace(result, graph=both, conflicts=frozenset([AB]))
    (arrows,) = legend(
        replace(odd, settled=True)
    )  # no word on plain edges: the one plain edge is contradicted
    assert fits_words(replace(odd, settled=True)) in arrows
    (told,) = legend(replace(odd, settled=False))
    assert "no graph fits" in told
    assert "in every graph" not in told


def test_repeats_are_counted_and_a_weak_edge_called_a_hint(result: DiscoveryResult) -> None:
    sure = replace(result, confidence={AB: 1.0, BL: 0.45}, repeats=20)
    assert again_line(sure) in sure.summary(full=True)
    assert again_line(sure).startswith("Less than half: ")
    assert sure.to_dict()["confidence_repeats"] == 20
    found = dc.discover(
        dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0, method="measured", confidence=3
    )
    assert found.repeats == 3


def test_pairs_stand_in_the_order_of_columns(result: DiscoveryResult) -> None:
    names = ["z", "b", "a"]
    graph = dc.Graph(names, undirected=[("b", "z"), ("a", "z")])
    left = replace(result, graph=graph, open=frozenset([frozenset("ab")]))
    assert "  z - a" in left.summary(full=True)
    assert "Open: b ? a " in left.summary(full=True)


def test_what_is_given_out_is_told_apart_from_what_was_computed(result: DiscoveryResult) -> None:
    said = result.summary(full=True)
    assert fact_words(result.privacy.released[0]) in said
    assert said.splitlines()[-1] == PUBLISHED
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert "Published" not in exact.summary(full=True)


def test_where_nothing_was_held_fixed_no_link_is_called_direct(result: DiscoveryResult) -> None:
    told = NOTHING_HELD_MEANS
    third = frozenset(("a", "long_name"))
    loose = replace(result, held=frozenset(), open=frozenset([third]))
    assert loose.nothing_held == {AB, BL}  # the open pair may be an edge
    assert loose.none_to_hold == frozenset()
    assert conclusion(loose)[1] == f"2 edges were {told}."
    assert f"2 of 2 edges were {told}." in methods_paragraph(loose)
    assert told in evidence(loose, edge_rows(loose)[0])[0]
    texts = (loose.summary(), loose.summary(full=True), methods_paragraph(loose), " ".join(conclusion(loose)))
    for words in texts:
        assert "directly linked" not in words
        assert "whichever columns" not in words
    assert NOTHING_HELD_SENTENCE in loose.summary(full=True)
    assert replace(loose, held=frozenset([AB, BL])).nothing_held == frozenset()
    some = replace(loose, held=frozenset([BL]))
    assert some.nothing_held == {AB}
    assert conclusion(some)[1] == f"1 edge was {told}."
    assert f"1 of 2 edges was {told}." in methods_paragraph(some)
    required = replace(loose, known=Knowledge.of(NAMES, required=[("a", "b")]))
    assert required.nothing_held == {BL}


def test_a_question_that_decided_nothing_is_not_called_unasked(result: DiscoveryResult) -> None:
    third = frozenset(("a", "long_name"))
    said = {AB: Evidence(("long_name",), None, -0.003), BL: Evidence((), None, 2.5)}
    left = replace(result, held=frozenset(), given_up_to={AB: 0}, open=frozenset([third]), evidence=said)
    rows = {(row["a"], row["b"]): row for row in csv.DictReader(StringIO(pairs_csv(left)))}
    row = rows["a", "b"]
    assert (row["held_fixed"], row["given_up_to"], row["asked_given"]) == ("nothing", "0", "long_name")
    assert row["note"] == EdgeFact.NOTHING_HELD
    other = rows["b", "long_name"]
    assert (other["held_fixed"], other["given_up_to"], other["asked_given"]) == ("nothing", "", "nothing")
    assert other["note"] == f"{EdgeFact.UNDECIDED}; {EdgeFact.NOTHING_HELD}"
    assert rows["a", "long_name"]["held_fixed"] == ""  # open: nothing decided
    held = [line.split() for line in left.summary().splitlines() if line.startswith("  a -> b")]
    assert held == [["a", "->", "b", "nothing"]]
    asked, bare = (evidence(left, row)[0] for row in edge_rows(left))
    assert all(NOTHING_HELD_MEANS in rests for rests in (asked, bare))
    assert ("long_name" in asked, "long_name" in bare) == (True, False)
    table = TableOfPairs(pair_rows(left))
    assert [table.number(row, "bayes") for row in table.rows if row.evidence] == ["0.00", "2.50"]


def test_an_edge_that_was_asked_about_names_what_came_nearest(result: DiscoveryResult) -> None:
    said = {AB: Evidence(("long_name",), None, 3.0)}
    held = replace(result, held=frozenset([AB, BL]), evidence=said)
    near, other = (evidence(held, row) for row in edge_rows(held))
    assert "long_name came nearest" in near[0]
    assert other == []
    assert next(csv.DictReader(StringIO(pairs_csv(held))))["held_fixed"] == "long_name"


def test_the_methods_count_every_edge_about_which_nothing_was_held_fixed(result: DiscoveryResult) -> None:
    some = replace(result, held=frozenset(), given_up_to={AB: 0})
    assert (some.nothing_held, some.none_to_hold) == ({AB}, {BL})
    told = methods_paragraph(some)
    assert f"1 of 2 edges was {NOTHING_HELD_MEANS}. " in told
    assert f"For 1 of 2 edges {NONE_TO_HOLD}." in told


def test_where_no_column_may_explain_an_edge_none_had_to_be_held(result: DiscoveryResult) -> None:
    apart = replace(result, held=frozenset())  # the third pair is absent, so no column is linked to both ends
    assert (apart.nothing_held, apart.none_to_hold) == (frozenset(), {AB, BL})
    assert "2 edges found" in conclusion(apart)[0]
    assert NOTHING_HELD_MEANS not in " ".join(conclusion(apart))
    assert NONE_TO_HOLD in evidence(apart, edge_rows(apart)[0])[0]
    late = replace(
        apart,
        open=frozenset([frozenset(("a", "long_name"))]),
        known=Knowledge.of(NAMES, tiers=[["a", "b"], ["long_name"]]),
    )
    assert late.nothing_held == {BL}  # what comes after both explains nothing
    assert replace(apart, given_up_to={AB: 0}).nothing_held == {AB}
    assert replace(apart, held=None).none_to_hold == frozenset()


def test_a_search_knows_about_which_pairs_something_was_held_fixed() -> None:
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    exact = dc.discover(data, epsilon=None, method="pc")
    assert exact.held is not None
    assert exact.graph.skeleton & exact.held
    for chosen in (exact, dc.discover(data, epsilon=None, method="pc", stable=False)):
        assert {pair for pair, given in chosen.separating.items() if given} <= (chosen.held or set())
    bare = dc.discover(data, epsilon=None, method="pc", max_order=0)
    assert bare.held == frozenset()
    assert bare.nothing_held == bare.graph.skeleton
    with dc.testing.seeded(2):
        for options in ({}, {"target": "Cancer"}):
            found = dc.discover(data, epsilon=2.0, confidence=0, **options)
            assert found.held is not None
            used = {pair for pair, one in found.evidence.items() if one.given}
            assert used <= found.held


def test_a_weak_hint_is_never_said_to_hold_in_every_graph(result: DiscoveryResult) -> None:
    weak = replace(result, confidence={AB: 0.3, BL: 0.9}, repeats=40)
    (row,) = (row for row in edge_rows(weak) if row.edge == "a -> b")
    assert {*row.facts} == {EdgeFact.HINT}
    assert evidence(weak, row) == []
    assert any("not a finding" in line for line in weak.edge_lines())
    assert "(1)" in methods_paragraph(weak)


def test_one_number_is_said_once_and_a_page_names_no_option(result: DiscoveryResult) -> None:
    cells = {"gaussian": False, "cells": 8, "sd": 2.0, "mean_cell": 392.2, "least_cell": 392.0, "enough": 3.0}
    assert note_words(JointTableMeasured(**cells)).endswith(" 390 rows")
    names = [f"m{i}" for i in range(6)]
    schema = dc.Schema(dict.fromkeys(names, dc.Categorical(["x", "y", "z"], ordered=True)))
    columns = tuple((name, 2) for name in names)
    groups = tuple((name, (0, 0, 1)) for name in names)
    notes = (MergedLevels(columns=columns, groups=groups),)
    assert result.release is not None
    kept: Any = SimpleNamespace(schema=schema, privacy=result.privacy, id="r")
    many = replace(result, notes=notes, release=kept)
    assert merged_line(many).count("(x, y | z)") == 6
    assert "|" not in merged_line(many, brief=True)  # levels in an order: which groups follows from the cuts
    long = dc.Categorical(["x" * 40, "y" * 40, "z"], ordered=True)
    wide: Any = SimpleNamespace(schema=dc.Schema(dict.fromkeys(names, long)), privacy=result.privacy, id="r")
    many = replace(many, release=wide)
    assert 'id="groups"' in render(many)
    with for_command_line():  # a paid run is not run again for that
        assert "--full" not in many.summary()
    every = "; ".join(f"{name} to 2 groups ({'x' * 40}, {'y' * 40} | z)" for name in names)
    assert f": {every}." in methods_paragraph(many)


def test_merged_levels_without_an_order_come_first_and_are_remarked_on_at_pairs(
    result: DiscoveryResult,
) -> None:
    """Which arms of a trial were put together is what a reader must know; cut points follow from the schema."""
    numbers = {f"m{i}": dc.Numeric(0, 9, bins=[3, 6]) for i in range(5)}
    arms = ["placebo", "one", "both"]
    schema = dc.Schema({**numbers, "long_name": dc.Categorical(arms)})
    columns = tuple((name, 2) for name in schema)
    groups = tuple((name, (0, 0, 1)) for name in schema)
    notes = (MergedLevels(columns=columns, groups=groups),)
    kept: Any = SimpleNamespace(schema=schema, privacy=result.privacy, id="r")
    apart, left = frozenset(("a", "long_name")), frozenset(("b", "long_name"))
    graph = dc.Graph(NAMES, directed=[("a", "b")])
    merged = replace(result, graph=graph, notes=notes, release=kept, open=frozenset([left]))
    assert merged_line(merged).index("(placebo, one | both)") < merged_line(merged).index("(below 6")
    assert merged_unordered(merged) == ["long_name"]
    said = merged_pair_words(merged, apart)
    assert "long_name" in said
    rows = {frozenset((row["a"], row["b"])): row for row in csv.DictReader(StringIO(pairs_csv(merged)))}
    assert rows[apart]["state"] == "absent"
    assert rows[apart]["note"] == said
    assert rows[left]["note"].endswith(f"; {said}")
    assert said not in rows[frozenset("ab")]["note"]  # an edge was found
    assert "(placebo, one | both)" in merged_line(merged, brief=True)
    assert "(below 6" not in merged_line(merged, brief=True)
    assert said in render(merged)
    (row,) = absent_rows(merged)
    assert (row.a, row.b) == ("a", "long_name")
    assert row.held.endswith(said)
    ordered = dc.Schema({**numbers, "long_name": dc.Categorical(arms, ordered=True)})
    none: Any = SimpleNamespace(schema=ordered, privacy=result.privacy, id="r")
    assert said not in pairs_csv(replace(merged, release=none))


def test_what_a_verdict_rests_on_is_said_as_the_search_decides(result: DiscoveryResult) -> None:
    """Most pairs never had an edge that could have been removed: absent needs odds and a test that could tell."""
    some = replace(result, evidence={frozenset("ab"): Evidence((), log10_bayes=-1.0)})
    said = " ".join(pairs_mean(some))
    assert "100 to 1" in said
    assert "100 to 1" not in " ".join(pairs_mean(result))
    assert "best whole graph" not in " ".join(pairs_mean(replace(some, notes=())))
    assert "best whole graph" in " ".join(pairs_mean(replace(some, notes=(ScoredGraphs(edges=1),))))


def test_an_edge_of_two_columns_with_a_level_for_missing_values_says_so(result: DiscoveryResult) -> None:
    both = replace(result, notes=(SharedMissing(pairs=(("a", "b"),)),))
    said = EdgeFact.SHARED_MISSING
    (row,) = (row for row in csv.DictReader(StringIO(pairs_csv(both))) if (row["a"], row["b"]) == ("a", "b"))
    assert row["note"].endswith(said)
    (line,) = (line for line in both.summary().splitlines() if line.startswith("  a -> b"))
    assert line.endswith(said)
    assert said in EdgeNotes.of(both).sentence("a", "b", True)
    assert said in render(both)
    assert said not in pairs_csv(result)
    told = as_sentence(note_words(both.notes[0]))
    assert "a - b" in told
    assert conclusion(both)[1] == told
    assert told in methods_paragraph(both)
    assert told not in " ".join([*conclusion(result), methods_paragraph(result)])


def test_a_pair_that_is_absent_though_a_path_joins_it_is_explained(result: DiscoveryResult) -> None:
    """a -> b - long_name, and a and long_name apart with nothing held fixed: b is no collider."""
    apart = frozenset(("a", "long_name"))
    bare = replace(result, separating={apart: ()})
    assert bare.joined_absent == [("a", "long_name", "b")]
    said = joined_words(bare)
    assert ": a - long_name (through b). " in said
    assert said in bare.summary(full=True).splitlines()
    assert said not in bare.summary()
    assert said in render(bare)
    for other in (
        replace(result, separating={apart: ("b",)}),  # b explains it
        replace(bare, graph=dc.Graph(NAMES, directed=[("a", "b"), ("long_name", "b")])),  # a collider
        replace(bare, graph=dc.Graph(NAMES, directed=[("a", "b")])),
        replace(bare, conflicts=frozenset([AB])),  # b may be a collider
        replace(bare, known=Knowledge(forbidden=frozenset([apart]))),  # declared
    ):
        assert joined_words(other) == ""
    assert joined_words(result) == ""


def test_a_common_effect_is_not_offered_where_the_declared_order_excludes_it(result: DiscoveryResult) -> None:
    apart = frozenset(("a", "long_name"))
    bare = replace(result, separating={apart: ()})
    assert joined_words(bare).endswith("; or the column between is a common effect after all.")
    first = Knowledge.of(NAMES, tiers=[["b"], ["a", "long_name"]])
    graph = dc.Graph(NAMES, directed=[("b", "a"), ("b", "long_name")])
    said = joined_words(replace(bare, graph=graph, known=first))
    assert "(through b)" in said
    assert "common effect" not in said
    assert said.endswith("may be too weak to show; or paths may cancel.")


def test_persons_are_counted_as_persons_with_which_of_their_rows(result: DiscoveryResult) -> None:
    assert " (500 rows) " in methods_paragraph(result)
    assert "<dt>Rows</dt><dd>500</dd>" in render(result)
    persons = replace(result, privacy=dataclasses.replace(result.privacy, unit=PersonRows()))
    said = methods_paragraph(persons)
    assert "(500 persons; of the rows of a person one of them is used, drawn by chance)" in said
    assert "500 rows" not in said
    assert "<dt>Persons</dt><dd>500</dd>" in render(persons)
    two = replace(result, privacy=dataclasses.replace(result.privacy, unit=PersonRows(2)))
    assert "(500 rows; of the rows of a person at most 2 of them are used" in methods_paragraph(two)


def test_a_share_that_was_kept_and_not_spent_is_said(result: DiscoveryResult) -> None:
    assert "kept for effects" not in methods_paragraph(result)
    for left, said in ((1.0, "none of it had been spent"), (0.5, "50% of it had been spent"), (0.0, "")):
        kept: Any = SimpleNamespace(share=0.3, left=left)
        words = methods_paragraph(replace(result, reserve=kept))
        assert ("of which 30% was kept for effects" in words) == bool(said)
        assert said in words


def test_what_was_declared_after_a_release_is_not_said_to_be_prior_knowledge(result: DiscoveryResult) -> None:
    before = Knowledge.of(NAMES, tiers=[["a"], ["b", "long_name"]])
    after = Knowledge.of(NAMES, tiers=[["a"], ["b", "long_name"]], forbidden=[{"a", "long_name"}])
    told = replace(result, known=after, known_before=before)
    for words in (methods_paragraph(told), told.summary(full=True), render(told)):
        first, _, then = words.partition("Declared instead for this search, after the release")
        assert "Declared beforehand: in order of time a, then b, long_name." in first
        assert "forbidden a - long_name" not in first
        assert (
            "which is no prior knowledge: in order of time a, then b, long_name; forbidden a - long_name."
            in then
        )
    assert "prior knowledge" not in methods_paragraph(replace(result, known=after))


def test_a_search_of_a_release_remembers_what_was_declared_before_it() -> None:
    release = dc.discover(
        dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0, forbidden=[{"Pollution", "Smoker"}]
    ).release
    assert release is not None
    assert release.discover(confidence=0).known_before is None
    again = release.discover(confidence=0, forbidden=[{"Xray", "Dyspnoea"}])
    assert again.known_before == release.known
    assert again.known.forbidden == {frozenset({"Xray", "Dyspnoea"})}
    assert again.release is not None
    with tempfile.TemporaryDirectory() as folder:
        later = dc.load_release(again.release.save(f"{folder}/release.json"))
    assert (later.known, later.known_before) == (again.known, release.known)
    assert later.discover(confidence=0).known_before == release.known  # of the third search, too
    assert later.discover(confidence=0, forbidden=[{"Pollution", "Smoker"}]).known_before is None


def test_columns_with_one_level_are_named_and_not_counted() -> None:
    schema = dc.Schema({**dict.fromkeys("abc", dc.Categorical(["x", "y"])), "one": dc.Categorical(["x"])})
    rng = np.random.default_rng(1)
    codes = {name: rng.integers(0, schema[name].size, 2000).astype(np.uint8) for name in schema}
    found = dc.discover(dc.Dataset(schema, 2000, codes), epsilon=5.0)
    text, full = found.summary(), found.summary(full=True)
    assert len(found.not_shown) == 3 - len(found.graph.skeleton)
    assert "among 3 columns" in text
    assert f"({ONE_LEVEL_ONLY}: one)" in text
    assert "- one" not in text + full
    assert f"  ({ONE_LEVEL_ONLY}: one)" in full
    assert re.search("(over|among) 3 columns", methods_paragraph(found))
    assert " among 3 columns" in conclusion(found)[0]
    rows = list(csv.DictReader(StringIO(pairs_csv(found))))
    assert {row["note"] for row in rows if row["b"] == "one"} == {ONE_LEVEL_ONLY}


def test_why_a_pair_is_open_is_said_where_it_is_known(result: DiscoveryResult) -> None:
    hidden = replace(
        result,
        method="measured",
        graph=dc.Graph(NAMES),
        open=frozenset([AB, BL, frozenset(("a", "long_name"))]),
        evidence={AB: Evidence((), log10_bayes=-0.1), BL: Evidence(("a",), log10_bayes=9.0)},
    )
    by_pair = {
        frozenset((row["a"], row["b"])): row["note"] for row in csv.DictReader(StringIO(pairs_csv(hidden)))
    }
    assert by_pair[AB] == by_pair[frozenset(("a", "long_name"))] == HIDES_MEDIUM
    assert by_pair[BL] == GRAPH_LACKS  # what was seen makes an edge
    said = f"Why open: {HIDES_MEDIUM} (2 pairs); {GRAPH_LACKS} (1 pair)."
    assert said in hidden.summary(full=True).splitlines()
    assert f" {said}</p>" in render(hidden)
    assert render(hidden).count(f"<td>{GRAPH_LACKS}</td>") == 1
    given = replace(hidden, evidence={AB: Evidence(("long_name",), log10_bayes=-0.1)})
    assert f"{HIDES_MEDIUM} given long_name" in pairs_csv(given)
    assert why_open_words(given) == f"Why open: {HIDES_MEDIUM}."
    tables = replace(hidden, evidence={AB: Evidence(("long_name",), pvalue=1e-9)})
    assert tables.why_open(AB) == OpenWhy((OpenBecause.BEST_GRAPH_LACKS,))
    other = replace(hidden, method="svt-pc", notes=())
    assert why_open_words(other) == ""
    reasons = Counter({OpenReason.NOISE: 2, OpenReason.NOT_MEASURED: 1})
    assert why_open_words(replace(other, notes=(unanswered(reasons),))) == "Why open: noise or not measured."
    assert why_open_words(result) == ""


def test_every_reason_has_a_short_word() -> None:
    assert set(WHY_OPEN) == {*OpenReason, *OpenBecause}


def test_pairs_say_that_an_edge_may_come_from_a_column_held_fixed_coarsely(result: DiscoveryResult) -> None:
    note = CoarseEdges("held-coarsely", (("a", "b", ("long_name",)),))
    rows = list(csv.DictReader(StringIO(pairs_csv(replace(result, notes=(note,))))))
    assert rows[0]["note"] == EdgeFact.HELD_COARSELY.format(columns="long_name")
    assert list(rows[0])[-1] == "note"
    assert rows[2]["note"] == EdgeFact.UNDECIDED
