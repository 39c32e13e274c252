"""``make demo``: one private table of an embedded data set, and what was promised about it.

The data are 50,000 synthetic chest-clinic patients (the "asia" network). The counts of smoking by bronchitis are
released with exact discrete Laplace noise at epsilon = 1; the true counts are shown only because the data
are synthetic.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release

EPSILON = 1.0
COLUMNS = ("smoke", "bronc")


def main() -> None:
    console = Console()
    data = dc.networks.load("asia").sample(50_000, seed=1)
    truth = MemoryCounts(data).table(COLUMNS)
    budget = Budget(EPSILON, neighbours="replace-one")
    # one row replaced by another leaves one cell and enters another: the counts change by 2 in all
    mechanism = Laplace(sensitivity=2.0, epsilon=EPSILON, size=truth.size, grid=INTEGERS)
    noisy = release(mechanism, budget, "smoke by bronc", truth)
    statement = budget.statement(
        released=["counts of smoke by bronc"],
        public=["number of rows", "declared levels"],
        adaptive=False,
    )

    shown = Table(title=f"smoke by bronc, {data.n:,} patients, epsilon = {EPSILON:g}")
    for heading in (*COLUMNS, "released", "true (synthetic data only)"):
        shown.add_column(heading, justify="right" if heading not in COLUMNS else "left")
    levels = [data.schema[name].levels for name in COLUMNS]  # type: ignore[union-attr]
    for i, x in enumerate(levels[0]):
        for j, y in enumerate(levels[1]):
            shown.add_row(str(x), str(y), f"{noisy[i, j]:,.0f}", f"{truth[i, j]:,}")
    console.print(shown)
    console.print(statement.summary())
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    (out / "privacy.json").write_text(statement.to_json() + "\n")
    console.print("The full privacy statement is in demo/out/privacy.json", style="dim")


if __name__ == "__main__":
    main()
