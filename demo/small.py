"""Write patients.csv to this folder: the 20,000 synthetic patients of the README and of the guide to a first graph.

Age, smoking, bronchitis and dyspnoea, drawn from known equations; no person is behind them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

ROWS, SEED = 20_000, 5


def write_patients(folder: Path, rows: int = ROWS) -> None:
    """Write patients.csv to a folder."""
    rng = np.random.default_rng(SEED)
    smoke = rng.random(rows) < 0.4
    age = rng.normal(55, 20, rows).round(1)
    bronc = rng.random(rows) < np.where(smoke, 0.6, 0.25)
    dysp = rng.random(rows) < 0.1 + 0.35 * bronc + 0.3 * (age > 65)
    words = np.array(["no", "yes"])
    table = {"smoke": smoke, "bronc": bronc, "dysp": dysp}
    table = {"age": age, **{name: words[column.astype(int)] for name, column in table.items()}}
    pa.csv.write_csv(pa.table(table), folder / "patients.csv")


if __name__ == "__main__":
    write_patients(Path())
