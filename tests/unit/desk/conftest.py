"""A small desk on made-up rows, with a clock that tests turn."""

from __future__ import annotations

import copy
import os
import uuid
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import create_engine, text

import dpcausal as dc
from dpcausal.desk.config import DeskConfig, parse_config
from dpcausal.desk.store import Desk, Person

ROWS = 2000
PEOPLE = {"carol": "custodian", "carl": "custodian", "anna": "analyst", "ben": "analyst", "dora": "auditor"}


def settings(where: Path, ledger: str = "sqlite:///desk.db", **rules: object) -> DeskConfig:
    """Return the settings of a desk with one data set; ``rules`` are entries of the data set, or of the desk."""
    sample = dc.networks.load("cancer").sample(ROWS, seed=1)
    schema = sample.schema
    if not (where / "patients.csv").exists():
        columns = {name: [one.levels[code] for code in sample.codes[name]] for name, one in schema.items()}
        pd.DataFrame(columns).to_csv(where / "patients.csv", index=False)
        (where / "schema.toml").write_text(schema.to_toml())
    own = {
        name: rules.pop(name)
        for name in ("tick", "persons", "requests_per_minute", "oidc", "folder", "address")
        if name in rules
    }
    data = {
        "source": "patients.csv",
        "schema": "schema.toml",
        "rows": ROWS,
        "epsilon": 1.0,
        "delta": 1e-5,
        "approvals": 0,
        **rules,
    }
    people = [{"name": name, "role": role} for name, role in PEOPLE.items()]
    return parse_config(
        {"ledger": ledger, "tick": 60.0, "persons": people, "datasets": {"cohort": data}, **own}, where
    )


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def ledger_url(request, tmp_path):
    """The address of an empty ledger, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        yield "sqlite:///desk.db"
        return
    server = os.environ.get("DPCAUSAL_TEST_POSTGRES")
    if not server:
        pytest.skip("no PostgreSQL server: DPCAUSAL_TEST_POSTGRES is not set (.ci/run starts one)")
    name = f"desk_{uuid.uuid4().hex}"
    engine = create_engine(
        server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield server.rpartition("/")[0] + "/" + name
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture
def make_desk(tmp_path):
    """Make a desk with certain rules."""

    def make(ledger: str = "sqlite:///desk.db", **rules: object) -> Desk:
        return Desk.open(settings(tmp_path, ledger, **rules), create=True)

    return make


def person(name: str) -> Person:
    """A person of the desk by name."""
    return Person(name, PEOPLE[name])


def at(desk: Desk, now: float) -> Desk:
    """The same desk, by a clock that stands at this time."""
    then = copy.copy(desk)
    then.clock = lambda: now
    return then


TEST = {"x": "Smoker", "y": "Cancer", "epsilon": 0.3, "anyway": True}


def ask(desk: Desk, name: str = "anna", **more: object):
    """Ask a cheap question."""
    given = {
        **TEST,
        **{key: more.pop(key) for key in ("epsilon", "delta", "y", "given", "method") if key in more},
    }
    desk = at(desk, more.pop("now")) if "now" in more else desk
    return desk.ask(person(name), "cohort", "ci_test", given, purpose="to see", **more)
