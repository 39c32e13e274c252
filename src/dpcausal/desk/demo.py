"""``dpcausal serve --demo``: a desk with made-up patients, one custodian and two analysts, in a folder that goes away.

The rows are drawn from structural equations (``dpcausal.networks.clinic``); no person is behind them.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from dpcausal.desk.config import DeskConfig, parse_config
from dpcausal.networks import clinic

ROWS = 20_000
DATASET, CUSTODIAN, ANALYSTS, AUDITOR = "clinic", "carol", ("anna", "ben"), "dora"
SETTINGS = {
    "ledger": "sqlite:///desk.db",
    "tick": 2.0,
    "job_seconds": 600.0,
    "requests_per_minute": 1200,
}
RULES = {
    "about": "Made-up patients of a clinic: ten columns, drawn from known equations.",
    "source": "patients.csv",
    "schema": "schema.toml",
    "epsilon": 10.0,
    "delta": 1e-5,
    "cap_epsilon": 2.0,
    "share_epsilon": 5.0,
    "share_delta": 5e-6,
    "approvals": 1,
    "approve_up_to": 1.0,
}


def write_demo(folder: Path, port: int, rows: int = ROWS) -> DeskConfig:
    """Write the files of the demonstration to a folder and return its settings."""
    values = clinic.patients(rows, seed=1)
    pa.csv.write_csv(
        pa.table({name: pa.array(column) for name, column in values.items()}), folder / "patients.csv"
    )
    (folder / "schema.toml").write_text(clinic.SCHEMA.to_toml(), encoding="utf-8")
    people = {CUSTODIAN: "custodian", **dict.fromkeys(ANALYSTS, "analyst"), AUDITOR: "auditor"}
    plain = {
        **SETTINGS,
        "port": port,
        "address": f"http://127.0.0.1:{port}",
        "persons": [{"name": name, "role": role} for name, role in people.items()],
        "datasets": {DATASET: {**RULES, "rows": rows}},
    }
    return parse_config(plain, folder)
