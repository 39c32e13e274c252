"""``make demo``: a private causal graph of an embedded data set, what it cost, and how near it came to the truth.

The data are 50,000 synthetic chest-clinic patients (the "asia" network of Lauritzen and Spiegelhalter), so the true
graph is known. The graph is learned at epsilon = 1; the report goes to demo/report.html.
"""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import dpcausal as dc
from dpcausal.graphs import cpdag_scores, skeleton_scores

EPSILON, LEVEL = 1.0, 0.01
HERE = Path(__file__).parent


def main() -> None:
    console = Console()
    network = dc.networks.load("asia")
    data = network.sample(50_000, seed=1)
    console.print(f"{data.n:,} synthetic patients, {len(data.columns)} columns: {', '.join(data.columns)}")
    console.print("(The very first run compiles its kernels, for half a minute or so.)\n", style="dim")
    start = time.perf_counter()
    result = dc.discover(data, epsilon=EPSILON, level=LEVEL)
    seconds = time.perf_counter() - start

    shown = Table(title=f"Found by {result.method} at epsilon = {EPSILON:g}, in {seconds:.2f} s")
    for heading in ("edge", "in the true graph"):
        shown.add_column(heading)
    true = network.dag.skeleton
    for (a, b, _), words in zip(result.graph.edges(), result.edges(), strict=True):
        shown.add_row(words, "yes" if frozenset((a, b)) in true else "no")
    for pair in sorted(true - result.graph.skeleton, key=sorted):
        shown.add_row(f"[dim]{' - '.join(sorted(pair))} (missed)[/dim]", "yes")
    console.print(shown)
    skeleton, cpdag = skeleton_scores(result.graph, network.dag), cpdag_scores(result.graph, network.dag)
    plain = dc.discover(data, epsilon=None, method="pc", level=LEVEL)
    console.print(
        f"F1 against the truth: edges {skeleton.f1:.2f}, directions {cpdag.f1:.2f}"
        f" (PC without privacy: {skeleton_scores(plain.graph, network.dag).f1:.2f},"
        f" {cpdag_scores(plain.graph, network.dag).f1:.2f})\n"
    )
    console.print(result.privacy.summary(), highlight=False)
    report = Path(result.report(str(HERE / "report.html")))
    (HERE / "privacy.json").write_text(result.privacy.to_json() + "\n")
    console.print(f"\nReport: demo/{report.name}. Full privacy statement: demo/privacy.json")


if __name__ == "__main__":
    main()
