"""Engines that tests put tables on: DuckDB always, PostgreSQL and Spark where ``make test-engines`` asks for them.

It sets ``DPCAUSAL_TEST_ENGINES``; ``DPCAUSAL_TEST_POSTGRES`` holds the URL of a server. A test of an engine that is not
asked for is skipped and says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
sys.path.append(str(Path(__file__).parent))

from engine_tables import Loader, duckdb_loader, postgres_loader, spark_loader

LEFT_OUT = {  # engines that were not asked for
    name: f"{name} is left out: {' and '.join(variables)} must be set (.ci/run make test-engines does)"
    for name, variables in (
        ("postgres", ("DPCAUSAL_TEST_ENGINES", "DPCAUSAL_TEST_POSTGRES")),
        ("spark", ("DPCAUSAL_TEST_ENGINES",)),
    )
    if not all(map(os.environ.get, variables))
}
ENGINES = [name for name in ("duckdb", "postgres", "spark") if name not in LEFT_OUT]


@pytest.fixture(scope="session")
def loaders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Loader]]:
    """Return what puts an Arrow table on an engine, made when first asked for."""
    made: dict[str, Loader] = {}

    def loader(name: str) -> Loader:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            makers: dict[str, Callable[[], Loader]] = {
                "duckdb": lambda: duckdb_loader(),
                "postgres": lambda: postgres_loader(os.environ["DPCAUSAL_TEST_POSTGRES"]),
                "spark": lambda: spark_loader(folder),
            }
            made[name] = makers[name]()
        return made[name]

    yield loader
    for one in made.values():
        one.close()


@pytest.fixture(params=ENGINES)
def load(request: pytest.FixtureRequest, loaders: Callable[[str], Loader]) -> Loader:
    """Every engine that is there."""
    return loaders(request.param)


@pytest.fixture
def load_on(loaders: Callable[[str], Loader]) -> Callable[[str], Loader]:
    """One engine by name."""

    def chosen(name: str) -> Loader:
        if name in LEFT_OUT:
            pytest.skip(LEFT_OUT[name])
        return loaders(name)

    return chosen
