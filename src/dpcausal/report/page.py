"""One self-contained HTML page for a discovery: opens without a network, prints, and follows a dark theme."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from dpcausal._version import __version__
from dpcausal.core.errors import InputError
from dpcausal.core.statement_words import steps_words
from dpcausal.discovery.declared import declared_words
from dpcausal.discovery.headline import undecided_words
from dpcausal.discovery.method_words import method_words
from dpcausal.discovery.result_files import STATEMENT, graph_json
from dpcausal.discovery.result_words import GIVEN_OUT, HINT, SURE, again_words, arrow_words, grade
from dpcausal.report import words
from dpcausal.report.drawing import svg
from dpcausal.report.edge_words import EdgeNotes
from dpcausal.report.fields import FIELDS, HEADINGS
from dpcausal.report.origin import Origin
from dpcausal.report.spending import chart, rows, steps, unit_words

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult


def edge_rows(result: DiscoveryResult, marks: EdgeNotes) -> list[dict[str, Any]]:
    """Every edge for the table below the drawing."""
    return [
        {
            "from": a,
            "to": b,
            "arrow": arrow,
            "confidence": marks.confidence.get(frozenset((a, b))),
            "remark": marks.remark(a, b, arrow),
        }
        for a, b, arrow in result.drawn.edges()
    ]


def keys(result: DiscoveryResult, marks: EdgeNotes) -> list[tuple[str, str, bool]]:
    """(class of a line, what it means, whether it has a head) of every kind of line that is drawn."""
    drawn, pairs = result.drawn, result.graph.skeleton
    grades = {grade(marks.confidence[pair]) for pair in pairs if pair in marks.confidence}
    arrow = "direction as you declared, or " if marks.known.arrows else ""
    found = [
        ("arrow", arrow + arrow_words(result), bool(drawn.directed)),
        ("plain", "linked, direction not decided by the data", bool(drawn.undirected - result.untested)),
        ("untested", "kept, not fully tested", bool(result.untested - result.unknown_directions)),
        ("untested", "kept without a full test, direction not known", bool(result.unknown_directions)),
        ("conflict", "answers contradict each other about its direction", bool(result.conflicts)),
        ("sure", f"edge found again in {SURE:.0%} of repeats or more", "sure" in grades),
        ("weaker", f"in {HINT:.0%} to {SURE:.0%}", "weaker" in grades),
        ("hint", f"below {HINT:.0%}: a hint", "hint" in grades),
    ]
    return [(kind, words, kind == "arrow") for kind, words, there in found if there]


def render(result: DiscoveryResult, title: str = "Causal graph", origin: Origin | None = None) -> str:
    """The page as text; ``origin`` names the user's files and command where they are known."""
    environment = Environment(
        loader=PackageLoader("dpcausal.report"),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    statement = result.privacy.to_dict()
    found = steps(result.privacy)
    charged = rows(statement["events"])
    empty = {name for name in ("epsilon", "delta", "rho") if not any(event[name] for event in charged)}
    marks = EdgeNotes.of(result)
    return environment.get_template("report.html").render(
        title=title,
        result=result,
        undecided=undecided_words(result),
        banners=words.banners(result),
        method=method_words(result.method, result.why),
        protected=words.protected(result.privacy),
        fields=FIELDS,
        headings={name: means for name, means in HEADINGS.items() if name not in empty},
        statement=statement,
        statement_json=json.dumps(statement, indent=2, ensure_ascii=False),
        graph_json=graph_json(result, None if origin is None else STATEMENT),
        drawing=svg(result.drawn, marks),
        keys=keys(result, marks),
        declared=declared_words(result.known),
        arrows_declared=bool(marks.known.arrows),
        edges=edge_rows(result, marks),
        has_confidence=bool(marks.confidence),
        again=again_words(result),
        repeats=result.repeats,
        given_out=GIVEN_OUT if result.privacy.epsilon is not None else "",
        promise=words.promise(result.privacy),
        open_questions=words.open_questions(result),
        questions=words.questions(result),
        chart=chart(found),
        unit=found[0].unit if found else "",
        unit_words=unit_words(found),
        events=charged,
        steps=steps_words(len(charged)),
        citation=words.citation(result),
        python_call=words.python_call(result, origin),
        shell_call="" if origin is None else origin.shell(),
        version=__version__,
    )


def write(
    result: DiscoveryResult, path: str | Path, title: str = "Causal graph", origin: Origin | None = None
) -> Path:
    """Write the page; its path."""
    target = Path(path)
    try:
        target.write_text(render(result, title, origin), encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {target}: {error.strerror}") from None
    return target
