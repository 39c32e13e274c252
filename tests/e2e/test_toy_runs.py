"""Every benchmark and every ``reproduce`` target runs from its first line to its last, at toy size.

What it prints at that size means nothing. The lists come from the folder and from the command: a new script fails here
until it has a toy run.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from dpcausal.cli import reproduce
from dpcausal.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"
SOURCES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.py"))}
SCRIPTS = [name for name, text in SOURCES.items() if '__name__ == "__main__"' in text]
BIF = ROOT / "tests" / "data" / "networks" / "dog.bif"


@dataclass(frozen=True)
class Toy:
    """How a script is run: arguments, constants of its module (as ``m``) that are made small, what it needs."""

    arguments: str = ""
    smaller: str = ""
    needs: str = ""
    says: str = ""  # stands in what it prints


FEW = "import citests_grid as g; g.repetitions = lambda setting, *, quick: 2"
SMALL = (
    "broken = m.broken; m.broken = lambda rel: broken(rel, rows=40); "
    "rejections = m.rejections; m.rejections = lambda *a, **k: rejections(*a, **{{**k, 'data_sets': 20}})"
)
BRIEF = (
    "m.BOUNDS = dict(list(m.BOUNDS.items())[:1]); largest = m.search.largest; "
    "bins = m.search.largest_bins; m.search.largest_bins = lambda *a: bins(*a, steps=20); "
    "m.search.largest = lambda *a, **k: largest(*a, **{{**k, 'starts': 1, 'steps': 2}})"
)
REAL = "m.real.read = lambda folder, name: m.grid.network_named('cancer', None).sample(300, seed=0)"
TOYS: dict[str, list[Toy]] = {
    "adapters": [Toy("--rows 1000 --seeds 1", says="calls")],
    "audits": [Toy("--trials 100 ci-test:measured", says="ci-test:measured")],
    "auto_level": [
        Toy("--runs 2 --rows 500 --laws uniform lognormal", says="rejected"),
        Toy("--runs 2 --points 500:1 500:.4:1 --fresh", says="two lognormals"),
        Toy("--designs unordered", "m.CASES[:] = [('unordered', 500, 2, ('lumpy',))]", says="lumpy"),
        Toy("--power --runs 2", "m.STRENGTHS = ((300, 1.0),)", says="strata=256"),
    ],
    "bigger_than_memory": [Toy("--rows 5000 --repeat 1 --file {out}/big.parquet", says="GROUP BY")],
    "citests": [
        Toy("--quick --part values", says="scipy"),
        Toy("--quick --part sensitivity", "m.sensitivity_rank.SHAPES = ((1, 2, 2),)", says="found / claimed"),
        Toy("--quick --part level --part plots --out {out}", FEW, says="summary of levels"),
        Toy("--quick --part again", FEW + "; m.again_draws = lambda setting, *, quick: 2", says="again"),
        Toy("--quick --part power --out {out}", FEW, says="without privacy"),
    ],
    "bins": [Toy("--sets 1 --rows 500", "m.CUTS = (3,)", says="bins asked for")],
    "commands": [Toy("--runs 1", says="discover")],
    "confidence": [Toy("--graphs 1 --repeats 3", "m.ROWS = (500,)", says="found again")],
    "continuous_citests": [
        Toy(
            "--runs 1 --out {out}/a.jsonl",
            "m.SETTINGS[:] = [(60, 0, 0.0, 1.0), (60, 1, 0.4, 1.0)]",
            says="crt",
        )
    ],
    "continuous_discovery": [
        Toy(
            "--graphs 1 --rows 200 --out {out}/a.jsonl --figure {out}",
            "m.EPSILONS = (1.0, 3.0); m.COLUMNS = 5",
            says=".png",
        )
    ],
    "counting": [Toy("--toy", says="ns per row")],
    "reproduce_times": [Toy("priv-pc-bounds", says="priv-pc-bounds")],
    "reading": [Toy("--rows 300 --repeats 1", says="million rows a second")],
    "latent": [
        Toy("exact --graphs 2", needs="causallearn", says="same"),
        Toy("marks --networks 1", "m.ROWS = (500,)", says="marks"),
    ],
    "plan_shares": [Toy("--runs 1", "m.SETTINGS = ((5000, 1.0),)", says="of 28")],
    "log_scale": [Toy("--sets 5 --rows 300 --epsilon 9", "del m.TESTS['`gcm`']", says="graphs by moments")],
    "effects_forecast": [
        Toy("--networks 1 --seeds 1", "m.ROWS = (300,); m.EPSILONS = (1.0,)", says="let through")
    ],
    "engines": [
        Toy("same --tables 3 --spark-tables 0", needs="ibis", says="differ"),
        Toy("cost --rows 3000 --columns 6 --ways duckdb --folder {out}", needs="ibis", says="peak MiB"),
    ],
    "discovery_private": [Toy("--repeats 1", 'm.NETWORKS = ("cancer",)', says="goal")],
    "effects": [
        Toy(
            "networks --rows 300 --seeds 1",
            "m.RESULTS = Path('{out}/e.json'); m.NETWORKS = ('cancer',)",
            says="pairs",
        ),
        Toy(
            "random --networks 20 --seeds 1",
            "m.RESULTS = Path('{out}/e.json'); m.ROWS = (300,)",
            says="networks",
        ),
        Toy(
            "rivals --rows 300 --seeds 1 --only cancer",
            "m.RESULTS = Path('{out}/e.json'); m.EPSILONS = (1.0,)",
            says="cancer",
        ),
        Toy("after --sets 1 --rows 500", "m.RESULTS = Path('{out}/e.json')", says="survey"),
        Toy(
            "scores --sets 1 --rows 1000",
            "import effects_scores as e; m.RESULTS = Path('{out}/e.json'); e.EPSILONS = (9.0,)",
            says="1 graphs",
        ),
        Toy("scores-brief", says="mean error"),
        Toy("brief", says="rivals: mst"),
        Toy("table", says="coverage"),
    ],
    "exact_privacy": [Toy(says="sampling misses it")],
    "calibration": [
        Toy(
            "--parts effects --runs 1",
            "e = m.calibration_effects; e.CELLS, e.REPEATS, e.CALLS = 1, 2, 1; e.DOORS = ('adjust',); e.REAL = ()",
            says="odds ratio",
        ),
        Toy("--parts absent --runs 1", "m.ABSENT = ((300, 1.0, 3, 0.5),)", says="prevalence"),
        Toy(
            "--parts arrows --runs 1",
            "m.KINDS = ('gates',); m.NETWORKS = (); m.ARROWS = ((300, 3.0),)",
            says="PC, no privacy",
        ),
        Toy(
            "--parts hidden --runs 1",
            "m.KINDS = ('gates',); m.NETWORKS = (); m.ARROWS = ((300, 3.0),)",
            says="the hub hidden",
        ),
    ],
    "calibration_persons": [Toy("--runs 1 --settings 2", says="| 1500 | 0.3 | 1 of 3 | 1 |")],
    "calibration_survival": [
        Toy("--laws 1 --repeats 1 --settings 2", says="| 3000 | 0.5 | 1 | 60% |"),
    ],
    "calibration_absent": [
        Toy(
            "--folder {out} --runs 1",
            "import dpcausal as dc; h = m.hospital_real; h.SETS = ('asia',); "
            "h.read = lambda folder, name: dc.networks.load(name).sample(2000, seed=1)",
            says="| asia | 2000 | 3.0 | nothing |",
        )
    ],
    "calibration_misfit": [Toy("", "m.LAWS = ('gates',); m.ROWS = 500; m.GRAPHS = 1", says="| gates |")],
    "calibration_cohorts": [
        Toy(
            "--folder {out} --runs 1 --only toy",
            "import numpy as np; draws = np.random.default_rng(1).random((3, 3000)) < 0.4; m.EPSILONS = (3.0,); "
            "m.COHORTS['toy'] = lambda folder: dict(zip(('x', 'y', 'z'), draws))",
            says="| toy | 3000 | 3.0 | table | 1 of 1 |",
        )
    ],
    "fresh_graphs": [
        Toy("--graphs 1 --kinds weak --rows 300 --epsilons 1", says="| weak | 300 | 1 | no rounds"),
        Toy("--graphs 1 --kinds many mixed --rows 300 --epsilons 1", says="| mixed | 300 | 1 | no tree"),
        Toy(
            "--graphs 1 --kinds thirds bends --rows 300 --epsilons 3",
            says="| bends | 300 | 3 | no rounds",
        ),
    ],
    "gcm_concrete": [Toy(smaller="m.FEATURES = m.FEATURES[:2]; m.PENALTIES = m.PENALTIES[:2]", says="left")],
    "gcm_robust": [Toy("--rows 60 --draws 1", says="codes")],
    "gcm_selection": [
        Toy("--runs 10", "m.OPTIONS = dict(list(m.OPTIONS.items())[:2])", says="best bandwidth")
    ],
    "gcm_time": [
        Toy(f"{case} 300", says="peak memory") for case in ("factor", "exact", "features", "others")
    ],
    "gwas": [
        Toy("parity speed --snps 400 --rounds 1", says="the whole command at 400 SNPs"),
        Toy(
            "power recovery known --repetitions 2 --runs 1 --snps 400",
            "import gwas_power; gwas_power.STUDIES = 1",
            says="by what is known",
        ),
    ],
    "hospital": [
        Toy("run --toy", says="figure: hospital.png"),
        Toy("real --toy --folder {out}", REAL, says="NHEFS"),
    ],
    "desk_queue": [Toy("--requests 20 --workers 1 --rows 500 --engines sqlite", says="chain holds")],
    "ledger_fire": [Toy("--processes 2 --kills 2 --charges 20 --engines sqlite", says="edited row found")],
    "noise": [Toy(smaller="m.REPEATS = 1", says="laplace")],
    "peers_bnlearn": [Toy("--rows 2000", says="bnlearn")],
    "peers_pc": [
        Toy("--part skeleton --sets 1", says="not installed" if not find_spec("pgmpy") else "skeleton equal"),
        Toy(f"--part alarm --alarm {BIF} --repeats 1", says="times ours"),
    ],
    "private_gcm": [
        Toy("--part sensitivity --quick", BRIEF, says="bound"),
        Toy("--part level --quick --repetitions 1", "m.level_cells = first(m.level_cells)", says="rejected"),
        Toy("--part power --quick --repetitions 1", "m.power_cells = first(m.power_cells)", says="rejected"),
    ],
    "codes": [
        Toy("power --columns 6 --rows 400 --runs 1", says="codes"),
        Toy("null --columns 6 --rows 400 --runs 1"),
    ],
    "sites": [
        Toy(
            "--networks cancer --rows 200 --sites 2 --seeds 1 --effects none strong --out {out}/s.jsonl",
            says="two rounds",
        )
    ],
    "sensitivity_rank": [Toy("--quick", "m.SHAPES = ((1, 2, 2),); " + SMALL, says="range")],
    "tables_stats": [
        Toy("--draws 2 --part sensitivity", says=""),
        Toy("--draws 2 --part level", "m.SIZES = (500,); m.BLOCKS = (4,)"),
        Toy("--draws 2 --part power", "m.SIZES = (500,); m.BLOCKS = (4,)"),
        Toy("--part speed", says="us"),
    ],
    "utility": [
        Toy(
            "--seeds 1",
            "m.RESULTS = Path('{out}/u.json'); m.SMALL = ('cancer',); m.small_grid = first(m.small_grid, 8)",
        ),
        Toy("--table"),
        Toy("--brief", says="|"),
    ],
    "utility_mbi": [Toy(needs="mbi")],
    "utility_rivals": [
        Toy(
            "--methods pc --networks cancer --seeds 1",
            "m.RESULTS = Path('{out}/r.json'); m.GRID = ((1_000, (1.0,)),)",
            says="PC, not private",
        )
    ],
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder of benchmarks, links to all else beside it: whoever makes results meanwhile is not seen."""
    root = tmp_path_factory.mktemp("checkout")
    for path in ROOT.iterdir():
        if path != FOLDER:
            (root / path.name).symlink_to(path)
    copy = root / FOLDER.name
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def run_script(folder: Path, name: str, toy: Toy, out: Path) -> subprocess.CompletedProcess[str]:
    """Import the script, make its constants small, and call its ``main`` with the arguments as its own."""
    code = f"""
import sys
from itertools import islice
from pathlib import Path
import {name} as m
first = lambda cells, count=2: lambda *given: islice(cells(*given), count)
{toy.smaller.format(out=out)}
sys.argv[0] = m.__file__
sys.exit(m.main(*({MAIN.get(name, "")})))
"""
    paths = f"{folder}{os.pathsep}{folder.parent / 'src'}"  # the package beside it, whatever is installed
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    words = toy.arguments.format(out=out).split()
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=out, env=environment, capture_output=True, text=True, check=False)


MAIN = {"sensitivity_rank": "True,"}  # what ``main`` is given, where it is given anything


def test_every_script_has_a_toy_run_and_every_other_file_is_used_by_one() -> None:
    assert set(TOYS) == set(SCRIPTS)
    imported = {
        name
        for text in SOURCES.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else [node.module])
    }
    assert set(SOURCES) - set(SCRIPTS) <= imported


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "toy"),
    [pytest.param(name, toy, id=f"{name} {toy.arguments}") for name, toys in TOYS.items() for toy in toys],
)
def test_benchmarks_run(name: str, toy: Toy, copied: Path, tmp_path: Path) -> None:
    if toy.needs and not find_spec(toy.needs):
        pytest.skip(f"needs {toy.needs}")
    before = {path: path.stat().st_mtime_ns for path in copied.rglob("*.json")}
    assert before
    done = run_script(copied, name, toy, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
    assert toy.says in done.stdout
    assert before == {
        path: path.stat().st_mtime_ns for path in copied.rglob("*.json")
    }  # results are left alone


# --- dpcausal reproduce --------------------------------------------------------------------------------------------


def small_cells(script: Any) -> None:
    """Two data sets of 60 rows for each of the first cells of a figure on gcm."""
    if hasattr(script, "measure"):
        measure = script.measure

        def fewer(tests: Any, cells: Any, reps: int, draws: int, **more: Any) -> Any:
            return measure(tests, [replace(cell, n=60) for cell in cells], 2, 1, **more)

        script.measure = fewer


def small_networks(script: Any) -> None:
    """One network, two budgets, few rows, one seed."""
    script.NETWORKS, script.EPSILONS = ("cancer",), (1.0, 30.0)
    for name in ("run", "published_points", "stops", "measured", "mean_f1"):
        if hasattr(script, name):
            setattr(script, name, _once(getattr(script, name)))


def _once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same with one seed where a few were asked for."""

    def once(*given: Any, **named: Any) -> Any:
        few = [1 if type(value) is int and value in (2, 3, 5) else value for value in given]
        return function(*few, **named)

    return once


def as_it_is(script: Any) -> None:
    """Quick enough."""


def few_rows(script: Any) -> None:
    """One method, one effect, few rows."""
    script.ROWS, script.EFFECTS = 400, (0.4,)
    script.METHODS = dict(list(script.METHODS.items())[:1])


def two_features(script: Any) -> None:
    """Two columns of the concrete data, the one given the other."""
    script.FEATURES = script.FEATURES[:2]


SMALLER: dict[str, Callable[[Any], None]] = {
    **{name: small_cells for name in reproduce.FIGURES if name.startswith("gcm")},
    "gcm-figure5": two_features,
    "priv-pc-figure1": small_networks,
    "priv-pc-table2": small_networks,
    "priv-pc-bounds": as_it_is,
    "priv-pc-tweak": small_networks,
    "priv-pc-small": small_networks,
    "priv-pc-definitions": small_networks,
    "priv-pc-reconciled": few_rows,
    "curate-comparison": small_networks,
    "curate-sensitivity": as_it_is,
    "facts": as_it_is,
    **{name: as_it_is for name in reproduce.FIGURES if name.startswith("unit-circle")},
}


def test_every_figure_has_a_toy_size() -> None:
    assert set(SMALLER) == set(reproduce.FIGURES)


@pytest.mark.slow
@pytest.mark.parametrize("figure", reproduce.FIGURES)
def test_figures_are_reproduced(figure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = reproduce.load

    def smaller(script: Path) -> Any:
        module = load(script)
        SMALLER[figure](module)
        return module

    monkeypatch.setattr(reproduce, "load", smaller)
    assert run(["reproduce", figure, "--quick", "--out", str(tmp_path)]) == 0
    assert {path.suffix for path in tmp_path.iterdir()} & {".md", ".csv"}
