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
- ``on_hints``: edges whose direction in ``directed`` rests on weak hints;
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

In all other files edges in ``conflicts`` and ``on_hints`` have no direction (``DiscoveryResult.shown``). Files for
other programs (``graph.dagitty``, ``arcs.csv``, ``graph.dot``, ``graph.graphml``) leave weak hints out, since a program
would take them for findings; ``graph.json``, ``pairs.csv`` and the drawing have them, marked as such.
``graph.svg`` is the report's drawing with its legend. Open pairs are in ``graph.dot`` and ``graph.graphml`` only where
they are asked for. ``graph.dagitty`` and ``arcs.csv`` are for R (``graphs/formats.py``). ``pairs.csv`` has every pair
of columns. ``release.json`` holds the noisy values that were released, for another search (``discovery/release.py``);
methods that release decisions only have none. A graph that is not private says so in all of them but the two tables.

``registry.yaml`` is a draft for OpenDP's registry of deployments, with the fields of its schema of July 2026
(``deployments-schema.yaml``). What only the publisher knows is left empty, with a comment ``fill in``. The registry
knows no product type "graph": ``Summary statistics`` comes nearest. Every text is a JSON string, which YAML reads.

``Origin`` holds where a report's data came from: the user's own files and call, for "how to reproduce". A report is
made to be shown, so ``ledger_name`` takes out who logs in to a ledger with what password.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpcausal.core.redact import ledger_name
from dpcausal.discovery.knowledge import Pair, declared
from dpcausal.discovery.result import (
    DiscoveryResult,
    by_arrow,
    by_pair,
    in_order,
    sorted_pairs,
)
from dpcausal.graphs.formats import dot_quoted, to_arcs, to_dagitty, to_dot, to_graphml, to_json
from dpcausal.graphs.graph import Graph
from dpcausal.present.figures import figure_svg, rebuilt
from dpcausal.present.graph_words import absent_means
from dpcausal.present.notes import note_words
from dpcausal.present.statement import caveat_lines, relation_words
from dpcausal.present.tables import (
    HINTS_MEAN,
    EdgeFact,
    EdgeNotes,
    PairRow,
    edge_rows,
    grade,
    open_sentence,
    pair_rows,
    pairs_words,
    share_words,
)

STATEMENT, RELEASE = "privacy.json", "release.json"


def graph_json(result: DiscoveryResult, statement: str | None = None) -> str:
    """Return the graph with what must be known of its edges; ``statement`` names the file of its statement."""
    more: dict[str, Any] = {
        "open": sorted_pairs(result.open),
        "given_up_to": by_pair(result.given_up_to, "columns"),
        "complete": result.complete,
        "conflicts": sorted_pairs(result.contradicted),
        "unsure_arrows": sorted(list(arrow) for arrow in result.unsure_arrows),
        "found": _lists(without_hints(result)),
        "hints": sorted_pairs(result.hints),
        "on_hints": sorted_pairs(result.on_hints),
        "direction": by_arrow(result.direction, "chance"),
        "mark_chances": by_arrow(result.marks, "head"),
        "missing_edges": absent_means(result),
        "declared": declared(result.known),
        "method": result.method,
        "why": result.why,
        "notes": [note_words(note) for note in result.notes],
        "facts": result.facts(),
    }
    if result.confidence is not None:
        more["confidence"] = by_pair(result.confidence, "found_again")
        more["confidence_repeats"] = result.repeats
    more |= stamp(result)
    if words := caveat_lines(result.privacy):
        more["caveats"] = words
    if statement is not None:
        more["privacy"] = statement
    return to_json(result.graph, more)


def file_texts(result: DiscoveryResult, *, open: bool = False, data: str = "") -> dict[str, str]:  # noqa: A002
    """Return the text of every file by its name, the privacy statement first; ``open``: whether open pairs are drawn.

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
        "arcs.csv": to_arcs(firm, result.direction or result.marks),
        "pairs.csv": pairs_csv(result),
        "registry.yaml": registry_yaml(result),
        "graph.dot": to_dot(firm, dot_attributes(result), remark=remark(result), possible=left),
        "graph.graphml": to_graphml(firm, graphml_attributes(result), more=stamp(result), possible=left),
        **({} if result.release is None else {RELEASE: result.release.to_json()}),
    }


def without_hints(result: DiscoveryResult) -> Graph:
    """Return the graph as it is shown, without weak hints: what files for other programs hold."""
    hints, shown = result.hints, result.shown
    edges = (edge for edge in shown.marked_edges() if frozenset((edge[0], edge[2])) not in hints)
    return rebuilt(shown, shown.nodes, edges)


def _lists(graph: Graph) -> dict[str, list[list[str]]]:
    """Return the edges of a graph as its JSON has them."""
    edges = list(graph.edges())
    return {
        "directed": [[a, b] for a, b, arrow in edges if arrow],
        "undirected": [[a, b] for a, b, arrow in edges if not arrow],
    }


def stamp(result: DiscoveryResult) -> dict[str, Any]:
    """Return whether the graph is private, and if not, why."""
    if result.privacy.private:
        return {"private": True}
    return {"private": False, "why_not_private": result.privacy.why_not_private or ""}


def remark(result: DiscoveryResult) -> str | None:
    """Return the line for a graph that is not private; None for one that is."""
    return None if result.privacy.private else f"NOT PRIVATE: {result.privacy.why_not_private}"


def hints_remark(result: DiscoveryResult) -> str:
    """Return which edges are left out, for they are weak hints; empty where none is."""
    hints = result.hints
    return f"left out: weak hints ({HINTS_MEAN}): {pairs_words(result, hints)}" if hints else ""


PAIR_COLUMNS = (
    *("a", "b", "state", "marks", "direction", "a_to_b", "b_to_a"),
    *("found_again", "held_fixed", "given_up_to", "least_w"),
)
NOTE_COLUMN = "note"
STRENGTH_COLUMNS = ("w", "w_low", "w_high", "sign")  # of the edges of codes
EVIDENCE_COLUMNS = ("p_value", "log10_bayes", "asked_given")  # the first two where some pair has the number


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
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    columns = _evidence_columns(result)
    strong = STRENGTH_COLUMNS if result.strength else ()
    rows.writerow([*PAIR_COLUMNS, *columns, *strong, NOTE_COLUMN])
    for row in pair_rows(result):
        rows.writerow(
            [
                row.a,
                row.b,
                row.state,
                row.marks,
                row.direction,
                *("" if row.chances is None else f"{row.chances[k]:.2f}" for k in (0, 1)),
                "" if row.found_again is None else f"{row.found_again:.2f}",
                _names(row.held_fixed),
                "" if row.given_up_to is None else row.given_up_to,
                row.least_w,
                *_numbers(row, columns),
                *(_strength(result, row) if strong else ()),
                row.note,
            ]
        )
    return text.getvalue()


NOTHING = "nothing"


def _names(given: tuple[str, ...] | None) -> str:
    """Columns held fixed, with semicolons; empty where that is not known."""
    return "" if given is None else "; ".join(given) or NOTHING


def _numbers(row: PairRow, columns: Sequence[str]) -> list[str]:
    """The cells of ``_evidence_columns``."""
    one = row.evidence
    if one is None:
        return [""] * len(columns)
    numbers = ["" if value is None else f"{value:.3g}" for value in (one.pvalue, one.log10_bayes)]
    cells = dict(zip(EVIDENCE_COLUMNS, [*numbers, _names(one.given)], strict=True))
    return [cells[name] for name in columns]


def _strength(result: DiscoveryResult, row: PairRow) -> list[str]:
    """The cells of ``STRENGTH_COLUMNS``: empty for a pair without an edge."""
    link = result.strength.get(frozenset((row.a, row.b)))
    if link is None:
        return [""] * len(STRENGTH_COLUMNS)
    return [*(f"{one:.3g}" for one in (link.w, link.low, link.high)), f"{link.sign}"]


def _evidence_columns(result: DiscoveryResult) -> list[str]:
    """Those of ``EVIDENCE_COLUMNS`` that some pair has something in; none where decisions alone were released."""
    known = result.evidence.values()
    has = (
        any(one.pvalue is not None for one in known),
        any(one.log10_bayes is not None for one in known),
        bool(known),
    )
    return [name for name, some in zip(EVIDENCE_COLUMNS, has, strict=True) if some]


DOT_WIDTHS = {"sure": 2, "weaker": 1, "hint": 0.5}  # by ``grade``


def dot_attributes(result: DiscoveryResult) -> dict[Pair, dict[str, Any]]:
    """Return how Graphviz draws each edge: confidence as width and label, conflicts with "?", declared heads hollow."""
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


def declared_pairs(result: DiscoveryResult) -> frozenset[Pair]:
    """Return the edges that have an arrow because it was declared."""
    notes = EdgeNotes.of(result)
    return frozenset(frozenset(arrow) for arrow in result.shown.directed if notes.declares(*arrow))


def graphml_attributes(result: DiscoveryResult) -> dict[Pair, dict[str, Any]]:
    """Return what GraphML says of each edge: conflict, declared; given_up_to and confidence where they are known."""
    confidence, by_you = result.confidence or {}, declared_pairs(result)
    return {
        pair: {"conflict": pair in result.contradicted, "declared": pair in by_you}
        | ({"given_up_to": result.given_up_to[pair]} if pair in result.given_up_to else {})
        | ({"confidence": float(confidence[pair])} if pair in confidence else {})
        for pair in result.graph.skeleton
    }


VARIANTS = {"pure": "Pure DP", "approximate": "Approximate DP", "zCDP": "Zero-concentrated DP"}
FILL_IN = "fill in"
UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029]")  # line ends and controls in YAML, though not in JSON


class Blank(str):
    """A text that the publisher has to replace."""

    __slots__ = ()


def registry_yaml(result: DiscoveryResult) -> str:
    """Return the record of a discovery, a draft, as YAML."""
    statement = result.privacy
    words = statement.to_dict()
    head = ["# A draft for OpenDP's registry of differential privacy deployments, made from privacy.json."]
    head += [f'# Lines with "{FILL_IN}" hold what this software can\'t know; look at the others, too.']
    if not statement.private:
        head.append(
            f"# NOT PRIVATE: {' '.join((statement.why_not_private or '').split())} Do not register it."
        )
    return "\n".join([*head, *_yaml_lines(_record(result, words))]) + "\n"


def _record(result: DiscoveryResult, words: Mapping[str, Any]) -> dict[str, Any]:
    statement, graph = result.privacy, result.graph
    kind = "partial ancestral graph" if graph.kind == "pag" else "partly directed graph"
    loss: dict[str, Any] = {
        "privacy_unit": words["unit"],
        "privacy_unit_details": f"Adjacent are {relation_words(statement)}.",
    }
    if statement.epsilon is not None:
        loss["privacy_parameters"] = _parameters(words)
    variant = {"variant_name": VARIANTS.get(str(words["definition"]), "Custom")} if statement.private else {}
    return {
        "url_slug": Blank("fill-in"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": Blank(""),
                "data_curators": [Blank("")],
                "intended_use": Blank(""),
                "data_product_type": "Summary statistics",
                "data_product_region": Blank(""),
                "description": f"A causal graph ({kind}) over {len(graph.nodes)} columns: {', '.join(graph.nodes)}.",
                "publication_date": Blank("1900-01-01"),
                "data_product_sector": Blank(""),
            },
            "dp_variant": {
                **variant,
                "data_domain": "Tables with the declared columns and levels; a value outside is mapped or clamped.",
                "unprotected_quantities": _yaml_list(words["public"]),
            },
            "privacy_loss": loss,
            "deployment_model": {
                "model_name": "Central",
                "actors": Blank(""),
                "release_type": Blank("One release"),
                "data_source_type": Blank("Static"),
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "The graph, its directions and its words are computed from the noisy values alone.",
                "composition": str(words["composition"]),
            },
            "implementation": {
                # whether levels and bounds were declared or read from the rows is for the publisher to say
                "preprocessing_and_hyperparameter_tuning": Blank(""),
                "mechanisms": _mechanisms(words),
                "justification": Blank(""),
            },
            "administrative": {"sources": Blank(""), "notes": Blank(""), "registry_authors": [Blank("")]},
        },
    }


def _parameters(words: Mapping[str, Any]) -> dict[str, float]:
    """Epsilon, with delta where there is one, and rho where the promise is made in it."""
    found = {"epsilon": float(words["epsilon"])}
    if words["delta"]:
        found["delta"] = float(words["delta"])
    if "rho" in words["parameters"]:
        found["rho"] = float(words["parameters"]["rho"])
    return found


def _mechanisms(words: Mapping[str, Any]) -> str:
    counted: dict[str, int] = {}
    for event in words["events"]:
        counted[event["kind"]] = counted.get(event["kind"], 0) + 1
    used = [f"{kind} ({many} time{'' if many == 1 else 's'})" for kind, many in counted.items()]
    software = ", ".join(f"{name} {version}" for name, version in words["software"].items())
    return _yaml_list(
        [
            f"Mechanisms: {', '.join(used) or 'none'}.",
            f"Noise: {words['noise']}.",
            *words["limits"],
            f"Software: {software}.",
        ]
    )


def _yaml_list(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _yaml_lines(value: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Mappings as YAML, two blanks a level.

    >>> _yaml_lines({"a": {"b": 1.0, "c": [Blank("")]}})
    ['a:', '  b: 1.0', '  c:', '    - ""  # fill in']
    """
    found, blank = [], "  " * depth
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            found += [f"{blank}{key}:", *_yaml_lines(inner, depth + 1)]
        elif isinstance(inner, list):
            found += [f"{blank}{key}:", *(f"{blank}  - {_yaml_text(one)}" for one in inner)]
        else:
            found.append(f"{blank}{key}: {_yaml_text(inner)}")
    return found


def _yaml_text(value: Any) -> str:
    text = UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    return text + (f"  # {FILL_IN}" if isinstance(value, Blank) else "")


@dataclass(frozen=True)
class Origin:
    """The files as they may be shown, the words of the command, and its arguments by their names in Python.

    ``reading`` has the arguments of ``dc.read``, and ``columns`` where only some of them were used.
    """

    data: str
    schema: str
    command: Sequence[str]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    table: str = ""  # on an engine; ``data`` is its address then
    connected: bool = False  # counted where it is, by ``dc.connect``

    def shell(self) -> str:
        """The command.

        >>> Origin("my p.csv", "s.toml", ["dpcausal", "discover", "my p.csv"]).shell()
        "dpcausal discover 'my p.csv'"
        """
        return shlex.join(ledger_name(word) if "://" in word else word for word in self.command)

    def python(self, method: str) -> str:
        """The same call in Python, with the method that was really used.

        >>> found = Origin("p.csv", "s.toml", [], {"epsilon": 1.0}, {"columns": ["a", "b"], "encoding": "latin-1"})
        >>> print("\\n".join(found.python("measured").splitlines()[2:4]))
        schema = dc.Schema.from_toml('s.toml').select(['a', 'b'])
        data = dc.read('p.csv', schema, encoding='latin-1')
        >>> print(Origin("clinic.duckdb", "s.toml", []).python("measured").splitlines()[2])
        data = dc.connect('clinic.duckdb', dc.Schema.from_toml('s.toml'))
        >>> print(Origin("p.csv", "s.toml", [], reading={"encoding": "latin-1"}, connected=True).python("measured"))
        import dpcausal as dc
        <BLANKLINE>
        data = dc.connect('p.csv', dc.Schema.from_toml('s.toml').with_format(encoding='latin-1'))
        result = dc.discover(data, method='measured')
        result.report("report.html")
        """
        named = {**self.arguments, "method": method}
        if isinstance(ledger := named.get("ledger"), str):
            named["ledger"] = ledger_name(ledger)
        given = ", ".join(f"{name}={literal(value)}" for name, value in named.items())
        schema = f"dc.Schema.from_toml({self.schema!r})"
        reading = [f"{name}={value!r}" for name, value in self.reading.items() if name != "columns"]
        written = [one for one in reading if one.startswith(("encoding=", "sheet="))]
        first = ""
        if "columns" in self.reading:
            first, schema = f"schema = {schema}.select({self.reading['columns']!r})\n", "schema"
        if self.connected or self.table or self.data.lower().endswith((".duckdb", ".ddb")):
            format_ = f".with_format({', '.join(written)})" if written else ""
            table = [repr(self.table)] if self.table else []
            persons = [one for one in reading if one not in written]
            opened = f"dc.connect({', '.join([repr(self.data), schema + format_, *table, *persons])})"
        elif "codes" in self.reading:
            opened = self._codes_opened()
        else:
            opened = f"dc.read({', '.join([repr(self.data), schema, *reading])})"
        return (
            "import dpcausal as dc\n\n"
            f"{first}data = {opened}\n"
            f"result = dc.discover(data, {given})\n"
            + "".join(f"print(result.effect({a!r}, {b!r}))\n" for a, b in self.arguments.get("effect", ()))
            + 'result.report("report.html")'
        )

    def _codes_opened(self) -> str:
        """How a long table of codes is read."""
        given = {name: value for name, value in self.reading.items() if name not in ("codes", "people")}
        people = str(self.reading["people"])
        words = [f"{name}={value!r}" for name, value in given.items()]
        words += [f"people={people if people.isdecimal() else repr(people)}"]
        words += [f"schema=dc.Schema.from_toml({self.schema!r})"] if self.schema else []
        codes = f"open({self.reading['codes']!r}).read().split()"
        return f"dc.read_codes({self.data!r}, {codes}, {', '.join(words)})"


@dataclass(frozen=True)
class AgainOrigin(Origin):
    """Of a graph that was computed from a release, whose file takes the place of data and schema."""

    release: str = ""

    def python(self, method: str) -> str:
        """The same call in Python; the release knows the method.

        >>> print(AgainOrigin("", "", [], {"tiers": [["a"], ["b"]]}, release="out").python("measured"))
        import dpcausal as dc
        <BLANKLINE>
        result = dc.load_release('out').discover(tiers=[['a'], ['b']])
        result.report("report.html")
        """
        given = ", ".join(f"{name}={literal(value)}" for name, value in self.arguments.items())
        return (
            "import dpcausal as dc\n\n"
            f"result = dc.load_release({self.release!r}).discover({given})\n"
            'result.report("report.html")'
        )


def literal(value: Any) -> str:
    """As Python writes it, sets in order and numbers short.

    >>> literal([("a", "b"), frozenset({"d", "c"})]), literal(1e-6)
    ("[('a', 'b'), frozenset({'c', 'd'})]", '1e-06')
    """
    if isinstance(value, frozenset):
        return "frozenset({" + ", ".join(map(repr, sorted(value))) + "})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return number(value) if isinstance(value, float) else repr(value)


def number(value: float) -> str:
    """As short as it can be and still the same number.

    >>> number(1.0), number(1e-6), number(0.1234567)
    ('1', '1e-06', '0.1234567')
    """
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)
