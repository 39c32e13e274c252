"""Commands stay light: what each may not load, and a loose bound on its CPU seconds.

``benchmarks/commands.py`` prints the figures. What is loaded does not depend on the machine; seconds do, so their bound
is twice the aim.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.models import OptionInfo

from dpcausal.cli.light import plain_value

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
HEAVY = {
    "numba", "pandas", "networkx", "duckdb", "sqlalchemy", "matplotlib", "dp_accounting", "ibis", "pydantic",
}  # fmt: skip
SPARED = {  # command -> what it does without
    "--help": {*HEAVY, "numpy", "scipy", "pyarrow", "jinja2", "markdown_it"},
    "schema": {*HEAVY, "scipy", "jinja2", "rich"},
    "plan": {*HEAVY, "pyarrow", "jinja2"},
    "test": {*HEAVY, "jinja2", "rich"},
    "test --given age": {*HEAVY, "jinja2", "rich"},
    "discover": {*HEAVY, "rich"},
}
MORE_OF_SCIPY = """
from dpcausal.cli.light import load_scipy
load_scipy()
import sys
assert "scipy._lib._array_api" not in sys.modules
from scipy.special import ndtr
values = [ndtr(0.5)]
from scipy.special import logsumexp, comb
import scipy.linalg, scipy.special, scipy.stats
values += [logsumexp([0.0, 0.0]), comb(5, 2), scipy.stats.norm.cdf(0.5)]
values += [scipy.special.ndtr(0.5), scipy.special.gamma(5.0)]
print(*values)
"""
MORE_OF_PYARROW = """
import sys
if "--light" in sys.argv:
    from dpcausal.cli.light import load_compute
    load_compute()
import pyarrow as pa, pyarrow.compute as pc
few = len(vars(pc))
assert "--light" not in sys.argv or "index_in" not in vars(pc)
from pyarrow.compute import and_, utf8_zfill
one, other = pa.array(["a", "b", None]), pa.array(["b"])
print(pc.index_in(one, value_set=other).to_pylist(), pc.fill_null(one, "c").to_pylist(), pc.index_in.__doc__)
print(and_(pc.is_valid(one), pc.equal(one, "a")).to_pylist(), utf8_zfill(one, 3).to_pylist())
print(hasattr(pc, "hash_sum"), hasattr(pc, "nothing"), pc.function_registry() is not None)
print(sorted(name for name in pc.function_registry().list_functions() if hasattr(pc, name)), few, sep="\\n")
"""


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


def test_what_is_spared_of_scipy_is_there_when_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", MORE_OF_SCIPY], capture_output=True, text=True, check=True)
    values = [float(word) for word in done.stdout.split()]
    assert values == pytest.approx([0.69146246, 0.69314718, 10.0, 0.69146246, 0.69146246, 24.0])


def test_what_is_spared_of_pyarrow_is_there_when_asked_for() -> None:
    words = [sys.executable, "-c", MORE_OF_PYARROW]
    light, own = (
        subprocess.run([*words, *more], capture_output=True, text=True, check=True).stdout.splitlines()
        for more in (["--light"], [])
    )
    assert light[:-1] == own[:-1]
    assert "[None, 0, None] ['a', 'b', 'c']" in light[0]
    assert int(light[-1]) < int(own[-1]) - 200


@pytest.mark.parametrize(
    ("word", "kind", "value"),
    [
        ("1e-6", float, 1e-6), ("-0.5", float, -0.5), ("12", float, 12.0), ("12", int, 12), ("a b", str, "a b"),
        (True, bool, True), (["a", "b"], list[str], ["a", "b"]), ("1_000", float, None), ("inf", float, None),
        ("1.5", int, None), ("", float, None), ("yes", bool, None), ("x", Path, None),
    ],
)  # fmt: skip
def test_plain_words_need_no_pydantic_and_others_are_left_to_it(
    word: object, kind: object, value: object
) -> None:
    assert plain_value(word, kind, OptionInfo()) == value
    assert plain_value(word, kind, OptionInfo(min=0)) is None


@pytest.mark.parametrize("name", ["--help", "schema", "plan", "test", "test --given age", "discover"])
def test_seconds_are_few(name: str, commands: ModuleType, folder: Path) -> None:
    call, aim = commands.COMMANDS[name]
    assert any(commands.cpu_seconds(call, folder) < 2 * aim for _ in range(4))


@pytest.mark.slow
def test_seconds_of_a_wide_plan_are_few(commands: ModuleType, folder: Path) -> None:
    call, aim = commands.COMMANDS[f"plan, {commands.WIDE} columns"]
    assert any(commands.cpu_seconds(call, folder) < 2 * aim for _ in range(3))
