"""Whole texts as a person reads them, made from facts written down here: no data, no noise, no search.

What changes a word changes a file in ``tests/data/golden``, and a person reads that change. To write the files anew:

    GOLDEN=write python -m pytest -n 0 tests/unit/present -k golden
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from html import unescape
from platform import python_version

import pytest

import dpcausal as dc
from dpcausal._version import __version__
from dpcausal.citests.result import ByQuestion, CITestResult, Trend
from dpcausal.core.forecast import Power, PowerForecast, Remedy
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import (
    Composition,
    MissingAs,
    NeverPromised,
    NoiseSource,
    PrivacyStatement,
    UncheckedDraft,
    WeakEpsilon,
)
from dpcausal.discovery.evidence import Evidence
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult, PairFindings, SearchRecord, Terms
from dpcausal.discovery.result import replaced as replace
from dpcausal.discovery.search import (
    AboutTarget,
    Conflicts,
    HiddenCauses,
    MergedLevels,
    MethodByCall,
    OpenReason,
    TablesMeasured,
    Unanswered,
)
from dpcausal.effects.result import EffectResult, FromGraph, OpenPairs, SameRelease, StrataLeftOut
from dpcausal.graphs.pag import PAG
from dpcausal.present.files import pairs_csv
from dpcausal.present.page import render
from dpcausal.present.paper import conclusion, methods_paragraph
from dpcausal.present.planning import refusal_words
from dpcausal.present.statement import promise
from dpcausal.privacy.events import GaussianEvent

Golden = Callable[[str, str], None]
DETAILS = "\nMethods paragraph\n"  # where the page goes on much the same for every graph
NAMES = ["age", "sex", "dose", "pain", "site", "cured"]


def pair(a: str, b: str) -> frozenset[str]:
    return frozenset((a, b))


def statement() -> PrivacyStatement:
    event = GaussianEvent(label="tables", neighbours=Neighbours.REPLACE_ONE, sensitivity=1.0, sigma=10.0)
    return PrivacyStatement(
        private=True,
        definition="zCDP",
        epsilon=2.0,
        delta=1e-6,
        neighbours=Neighbours.REPLACE_ONE,
        composition=Composition.FIXED_RHO,
        noise=NoiseSource.OPERATING_SYSTEM,
        events=(event.to_dict(),),
        asked={"epsilon": 2.0, "delta": 1e-6},
        ledger={"dataset": "cohort", "entry": 3, "left": {"epsilon": 1.0, "delta": 1e-6}},
        public=(MissingAs((("sex", "unknown", True, False),)),),
    )


def graph() -> DiscoveryResult:
    """Every state of a pair and every kind of direction, once."""
    found = dc.Graph(
        NAMES,
        directed=[("age", "dose"), ("sex", "pain"), ("pain", "cured")],
        undirected=[("age", "site"), ("dose", "pain")],
    )
    tables = TablesMeasured(
        gaussian=True,
        sd=14.2,
        mean_cell=820.0,
        least_cell=33.0,
        enough=3.0,
        rows_measured=False,
        singles=6,
        pairs=15,
        larger=2,
        target=None,
    )
    return DiscoveryResult(
        graph=found,
        privacy=statement(),
        terms=Terms(
            method="measured",
            reason=MethodByCall("as-asked"),
            level=0.05,
            known=Knowledge.of(
                NAMES, tiers=[["age", "sex"], ["dose"]], forbidden=[pair("sex", "dose")], required=[]
            ),
            rows=4_000,
            labels={"dose": "daily dose in mg"},
        ),
        pairs=PairFindings(
            open=frozenset([pair("sex", "site"), pair("site", "cured")]),
            given_up_to={pair("sex", "pain"): 1},
            separating={pair("age", "sex"): (), pair("dose", "cured"): ("pain",), pair("age", "pain"): ()},
            confidence={
                pair("age", "dose"): 0.99,
                pair("sex", "pain"): 0.85,
                pair("pain", "cured"): 0.6,
                pair("age", "site"): 0.3,
                pair("dose", "pain"): 0.9,
            },
            repeats=40,
            conflicts=frozenset([pair("dose", "pain")]),
            detectable={
                pair("age", "sex"): 0.12,
                pair("dose", "cured"): 0.31,
                pair("age", "pain"): 0.15,
            },
            evidence={
                pair("age", "dose"): Evidence(("sex",), log10_bayes=12.3),
                pair("age", "sex"): Evidence((), log10_bayes=-2.1),
                pair("sex", "site"): Evidence(("age",), log10_bayes=0.02),
            },
        ),
        search=SearchRecord(
            asked={0: 15, 1: 20},
            complete=True,
            settled=True,
            notes=(tables, MergedLevels((("site", 3),), ()), Conflicts((("dose", "pain"),), (), True, False)),
        ),
    )


def hidden() -> DiscoveryResult:
    marked = PAG(
        ["age", "dose", "pain", "cured"],
        [("age", "->", "dose"), ("dose", "<->", "pain"), ("pain", "o->", "cured"), ("age", "o-o", "pain")],
    )
    return replace(
        graph(),
        graph=marked,
        known=Knowledge(),
        direction={},
        marks={
            **{("age", "dose"): 0.97, ("dose", "age"): 0.1, ("dose", "pain"): 0.93, ("pain", "dose"): 0.91},
            **{("pain", "cured"): 0.88, ("cured", "pain"): 0.5, ("age", "pain"): 0.66, ("pain", "age"): 0.5},
        },
        notes=(HiddenCauses(2, 1),),
        open=frozenset(),
        conflicts=frozenset(),
        separating={},
        evidence={},
        confidence=None,
        given_up_to={},
        labels={},
    )


def about_pain() -> DiscoveryResult:
    return replace(
        graph(),
        notes=(AboutTarget("pain", ("dose", "sex")),),
        about=frozenset(pair("pain", name) for name in NAMES if name != "pain"),
        graph=dc.Graph(NAMES, directed=[("sex", "pain"), ("pain", "cured")]),
        open=frozenset([pair("pain", "site")]),
        conflicts=frozenset(),
        known=Knowledge(),
        labels={},
    )


def little() -> DiscoveryResult:
    """A search that could decide hardly anything, from rows under an unchecked schema."""
    every = frozenset(pair(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :])
    told = replace(
        statement(),
        limits=(UncheckedDraft(), NeverPromised("timing"), WeakEpsilon(12.0)),
        ledger=None,
        delta=0.0,
        epsilon=12.0,
    )
    return replace(
        graph(),
        method="svt-pc",
        privacy=told,
        graph=dc.Graph(NAMES),
        open=every,
        known=Knowledge(),
        notes=(Unanswered(((OpenReason.NOISE, 9), (OpenReason.TOO_FEW_ROWS, 6))),),
        conflicts=frozenset(),
        confidence=None,
        separating={},
        evidence={},
        given_up_to={},
        labels={},
        detectable={},
        fewer_columns=3,
    )


def exact() -> DiscoveryResult:
    return replace(graph(), privacy=PrivacyStatement.none(released=[]), detectable={}, known=Knowledge())


GRAPHS = {
    "graph": graph,
    "hidden": hidden,
    "about_pain": about_pain,
    "little": little,
    "exact": exact,
}


class OneDay(date):
    @classmethod
    def today(cls) -> OneDay:
        return cls(2026, 1, 2)


def page_text(page: str) -> str:
    """What a reader sees of a page, a line for each element."""
    shown = re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.DOTALL)
    lines = (" ".join(line.split()) for line in unescape(re.sub(r"<[^>]+>", "\n", shown)).splitlines())
    return "\n".join(line for line in lines if line)


def written(parts: dict[str, str]) -> str:
    """Texts below their names, without what differs between machines."""
    text = "".join(f"=== {part}\n{text.rstrip()}\n" for part, text in parts.items())
    return text.replace(__version__, "VERSION").replace(python_version(), "PYTHON")


@pytest.mark.parametrize("name", GRAPHS)
def test_golden_graph(name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcausal.present.page.date", OneDay)
    result = GRAPHS[name]()
    parts = {
        "brief": result.summary(),
        "full": result.summary(full=True),
        "pairs.csv": pairs_csv(result),
        "conclusion": "\n".join(conclusion(result)),
        "methods": methods_paragraph(result),
        "promise": "\n".join(promise(result.privacy)),
        "report": page_text(render(result)).partition("no end" if name == "graph" else DETAILS)[0],
    }
    golden(name, written(parts))


def test_golden_test_and_effect(golden: Golden) -> None:
    answer = CITestResult(
        x="dose",
        y="pain",
        given=("age",),
        method="kendall",
        level=0.05,
        independent=False,
        pvalue=0.0123,
        statistic=-2.5,
        dof=None,
        reason=ByQuestion("ordered-levels"),
        privacy=statement(),
        direction=Trend("dose", "pain", ("age",), rises=False, tau=-0.3),
    )
    poor = PowerForecast(
        about="test",
        method="kendall",
        rows=120,
        epsilon=1.0,
        delta=0.0,
        level=0.05,
        power=Power(0.08, 0.313, 0.576, None),
    )
    silent = replace(answer, independent=True, pvalue=0.4, direction=None, missed=poor)
    effect = EffectResult(
        treatment="dose",
        outcome="cured",
        adjust=("age", "sex"),
        compare=("low", "high"),
        event="yes",
        estimand="risk difference",
        estimate=0.0891,
        interval=(0.04, 0.13),
        level=0.95,
        means=(0.41, 0.5),
        share=0.97,
        left_out=(("old", "m"),),
        method="table",
        possible=(),
        notes=(
            FromGraph(("age", "sex")),
            OpenPairs(("site",), both=False),
            StrataLeftOut(noise=True, share=0.03),
            SameRelease("same-tables", held=0.93, few=0.89),
        ),
        privacy=statement(),
    )
    known = replace(poor, power=Power(0.6, 1.0, 1.0, 0.13))
    unknown = replace(poor, power=None, without_noise=Power(0.9, 1.0, 1.0, 0.07))
    remedies = (Remedy("delta", 1e-6, 0.98), Remedy("columns", 5, 0.33), Remedy("epsilon", 1.5, 0.8))
    hopeless = replace(poor, about="graph", power=Power(0.0, 0.01, 0.05, None), columns=12, remedies=remedies)
    parts = {
        "power": "\n".join(map(str, (poor, known, unknown))),
        "refusal": refusal_words(hopeless),
        "refusal, little left": refusal_words(replace(hopeless, left=0.5)),
        "dependent": str(answer),
        "dependent, full": answer.summary(full=True),
        "independent": str(silent),
        "effect": str(effect),
        "effect, full": effect.summary(full=True),
        "statement": statement().summary(),
    }
    golden("answers", written(parts))
