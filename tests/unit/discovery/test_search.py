"""The search with a perfect oracle finds the CPDAG; its questions follow the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from dpcausal import networks
from dpcausal.core.errors import InputError
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.search import Answer, Query, Skeleton, pc_search
from dpcausal.graphs import Graph, cpdag, d_separated, orient


def drive(search, oracle: Callable[[Query], Answer]) -> tuple[Skeleton, list[Query]]:  # type: ignore[no-untyped-def]
    asked: list[Query] = []
    try:
        batch = next(search)
        while True:
            asked += batch
            batch = search.send([oracle(question) for question in batch])
    except StopIteration as stop:
        return stop.value, asked


def random_dag(nodes: int, density: float, rng: np.random.Generator) -> Graph:
    names = [f"v{i}" for i in range(nodes)]
    order = rng.permutation(names)
    arrows = [
        (str(order[i]), str(order[j]))
        for i in range(nodes)
        for j in range(i + 1, nodes)
        if rng.random() < density
    ]
    return Graph(names, arrows)


def perfect(dag: Graph) -> Callable[[Query], Answer]:
    return lambda q: d_separated(dag, q.x, q.y, q.given)


def found_cpdag(dag: Graph, **options: bool | int) -> Graph:
    found, _ = drive(pc_search(dag.nodes, **options), perfect(dag))  # type: ignore[arg-type]
    return orient(Graph(dag.nodes, undirected=found.edges), found.separating)


@pytest.mark.parametrize("stable", [True, False])
def test_random_dags_give_their_cpdag(stable: bool) -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        nodes = int(rng.integers(2, 13))
        dag = random_dag(nodes, min(1.0, 2.5 / nodes), rng)
        assert found_cpdag(dag, stable=stable) == cpdag(dag)


@pytest.mark.slow
def test_a_thousand_dags_up_to_twenty_nodes() -> None:
    rng = np.random.default_rng(12)
    for _ in range(1000):
        nodes = int(rng.integers(2, 21))
        dag = random_dag(nodes, min(1.0, 2.2 / nodes), rng)
        assert found_cpdag(dag) == cpdag(dag)


@pytest.mark.parametrize("name", networks.names())
def test_networks_give_their_cpdag(name: str) -> None:
    network = networks.load(name)
    assert found_cpdag(network.dag) == network.cpdag


def test_looking_ahead_changes_nothing() -> None:
    rng = np.random.default_rng(13)
    for _ in range(15):
        dag = random_dag(9, 0.3, rng)
        one, _ = drive(pc_search(dag.nodes), perfect(dag))
        many, _ = drive(pc_search(dag.nodes, ahead=4), perfect(dag))
        assert (one.edges, one.separating) == (many.edges, many.separating)


@pytest.mark.parametrize("stable", [True, False])
def test_every_question_is_asked_once(stable: bool) -> None:
    rng = np.random.default_rng(14)
    noisy = lambda q: bool(rng.random() < 0.1)  # noqa: E731
    found, asked = drive(pc_search([f"v{i}" for i in range(7)], stable=stable), noisy)
    unordered = Counter((frozenset((q.x, q.y)), frozenset(q.given)) for q in asked)
    assert max(unordered.values()) == 1
    assert sum(found.asked.values()) == len(asked)
    assert all(q.x not in q.given and q.y not in q.given for q in asked)


def test_stable_skeleton_does_not_depend_on_column_order() -> None:
    truth = random_dag(8, 0.4, np.random.default_rng(15))
    lies = {frozenset(("v1", "v2")), frozenset(("v3", "v6"))}

    def oracle(q: Query) -> bool:  # two dependent pairs are called independent at order 1
        return d_separated(truth, q.x, q.y, q.given) or (frozenset((q.x, q.y)) in lies and len(q.given) == 1)

    found = {drive(pc_search(order), oracle)[0].edges for order in (truth.nodes, truth.nodes[::-1])}
    assert len(found) == 1


def test_max_order_and_no_answer() -> None:
    columns = ["a", "b", "c", "d"]
    found, asked = drive(pc_search(columns, max_order=1), lambda q: False)
    assert max(len(q.given) for q in asked) == 1
    assert found.complete
    found, _ = drive(pc_search(columns), lambda q: None if q.x == "a" else bool(q.given))
    assert {frozenset("ab"), frozenset("ac"), frozenset("ad")} == found.unanswered_from.keys() == found.edges


def test_ending_early_keeps_edges_and_says_so() -> None:
    search = pc_search(["a", "b", "c"])
    next(search)
    search.send([True, False, False])
    with pytest.raises(StopIteration) as stop:
        search.send(None)
    found = stop.value.value
    assert not found.complete
    assert found.edges == {frozenset("ac"), frozenset("bc")} == found.unanswered_from.keys()


def states(
    columns: list[str], oracle: Callable[[Query], Answer], **options: int
) -> tuple[set[str], dict[str, int]]:
    """(open pairs, up to how many columns edges were asked about) as words."""
    found, _ = drive(pc_search(columns, **options), oracle)
    given = {"".join(sorted(pair)): k for pair, k in found.given_up_to.items()}
    return {"".join(sorted(pair)) for pair in found.open(Knowledge())}, given


def test_a_pair_about_which_nothing_was_answered_is_open() -> None:
    columns = list("abcd")
    assert states(columns, lambda q: None) == ({"ab", "ac", "ad", "bc", "bd", "cd"}, {})
    assert states(columns, lambda q: False) == (set(), {})
    assert states(columns, lambda q: True) == (set(), {})
    assert states(columns, lambda q: None if q.x == "a" else False) == ({"ab", "ac", "ad"}, {})


def test_a_find_among_many_sets_leaves_a_pair_open() -> None:
    """Without conditions nothing could be said about a and b; given c they are called dependent."""
    columns = list("abcd")
    found = states(columns, lambda q: None if (q.x, q.y) == ("a", "b") and not q.given else False)
    assert found == ({"ab"}, {})


def test_an_edge_says_up_to_where_it_was_asked_about() -> None:
    columns = list("abcd")
    every = ("ab", "ac", "ad", "bc", "bd", "cd")
    for most in (0, 1):
        held = states(columns, lambda q, most=most: None if len(q.given) > most else False)  # type: ignore[misc]
        assert held == (set(), dict.fromkeys(every, most))
        assert states(columns, lambda q: False, max_order=most) == held
    assert states(columns, lambda q: False, max_order=2) == (set(), {})
    # one set of one column without an answer is enough, and what separates later takes the pair away
    assert states(columns, lambda q: None if q == ("a", "b", ("c",)) else False) == (set(), {"ab": 0})
    assert states(columns, lambda q: None if q == ("a", "b", ("c",)) else q == ("a", "b", ("d",))) == (
        set(),
        {},
    )


def ended_after(paid: int, search) -> Skeleton:  # type: ignore[no-untyped-def]
    """The search, told "dependent" so many times, then nothing more."""
    asked, batch = 0, next(search)
    while True:
        answers = [False if asked + i < paid else None for i in range(len(batch))]
        asked += len(batch)
        try:
            batch = search.send(None if answers[0] is None else answers)
        except StopIteration as stop:
            found: Skeleton = stop.value
            return found


@pytest.mark.parametrize("stable", [True, False])
def test_a_search_that_ends_early_says_what_was_not_asked(stable: bool) -> None:
    """The budget ends after 4 of 6 first questions, or after those and 3 more."""
    columns = list("abcd")
    for paid, left, given in (
        (4, {"bd", "cd"}, {"ab": 0, "ac": 0, "ad": 0, "bc": 0}),
        (9, set(), dict.fromkeys(("ab", "ac", "ad", "bc", "bd", "cd"), 0)),
    ):
        found = ended_after(paid, pc_search(columns, stable=stable))
        told = {"".join(sorted(pair)): k for pair, k in found.given_up_to.items()}
        assert not found.complete
        assert {"".join(sorted(pair)) for pair in found.open(Knowledge())} == left
        if (
            paid == 9 and not stable
        ):  # of the first pair both sets of one column were asked: larger ones were not
            given = {**given, "ab": 1}
        assert told == given


def test_known_edges_are_never_asked_about() -> None:
    columns = ["a", "b", "c", "d"]
    known = Knowledge.of(columns, required=[("a", "b")], forbidden=[{"c", "d"}])
    found, asked = drive(pc_search(columns, known), lambda q: True)
    assert found.edges == {frozenset("ab")}
    assert frozenset("cd") not in found.separating
    assert {frozenset((q.x, q.y)) for q in asked}.isdisjoint({frozenset("ab"), frozenset("cd")})


def test_tiers_keep_later_columns_out_of_sets() -> None:
    columns = ["a", "b", "late"]
    known = Knowledge.of(columns, tiers=[["a", "b"], ["late"]])
    _, asked = drive(pc_search(columns, known), lambda q: False)
    assert ("a", "b", ("late",)) not in asked
    assert known.required_arrows({frozenset(("a", "late"))}) == {("a", "late")}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"required": [("a", "zz")]}, 'no column "zz"'),
        ({"required": ["ab"]}, "pairs"),
        ({"required": "ab"}, "list of pairs"),
        ({"required": [("a", "a")]}, "twice"),
        ({"required": [("a", "b"), ("b", "a")]}, "contradicts"),
        ({"required": [("a", "b")], "forbidden": [{"a", "b"}]}, "both required and forbidden"),
        ({"required": [("b", "a")], "tiers": [["a"], ["b"]]}, "contradicts"),
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, "cycle"),
        ({"tiers": [["a"], ["a"]]}, "twice"),
        ({"tiers": ["ab"]}, "list of lists"),
        ({"forbidden": [("a", "b"), ("b", "a")], "required": [{"a", "b"}]}, "both required and forbidden"),
    ],
)
def test_contradictions_are_one_line(options: dict[str, list[object]], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Knowledge.of(["a", "b", "c"], **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_forbidden_direction_turns_the_edge() -> None:
    known = Knowledge.of(["a", "b"], forbidden=[("a", "b")])
    assert known.arrows == {("b", "a")}
    assert not known.forbidden


def test_a_pair_without_an_answer_stays_undecided_and_is_not_asked_about_again() -> None:
    """Of 14 columns two pairs are seen to depend, nothing can be said of the others: 91 questions and a few more."""
    columns = [f"v{i:02}" for i in range(14)]
    seen = {("v00", "v01"), ("v01", "v02")}

    def can_tell(question: Query) -> Answer:
        return False if (question.x, question.y) in seen else None

    found, asked = drive(pc_search(columns, forward=True), can_tell)
    assert len(asked) == 91 + 2  # and v00 - v01 given v02, v01 - v02 given v00
    assert found.open(Knowledge()) == found.edges - {frozenset(pair) for pair in seen}
    assert found.given_up_to == {frozenset(pair): 0 for pair in seen}
    unstable, more = drive(pc_search(columns, forward=True, stable=False), can_tell)
    assert (unstable.edges, len(more)) == (found.edges, len(asked))
