"""``dpcausal reproduce``: a paper's figure or table, from scratch.

The scripts are those of ``experiments/`` in the source repository. A wheel installs them as data, below
``share/dpcausal``: they are no modules of the package, and nothing in it imports them.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from contextlib import redirect_stdout, suppress
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from dpcausal.cli.options import AsJson, path
from dpcausal.core.errors import InputError, did_you_mean


class Figure(NamedTuple):
    """A script below experiments/ with a function ``main(quick, out)``, what it is about, and how long it takes.

    ``full`` and ``quick`` are processor times on one core of a machine of 2026; ``full`` is empty where it was not
    taken, and has < where the machine was busy with other work, which counts for more.
    """

    script: str
    paper: str
    item: str
    full: str
    quick: str


PRIV_PC, CURATE, GCM, CIRCLE = "Wang et al. 2020", "CURATE", "Kalemaj et al. 2024", "Kakizaki et al. 2017"
ABOUT = {
    "priv-pc-figure1": Figure("priv_pc/figure1.py", PRIV_PC, "figure 1, section 4.2", "3 min", "32 s"),
    "priv-pc-table2": Figure("priv_pc/table2.py", PRIV_PC, "tables 1 and 2, section 4.3", "30 s", "7 s"),
    "priv-pc-bounds": Figure(
        "priv_pc/bounds.py", PRIV_PC, "theorems 2, 4, 5; lemma 1 of CURATE", "6 s", "3 s"
    ),
    "priv-pc-tweak": Figure("priv_pc/tweak.py", PRIV_PC, "threshold tweak, section 3.1", "77 s", "11 s"),
    "priv-pc-definitions": Figure(
        "priv_pc/definitions.py", PRIV_PC, "algorithm 1, definitions 5 to 8, theorem 9", "9 s", "9 s"
    ),
    "priv-pc-reconciled": Figure(
        "priv_pc/reconciled.py", PRIV_PC, "algorithm 6, definition 10", "1 min", "15 s"
    ),
    "priv-pc-small": Figure("priv_pc/small.py", PRIV_PC, "footnote 5, algorithms 2 and 3", "75 s", "15 s"),
    "curate-comparison": Figure(
        "curate/comparison.py", CURATE, "lemma 1's rule, public code", "1 min", "19 s"
    ),
    "curate-sensitivity": Figure("curate/sensitivity.py", CURATE, "equations 14 to 17", "3 s", "3 s"),
    "gcm-figure1": Figure("gcm/figure1.py", GCM, "figure 1, theorem 2.2", "15 min", "50 s"),
    "gcm-figure2": Figure("gcm/figure2.py", GCM, "figure 2, theorem 2.3", "", "26 s"),
    "gcm-figure3": Figure("gcm/figure3.py", GCM, "figure 3, algorithm 2", "2 min", "6 s"),
    "gcm-figure4": Figure("gcm/figure4.py", GCM, "figure 4", "44 s", "5 s"),
    "gcm-figure5": Figure("gcm/figure5.py", GCM, "figure 5, concrete data", "", "40 s"),
    "gcm-figure6": Figure("gcm/figure6.py", GCM, "figure 6, lambda", "< 10 s", "3 s"),
    "gcm-figure7": Figure("gcm/figure7.py", GCM, "figure 7", "", "16 s"),
    "gcm-figure8": Figure("gcm/figure8.py", GCM, "figure 8", "< 35 s", "5 s"),
    "gcm-figure9": Figure("gcm/figure9.py", GCM, "figure 9", "< 35 s", "4 s"),
    "gcm-test-of-tests": Figure("gcm/test_of_tests.py", GCM, "appendix D, PrivToT", "", "14 s"),
    "gcm-crt-printed": Figure("gcm/crt_printed.py", GCM, "definition 3.4, algorithm 2", "44 s", "12 s"),
    "gcm-constants": Figure("gcm/constants.py", GCM, "lemmas B.6 and C.1, lambda", "1 s", "1 s"),
    "gcm-overfit": Figure("gcm/overfit.py", GCM, "section 2, overfitting", "9 s", "4 s"),
    "unit-circle-single": Figure("unit_circle/single.py", CIRCLE, "algorithm 1", "9 s", "3 s"),
    "unit-circle-svt": Figure("unit_circle/svt.py", CIRCLE, "algorithm 3", "71 s", "11 s"),
    "unit-circle-em": Figure("unit_circle/em.py", CIRCLE, "algorithm 4", "18 s", "5 s"),
    "unit-circle-bounds": Figure("unit_circle/bounds.py", CIRCLE, "theorems 2, 3 and 7", "2 s", "1 s"),
    "facts": Figure(
        "facts.py", "all five", "figures that docs/papers.md quotes, computed anew", "14 s", "7 s"
    ),
}
FIGURES = {name: about.script for name, about in ABOUT.items()}

HELP = f"""Reproduce a paper's figure or table from scratch; prints a table and writes pictures.

Figures: {", ".join(FIGURES)}. Noise and data are seeded: repeatable, and not private (the data are synthetic).
Files go to docs/figures of a source checkout, else to ./figures.

[bold]Examples[/bold]

# which there are: paper, item, time
dpcausal reproduce --list

dpcausal reproduce priv-pc-figure1 --quick --out figures

# one JSON object: the files written; the table goes to standard error
dpcausal reproduce gcm-figure1 --quick --out figures --json"""


def experiments() -> Path:
    """Return the directory of the experiments' scripts: of a source checkout, or as a wheel installed them.

    Raises ``InputError`` where there is neither.
    """
    for root in (Path(__file__).resolve().parents[3], Path.cwd()):
        if (root / "experiments" / "priv_pc").is_dir():
            return root / "experiments"
    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files("dpcausal") or []:
            if file.match("share/dpcausal/experiments/papers.toml"):
                return Path(str(file.locate())).resolve().parent
    raise InputError(
        "reproduce finds no scripts: neither a source checkout nor an installed experiments/ directory"
    )


def listed() -> str:
    """Return the figures that can be reproduced as a table: paper, item and processor time."""
    from dpcausal.present.text import aligned

    rows = [(name, one.paper, one.item, one.full or "not timed", one.quick) for name, one in ABOUT.items()]
    return "\n".join(aligned(rows, ("name", "paper", "item", "CPU time", "with --quick")))


def load(script: Path) -> Any:
    """Import a script, which may import modules beside it."""
    spec = importlib.util.spec_from_file_location(f"experiment_{script.stem}", script)
    if spec is None or spec.loader is None:
        raise InputError(f"can't load {script.name}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(experiments()))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def run_reproduce(
    figure: Annotated[
        str,
        typer.Argument(help="Which: " + ", ".join(FIGURES), autocompletion=lambda: list(FIGURES)),
    ] = "",
    show: Annotated[
        bool, typer.Option("--list", help="Only list them: paper, item, processor time.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds: a minute or two at most.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Directory for pictures and tables; docs/figures or figures if not given.",
            parser=path,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce one figure or table."""
    if show:
        every = [{"name": name, **about._asdict()} for name, about in ABOUT.items()]
        typer.echo(json.dumps(every) if as_json else listed())
        return
    if not figure:
        raise InputError("name a figure or table; dpcausal reproduce --list has all of them")
    if figure not in FIGURES:
        raise InputError(
            f"no figure is called {figure!r}{did_you_mean(figure, FIGURES)}; there are {', '.join(FIGURES)}"
        )
    root = experiments()
    checkout = root.parent / "docs"
    target = out or (checkout if checkout.is_dir() else Path.cwd()) / "figures"
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
