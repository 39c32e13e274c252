"""The rules for hidden common causes against the definition: the marks that all graphs of a class share."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from types import ModuleType

import pytest

from dpcausal.core.errors import InputError
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.hidden import _claims, _Ends, orient_pag, possible_d_sep
from dpcausal.graphs.pag import PAG, Mark

FOUR, FIVE, SIX = tuple("abcd"), tuple("abcde"), tuple("abcdef")


@cache
def mags() -> ModuleType:
    """The listing of all graphs, beside this file."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("mags", Path(__file__).with_name("mags.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def four() -> list[tuple[frozenset[tuple[Pair, frozenset[str]]], list[dict[tuple[str, str], Mark]]]]:
    """Every class on four nodes, with its members."""
    return list(mags().classes(FOUR).items())


def some_sets(
    model: frozenset[tuple[Pair, frozenset[str]]], draw: random.Random
) -> dict[Pair, frozenset[str]]:
    """One separating set of every pair that has any, whichever."""
    found: dict[Pair, list[frozenset[str]]] = {}
    for pair, given in sorted(model, key=lambda one: (sorted(one[0]), sorted(one[1]))):
        found.setdefault(pair, []).append(given)
    return {pair: draw.choice(sets) for pair, sets in found.items()}


def sampled(
    nodes: tuple[str, ...], edges: tuple[int, int], times: int, seed: int
) -> Iterator[tuple[object, list[object]]]:
    """Classes of random skeletons, with their members."""
    draw = random.Random(seed)
    for _ in range(times):
        pairs = draw.sample(list(combinations(nodes, 2)), draw.randint(*edges))
        found: dict[object, list[object]] = {}
        for marks, model in mags().with_skeleton(nodes, sorted(pairs)):
            found.setdefault(model, []).append(marks)
        yield from found.items()


def test_every_class_of_four_nodes_gets_exactly_the_marks_that_its_graphs_share() -> None:
    """248 classes, 2,492 graphs."""
    draw = random.Random(1)
    assert len(four()) == 248
    for model, members in four():
        wanted = mags().shared(FOUR, members)
        found = orient_pag(Graph(FOUR, undirected=wanted.skeleton), some_sets(model, draw))
        assert found == (wanted, frozenset())


def five_agree(nodes: tuple[str, ...], edges: tuple[int, int], times: int, seed: int) -> int:
    """Compare; return how many classes were."""
    draw, many = random.Random(seed), 0
    for model, members in sampled(nodes, edges, times, seed):
        wanted = mags().shared(nodes, members)
        found = orient_pag(Graph(nodes, undirected=wanted.skeleton), some_sets(model, draw))  # type: ignore[arg-type]
        assert found == (wanted, frozenset())
        many += 1
    return many


def test_classes_of_five_nodes() -> None:
    assert five_agree(FIVE, (4, 6), 2, seed=2) > 10


@pytest.mark.slow
def test_more_classes_of_five_and_six_nodes() -> None:
    assert five_agree(FIVE, (5, 7), 8, seed=3) > 100
    assert five_agree(SIX, (6, 6), 2, seed=4) > 40


def test_an_order_of_time_puts_heads_at_the_later_and_says_nothing_of_the_earlier() -> None:
    """causal-learn's issue 266: tiers make an edge ``a o-> b``, not ``a -> b``: an older hidden cause is possible."""
    pair = Graph(["a", "b"], undirected=[("a", "b")])
    assert orient_pag(pair, {}, heads=[("a", "b")])[0] == PAG(["a", "b"], [("a", "o->", "b")])


def test_with_tiers_exactly_the_marks_that_all_graphs_with_this_order_share() -> None:
    draw = random.Random(5)
    compared = 0
    for model, members in four():
        tier = {name: draw.randint(0, 2) for name in FOUR}
        heads = [(a, b) for a in FOUR for b in FOUR if tier[a] < tier[b]]
        fits = [marks for marks in members if all(marks.get(end, Mark.ARROW) is Mark.ARROW for end in heads)]
        if not fits:
            continue
        wanted = mags().shared(FOUR, fits)
        found = orient_pag(Graph(FOUR, undirected=wanted.skeleton), some_sets(model, draw), heads=heads)
        assert found == (wanted, frozenset()), (wanted, heads)
        compared += 1
    assert compared > 50


def right(found: PAG, truth: dict[tuple[str, str], Mark]) -> bool:
    """Whether every tail and head that is claimed is there."""
    ends = [end for pair in found.skeleton for end in (tuple(pair), tuple(pair)[::-1])]
    return all(found.mark(*end) in (Mark.CIRCLE, truth[end]) for end in ends)  # type: ignore[index, arg-type]


def test_a_declared_arrow_gives_no_wrong_mark() -> None:
    draw = random.Random(6)
    compared = 0
    for model, members in four():
        truth = draw.choice(members)
        arrows = [end for end in truth if truth[end] is Mark.ARROW and truth[end[::-1]] is Mark.TAIL]
        if not arrows:
            continue
        one = draw.choice(arrows)
        edges = {frozenset(end) for end in truth}
        found, conflicts = orient_pag(Graph(FOUR, undirected=edges), some_sets(model, draw), arrows=[one])
        assert one in found.directed
        assert right(found, truth)
        assert not conflicts
        compared += 1
    assert compared > 100


def test_no_mark_depends_on_whether_an_open_pair_is_an_edge() -> None:
    """Some edges of the truth are called open, and so are some pairs without an edge: no mark may be wrong."""
    draw = random.Random(7)
    claimed = 0
    for _ in range(3):
        for model, members in four():
            truth = draw.choice(members)
            edges = sorted({frozenset(end) for end in truth}, key=sorted)
            left = frozenset(pair for pair in map(frozenset, combinations(FOUR, 2)) if draw.random() < 0.25)
            sets = {pair: given for pair, given in some_sets(model, draw).items() if pair not in left}
            kept = [pair for pair in edges if pair not in left]
            found, _ = orient_pag(Graph(FOUR, undirected=kept), sets, possible=left)
            assert right(found, truth), (truth, left, found)
            claimed += sum(found.mark(*end) is not Mark.CIRCLE for pair in kept for end in (tuple(pair),))  # type: ignore[misc]
    assert claimed > 300


def test_open_pairs_taken_for_absent_would_give_wrong_marks() -> None:
    """The check above can fail: without ``possible`` some mark is wrong."""
    draw = random.Random(8)
    wrong = 0
    for _model, members in four():
        truth = draw.choice(members)
        edges = sorted({frozenset(end) for end in truth}, key=sorted)
        if not edges:
            continue
        lost = draw.choice(edges)
        kept = [pair for pair in edges if pair != lost]
        sets = some_sets(_model, draw) | {lost: frozenset()}
        found, _ = orient_pag(Graph(FOUR, undirected=kept), sets)
        wrong += not right(found, truth)
    assert wrong > 20


@pytest.mark.parametrize(
    ("pag", "sets", "rule"),
    [
        (
            # R4: a, b, c, d is discriminating for c; c separates a and d
            [("a", "o->", "b"), ("b", "<-o", "c"), ("b", "->", "d"), ("c", "o->", "d")],
            {frozenset("ad"): ("b", "c"), frozenset("ac"): ()},
            (("d", "c"), Mark.TAIL),
        ),
        (
            [("a", "o->", "b"), ("b", "<-o", "c"), ("b", "->", "d"), ("c", "o-o", "d")],
            {frozenset("ad"): ("b",), frozenset("ac"): ()},
            (("d", "c"), Mark.ARROW),
        ),
        (
            # R9: a o-> d, and a, b, c, d is uncovered and can be directed
            [("a", "o->", "d"), ("a", "o-o", "b"), ("b", "o-o", "c"), ("c", "o->", "d")],
            {frozenset("ac"): ("b",), frozenset("bd"): ("a", "c")},
            (("d", "a"), Mark.TAIL),
        ),
        (
            # R10: a o-> d with two ways on to parents of d that are not adjacent
            [("a", "o->", "d"), ("a", "o-o", "b"), ("a", "o-o", "c"), ("b", "->", "d"), ("c", "->", "d")],
            {frozenset("bc"): ("a",)},
            (("d", "a"), Mark.TAIL),
        ),
    ],
)
def test_a_rule_speaks_where_pairs_are_apart_and_is_silent_where_they_are_open(
    pag: list[tuple[str, str, str]], sets: dict[Pair, tuple[str, ...]], rule: tuple[tuple[str, str], Mark]
) -> None:
    """One rule at a time, on a graph where it applies; each pair it needs apart is then called open."""

    def ends(possible: frozenset[Pair]) -> _Ends:
        graph = PAG(FOUR, pag)
        made = _Ends.of(graph, sets, possible, {})
        made.mark = {(a, b): graph.mark(a, b) for a, b in made.mark}
        return made

    assert rule in _claims(ends(frozenset()))
    needed = {
        frozenset("ad"): rule[0] == ("d", "c"),
        frozenset("ac"): False,
        frozenset("bd"): True,
        frozenset("bc"): True,
    }
    for pair in sets:
        if needed[pair]:
            assert rule not in _claims(ends(frozenset([pair])))


def test_a_contradiction_leaves_circles_and_is_told() -> None:
    """b is said to cause a and to be a collider of a and c."""
    chain = Graph(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    found, conflicts = orient_pag(chain, {frozenset("ac"): ()}, arrows=[("b", "a")])
    assert conflicts == {frozenset("ab")}
    assert found == PAG(["a", "b", "c"], [("b", "->", "a"), ("c", "o->", "b")])


def test_a_cycle_of_circles_is_told() -> None:
    square = Graph(list("abcd"), undirected=map(tuple, ("ab", "bc", "cd", "da")))
    sets = {frozenset("ac"): ("b", "d"), frozenset("bd"): ("a", "c")}
    found, conflicts = orient_pag(square, sets)
    assert found.circles == conflicts == found.skeleton


def test_a_head_at_a_cause_becomes_a_circle() -> None:
    """Declared a -> b -> c, and c before a: only what was declared stays."""
    ring = Graph(list("abc"), undirected=map(tuple, ("ab", "bc", "ca")))
    found, conflicts = orient_pag(ring, {}, arrows=[("a", "b"), ("b", "c")], heads=[("c", "a")])
    assert frozenset("ac") in conflicts
    assert {("a", "b"), ("b", "c")} <= found.directed


def test_no_order_of_nodes_matters() -> None:
    draw = random.Random(9)
    make: Callable[[], list[str]] = lambda: draw.sample(FIVE, 5)  # noqa: E731
    for _ in range(40):
        pairs = [pair for pair in map(frozenset, combinations(FIVE, 2)) if draw.random() < 0.5]
        others = [pair for pair in map(frozenset, combinations(FIVE, 2)) if pair not in pairs]
        sets = {pair: [z for z in FIVE if z not in pair and draw.random() < 0.4] for pair in others}
        answers = {orient_pag(Graph(make(), undirected=pairs), sets) for _ in range(3)}
        assert len(answers) == 1


def test_possible_d_sep_holds_a_separating_set_wherever_there_is_one() -> None:
    """Of pairs not adjacent in the truth, some subset of one end's possible-d-sep separates (Spirtes et al., 6.7)."""
    draw = random.Random(10)
    for model, members in four():
        truth = members[0]
        apart = some_sets(model, draw)
        for lost in sorted(apart, key=sorted):  # one separation not found yet: its pair is still an edge
            edges = [frozenset(end) for end in truth] + [lost]
            known = {pair: given for pair, given in apart.items() if pair != lost}
            near = possible_d_sep(Graph(FOUR, undirected=edges), known)
            x, y = sorted(lost)
            sets = [given for pair, given in model if pair == lost]
            assert any(given <= near[x] - {y} or given <= near[y] - {x} for given in sets)


def test_an_arrow_that_is_no_edge_is_one_line() -> None:
    with pytest.raises(InputError, match='"a" -> "b"'):
        orient_pag(Graph(["a", "b"]), {}, arrows=[("a", "b")])
