"""The house keeps its rooms: what import-linter can't see (attributes of numpy, calls that draw randomness)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpcausal

ROOT = Path(dpcausal.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# name as written in code -> where it may stand (prefixes of paths below src/dpcausal)
ROOMS = {
    "numpy.random": ("core/public_random.py", "networks/", "testing.py", "gwas/simulate.py"),
    "random": (),
    "secrets": ("privacy/ledger/",),  # jitter between retries, not noise
    "os.urandom": ("core/entropy.py",),
    "opendp": ("privacy/noise.py",),
    "dp_accounting": ("privacy/accounting/",),
    "sqlalchemy": ("privacy/ledger/",),
    "sqlite3": ("privacy/ledger/",),
    "psycopg": ("privacy/ledger/",),
    "duckdb": ("counts/duckdb.py",),
    "pyspark": (),
    "pandas": ("adapters/pgmpy.py",),
    "pgmpy": ("adapters/pgmpy.py",),
    "causallearn": ("adapters/causal_learn.py",),
    "polars": (),
    "diffprivlib": (),
}


def names_in(tree: ast.AST) -> set[str]:
    """Every dotted name used or imported, with ``np`` spelled out."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            if re.fullmatch(r"[\w.]+", dotted):
                found.add(re.sub(r"^np\.", "numpy.", dotted))
    return found


def uses(name: str, used: str) -> bool:
    return used == name or used.startswith(name + ".")


@pytest.mark.parametrize("name", ROOMS)
def test_stays_in_its_room(name: str) -> None:
    strays = []
    for module in MODULES:
        place = module.relative_to(ROOT).as_posix()
        if any(place.startswith(room) for room in ROOMS[name]):
            continue
        strays += [f"{place}: {used}" for used in names_in(ast.parse(module.read_text())) if uses(name, used)]
    assert strays == []


def test_the_room_check_sees_a_stray() -> None:
    tree = ast.parse("import numpy as np\nrng = np.random.default_rng(0)\nfrom os import urandom\n")
    found = names_in(tree)
    assert any(uses("numpy.random", used) for used in found)
    assert any(uses("os.urandom", used) for used in found)


def test_exports_are_what_is_named() -> None:
    assert sorted(dpcausal.__all__) == sorted(set(dpcausal._HOMES) | {"__version__"})
    for name in dpcausal.__all__:
        assert getattr(dpcausal, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = dpcausal.no_such_name


def test_import_is_light() -> None:
    """``import dpcausal`` loads none of the heavy libraries."""
    heavy = ("numba", "scipy", "opendp", "dp_accounting", "pyarrow", "duckdb", "matplotlib", "sqlalchemy")
    code = f"import dpcausal, sys; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "[]"


LONG = {"stats/measured_kernel.py"}  # kernels that call each other: numba's cache does not see across files


def test_no_file_is_too_long() -> None:
    """One algorithm, one file: 250 lines of code and prose is the most."""
    long = {p.relative_to(ROOT).as_posix() for p in MODULES if len(p.read_text().splitlines()) > 260}
    assert long == LONG


def test_no_registry_and_no_machine_path() -> None:
    forbidden = re.compile(r"https?://[^ ]*(/simple|\.whl|\.tar\.gz)|(^|[^a-z])/(wor[k]|farm)/|find-links")
    top = subprocess.run(
        ["git", "rev-parse", "--show-toplevel"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    repository = Path(top.stdout.strip())
    tracked = subprocess.run(["git", "ls-files"], cwd=repository, check=True, capture_output=True, text=True)
    strays = []
    for name in tracked.stdout.splitlines():
        path = repository / name
        if path.suffix in {".py", ".toml", ".txt", ".md", ".json", ".yml", ""} and path.is_file():
            lines = path.read_text(errors="replace").splitlines()
            strays += [f"{name}:{i}" for i, line in enumerate(lines, 1) if forbidden.search(line)]
    assert [s for s in strays if not s.startswith("tests/unit/test_architecture.py")] == []
