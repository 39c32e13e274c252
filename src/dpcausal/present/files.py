"""A result's files for other programs: the graph in many formats, with what must be known of its edges, and the cost.

``graph.json`` is the graph's own format (``graphs/formats.py``) with more keys, which readers of graphs ignore:

- ``open``: pairs that could not be decided; each may be an edge or not, and none is in the graph;
- ``given_up_to``: edges about which larger sets could not be tested: ``pair``, and ``columns``, up to how many were;
- ``complete``: whether the search asked every question that it needed;
- ``unsure_arrows``: arrows, other than declared ones, on edges in ``given_up_to``;
- ``missing_edges``: what an absent pair means, in words;
- ``conflicts``: edges on whose directions test results contradict each other; ``directed`` is the nearest graph that
  exists, and its arrows there should not be believed;
- ``hints``: weak hints, found again in less than half of the repeats; ``directed`` and ``undirected`` have them;
- ``found``: ``directed`` and ``undirected`` without the hints, as the files for other programs have them;
- ``on_hints``: none any more; files of earlier versions have edges there whose direction rests on weak hints;
- ``direction``: the chance of each direction; ``mark_chances``, where causes may be hidden: that of a head at ``to``,
  that it is no cause of ``from``;
- ``declared``: background knowledge: directions that follow from it were not found in the data;
- ``confidence``, where it was asked for: ``pair`` and ``found_again``, which says nothing about a direction, and
  ``confidence_repeats``: of how many repeats;
- ``method``, ``why``: the method and why it was used; ``notes``: what it did, and what must be known of the graph;
- ``facts``: the same for programs, as kinds and numbers: ``reason``, ``verdict``, ``pairs`` (how many are found,
  weak hints, absent, open) and ``notes``;
- ``private``, and ``why_not_private`` where it is not; ``caveats``: a weak promise, an unchecked draft of a schema;
- ``privacy``: the file with the privacy statement.

In all other files edges in ``conflicts`` have no direction (``DiscoveryResult.shown``). Files for other programs
(``graph.dagitty``, ``arcs.csv``, ``graph.dot``, ``graph.graphml``) leave weak hints out, since a program would take
them for findings; ``graph.json``, ``pairs.csv`` and the drawing have them, marked as such.
``graph.svg`` is the report's drawing with its legend. Open pairs are in ``graph.dot`` and ``graph.graphml`` only where
they are asked for. ``graph.dagitty`` and ``arcs.csv`` are for R (``graphs/formats.py``). ``pairs.csv`` has every pair
of columns. ``release.json`` holds the noisy values that were released, for another search (``discovery/release.py``);
methods that release decisions only have none. A graph that is not private says so in all of them but the two tables.

``registry.yaml`` is a draft for OpenDP's registry of deployments, with the fields of its schema of July 2026
(``deployments-schema.yaml``). What only the publisher knows is left empty, with a comment ``fill in``. The registry
knows no product type "graph": ``Summary statistics`` comes nearest. Every text is a JSON string, which YAML reads.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from dpcausal.discovery.evidence import LinkStrength
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.result import DiscoveryResult, in_order, sorted_pairs
from dpcausal.graphs.doubts import without_edges
from dpcausal.graphs.formats import dot_quoted, to_arcs, to_dagitty, to_dot, to_graphml, to_json
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.pag import PAG
from dpcausal.present.figures import figure_svg
from dpcausal.present.statement import caveat_lines, relation_words
from dpcausal.present.tables import (
    HINTS_MEAN,
    EdgeFact,
    PairRow,
    edge_rows,
    grade,
    open_sentence,
    pair_rows,
    pairs_words,
    share_words,
)
from dpcausal.present.text import counted

STATEMENT, RELEASE = "privacy.json", "release.json"


SAID = (  # of a result, in its graph.json
    *(
        "open",
        "given_up_to",
        "complete",
        "conflicts",
        "unsure_arrows",
        "on_hints",
        "direction",
        "mark_chances",
    ),
    *("missing_edges", "declared", "method", "why", "notes", "facts"),
)


def graph_json(result: DiscoveryResult, statement: str | None = None) -> str:
    """Return the graph as JSON with the facts about its edges; ``statement`` names the statement's file."""
    said = result.to_dict()
    more: dict[str, Any] = {name: said[name] for name in SAID}
    more |= {"found": _lists(without_hints(result)), "hints": sorted_pairs(result.hints)}
    if result.confidence is not None:
        more |= {name: said[name] for name in ("confidence", "confidence_repeats")}
    more |= stamp(result)
    if words := caveat_lines(result.privacy):
        more["caveats"] = words
    if statement is not None:
        more["privacy"] = statement
    return to_json(result.graph, more)


def file_texts(result: DiscoveryResult, *, open: bool = False, data: str = "") -> dict[str, str]:  # noqa: A002
    """Return the texts of all files of a result by file name, the privacy statement first.

    ``data`` is what the data set is called, where no ledger names it.
    """
    left = in_order(result.open, result.graph.nodes) if open else []
    firm = without_hints(result)
    return {
        STATEMENT: result.privacy.to_json(),
        "graph.json": graph_json(result, STATEMENT),
        "graph.svg": figure_svg(result, open=open, data=data),
        "graph.dagitty": to_dagitty(
            firm, "; ".join(filter(None, (remark(result), hints_remark(result)))) or None
        ),
        "arcs.csv": to_arcs(firm, undeclared_chances(result)),
        "pairs.csv": pairs_csv(result),
        "registry.yaml": registry_yaml(result),
        "graph.dot": to_dot(firm, dot_attributes(result), remark=remark(result), possible=left),
        "graph.graphml": to_graphml(firm, graphml_attributes(result), more=stamp(result), possible=left),
        **({} if result.release is None else {RELEASE: result.release.to_json()}),
    }


def undeclared_chances(result: DiscoveryResult) -> dict[tuple[str, str], float]:
    """Return the chances of directions, or of marks, that data had a say in: a declared direction has none."""
    declared = frozenset(frozenset(arrow) for arrow in result.known.required_arrows(result.graph.skeleton))
    if (
        result.graph.kind == PAG.kind
    ):  # an order declares that the later is no cause of the earlier, and no more
        return {end: chance for end, chance in result.marks.items() if end[::-1] not in result.known.arrows}
    return {arrow: chance for arrow, chance in result.direction.items() if frozenset(arrow) not in declared}


def without_hints(result: DiscoveryResult) -> Graph:
    """Return the graph without weak hints, for files that other programs read."""
    return without_edges(result.shown, frozenset(result.hints))


def _lists(graph: Graph) -> dict[str, list[list[str]]]:
    """Return the edges of a graph as lists, as its JSON has them."""
    edges = list(graph.edges())
    return {
        "directed": [[a, b] for a, b, arrow in edges if arrow],
        "undirected": [[a, b] for a, b, arrow in edges if not arrow],
    }


def stamp(result: DiscoveryResult) -> dict[str, Any]:
    """Return whether the graph is private and, if not, why, for files."""
    if result.privacy.private:
        return {"private": True}
    return {"private": False, "why_not_private": result.privacy.why_not_private or ""}


def remark(result: DiscoveryResult) -> str | None:
    """Return the remark for files that a graph is not private; None for one that is."""
    return None if result.privacy.private else f"NOT PRIVATE: {result.privacy.why_not_private}"


def hints_remark(result: DiscoveryResult) -> str:
    """Return the remark on weak hints that a file leaves out; empty where there are none."""
    hints = result.hints
    return f"left out: weak hints ({HINTS_MEAN}): {pairs_words(result, hints)}" if hints else ""


PAIR_COLUMNS = (
    *("a", "b", "state", "marks", "direction", "a_to_b", "b_to_a"),
    *("found_again", "held_fixed", "given_up_to", "least_w"),
)
# only where some pair has something in it: of the question that came nearest, and of the edges of codes
EVIDENCE_COLUMNS = ("p_value", "log10_bayes", "asked_given")
STRENGTH_COLUMNS = ("w", "w_low", "w_high", "sign")
NOTHING = "nothing"


def pairs_csv(result: DiscoveryResult) -> str:
    """Return every pair of columns that was asked about, as comma-separated values.

    ``marks`` are read from a to b. ``direction``: declared, data, contradicted, hints (it rests on weak hints, and is
    not shown) or undecided. ``a_to_b``, ``b_to_a``: the chance that the one causes the other, where the method has one.
    ``held_fixed``: the columns held fixed in the question that decided, with semicolons: of an
    absent pair, what separates it; of an edge, what came nearest to that; ``nothing`` where nothing was held fixed, and
    empty where no question decided or the method released none. ``given_up_to``: of an edge, up to how many columns
    every set could be tested, where not all could.
    Where the method released them, the last columns have the p-value or Bayes factor (log10) of the question that came
    nearest to separating the pair, and what was held fixed in it (``asked_given``: ``nothing``, or empty where none was
    asked); a number that no pair has gets no column. Of codes, ``w``, ``w_low``, ``w_high`` and ``sign`` say how strong
    an edge is (``result.strength``). ``note``, the last column, has the remark on an edge, as the
    terminal shows it, why a pair is open, and that levels without an order were merged in a pair without an edge.
    """
    cells = [_cells(row, result.strength.get(frozenset((row.a, row.b)))) for row in pair_rows(result)]
    more = [name for name in (*EVIDENCE_COLUMNS, *STRENGTH_COLUMNS) if any(one.get(name) for one in cells)]
    text = io.StringIO()
    rows = csv.DictWriter(text, [*PAIR_COLUMNS, *more, "note"], extrasaction="ignore", lineterminator="\n")
    rows.writeheader()
    rows.writerows(cells)
    return text.getvalue()


def _cells(row: PairRow, link: LinkStrength | None) -> dict[str, str]:
    """Return the cells of ``pairs.csv`` for a pair; ``link``: how strong an edge of codes is."""
    a_to_b, b_to_a = (None, None) if row.chances is None else row.chances
    cells = {
        "a": row.a,
        "b": row.b,
        "state": row.state,
        "marks": row.marks,
        "direction": row.direction,
        "a_to_b": _known(a_to_b, ".2f"),
        "b_to_a": _known(b_to_a, ".2f"),
        "found_again": _known(row.found_again, ".2f"),
        "held_fixed": _names(row.held_fixed),
        "given_up_to": _known(row.given_up_to, "d"),
        "least_w": row.least_w,
        "note": row.note,
    }
    if (one := row.evidence) is not None:
        numbers = {"p_value": one.pvalue, "log10_bayes": one.log10_bayes}
        cells |= {name: _known(value, ".3g") for name, value in numbers.items()}
        cells["asked_given"] = _names(one.given)
    if link is not None:
        cells |= {"w": f"{link.w:.3g}", "w_low": f"{link.low:.3g}", "w_high": f"{link.high:.3g}"}
        cells["sign"] = f"{link.sign}"
    return cells


def _known(value: float | None, form: str) -> str:
    """Return a number in this format; empty where it is not known."""
    return "" if value is None else format(value, form)


def _names(given: tuple[str, ...] | None) -> str:
    """Return the columns held fixed, separated by semicolons; empty where not known."""
    return "" if given is None else "; ".join(given) or NOTHING


DOT_WIDTHS = {"sure": 2, "weaker": 1, "hint": 0.5}  # by ``grade``


def dot_attributes(result: DiscoveryResult) -> dict[Pair, dict[str, Any]]:
    """Return the Graphviz attributes of each edge: width and label by confidence, style by conflict."""
    found: dict[Pair, dict[str, Any]] = {}
    for row in edge_rows(result):
        marks: dict[str, Any] = {}
        label, words = [], [*row.facts.values()]
        if row.given_up_to is not None:
            marks["given_up_to"] = row.given_up_to
        if (part := row.found_again) is not None:
            marks |= {
                "confidence": f"{part:.4g}",
                "penwidth": f"{DOT_WIDTHS[grade(part)]:g}",
            }
            label.append(share_words(part))
            words.append(f"edge found again: {share_words(part)}")
        if EdgeFact.DIRECTION_DECLARED in row.facts:
            marks["arrowhead"] = "empty"
        if EdgeFact.CONTRADICTED in row.facts:
            marks["conflict"] = "true"
            label.append("?")
        if label:
            marks["label"] = dot_quoted(" ".join(label))
        if words:
            marks["tooltip"] = dot_quoted("; ".join(words))
        found[frozenset((row.a, row.b))] = marks
    for a, b in in_order(result.open, result.graph.nodes):
        found[frozenset((a, b))] = {"tooltip": dot_quoted(open_sentence(a, b))}
    return found


def graphml_attributes(result: DiscoveryResult) -> dict[Pair, dict[str, Any]]:
    """Return the GraphML attributes of each edge: conflict, declared, given_up_to and confidence."""
    found: dict[Pair, dict[str, Any]] = {}
    for row in edge_rows(result):
        known = {"given_up_to": row.given_up_to, "confidence": row.found_again}
        found[frozenset((row.a, row.b))] = {
            "conflict": EdgeFact.CONTRADICTED in row.facts,
            "declared": EdgeFact.DIRECTION_DECLARED in row.facts,
            **{name: value for name, value in known.items() if value is not None},
        }
    return found


VARIANTS = {"pure": "Pure DP", "approximate": "Approximate DP", "zCDP": "Zero-concentrated DP"}
UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029]")  # line ends and controls in YAML, though not in JSON


def template(name: str) -> Template:
    """Return the Jinja template of that name in this package, with its filters ``quoted`` and ``items_of``."""
    environment = Environment(
        loader=PackageLoader("dpcausal.present"),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "quoted": lambda text: UNPRINTABLE.sub(
            lambda found: f"\\u{ord(found[0]):04x}", json.dumps(str(text), ensure_ascii=False)
        ),
        "items_of": lambda lines: "\n".join(f"- {line}" for line in lines),
    }
    return environment.get_template(name)


def registry_yaml(result: DiscoveryResult) -> str:
    """Return the record of a discovery, a draft, as YAML (``templates/registry.yaml``)."""
    statement, graph = result.privacy, result.graph
    words = statement.to_dict()
    kind = "partial ancestral graph" if graph.kind == "pag" else "partly directed graph"
    events = Counter(event["kind"] for event in words["events"])
    return template("registry.yaml").render(
        words=words,
        description=f"A causal graph ({kind}) over {len(graph.nodes)} columns: {', '.join(graph.nodes)}.",
        variant=VARIANTS.get(str(words["definition"]), "Custom"),
        relation=relation_words(statement),
        mechanisms=", ".join(f"{name} ({counted(many, 'time')})" for name, many in events.items()) or "none",
        software=", ".join(f"{name} {version}" for name, version in words["software"].items()),
    )
