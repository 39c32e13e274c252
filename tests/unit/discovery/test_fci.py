"""Hidden common causes: what the search asks, that it finds what the definition says, and what may be asked for."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.discovery.directions import _collider_weights, marks_by_pairs
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.fci import Bounds, fci_search
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.measured.tables import JointTable
from dpcausal.discovery.search import HiddenCauses, Query, Skeleton, drive, pc_search
from dpcausal.graphs.doubts import read_graph
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.hidden import orient_pag
from dpcausal.graphs.pag import PAG, Mark
from dpcausal.graphs.separation import d_separated
from dpcausal.present.files import graph_json

MAGS = Path(__file__).parents[2] / "property" / "graphs" / "mags.py"


def mags() -> Any:
    """The listing of all graphs with hidden causes."""
    spec = importlib.util.spec_from_file_location("mags", MAGS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def learned(dag: Graph, seen: list[str], **more: Any) -> tuple[PAG, Skeleton]:
    """What the search finds where every answer is the truth."""

    def answer(batch: list[Query]) -> list[bool]:
        return [d_separated(dag, question.x, question.y, question.given) for question in batch]

    skeleton = drive(fci_search(seen, **more), answer)
    return orient_pag(Graph(seen, undirected=skeleton.edges), skeleton.separating)[0], skeleton


# l and m are hidden. x and y are separated by {a, b, c}, and c is a neighbour of neither
SEEN = ["x", "y", "a", "b", "c"]
NEEDS_MORE = Graph(
    [*SEEN, "l", "m"],
    [("l", "x"), ("l", "a"), ("m", "y"), ("m", "b"), ("c", "a"), ("c", "b"), ("a", "y"), ("b", "x")],
)


def by_definition(dag: Graph, seen: list[str]) -> PAG:
    """The PAG of a DAG with hidden nodes, from all graphs with the same separations."""
    listing = mags()
    model = frozenset(
        (frozenset((x, y)), frozenset(given))
        for x, y in combinations(seen, 2)
        for given in listing.subsets(tuple(name for name in seen if name not in (x, y)))
        if d_separated(dag, x, y, given)
    )
    apart = {pair for pair, _ in model}
    pairs = [pair for pair in combinations(seen, 2) if frozenset(pair) not in apart]
    members = list(listing.of_model(tuple(seen), pairs, model))
    assert members
    found: PAG = listing.shared(tuple(seen), members)
    return found


def test_where_neighbours_do_not_separate_possible_d_sep_does() -> None:
    """PC would keep the edge x - y; the further questions take it away, and the marks are those of the definition."""
    found, skeleton = learned(NEEDS_MORE, SEEN)
    pc = drive(pc_search(SEEN), lambda batch: [d_separated(NEEDS_MORE, q.x, q.y, q.given) for q in batch])
    assert frozenset("xy") in pc.edges
    assert frozenset("xy") not in skeleton.edges
    assert set(skeleton.separating[frozenset("xy")]) == {"a", "b", "c"}
    assert found == by_definition(NEEDS_MORE, SEEN)


def test_a_bound_keeps_the_edge_and_says_so() -> None:
    _, skeleton = learned(NEEDS_MORE, SEEN, bounds=Bounds(order=2))
    assert frozenset("xy") in skeleton.edges
    assert skeleton.given_up_to[frozenset("xy")] == 2


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_with_hidden_nodes_get_the_marks_of_the_definition(seed: int) -> None:
    draw = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(7)]
    dag = Graph(names, [pair for pair in combinations(names, 2) if draw.random() < 0.28])
    hidden = set(draw.choice(names, 2, replace=False))
    seen = [name for name in names if name not in hidden]
    found, skeleton = learned(dag, seen)
    assert skeleton.complete
    assert found == by_definition(dag, seen)


def test_no_question_about_what_is_declared_and_none_with_what_comes_later() -> None:
    known = Knowledge.of(
        SEEN, required=[("a", "y")], forbidden=[{"x", "c"}], tiers=[["c"], ["a", "b", "x", "y"]]
    )
    asked: list[Query] = []

    def answer(batch: list[Query]) -> list[bool]:
        asked.extend(batch)
        return [d_separated(NEEDS_MORE, q.x, q.y, q.given) for q in batch]

    drive(fci_search(SEEN, known), answer)
    assert asked
    assert not {frozenset(q[:2]) for q in asked} & {frozenset("ay"), frozenset("xc")}


def confounded(n: int, seed: int) -> dc.Dataset:
    """a -> x <- h -> y <- b with h hidden: the one graph that four columns show without a doubt, ``x <-> y``."""
    draw = np.random.default_rng(seed)
    a, b, h = draw.integers(0, 2, (3, n))
    x = np.where(draw.random(n) < 0.15, draw.integers(0, 2, n), (a + h >= 1).astype(int))
    y = np.where(draw.random(n) < 0.15, draw.integers(0, 2, n), (b + h >= 1).astype(int))
    levels = dc.Categorical(["no", "yes"])
    columns = {
        name: [levels.levels[i] for i in code] for name, code in zip("axyb", (a, x, y, b), strict=True)
    }
    return dc.read(columns, dc.Schema(dict.fromkeys("axyb", levels)))


WANTED = PAG(list("axyb"), [("a", "o->", "x"), ("x", "<->", "y"), ("b", "o->", "y")])


@pytest.mark.parametrize("how", [{}, {"test": "moments"}])
def test_a_hidden_common_cause_is_found(how: dict[str, Any]) -> None:
    result = dc.discover(confounded(30_000, 1), latent=True, level=0.01, epsilon=None, method="pc", **how)
    assert result.graph == WANTED
    assert "<->" in str(result)
    assert result.graph.bidirected == {frozenset("xy")}  # type: ignore[attr-defined]
    assert not result.marks


PRIVATE = [{}, {"neighbours": "add-remove"}, {"method": "moments"}]


@pytest.mark.parametrize("how", PRIVATE)
def test_a_hidden_common_cause_is_likeliest_and_drawn_where_that_is_enough(how: dict[str, Any]) -> None:
    """All four heads are likely, and of the three kinds of an edge ``<->`` is the likeliest for x and y."""
    data, terms = confounded(30_000, 1), {"epsilon": 1.0, "delta": 1e-6, "level": 0.01, "confidence": 0}
    with dc.testing.seeded(3):
        result = dc.discover(data, latent=True, **terms, **how)
    marks = result.marks
    assert min(marks[end] for end in [("a", "x"), ("x", "y"), ("y", "x"), ("b", "y")]) >= 0.79
    assert max(marks["x", "a"], marks["y", "b"]) < 0.5
    both = marks["x", "y"] + marks["y", "x"] - 1.0
    assert both > 0.5
    graph = result.graph
    assert isinstance(graph, PAG)
    assert bool(graph.bidirected) == (both >= 0.8)
    assert {("a", "x"), ("b", "y")} <= graph.partly_directed
    with dc.testing.seeded(3):
        lower = dc.discover(data, latent=True, direction_level=both, **terms, **how)
    assert lower.graph == WANTED


def test_what_is_released_gives_the_same_chances_again(tmp_path: Path) -> None:
    """From the file of a search that allowed no hidden causes, and from one that did."""
    how = {"epsilon": 1.0, "delta": 1e-6, "level": 0.01, "confidence": 0}
    with dc.testing.seeded(3):
        plain = dc.discover(confounded(30_000, 1), **how)
    with dc.testing.seeded(3):
        hidden = dc.discover(confounded(30_000, 1), latent=True, **how)
    assert hidden.marks
    assert not plain.marks
    for i, one in enumerate((plain, hidden)):
        assert one.release is not None
        again = dc.load_release(one.release.save(tmp_path / f"{i}.json")).discover(latent=True)
        assert again.marks == pytest.approx(hidden.marks)
        assert again.graph == hidden.graph
    path = tmp_path / "graph.json"
    path.write_text(graph_json(hidden))
    assert read_graph(path)[0] == hidden.graph
    for text in (hidden.to_json(), path.read_text()):
        listed = json.loads(text)["mark_chances"]
        assert {(one["from"], one["to"]): one["head"] for one in listed} == pytest.approx(
            hidden.marks, abs=1e-4
        )


def chain(n: int, seed: int) -> dc.Dataset:
    """a -> b -> c, and d -> b: heads of a and d meet at b, and b causes c."""
    draw = np.random.default_rng(seed)
    a, d = draw.integers(0, 2, (2, n))
    b = (draw.random(n) < 0.1 + 0.4 * a + 0.4 * d).astype(int)
    c = (draw.random(n) < 0.1 + 0.8 * b).astype(int)
    levels = dc.Categorical([0, 1])
    return dc.read(
        {name: code.tolist() for name, code in zip("abcd", (a, b, c, d), strict=True)},
        dc.Schema(dict.fromkeys("abcd", levels)),
    )


def test_no_mark_rests_on_a_pair_that_is_open() -> None:
    """With the same rows, and no link that matters ruled out, every end has the chance it had before."""
    result = search_chain(absent=0.2)
    assert result["a", "b"] > 0.9
    assert result["c", "b"] < 0.2
    nothing = search_chain(absent=0.0)
    assert all(abs(chance - 0.6) < 0.1 for chance in nothing.values())


def search_chain(absent: float) -> dict[tuple[str, str], float]:
    """The chances of heads where links of w = ``absent`` must be detectable."""
    columns = tuple("abcd")
    counts = chain(20_000, 1)
    table = np.zeros((2,) * 4)
    np.add.at(table, tuple(counts.codes[name].astype(int) for name in columns), 1.0)
    contrasts = JointTable(table, 10.0).contrasts(20_000.0)
    pairs = {frozenset("ad"): (), frozenset("ac"): ("b",), frozenset("cd"): ("b",)}
    task: Any = SimpleNamespace(columns=columns, known=Knowledge())
    edges = [frozenset("ab"), frozenset("bc"), frozenset("bd")]
    return marks_by_pairs(task, contrasts, edges, pairs, cost=3.0, absent=absent, misfit=0.025)


def test_evidence_far_below_zero_has_a_weight() -> None:
    """Of columns with hundreds of levels; the exponential of it would be no float."""
    sure: Any = SimpleNamespace(
        evidence=lambda a, c, given: 3.0,
        evidences=lambda questions: [-2000.0 if 1 in given else -1000.0 for _, _, given in questions],
    )
    near = [{1}, {0, 2}, {1}]
    (weight,) = _collider_weights(sure, (0, 2), (1,), near, cost=3.0).values()
    assert weight == pytest.approx(np.log(2 * np.exp(-3.0)) - 2000.0)


def test_without_latent_no_arrow_has_two_heads() -> None:
    with dc.testing.seeded(3):
        result = dc.discover(confounded(30_000, 1), epsilon=1.0, delta=1e-6, level=0.01, latent=False)
    assert not isinstance(result.graph, PAG)


def test_tiers_give_a_head_and_no_tail() -> None:
    """causal-learn's issue 266, on data: what comes later is no cause, and what comes earlier need not be one."""
    with dc.testing.seeded(3):
        result = dc.discover(
            confounded(30_000, 1), epsilon=1.0, delta=1e-6, level=0.01, latent=True, tiers=[["x"], ["y"]]
        )
    graph = result.graph
    assert isinstance(graph, PAG)
    assert graph.mark("x", "y") is Mark.ARROW
    assert graph.mark("y", "x") is not Mark.TAIL


def test_what_is_declared_is_kept() -> None:
    with dc.testing.seeded(3):
        result = dc.discover(
            confounded(30_000, 1),
            epsilon=1.0,
            delta=1e-6,
            latent=True,
            required=[("a", "x")],
            forbidden=[{"a", "b"}, ("b", "y")],
        )
    graph = result.graph
    assert isinstance(graph, PAG)
    assert ("a", "x") in graph.directed
    assert frozenset("ab") not in graph.skeleton
    if frozenset("by") in graph.skeleton:
        assert graph.mark("y", "b") is not Mark.TAIL
        assert ("b", "y") not in graph.directed


def test_open_pairs_are_no_edges_and_no_marks_rest_on_them() -> None:
    """At a small budget most pairs are open: nothing is a collider over a pair that may be an edge."""
    with dc.testing.seeded(5):
        result = dc.discover(confounded(300, 1), epsilon=0.2, delta=1e-6, latent=True, anyway=True)
    graph = result.graph
    assert isinstance(graph, PAG)
    assert result.open
    assert not result.open & graph.skeleton
    for c in graph.nodes:
        for a, b in combinations(sorted(graph.adjacent(c)), 2):
            if frozenset((a, b)) in result.open:
                assert Mark.CIRCLE in (graph.mark(a, c), graph.mark(b, c))


def test_where_only_pairs_are_measured_they_answer_the_further_questions() -> None:
    """Fourteen columns and little budget: no larger tables, sets of up to two columns."""
    draw = np.random.default_rng(4)
    codes = np.zeros((14, 4_000), np.uint8)
    for j in range(14):
        above = codes[max(j - 2, 0) : j].sum(axis=0) if j else 0
        codes[j] = draw.random(4_000) < 0.15 + 0.35 * above
    levels = dc.Categorical(["no", "yes"])
    names = [f"c{j}" for j in range(14)]
    data = dc.Dataset(dc.Schema(dict.fromkeys(names, levels)), 4_000, dict(zip(names, codes, strict=True)))
    with dc.testing.seeded(1):
        result = dc.discover(data, epsilon=1.0, delta=1e-6, latent=True, confidence=0, anyway=True)
    note = next(note for note in result.notes if isinstance(note, HiddenCauses))
    assert note.order == 2
    assert isinstance(result.graph, PAG)
    assert result.graph.skeleton
    assert max(result.asked) == 2


def test_an_estimator_takes_it() -> None:
    with dc.testing.seeded(3):
        found = dc.MeasuredPC(epsilon=1.0, delta=1e-6, level=0.01, latent=True).fit(confounded(30_000, 1))
    assert isinstance(found.causal_graph_, PAG)
    assert found.causal_graph_.skeleton == WANTED.skeleton


def others() -> Iterator[str]:
    """Methods to which further questions are not free."""
    return (name for name, method in METHODS.items() if "latent" not in method.options)


@pytest.mark.parametrize("method", list(others()))
def test_methods_that_pay_for_questions_refuse_in_one_line(method: Any) -> None:
    with pytest.raises(
        dc.InputError, match=f"latent goes with measured, moments and pc: .*{method} would have"
    ):
        dc.discover(confounded(300, 1), epsilon=1.0, method=method, latent=True)


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"latent": "yes"}, "latent must be True or False, not 'yes'"),
        ({"latent": True, "target": "x"}, "leave latent or"),
    ],
)
def test_what_can_not_be_asked_is_one_line_and_costs_nothing(
    more: dict[str, Any], line: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    ledger = dc.Ledger.open(url, create=True)
    ledger.create("d", epsilon=1.0, delta=1e-5)
    with pytest.raises(dc.InputError, match=line):
        dc.discover(confounded(300, 1), epsilon=1.0, delta=1e-6, ledger=url, dataset="d", anyway=True, **more)
    assert ledger.show("d")[0].releases == 0
