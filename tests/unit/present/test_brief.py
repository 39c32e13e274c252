"""What the terminal shows: the answer first, a line each on what else must be known, and no riddles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.core.statement import Limit, LimitKind, PrivacyStatement
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.present.brief import cost_lines, ledger_line, privacy_line

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
    )


def test_a_discovery_is_a_table_and_three_lines(result: DiscoveryResult) -> None:
    assert made(result).summary().splitlines() == [
        "3 edges found among 5 columns, 6 pairs absent, 1 pair open (method measured).",
        "  edge    found again  note",
        "  a -> b          90%  direction contradicted",
        "  c -> b          60%  given up to 1 column",
        "  c - dd          20%  direction not decided; a hint only",
        "  (no edge found: e)",
        "Open: 1 pair could not be decided: a ? e.",
        "Privacy: epsilon 1, delta 0; changing one row makes no result more than 2.72 times as likely.",
        "Ledger: none, so nobody adds up what is released from these rows; --ledger URL --dataset NAME does.",
    ]
    assert len(made(result).summary(full=True)) > 2 * len(made(result).summary())


def test_declared_edges_are_noted(result: DiscoveryResult) -> None:
    known = Knowledge.of(["a", "b", "c", "dd", "e"], required=[("c", "b")])
    (line,) = [text for text in replace(made(result), known=known).summary().splitlines() if "c -> b" in text]
    assert (
        line == "  c -> b               edge as you declared; direction as you declared; given up to 1 column"
    )


def test_every_open_pair_is_named_where_asked(result: DiscoveryResult) -> None:
    names = [f"c{i}" for i in range(9)]
    pairs = frozenset(frozenset((names[0], name)) for name in names[1:])
    left = replace(made(result), graph=dc.Graph(names), open=pairs, given_up_to={}, conflicts=frozenset())
    (few,) = [line for line in left.summary().splitlines() if line.startswith("Open:")]
    assert few.startswith("Open: 8 pairs could not be decided: c0 ? c1")
    assert few.endswith(" and 2 more (--show-open lists all).")
    (all_,) = [line for line in left.summary(open=True).splitlines() if line.startswith("Open:")]
    assert all_.count(" ? ") == 8
    (none,) = [
        line for line in replace(left, open=frozenset()).summary().splitlines() if line.startswith("Open:")
    ]
    assert none == "Open: no pair; each was found to have an edge or not."


def test_a_test_is_three_lines() -> None:
    data = dc.networks.load("asia").sample(20_000, seed=1)
    answer = dc.ci_test(data, "smoke", "bronc", epsilon=1.0)
    first, privacy, ledger = str(answer).splitlines()
    assert re.fullmatch(
        r"smoke and bronc: dependent \(p = \S+, level 0.05, test kendall\); bronc \w+ as smoke rises\.", first
    )
    assert privacy == privacy_line(answer.privacy)
    assert ledger == ledger_line(answer.privacy)
    full = answer.summary(full=True)
    assert "chosen because" in full
    assert "Assumed public" in full
    assert "Assumed public" not in str(answer)


def test_what_must_not_be_missed_is_in_brief(result: DiscoveryResult) -> None:
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert str(exact).startswith("NOT PRIVATE: ")
    assert "Ledger" not in str(exact)
    with dc.testing.seeded(1):
        seeded = dc.ci_test(dc.networks.load("cancer").sample(500, seed=1), "Smoker", "Cancer", epsilon=1.0)
    assert "NOT PRIVATE: made under dpcausal.testing.seeded" in str(seeded)
    draft = replace(result.privacy, limits=(*result.privacy.limits, Limit(LimitKind.DRAFT_SCHEMA)))
    assert any("unchecked draft" in line for line in cost_lines(draft))
    none = PrivacyStatement.none(released=[])
    assert cost_lines(none) == [f"NOT PRIVATE: {none.why_not_private}."]


def test_what_is_left_is_in_the_line_of_the_ledger(result: DiscoveryResult) -> None:
    ledger = {"dataset": "cohort", "entry": 3, "left": {"epsilon": 2.0, "delta": 0.0}}
    charged = replace(result.privacy, ledger=ledger)
    assert (
        ledger_line(charged)
        == "Ledger: cohort, entry 3; charged epsilon 1, delta 0; left epsilon 2, delta 0."
    )


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
    assert lines[0].startswith("Epsilon 1 is enough to find a dependence of w = 0.1 in 80% of cases")
    assert lines[1] == ""
    assert len(lines) <= 12 + len(plan.orders)
    shown = plan._repr_html_()
    assert shown.count("<tr>") == 1 + len(plan.orders)
    assert "Epsilon 1 is enough" in shown
    assert "held fixed" in shown
    assert "<script" not in shown
