"""``make demo``: a private causal graph of an embedded data set, what it cost, and how near it came to the truth.

The data are 50,000 made-up patients with ten columns (``dpcausal.networks.clinic``), drawn from structural equations,
so the true graph is known. They are written to demo/patients.csv and read back with demo/schema.toml, as a user
would; the graph is learned at epsilon = 1 and the report goes to demo/report.html.
"""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
from rich.console import Console
from rich.table import Table

import dpcausal as dc
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.graphs import Graph, cpdag_scores, skeleton_scores
from dpcausal.networks import clinic
from dpcausal.present.tables import share_words

EPSILON, DELTA, LEVEL, ROWS = 1.0, 1e-6, 0.01, 50_000
REPEATS = 20  # searches on other samples and noise, for "found again": free, from what was released
SMALLER = (0.2, 0.05)  # budgets shown for comparison
HERE = Path(__file__).parent


def drawn(a: str, b: str, arrow: bool, width: int) -> str:
    """One edge as a line of text."""
    return f"{a:>{width}} {'──▶' if arrow else '───'} {b}"


def edges(result: DiscoveryResult, truth: Graph) -> Table:
    """Every edge found, and every one missed, beside the truth."""
    shown = Table(title="The graph (─── direction not decided)", title_justify="left")
    for heading in ("edge", "found again", "in the truth"):
        shown.add_column(heading, no_wrap=heading != "in the truth")
    graph, confidence = result.shown, result.confidence or {}
    width = max(map(len, graph.nodes))
    for a, b, arrow in graph.edges():
        pair = frozenset((a, b))
        right = (a, b) in truth.directed if arrow else pair in truth.undirected
        words = "yes" if right else "yes, other direction mark" if pair in truth.skeleton else "[red]no[/red]"
        shown.add_row(drawn(a, b, arrow, width), share_words(confidence[pair]), words)
    for a, b, arrow in truth.edges():
        if frozenset((a, b)) not in graph.skeleton:
            shown.add_row(f"[dim]{drawn(a, b, arrow, width)}[/dim]", "", "[red]yes, but missed[/red]")
    return shown


def scores(data: dc.Dataset, found: Graph) -> Table:
    """How near graphs come to the truth, with less privacy and with more."""
    shown = Table(title="Nearness to the truth (F1; 1 is perfect)", title_justify="left")
    shown.add_column("budget")
    for heading in ("edges", "edges with directions"):
        shown.add_column(heading, justify="right")
    graphs = {"no privacy (PC)": dc.discover(data, epsilon=None, method="pc", level=LEVEL).graph}
    graphs[f"[bold]epsilon = {EPSILON:g}[/bold]"] = found
    for epsilon in SMALLER:  # on real data each would be a further release, and add to the cost
        graphs[f"epsilon = {epsilon:g}"] = dc.discover(data, epsilon=epsilon, delta=DELTA, level=LEVEL).graph
    for name, graph in graphs.items():
        edge, direction = skeleton_scores(graph, clinic.GRAPH).f1, cpdag_scores(graph, clinic.GRAPH).f1
        shown.add_row(name, f"{edge:.2f}", f"{direction:.2f}")
    return shown


def main(out: Path = HERE) -> DiscoveryResult:
    """The whole demonstration; files go to ``out``."""
    console = Console(highlight=False)
    pa.csv.write_csv(pa.table(clinic.patients(ROWS, seed=1)), out / "patients.csv")
    data = dc.read(out / "patients.csv", dc.Schema.from_toml(HERE / "schema.toml"))
    console.print(
        f"{data.n:,} made-up patients (demo/patients.csv), {len(data.columns)} columns (demo/schema.toml)"
    )
    with console.status("Compiling kernels: half a minute or so, on the very first run only"):
        dc.discover(clinic.sample(500, seed=2), epsilon=EPSILON, delta=DELTA, level=LEVEL)  # other rows
    start = time.perf_counter()
    result = dc.discover(data, epsilon=EPSILON, delta=DELTA, method="auto", level=LEVEL, confidence=REPEATS)
    seconds = time.perf_counter() - start
    console.print(f"[bold]Learned at epsilon = {EPSILON:g}, delta = {DELTA:g} in {seconds:.1f} s[/bold]")
    console.print(f"by {result.method}: {result.why}.\n")
    console.print(edges(result, clinic.CPDAG))
    console.print(scores(data, result.graph))
    console.print("\n[bold]Privacy[/bold]")
    console.print(result.privacy.summary())
    result.report(str(out / "report.html"))
    (out / "privacy.json").write_text(result.privacy.to_json() + "\n")
    console.print("\nReport: demo/report.html. Full privacy statement: demo/privacy.json")
    return result


if __name__ == "__main__":
    main()
