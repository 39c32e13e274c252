"""Graphs for packages of R: what each format says, and that the real programs read it where they are here.

dagitty's own JavaScript is read by node where ``DPCAUSAL_TEST_DAGITTY`` names the file (``dagitty-alg.js`` of its R
package; it is GPL, and not part of this repository). R reads the table of arcs, the matrix and the JSON, and its igraph
the GraphML, where they are installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.graphs.formats import from_arcs, to_arcs
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.pag import PAG, Mark, marks_text

ODD = ["age", "lung cancer", 'say "x"', "naïve, or not"]
CPDAG = Graph(ODD, directed=[("age", "lung cancer")], undirected=[("lung cancer", 'say "x"')])
MARKED = PAG(
    ODD,
    [("age", "o->", "lung cancer"), ("lung cancer", "<->", 'say "x"'), ('say "x"', "o-o", "naïve, or not")],
)


def every_pag() -> list[PAG]:
    """All graphs on three nodes that have an edge with a circle or two heads."""
    ends = [None, *product(Mark, Mark)]
    found = [
        PAG(
            list("abc"),
            [
                (a, marks_text(*end), b)
                for (a, b), end in zip(combinations("abc", 2), kinds, strict=True)
                if end
            ],
        )
        for kinds in product(ends, repeat=3)
    ]
    return [graph for graph in found if {m for _, m, _ in graph.marked_edges()} - {"->", "-"}]


def every_cpdag() -> list[Graph]:
    """All graphs on three nodes with arrows and plain edges."""
    found = []
    for kinds in product((None, "->", "<-", "-"), repeat=3):
        pairs = [(pair, kind) for pair, kind in zip(combinations("abc", 2), kinds, strict=True) if kind]
        arrows = [pair if kind == "->" else pair[::-1] for pair, kind in pairs if kind != "-"]
        found.append(Graph(list("abc"), arrows, [pair for pair, kind in pairs if kind == "-"]))
    return found


@pytest.mark.parametrize("graph", [CPDAG, MARKED, *every_cpdag()[::5], *every_pag()[::40]], ids=str)
def test_what_is_written_is_read_again(graph: Graph) -> None:
    assert Graph.from_pcalg(graph.to_pcalg(), graph.nodes) == graph
    assert Graph.from_pcalg(np.array(graph.to_pcalg(), dtype=float), graph.nodes) == graph
    assert Graph.from_caugi(graph.to_caugi()) == graph
    assert Graph.from_dagitty(graph.to_dagitty()) == graph
    if not isinstance(graph, PAG):
        assert Graph.from_arcs(graph.to_arcs(), graph.nodes) == graph


def test_dagitty_text() -> None:
    assert CPDAG.to_dagitty().splitlines() == [
        "pdag {",
        *(f'"{name}"' for name in ("age", "lung cancer", 'say \\"x\\"', "naïve, or not")),
        '"age" -> "lung cancer"',
        '"lung cancer" -- "say \\"x\\""',
        "}",
    ]
    assert MARKED.to_dagitty().splitlines()[5:] == [
        '"age" @-> "lung cancer"',
        '"lung cancer" <-> "say \\"x\\""',
        '"say \\"x\\"" @-@ "naïve, or not"',
        "}",
    ]


def test_names_that_dagitty_can_not_hold_are_coded() -> None:
    assert '"a%5C"' in Graph(["a\\", "b\tc"]).to_dagitty()
    assert '"b%09c"' in Graph(["a\\", "b\tc"]).to_dagitty()


@pytest.mark.parametrize(
    "name", ["a\\", "b\tc", "50%", "%5C", "%255C", "c-d", "e -> f", "{g}", "# h", "[i]", 'j"k', "ä"]
)
def test_any_name_comes_back_from_dagitty(name: str) -> None:
    graph = Graph([name, "z"], directed=[("z", name)])
    assert Graph.from_dagitty(graph.to_dagitty()) == graph


def test_dagitty_as_people_write_it() -> None:
    """Its own files: no quotes, chains, groups, attributes, positions, comments, several statements on a line."""
    text = """dag "my model" { bb="-3,-2,3,2"
    A [pos="-2.2,-1.5", exposure] ; D [outcome,pos="1.4,1.5"] // exposure and outcome
    A -> B <- C /* a chain
    over two lines */ -> {D x.1}
    E-1 -> D [beta=0.5]
    # alone
    F }"""
    assert Graph.from_dagitty(text) == Graph(
        ["A", "D", "B", "C", "x.1", "E-1", "F"],
        directed=[("A", "B"), ("C", "B"), ("C", "D"), ("C", "x.1"), ("E-1", "D")],
    )
    assert Graph.from_dagitty("dag { a <-> b a -> c }") == PAG(
        list("abc"), [("a", "<->", "b"), ("a", "->", "c")]
    )
    assert Graph.from_dagitty("pag { a <-@ b b @-- c c <- a }") == PAG(
        list("abc"), [("b", "o->", "a"), ("c", "-o", "b"), ("a", "->", "c")]
    )


def test_arcs_of_a_pag_have_their_marks() -> None:
    graph = PAG(["a", "b"], [("a", "o->", "b")])
    assert graph.to_arcs() == "from,to,marks\na,b,o->\nb,a,<-o\n"
    chances = to_arcs(graph, {("a", "b"): 0.9, ("b", "a"): 0.4})
    assert chances == "from,to,marks,head\na,b,o->,0.90\nb,a,<-o,0.40\n"
    assert from_arcs(chances).nodes == ["a", "b"]


def test_pcalg_matrices_as_its_manual_says() -> None:
    """amat.cpdag: [a, b] = 0 and [b, a] = 1 is a -> b. amat.pag: [a, b] = 2 and [b, a] = 3 is a -> b."""
    assert Graph(["a", "b"], directed=[("a", "b")]).to_pcalg() == [[0, 0], [1, 0]]
    assert PAG(["a", "b"], [("a", "->", "b")]).to_pcalg() == [[0, 2], [3, 0]]
    assert PAG(["a", "b"], [("a", "o->", "b")]).to_pcalg() == [[0, 2], [1, 0]]
    assert PAG(["a", "b"], [("a", "<->", "b")]).to_pcalg() == [[0, 2], [2, 0]]


def test_caugi_has_the_fields_of_its_schema_and_no_others() -> None:
    for graph in (CPDAG, MARKED):
        found = json.loads(graph.to_caugi())
        assert found["format"] == "caugi"
        assert found["version"] == "1.0.0"
        assert set(found) == {"$schema", "format", "version", "graph"}
        assert set(found["graph"]) == {"class", "nodes", "edges"}
        assert found["graph"]["class"] in {"DAG", "PDAG", "ADMG", "UG", "UNKNOWN"}
        for edge in found["graph"]["edges"]:
            assert set(edge) == {"from", "to", "edge"}
            assert edge["edge"] in {"-->", "<->", "---", "o->", "--o", "o-o"}


@pytest.mark.parametrize(
    "read",
    [
        lambda: Graph.from_arcs("a,b\n"),
        lambda: Graph.from_arcs("from,to\na\n"),
        lambda: Graph.from_arcs(""),
        lambda: Graph.from_pcalg([[0, 1]], ["a", "b"]),
        lambda: Graph.from_pcalg([[0, 5], [1, 0]], ["a", "b"]),
        lambda: Graph.from_pcalg([[0, "x"], [1, 0]], ["a", "b"]),
        lambda: Graph.from_pcalg([[0, 2], [0, 0]], ["a", "b"]),
        lambda: Graph.from_caugi("{}"),
        lambda: Graph.from_dagitty(""),
        lambda: Graph.from_dagitty("graph { a }"),
        lambda: Graph.from_dagitty("dag a"),
        lambda: Graph.from_dagitty("dag { a -> }"),
        lambda: Graph.from_dagitty("dag { a -> b"),
        lambda: Graph.from_dagitty("dag { a [pos }"),
        lambda: Graph.from_dagitty("dag { a } b"),
        lambda: Graph.from_dagitty("dag { a\n\n-> @ }"),
        lambda: Graph.from_dagitty('dag { "a }'),
        lambda: Graph.from_dagitty("dag { a -> b b -> a }"),
        lambda: Graph.from_caugi("[1]"),
        lambda: Graph.from_caugi('{"format": "caugi", "graph": {"nodes": ["a"], "edges": [1]}}'),
    ],
)
def test_what_is_no_graph_is_one_line(read: Any) -> None:
    with pytest.raises(InputError) as caught:
        read()
    assert "\n" not in str(caught.value)


# --- the real programs -----------------------------------------------------------------------------------------------

DAGITTY = os.environ.get("DPCAUSAL_TEST_DAGITTY", "")
READ_BY_DAGITTY = """
const fs = require("fs");
eval(fs.readFileSync(process.argv[2], "utf8") + ";global.DAGitty = DAGitty");
const graphs = JSON.parse(fs.readFileSync(0, "utf8")).map(text => {
  const graph = DAGitty.GraphParser.parseGuess(text);
  const edges = graph.getEdges().map(edge => edge.toString());
  return {type: graph.getType(), nodes: graph.getVertices().map(v => v.id), edges, text: graph.toString()};
});
console.log(JSON.stringify(graphs));
"""


@pytest.mark.skipif(
    shutil.which("node") is None or not DAGITTY, reason="needs node and DPCAUSAL_TEST_DAGITTY"
)
def test_dagitty_itself_reads_every_graph(tmp_path: Path) -> None:
    """Nodes, type and edges as dagitty prints them: an edge with two same ends may be turned round."""
    graphs = [CPDAG, MARKED, *every_cpdag(), *every_pag()]
    script = tmp_path / "read.js"
    script.write_text(READ_BY_DAGITTY)
    texts = json.dumps([graph.to_dagitty() for graph in graphs])
    ran = subprocess.run(
        ["node", str(script), DAGITTY], input=texts, capture_output=True, text=True, check=True, timeout=120
    )
    for graph, found in zip(graphs, json.loads(ran.stdout), strict=True):
        assert found["type"] == graph.kind
        assert found["nodes"] == list(graph.nodes)
        assert {_turned(edge) for edge in found["edges"]} == {
            _turned(line) for line in graph.to_dagitty().splitlines()[1 + len(graph.nodes) : -1]
        }
        assert Graph.from_dagitty(found["text"]) == graph  # what dagitty itself writes of it


def _turned(edge: str) -> frozenset[tuple[str, str]]:
    """An edge as the marks at its two names, however it is turned."""
    for kind in ("<->", "@->", "<-@", "@-@", "--@", "@--", "->", "<-", "--"):
        first, found, second = edge.partition(f" {kind} ")
        if found:
            left = "@" if kind[0] == "@" else ">" if kind[0] == "<" else "-"
            right = "@" if kind[-1] == "@" else ">" if kind[-1] == ">" else "-"
            return frozenset([(first.strip('"'), left), (second.strip('"'), right)])
    raise AssertionError(edge)


R_READS = """
given <- commandArgs(trailingOnly = TRUE)
arcs <- read.csv(file.path(given[1], "arcs.csv"), check.names = FALSE, colClasses = "character", encoding = "UTF-8")
graph <- jsonlite::fromJSON(file.path(given[1], "graph.json"))
amat <- as.matrix(graph$amat)
dimnames(amat) <- list(graph$nodes, graph$nodes)
ways <- which(t(amat) == 1, arr.ind = TRUE)
from <- rownames(amat)[ways[, 1]]; to <- rownames(amat)[ways[, 2]]
stopifnot(identical(names(arcs), c("from", "to")))
stopifnot(setequal(paste(arcs$from, arcs$to, sep = " to "), paste(from, to, sep = " to ")))
caugi <- jsonlite::fromJSON(file.path(given[1], "caugi.json"))
stopifnot(identical(caugi$format, "caugi"), setequal(caugi$graph$nodes, graph$nodes))
cat(nrow(arcs), "arcs agree")
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R (Debian: r-base-core, r-cran-jsonlite)")
def test_r_reads_the_same_arcs_from_table_and_matrix(tmp_path: Path) -> None:
    """In pcalg's matrix of a CPDAG the entry [b, a] is 1 for an arc a to b: the transposed matrix is bnlearn's amat."""
    if subprocess.run(["Rscript", "-e", "library(jsonlite)"], capture_output=True, check=False).returncode:
        pytest.skip("R has no jsonlite")
    (tmp_path / "arcs.csv").write_text(CPDAG.to_arcs(), encoding="utf-8")
    (tmp_path / "caugi.json").write_text(CPDAG.to_caugi(), encoding="utf-8")
    (tmp_path / "graph.json").write_text(json.dumps({"nodes": list(CPDAG.nodes), "amat": CPDAG.to_pcalg()}))
    script = tmp_path / "read.R"
    script.write_text(R_READS)
    ran = subprocess.run(
        ["Rscript", str(script), str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert "3 arcs agree" in ran.stdout


IGRAPH_READS = """
given <- commandArgs(trailingOnly = TRUE)
suppressMessages(library(igraph))
graph <- read_graph(file.path(given[1], "graph.graphml"), "graphml")
ends <- as_edgelist(graph, names = FALSE)
names <- vertex_attr(graph, "id")
rows <- data.frame(from = names[ends[, 1]], to = names[ends[, 2]], kind = edge_attr(graph, "kind"))
cat(jsonlite::toJSON(list(nodes = names, arcs = rows)))
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R (Debian: r-base-core, r-cran-igraph)")
def test_igraph_reads_the_graphml(tmp_path: Path) -> None:
    (tmp_path / "graph.graphml").write_text(CPDAG.to_graphml(), encoding="utf-8")
    (tmp_path / "read.R").write_text(IGRAPH_READS)
    ran = subprocess.run(
        ["Rscript", str(tmp_path / "read.R"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if "there is no package called" in ran.stderr:
        pytest.skip("R has no igraph or no jsonlite")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["nodes"] == ODD
    assert [tuple(arc.values()) for arc in found["arcs"]] == [
        ("age", "lung cancer", "directed"),
        ("lung cancer", 'say "x"', "undirected"),
        ('say "x"', "lung cancer", "undirected"),
    ]
