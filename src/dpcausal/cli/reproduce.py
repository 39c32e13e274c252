"""``dpcausal reproduce``: a paper's figure or table, from scratch.

The scripts live in ``experiments/`` of the source repository, which is not part of an installed package: this command
finds them next to the package's source, or in the current directory, and says so in one line where there are none.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from dpcausal.cli.options import AsJson, path
from dpcausal.core.errors import InputError, did_you_mean

# name -> script below experiments/, with a function main(quick: bool, out: Path) -> None
FIGURES = {
    "priv-pc-figure1": "priv_pc/figure1.py",
    "priv-pc-table2": "priv_pc/table2.py",
    "priv-pc-bounds": "priv_pc/bounds.py",
    "priv-pc-tweak": "priv_pc/tweak.py",
    "curate-comparison": "curate/comparison.py",
    **{f"gcm-figure{k}": f"gcm/figure{k}.py" for k in range(1, 10)},
    "gcm-test-of-tests": "gcm/test_of_tests.py",
    "unit-circle-single": "unit_circle/single.py",
    "unit-circle-svt": "unit_circle/svt.py",
    "unit-circle-em": "unit_circle/em.py",
    "unit-circle-bounds": "unit_circle/bounds.py",
}

HELP = f"""Reproduce a paper's figure or table from scratch; prints a table and writes pictures to docs/figures.

Figures: {", ".join(FIGURES)}. Noise and data are seeded: repeatable, and not private (the data are synthetic).
Needs a source checkout.

[bold]Examples[/bold]

dpcausal reproduce priv-pc-figure1 --quick --out figures

# one JSON object: the files written; the table goes to standard error
dpcausal reproduce gcm-figure1 --quick --out figures --json"""


def experiments() -> Path:
    """Return the directory of the scripts; raise ``InputError`` without a source checkout."""
    for root in (Path(__file__).resolve().parents[3], Path.cwd()):
        if (root / "experiments" / "priv_pc").is_dir():
            return root / "experiments"
    raise InputError("reproduce needs a source checkout: there is no experiments/ directory here")


def load(script: Path) -> Any:
    """Import a script, which may import modules beside it."""
    spec = importlib.util.spec_from_file_location(f"experiment_{script.stem}", script)
    if spec is None or spec.loader is None:
        raise InputError(f"can't load {script.name}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(script.parents[1]))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def run_reproduce(
    figure: Annotated[
        str,
        typer.Argument(help="Which: " + ", ".join(FIGURES), autocompletion=lambda: list(FIGURES)),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds: minutes, not hours.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Directory for pictures and tables; docs/figures if not given.", parser=path
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce one figure or table."""
    if figure not in FIGURES:
        raise InputError(
            f"no figure is called {figure!r}{did_you_mean(figure, FIGURES)}; there are {', '.join(FIGURES)}"
        )
    root = experiments()
    target = out or root.parent / "docs" / "figures"
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"can't write to the directory {str(target)!r}: {error.strerror or error}") from None
    script = load(root / FIGURES[figure])
    if not as_json:
        script.main(quick=quick, out=target)
        return
    before, start = _written(target), time.monotonic()
    with redirect_stdout(sys.stderr):
        script.main(quick=quick, out=target)
    files = sorted(name for name, when in _written(target).items() if before.get(name) != when)
    about = {"figure": figure, "quick": quick, "seconds": round(time.monotonic() - start, 1)}
    typer.echo(json.dumps({**about, "directory": str(target), "files": files}, ensure_ascii=False))


def _written(folder: Path) -> dict[str, int]:
    """Return when each file of a folder was last written, in nanoseconds."""
    return {file.name: file.stat().st_mtime_ns for file in folder.iterdir() if file.is_file()}
