"""Ledgers to test on: an SQLite file always, a schema of a real PostgreSQL where one is named."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """An empty schema of the server that DPCAUSAL_TEST_POSTGRES names, dropped afterwards."""
    server = os.environ.get("DPCAUSAL_TEST_POSTGRES")
    if not server:
        pytest.skip("no PostgreSQL server: DPCAUSAL_TEST_POSTGRES is not set (.ci/run starts one)")
    name = f"test_{uuid.uuid4().hex[:12]}"
    url = make_url(server)
    engine = create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    yield url.update_query_dict({"options": f"-csearch_path={name}"}).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    engine.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a ledger that does not exist yet, on each engine in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    return str(request.getfixturevalue("postgres_url"))
