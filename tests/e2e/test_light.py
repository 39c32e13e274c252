"""Commands stay light: what each may not load, and a loose bound on its CPU seconds.

``benchmarks/commands.py`` prints the figures. What is loaded does not depend on the machine; seconds do, so their bound
is three times the aim.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "commands.py"
LOADED = """
import json, sys
from dpcausal.cli.app import run
try:
    code = run(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
sys.stderr.write("\\n" + json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
HEAVY = {"numba", "pandas", "networkx", "duckdb", "sqlalchemy", "matplotlib", "dp_accounting", "ibis"}
SPARED = {  # command -> what it does without
    "--help": {*HEAVY, "numpy", "scipy", "pyarrow", "pydantic", "jinja2"},
    "schema": {*HEAVY, "scipy", "jinja2", "rich"},
    "plan": {*HEAVY, "pyarrow", "jinja2"},
    "test": {*HEAVY, "jinja2", "rich"},
    "discover": HEAVY - {"numba", "networkx"},
}


@pytest.fixture(scope="module")
def commands() -> ModuleType:
    spec = importlib.util.spec_from_file_location("commands", BENCHMARK)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def folder(commands: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("light")
    commands.prepare(made)
    return made


@pytest.mark.parametrize("name", SPARED)
def test_a_command_loads_no_more_than_it_needs(name: str, commands: ModuleType, folder: Path) -> None:
    words = commands.COMMANDS[name][0].split()
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    assert "dpcausal" in loaded
    assert SPARED[name] & set(loaded) == set()


@pytest.mark.parametrize("name", ["--help", "schema", "plan", "test"])
def test_seconds_are_few(name: str, commands: ModuleType, folder: Path) -> None:
    call, aim = commands.COMMANDS[name]
    assert min(commands.cpu_seconds(call, folder) for _ in range(2)) < 3 * aim
