"""Commands on a small file take few CPU seconds: at most twice the aim of ``benchmarks/commands.py``.

The aims are those of a machine that imports what commands stand on in one CPU second; a slower or busier one has more.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

IMPORTS = "import numba, pyarrow.compute, scipy.special"
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "commands.py"


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
    made = tmp_path_factory.mktemp("commands")
    commands.prepare(made)
    return made


@pytest.mark.parametrize(
    "name",
    [
        "--help",
        "schema",
        "plan",
        "test",
        "test --given age",
        "discover",
        pytest.param("plan, 67 columns", marks=pytest.mark.slow),
    ],
)
def test_seconds_are_few(name: str, commands: ModuleType, folder: Path) -> None:
    call, aim = commands.COMMANDS[name]
    tries = ((commands.cpu_seconds(call, folder), commands.python_seconds(folder, IMPORTS)) for _ in range(3))
    assert any(taken < 2 * aim * max(1.0, imports) for taken, imports in tries)
