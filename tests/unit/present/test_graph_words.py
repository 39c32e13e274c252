"""A discovery in words: in brief, in full, and what changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.core.spelling import for_command_line
from dpcausal.core.statement import PrivacyStatement, UncheckedDraft
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result import replaced as replace
from dpcausal.discovery.search import AboutTarget, WithoutDelta
from dpcausal.present.citest import named
from dpcausal.present.graph_words import (
    PAIRS_SHOWN,
    absent_means,
    changes_line,
    found_words,
    free_words,
    helps_words,
    open_line,
    sure_edges,
    tiers_words,
)
from dpcausal.present.paper import conclusion, directions
from dpcausal.present.statement import cost_lines, ledger_line, privacy_line, rows_differ
from dpcausal.present.tables import EdgeFact, edge_rows

ROOMS = ("present", "cli")
RIDDLES = (
    "anything else)",
    "could say anything",
    "too dark",
    "too bright",
    "any law",
    "the law of",
    "given out",
    "these or others",
    "this or another",
    "nearest to the answers",
    'on its own"',
    "may be its doing",
    "without one",
    "itself got wrong",
)


def made(result: DiscoveryResult) -> DiscoveryResult:
    graph = dc.Graph(["a", "b", "c", "dd", "e"], directed=[("a", "b"), ("c", "b")], undirected=[("c", "dd")])
    return replace(
        result,
        graph=graph,
        open=frozenset([frozenset("ae")]),
        given_up_to={frozenset("bc"): 1},
        conflicts=frozenset([frozenset("ab")]),
        confidence={frozenset("ab"): 0.9, frozenset("bc"): 0.6, frozenset(("c", "dd")): 0.2},
        separating={},
        notes=(),
        held=None,
        evidence={},
    )


def test_a_discovery_is_a_table_and_a_line_on_each_thing_to_know(result: DiscoveryResult) -> None:
    found = replace(made(result), repeats=40)
    first, heads, *lines = found.summary().splitlines()
    assert all(part in first for part in ("2 edges", "1 weak hint", "6 pairs absent", "1 pair open"))
    assert heads.split() == ["edge", "found", "again", "held", "fixed", "note"]
    rows = edge_rows(found)
    assert [(row.edge, row.state, row.direction) for row in rows] == [
        ("a - b", "found", "contradicted"),
        ("c -> b", "found", "data"),
        ("c - dd", "hint", "undecided"),
    ]
    for line, row in zip(lines, rows, strict=False):
        pair = frozenset((row.a, row.b))
        assert row.edge in line
        assert (row.again in line) == (pair not in sure_edges(found))
        unsaid = {EdgeFact.HINT, EdgeFact.TESTED_UP_TO}  # in columns of their own
        assert all(row.facts[fact] in line for fact in row.facts.keys() - unsaid)
        assert (f"up to {row.given_up_to}" in line) == (EdgeFact.TESTED_UP_TO in row.facts)
    assert lines[3].endswith(": e)")
    kinds = (
        "No order of time",
        "Absent is no proof",
        "Open:",
        "Privacy:",
        "Ledger:",
    )
    assert [line.startswith(kind) for line, kind in zip(lines[4:], kinds, strict=True)] == [True] * len(kinds)
    unkept = replace(found, release=None)
    assert tiers_words(unkept, brief=True) in unkept.summary()
    assert tiers_words(unkept) in unkept.summary(full=True)
    assert ("release" in tiers_words(found), "release" in tiers_words(unkept)) == (True, False)
    ordered = replace(found, known=Knowledge.of(found.graph.nodes, tiers=[["a"], ["b", "c"]]))
    assert edge_rows(ordered)[0].edge == "a -> b"
    assert EdgeFact.DIRECTION_DECLARED in edge_rows(ordered)[0].facts
    assert "contradicted" not in ordered.summary()
    assert tiers_words(ordered) == ""
    assert free_words(ordered).endswith(": dd, e.")
    assert free_words(ordered) in ordered.summary()


def test_the_reader_is_told_options_that_the_reader_has(result: DiscoveryResult) -> None:
    names = [f"c{i}" for i in range(12)]
    pairs = frozenset(frozenset(pair) for pair in combinations(names, 2))
    left = replace(
        made(result),
        graph=dc.Graph(names),
        open=pairs,
        given_up_to={},
        conflicts=frozenset(),
        fewer_columns=5,
    )
    assert helps_words(left) in left.summary().splitlines()
    assert all(part in helps_words(left) for part in ("rows", "epsilon", "levels", "about 5", "target="))
    noisy = replace(left, notes=(WithoutDelta(3.0),))
    assert ("delta" in helps_words(left), "delta" in helps_words(noisy)) == (False, True)
    assert "--" not in left.summary() + made(result).summary()
    assert "--" not in str(
        dc.ci_test(dc.networks.load("asia").sample(100, seed=1), "smoke", "bronc", epsilon=1.0)
    )
    with for_command_line():
        said = left.summary() + made(result).summary()
    assert all(option in said for option in ("--target COLUMN", "--tiers", "--ledger"))
    assert "--show-open" not in said


def test_about_a_target_nothing_is_called_not_linked(result: DiscoveryResult) -> None:
    target = AboutTarget(target="b", near=("a",))
    about = frozenset(frozenset(("b", name)) for name in ("a", "c", "dd", "e"))
    found = replace(
        made(result),
        graph=dc.Graph(["a", "b", "c", "dd", "e"], undirected=[("a", "b")]),
        notes=(target,),
        about=about,
        open=frozenset([frozenset("be")]),
        detectable={frozenset("bc"): 0.12, frozenset(("b", "dd")): 0.12},
    )
    lines = found.summary().splitlines()
    assert lines[0].startswith(found_words(found))
    assert all(part in lines[0] for part in ("linked to b: a;", ": 2 columns;", "open: 1 column"))
    (absent,) = [line for line in lines if line.startswith("Absent: c, dd.")]
    means = absent_means(found)
    assert "w = 0.12 (weak)" in means
    assert means.partition(";")[2] in absent
    assert means in conclusion(found)
    weak = replace(found, confidence={frozenset("ab"): 0.3})  # noise is no headline
    bare = replace(found, graph=dc.Graph(["a", "b", "c", "dd", "e"]))
    assert "hints only: a;" in found_words(weak)
    for other in (weak, bare):
        assert "linked to b" not in found_words(other)
        assert conclusion(other)[0] == f"{found_words(other)}."
    assert ": 3 columns;" in found_words(bare)
    arrows = dc.Graph(["a", "b", "c", "dd", "e"], directed=[("a", "b"), ("c", "b")])
    parts = {frozenset("ab"): 0.9, frozenset("bc"): 0.3}
    some = replace(found, graph=arrows, conflicts=frozenset(), confidence=parts)
    assert "linked to b: a; weak hints only: c;" in found_words(some)
    assert directions(some) == "Directions: 1 decided by the data."  # the arrow of a weak hint is not counted


def test_the_rest_of_a_discovery_is_said_in_full(result: DiscoveryResult) -> None:
    assert len(made(result).summary(full=True)) > 2 * len(made(result).summary())


def test_declared_edges_are_noted(result: DiscoveryResult) -> None:
    known = Knowledge.of(["a", "b", "c", "dd", "e"], required=[("c", "b")])
    (row,) = (row for row in edge_rows(replace(made(result), known=known)) if row.edge == "c -> b")
    assert {*row.facts} == {EdgeFact.EDGE_DECLARED, EdgeFact.DIRECTION_DECLARED, EdgeFact.TESTED_UP_TO}
    assert row.found_again is None  # it is there whatever the data


def test_every_open_pair_is_named_where_asked(result: DiscoveryResult) -> None:
    names = [f"c{i}" for i in range(9)]
    pairs = frozenset(frozenset((names[0], name)) for name in names[1:])
    left = replace(made(result), graph=dc.Graph(names), open=pairs, given_up_to={}, conflicts=frozenset())
    (few,) = [line for line in left.summary().splitlines() if line.startswith("Open:")]
    assert few == open_line(left)
    assert few.count(" ? ") == PAIRS_SHOWN
    assert f" and {8 - PAIRS_SHOWN} more " in few
    (all_,) = [line for line in left.summary(open=True).splitlines() if line.startswith("Open:")]
    assert all_.count(" ? ") == 8
    assert "Open:" not in replace(left, open=frozenset()).summary()


def test_a_test_is_four_lines() -> None:
    data = dc.networks.load("asia").sample(20_000, seed=1)
    answer = dc.ci_test(data, "smoke", "bronc", epsilon=1.0)
    first, rows, privacy, ledger = str(answer).splitlines()
    assert rows == rows_differ("p-value")
    assert re.match(r"smoke and bronc: dependent \(p [<=] \S+, level 0.05, test kendall\); ", first)
    assert answer.direction is not None
    assert answer.direction.rises
    assert privacy == privacy_line(answer.privacy)
    assert ledger == ledger_line(answer.privacy)
    full = answer.summary(full=True)
    assert "chosen because" in full
    assert "Assumed public" in full
    assert "Assumed public" not in str(answer)


def test_the_line_that_names_a_test_says_why_it_was_taken() -> None:
    schema = dc.Schema(a=dc.Categorical(list("uvw")), y=dc.Numeric(0, 1), z=dc.Numeric(0, 1))
    data = dc.read({"a": list("uvw") * 20, "y": [0.1, 0.5, 0.9] * 20, "z": [0.2, 0.8] * 30}, schema)
    answer = dc.ci_test(data, "a", "y", ["z"], epsilon=1.0, anyway=True)
    assert f"level 0.05, {named('gcm', answer.reason)})" in str(answer).splitlines()[0]
    assert "because" in named("gcm", answer.reason)
    asked = dc.ci_test(data, "a", "y", ["z"], epsilon=1.0, method="gcm", anyway=True)
    assert "level 0.05, test gcm)" in str(asked).splitlines()[0]


def test_an_effect_is_four_lines_and_one_for_each_warning() -> None:
    answer = dc.effect(dc.networks.load("asia").sample(20_000, seed=1), "smoke", "bronc", epsilon=1.0)
    said = answer.summary().splitlines()
    assert said[2] == rows_differ("interval")
    assert said[3:] == [f"{privacy_line(answer.privacy)} {ledger_line(answer.privacy)}"]
    limits = (*answer.privacy.limits, UncheckedDraft())
    draft = replace(answer, privacy=replace(answer.privacy, limits=limits)).summary().splitlines()
    assert draft[:4] == said
    assert len(draft) == 5
    assert "unchecked draft" in draft[4]


def test_what_must_not_be_missed_is_in_brief(result: DiscoveryResult) -> None:
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert str(exact).startswith("NOT PRIVATE: ")
    assert "Ledger" not in str(exact)
    with dc.testing.seeded(1):
        seeded = dc.ci_test(dc.networks.load("cancer").sample(500, seed=1), "Smoker", "Cancer", epsilon=1.0)
    assert "NOT PRIVATE: made under dpcausal.testing.seeded" in str(seeded)
    draft = replace(result.privacy, limits=(*result.privacy.limits, UncheckedDraft()))
    assert any("unchecked draft" in line for line in cost_lines(draft))
    none = PrivacyStatement.none(released=[])
    assert cost_lines(none) == [f"NOT PRIVATE: {none.why_not_private}."]


def test_what_is_left_is_in_the_line_of_the_ledger(result: DiscoveryResult) -> None:
    ledger = {"dataset": "cohort", "entry": 3, "left": {"epsilon": 2.0, "delta": 0.0}}
    charged = replace(result.privacy, ledger=ledger)
    assert ledger_line(charged) == "Ledger: cohort, entry 3; left epsilon 2, delta 0."
    more = ledger_line(replace(charged, asked={"epsilon": 1.5, "delta": 0.0}))
    assert "charged epsilon 1.5, delta 0;" in more  # more than was needed


def user_texts() -> Iterator[tuple[str, str]]:
    home = Path(dc.__file__).parent
    for room in ROOMS:
        for file in sorted((home / room).rglob("*")):
            if file.suffix in (".py", ".html"):
                yield file.name, file.read_text()


@pytest.mark.parametrize("riddle", RIDDLES)
def test_no_riddles(riddle: str) -> None:
    texts = dict(user_texts())
    assert len(texts) > 30
    assert [name for name, text in texts.items() if riddle in text.lower()] == []


def test_a_plan_is_an_answer_and_a_table() -> None:
    yes_no = dc.Categorical(["no", "yes"])
    plan = dc.plan(dc.Schema(a=yes_no, b=yes_no, c=yes_no), rows=10_000, epsilon=1.0)
    lines = plan.summary(200).splitlines()
    assert lines[0].startswith("Yes: epsilon 1 finds w = ")
    assert lines[1] == ""
    assert "--" not in plan.summary(200)
    with for_command_line():
        assert "(--pair x,y for yours). --full explains" in plan.summary(200)
    assert len(lines) <= 12 + len(plan.orders)
    shown = plan._repr_html_()
    assert shown.count("<tr>") == 1 + len(plan.orders)
    assert "Yes: epsilon 1 finds" in shown
    assert "held fixed" in shown
    assert "<script" not in shown


HEADS = [
    "EDGES",
    "OPEN PAIRS",
    "ABSENT PAIRS",
    "WHAT COULD BE SHOWN",
    "BACKGROUND KNOWLEDGE",
    "COLUMNS",
    "METHOD",
    "PRIVACY",
]


def heads_of(text: str) -> list[str]:
    lines = text.splitlines()
    return [line for before, line in pairwise(lines) if not before and line.isupper()]


def test_sections_have_headings_and_no_line_is_repeated() -> None:
    data = dc.networks.load("asia").sample(5_000, seed=1)
    names = list(data.columns)
    result = dc.discover(data, epsilon=2.0, tiers=[names[:2], names[2:]])
    text = result.summary(full=True)
    found = heads_of(text)
    assert found == [head for head in HEADS if head in found]
    assert {"EDGES", "ABSENT PAIRS", "BACKGROUND KNOWLEDGE", "METHOD", "PRIVACY"} <= set(found)
    assert ("OPEN PAIRS" in found) == bool(result.open)
    lines = [line for line in text.splitlines() if line]
    assert len(lines) == len(set(lines))
    assert "found among 8 columns" in lines[0]  # the answer first
    assert text.index("EDGES") < text.index(result.edge_lines()[0]) < text.index("METHOD")
    assert text.index("PRIVACY\n") < text.index("Privacy: epsilon 2")


def test_empty_sections_are_left_out() -> None:
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    found = heads_of(exact.summary(full=True))
    assert "OPEN PAIRS" not in found
    assert "COLUMNS" not in found
    assert found[-1] == "PRIVACY"
    assert "NOT PRIVATE" in exact.summary(full=True)


def test_many_changes_are_counted() -> None:
    names = ["a", *(f"b{i}" for i in range(PAIRS_SHOWN + 2))]
    many = dc.Graph(names, undirected=[("a", name) for name in names[1:]])
    assert changes_line(dc.Graph(names), many, "first").endswith(f"a - b{PAIRS_SHOWN - 1} and 2 more.")
    ways = [dc.Graph(["a", "b"], directed=[way]) for way in (("a", "b"), ("b", "a"))]
    assert "a -> b (now b -> a)" in changes_line(*ways, "x")


def test_again_says_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = dc.networks.load("cancer").sample(50_000, seed=1)
    with dc.testing.seeded(1):
        result = dc.discover(data, epsilon=5.0, delta=1e-6, confidence=0)
    (a, b) = next(iter(result.graph.skeleton))
    from dpcausal.present.files import file_texts

    Path("first").mkdir()
    for name, text in file_texts(result).items():
        Path("first", name).write_text(text, encoding="utf-8")
    assert run(["again", "first", "--forbidden", f"{a}--{b}", "--out", "second"]) == 0
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("Changed from first: ")]
    assert "removed" in line
    assert a in line
    assert b in line
    Path("first", "graph.json").unlink()
    assert run(["again", "first", "--out", "third"]) == 0
    assert "Changed from" not in capsys.readouterr().out
    Path("first", "graph.json").write_text("not what it was\n")  # nothing is said to have appeared
    assert run(["again", "first", "--out", "fourth"]) == 0
    assert "Changed from" not in capsys.readouterr().out
