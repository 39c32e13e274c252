"""One self-contained HTML page for a discovery: opens without a network, prints, and follows a dark theme.

The functions above ``render`` make its sentences: what could not be decided and why, how to cite and to repeat.

A notebook shows the drawing with the same words, as a piece of HTML without scripts (``notebook_html``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcausal._version import __version__
from dpcausal.core.errors import InputError
from dpcausal.core.statement import CountedByEngine, SearchedAgain, UncheckedDraft
from dpcausal.discovery.search import MergedLevels, ScoredGraphs, Unanswered
from dpcausal.present.effect import edge_effect_lines, edge_effects_mean
from dpcausal.present.figures import (
    BOXES,
    Picture,
    data_name,
    figure_svg,
    heading,
    key_ends,
    style_rules,
    svg,
)
from dpcausal.present.files import STATEMENT, graph_json, template
from dpcausal.present.graph_words import (
    absent_means,
    again_line,
    all_declared_words,
    arrows_mean,
    column_count,
    free_words,
    headline,
    helps_words,
    joined_words,
    merged_line,
    open_line,
    tiers_words,
    undecided_words,
    why_open_words,
)
from dpcausal.present.notes import MERGING, method_words, note_words
from dpcausal.present.origin import Code, Origin, call_text
from dpcausal.present.paper import conclusion, evidence, methods_paragraph
from dpcausal.present.statement import (
    HEADINGS,
    board_lines,
    chart,
    entries_called,
    event_rows,
    fact_words,
    promise,
    pvalue_words,
    rows_differ,
    steps,
)
from dpcausal.present.tables import (
    OPEN_MEANS,
    EdgeNotes,
    PairRow,
    edge_rows,
    open_reason,
    pair_rows,
    pairs_words,
    sign,
)
from dpcausal.present.text import as_sentence
from dpcausal.stats.contrasts import POWER

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult


def open_questions(result: DiscoveryResult) -> list[str]:
    """Return what could not be tested about edges and why, followed by the method's notes."""
    about = [_why_not_asked(result)] if result.given_up_to else []
    if not result.complete:
        about.append("The search ended before every question was asked: the budget was spent.")
    notes = [note for note in result.notes if not isinstance(note, MergedLevels)]
    return [*about, *(as_sentence(note_words(note)) for note in notes)]


def above_the_graph(result: DiscoveryResult) -> list[str]:
    """Return what affects how the graph is read: advice, order of time, merged levels."""
    about = (helps_words(result), tiers_words(result), free_words(result), merged_line(result, brief=True))
    return [line for line in about if line]


def merged_means(result: DiscoveryResult) -> str:
    """Return which levels were merged into which groups, and how that can mislead; empty where none."""
    line = merged_line(result)
    return f"{line} {MERGING}." if line else ""


def _why_not_asked(result: DiscoveryResult) -> str:
    """Return why some edges were tested with small conditioning sets only."""
    if any(isinstance(note, Unanswered) for note in result.notes) or not result.complete:
        why = "Larger sets of columns could not be tested, for the reasons below"
    elif result.asked and max(result.asked) <= min(result.given_up_to.values()):
        why = "Larger sets of columns were not asked for"  # max_order
    elif result.privacy.epsilon is None:
        why = "With this many rows a test given a larger set would have been chance"
    else:
        why = "With this budget and this many rows a test given a larger set would have been noise"
    return f"{why}; they might remove edges that were tested with few."


def banners(result: DiscoveryResult) -> list[tuple[str, str]]:
    """Return (id, text) of the warnings at the top: contradictions, a draft, a weak promise."""
    found = []
    if result.contradicted:
        pairs = pairs_words(result, result.contradicted)
        found.append(
            ("conflicts", f"Test results contradict each other, so no direction is shown at {pairs}.")
        )
    kinds = {UncheckedDraft: "draft", CountedByEngine: "engine"}
    return [
        *found,
        *((kinds.get(type(limit), "weak"), fact_words(limit)) for limit in result.privacy.caveats),
    ]


def from_a_release(result: DiscoveryResult) -> bool:
    """Return whether the graph was computed from an earlier release."""
    return any(isinstance(fact, SearchedAgain) for fact in result.privacy.released)


def python_call(result: DiscoveryResult, origin: Origin | None) -> str:
    """Return the Python call that asks for the same result again."""
    if origin is not None:
        return origin.python
    if from_a_release(result):  # result.release.save wrote it, with what was declared now
        return 'result = dc.load_release("release.json").discover()'
    asked = result.privacy.asked
    cost = {name: asked[name] for name in ("epsilon", "delta")} if "epsilon" in asked else {"epsilon": None}
    more = {"method": result.method, "level": result.level, "neighbours": str(result.privacy.neighbours)}
    return f"result = {call_text('dc.discover', [Code('data')], {**cost, **more})}"


def edge_table(result: DiscoveryResult, marks: EdgeNotes) -> list[dict[str, Any]]:
    """Return the rows of the table of edges below the drawing."""
    found = []
    for row in edge_rows(result):
        effect = edge_effect_lines(result.edge_effect(row.a, row.b))
        about = {
            "from": row.a,
            "to": row.b,
            "sign": sign(row.marks),
            "points": row.points,
            "again": row.again,
        }
        remark = marks.remark(row.a, row.b, row.arrow)
        found.append(
            {**about, "remark": remark, "effect": effect, "evidence": [*evidence(result, row), *effect]}
        )
    return found


def factor_words(log10: float) -> str:
    """Return the base-10 logarithm of a Bayes factor as text.

    >>> factor_words(-0.00342), factor_words(0.297), factor_words(153.2)
    ('0.00', '0.30', '153.2')
    """
    digits = 2 if abs(log10) < 10 else 1
    return f"{round(log10, digits) + 0.0:.{digits}f}"


@dataclass(frozen=True)
class TableOfPairs:
    """The rows of every pair that was asked about, and which of the columns of numbers hold any."""

    rows: list[PairRow]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of numbers that some pair has."""
        return tuple(name for name in ("w", "p", "bayes") if any(self.number(row, name) for row in self.rows))

    @staticmethod
    def number(row: PairRow, name: str) -> str:
        """Return one number of a pair as text; empty where it is not known."""
        one = row.evidence
        if name == "w":
            return row.least_w
        if one is None:
            return ""
        if name == "p":
            return "" if one.pvalue is None else pvalue_words(one.pvalue).removeprefix("= ")
        return "" if one.log10_bayes is None else factor_words(one.log10_bayes)

    def remark(self, row: PairRow) -> str:
        """Return the remark on a pair without an edge; on an open one only a reason that is not the usual one."""
        why = "" if row.why_open is None else open_reason(row.why_open)
        return row.merged if row.marks or why == self._usual_reason != "" else row.note

    @cached_property
    def _usual_reason(self) -> str:
        """The reason why most open pairs are open."""
        reasons = Counter(open_reason(one.why_open) for one in self.rows if one.why_open is not None)
        return max(reasons, key=reasons.__getitem__, default="")

    @staticmethod
    def held(row: PairRow) -> str:
        """Return what was held fixed in the question that decided, or nearly did."""
        given = row.held_fixed
        if given is None and row.evidence is not None:
            given = row.evidence.given
        return "" if given is None else ", ".join(given) or "nothing"


PAIR_HEADS = {"w": "w found in {power} of runs", "p": "p", "bayes": "log10 Bayes factor"}


def pairs_mean(result: DiscoveryResult) -> list[str]:
    """Return the meanings of the states and numbers that occur in the table of pairs."""
    known = result.evidence.values()
    return [
        joined_words(result),
        f"Open: {OPEN_MEANS}; no arrow depends on which. {why_open_words(result)}" if result.open else "",
        "Held fixed: what separates an absent pair; of others, what came nearest to that." if known else "",
        "A Bayes factor of 2 is 100 to 1 for a dependence, -1 is 10 to 1 against; larger tables can overrule it."
        if any(one.log10_bayes is not None for one in known)
        else "",
        "Of an edge of the best whole graph it compares that graph with and without the edge."
        if any(isinstance(note, ScoredGraphs) for note in result.notes)
        else "",
        f"P-values are not corrected for the number of questions. {rows_differ('p-value of each', result.privacy.unit)}"
        if any(one.pvalue is not None for one in known)
        else "",
        "Two columns without an edge may still depend on each other through others.",
    ]


def arrow_sentence(result: DiscoveryResult) -> str:
    """Return what the arrows on this page mean and assume, or that there are none."""
    if result.graph.kind == "pag":
        return (
            f"The key above explains the mark at each end of an edge. {arrows_mean(result)} Marks are right if "
            "independences in the data come from the graph alone (faithfulness) and rows were not selected by their "
            "values."
        ).replace("  ", " ")
    means = arrows_mean(result) or "No direction was decided."
    return (
        f"{means} An arrow is a cause only if no common cause was left out of the table and independences in the data "
        "come from the graph alone (causal sufficiency and faithfulness)."
    )


def plain_words(value: Any) -> str:
    """Return a value of the statement as text without braces and quotes.

    >>> plain_words({"dataset": "cohort", "left": {"epsilon": 0.5, "delta": 0.0}}), plain_words([1, 2]), plain_words({})
    ('dataset cohort; left epsilon 0.5, delta 0', '1, 2', 'none')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        deep = any(isinstance(one, dict | list | tuple) for one in value.values())
        parts = [f"{str(key).replace('_', ' ')} {plain_words(one)}" for key, one in value.items()]
        return ("; " if deep else ", ").join(parts) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(plain_words, value)) or "none"
    return "none" if value is None else str(value)


def statement_rows(statement: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return (field, values in words) of the privacy statement."""
    left_out = ("events", "facts", "format", "parameters")
    several = {
        key: value if isinstance(value, list | tuple) and value else [value]
        for key, value in statement.items()
    }
    return [(key, [*map(plain_words, values)]) for key, values in several.items() if key not in left_out]


def _in_script(value: Any) -> str:
    """Return a value as JSON that is safe inside a script element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def render(
    result: DiscoveryResult,
    title: str = "",
    origin: Origin | None = None,
    *,
    open: bool = False,  # noqa: A002
) -> str:
    """Return the page as HTML text; ``origin`` names the user's files and command where known.

    Open pairs are on it, hidden behind a box to tick; ``open``: whether it is ticked from the start.
    """
    statement = result.privacy.to_dict()
    found = steps(result.privacy)
    charged = event_rows(statement["events"])
    empty = {name for name in ("epsilon", "delta", "rho") if not any(event[name] for event in charged)}
    marks = EdgeNotes.of(result)
    today = date.today()  # of this page: a result has no time of its own
    name = data_name(result, "" if origin is None else origin.data)
    grouped = bool(result.strength)  # hundreds of codes: in groups, without open pairs
    drawn = Picture.of(result, open=open and not grouped, alone=not grouped)
    possible = frozenset() if grouped else drawn.result.open
    return template("report.html").render(
        title=title or heading(result, name),
        undecided=undecided_words(result),
        banners=banners(result),
        method=method_words(result.method, result.why),
        headings={name: means for name, means in HEADINGS.items() if name not in empty},
        statement=statement,
        statement_rows=statement_rows(statement),
        files_json=_in_script(
            {
                "plain": figure_svg(result, open=False, data=name),
                "open": figure_svg(result, open=True, data=name) if possible else None,
                "privacy.json": json.dumps(statement, indent=2, ensure_ascii=False),
                "graph.json": graph_json(result, None if origin is None else STATEMENT),
            }
        ),
        drawing=svg(drawn.result.shown, drawn.marks, possible=possible, shown=open, strength=result.strength),
        open_pairs=len(possible and result.open),
        show_open=open,
        keys=[(key, key_ends(key)) for key in drawn.keys(open=True)],
        boxes=BOXES,
        not_drawn=drawn.not_drawn,
        result=result,
        name=name,
        entries=entries_called(result.privacy.unit).capitalize(),
        columns=column_count(result),
        date=f"{today.day} {today:%B %Y}",
        conclusion=conclusion(result),
        methods=methods_paragraph(result, name),
        pairs=TableOfPairs(pair_rows(result)),
        pairs_mean=pairs_mean(result),
        heads={name: head.format(power=f"{POWER:.0%}") for name, head in PAIR_HEADS.items()},
        declared=all_declared_words(result),
        above=above_the_graph(result),
        groups=merged_means(result),
        arrow_means=arrow_sentence(result),
        edges=edge_table(result, marks),
        labels=[(name, result.labels[name]) for name in result.graph.nodes if name in result.labels],
        has_chances=any(row.points for row in edge_rows(result)),
        has_confidence=bool(marks.confidence),
        again=again_line(result),
        effects_mean=edge_effects_mean(result.privacy),
        promise=promise(result.privacy),
        board=board_lines(result.privacy),
        open_questions=open_questions(result),
        chart=chart(found),
        events=charged,
        python_call=python_call(result, origin),
        shell_call="" if origin is None else origin.shell(),
        from_release=from_a_release(result),
        version=__version__,
    )


def write(
    result: DiscoveryResult,
    path: str | Path,
    title: str = "",
    origin: Origin | None = None,
    *,
    open: bool = False,  # noqa: A002
) -> Path:
    """Write the page and return its path; ``open`` as for ``render``."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm", ""):
        raise InputError(
            f'a report is a page in HTML, so its name ends in .html, not "{target.suffix}"; a picture is '
            f'result.plot("{target.name}"), or graph.svg, which discover --out writes'
        )
    try:
        target.write_text(render(result, title, origin, open=open), encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {target}: {error.strerror}") from None
    return target


def notebook_html(result: DiscoveryResult) -> str:
    """Return the HTML of a result for a notebook, with hover texts."""
    name = "dpcausal-" + sha256(result.to_json().encode()).hexdigest()[:8]
    drawing = svg(result.shown, EdgeNotes.of(result), name, strength=result.strength)
    colours = style_rules(
        name, "currentColor", "currentColor", "Canvas", "system-ui, sans-serif"
    )  # dark or light
    lines = [
        f"{headline(result)}.",
        f"{open_line(result)} result.plot(open=True) draws them." if result.open else "",
        *(line for kind, line in banners(result) if kind == "conflicts"),  # others are in the statement
        helps_words(result),
        absent_means(result),
        tiers_words(result),
        free_words(result),
        merged_line(result, brief=True),
    ]
    text = escape(" ".join(filter(None, lines)))
    return (
        f"<div><style>#{name} {{ max-width: var(--natural); width: 100%; height: auto; }} "
        f"#{name} .edge path.hit {{ stroke: transparent; stroke-width: 14; }} {colours}</style><p>{text}</p>{drawing}"
        f"{result.privacy._repr_html_()}</div>"
    )
