"""``dpcausal``: puts the commands together and turns every error into one line and an exit code.

Exit codes: 0 done; 1 an error of ours; 2 bad input or usage; 3 the budget does not allow it; 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import typer

from dpcausal._version import __version__
from dpcausal.cli import (
    again,
    audit,
    ci_test,
    discover,
    effect,
    gwas,
    ledger,
    plan,
    reproduce,
    schema,
    serve,
    sites,
)
from dpcausal.cli.usage import Command, usage_words
from dpcausal.core.errors import DpcausalError
from dpcausal.core.progress import listening
from dpcausal.core.spelling import for_command_line
from dpcausal.privacy.budget import ENTERED

# typer brings its own copy of click or uses the installed one, by version: ask it which
ClickException: type[Any] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

HELP = """Causal graphs and conditional independence tests on sensitive data, under differential privacy.

[bold]From a file to a private graph[/bold]

dpcausal schema patients.csv > schema.toml
# check schema.toml against a code book, then against the rows
dpcausal schema patients.csv --check schema.toml
# see what a budget can show
dpcausal plan --schema schema.toml --rows 50000 --epsilon 0.5 --delta 1e-6
# the total of all releases, ever; the graph takes half of it
dpcausal ledger create --ledger sqlite:///budget.db --dataset cohort \\
  --epsilon 1 --delta 1e-5
# --tiers: what comes before what in time, so that no arrow points back
dpcausal discover patients.csv --schema schema.toml \\
  --tiers "age,sex;smoke;bronc" --epsilon 0.5 --delta 1e-6 --out graph \\
  --ledger sqlite:///budget.db --dataset cohort
dpcausal ledger show --ledger sqlite:///budget.db

Every command has examples: dpcausal discover --help"""
INTERRUPTED = 130
TRACEBACK = "DPCAUSAL_TRACEBACK"
CODES = "Exit codes: 0 done, 2 bad input or usage, 3 the budget does not allow it, 130 interrupted."

app = typer.Typer(
    name="dpcausal",
    help=HELP,
    epilog=CODES,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    """Print the version and exit, if asked."""
    if value:
        typer.echo(f"dpcausal {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Take the options that stand before a command; the callback of each does the work."""
    pass


# in the order of --help
app.command("schema", cls=Command, help=schema.HELP)(schema.run_schema)
app.command("plan", cls=Command, help=plan.HELP)(plan.run_plan)
app.command("discover", cls=discover.DiscoverCommand, help=discover.HELP.partition("\n")[0])(
    discover.run_discover
)
app.command("again", cls=Command, help=again.HELP)(again.run_again)
app.command("test", cls=ci_test.TestCommand, help=ci_test.HELP.partition("\n")[0])(ci_test.run_test)
app.command("effect", cls=Command, help=effect.HELP)(effect.run_effect)
app.command("gwas", cls=Command, help=gwas.HELP)(gwas.run_gwas)
app.command("gwas-simulate", help=gwas.SIMULATE_HELP)(gwas.run_simulate)
app.command("protocol", cls=Command, help=sites.PROTOCOL_HELP)(sites.run_protocol)
app.command("contribute", cls=Command, help=sites.CONTRIBUTE_HELP)(sites.run_contribute)
app.command("pool", cls=Command, help=sites.POOL_HELP)(sites.run_pool)
app.add_typer(ledger.commands, name="ledger")
app.command("serve", cls=Command, help=serve.HELP)(serve.run_serve)
app.command("work", cls=Command, help=serve.WORK_HELP)(serve.run_work)
app.command("audit")(audit.run_audit)
app.command("reproduce", help=reproduce.HELP)(reproduce.run_reproduce)


def fail(message: str, code: int) -> int:
    """Print one line on standard error; return ``code``."""
    line = " ".join(str(message).split())
    typer.echo(f"dpcausal: {line}", err=True)
    return code


def report_interrupt() -> int:
    """Print that Ctrl-C ended the command and what was charged until then; return the exit code."""
    charged = [f"epsilon {epsilon:g} of {dataset}" for dataset, epsilon, _ in ENTERED]
    more = f"; {' and '.join(charged)} had been charged and stays charged" if charged else ""
    return fail(f"interrupted{more}", INTERRUPTED)


_warnings: dict[str, None] = {}  # of this run, each once; shown when it ends well: an error is one line
_NOT_SHOWN = (
    "ColumnsIgnored",
)  # by name, so that nothing is imported; `schema --check` lists undeclared columns


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Collect a warning, to be printed once when the command ends; replaces ``warnings.showwarning``."""
    if category.__name__ not in _NOT_SHOWN:
        _warnings[str(message)] = None


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every error becomes one line on standard error."""
    _warnings.clear()
    ENTERED.clear()
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return report_interrupt()
    except SystemExit as stop:
        if stop.code == 1 and isinstance(stop.__context__, BrokenPipeError):  # rich's answer to it
            return 0
        raise
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        if error.errno in _NO_ROOM:
            _drop_output()
        where = f"{error.filename}: " if error.filename else ""
        return fail(f"{where}{error.strerror or error}", 2)
    except MemoryError:
        return fail("not enough memory for this", 2)
    except Exception as error:
        if _interrupted(error):
            return report_interrupt()
        if os.environ.get(TRACEBACK):
            raise
        # a traceback or the message could hold a value of a row
        return fail(
            f"an error in dpcausal ({type(error).__name__} {_place(error)}); please report this line. "
            f"{TRACEBACK}=1 shows more, which may hold values of rows",
            1,
        )


def _interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error: compiled code wraps a ``KeyboardInterrupt`` in a SystemError."""
    if error is None or isinstance(error, KeyboardInterrupt):
        return error is not None
    return _interrupted(error.__cause__) or _interrupted(error.__context__)


def _place(error: BaseException) -> str:
    """Return the innermost file and line of this package in the traceback of an error."""
    ours = [
        f"in {Path(frame.filename).stem}, line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "dpcausal" in Path(frame.filename).parts
    ]
    return ours[-1]


_NO_ROOM = (errno.ENOSPC, errno.EIO)


def _drop_output() -> None:
    """Send further output nowhere, after standard output was closed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_waiting(line: str) -> None:
    """Print on standard error what the command waits for."""
    typer.echo(f"dpcausal: {line}", err=True)


_GROUPS: tuple[list[str], ...] = (
    [],
    ["ledger"],
)  # what alone is no command: the help that follows is an error, and no output


@cache
def _command() -> Any:
    """Return the command line's tree of commands, made once."""
    return typer.main.get_command(app)


def _run(arguments: list[str] | None) -> int:
    """Run the command line with its arguments (those of the process for None) and return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    alone = words in _GROUPS
    unasked = alone and "_DPCAUSAL_COMPLETE" not in os.environ  # a shell that completes calls like this too
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(sys.stderr if unasked else sys.stdout),
            listening(_print_waiting),
            for_command_line(),
        ):
            warnings.showwarning = _warn
            result = _command()(args=arguments, standalone_mode=False)
        code = result if isinstance(result, int) else 0
        if code == INTERRUPTED:  # typer has caught it
            return report_interrupt()
        for line in _warnings:
            fail(line, 0)
        return code
    except DpcausalError as error:
        return fail(str(error), error.exit_code)
    except typer.Exit as stop:
        return report_interrupt() if stop.exit_code == INTERRUPTED else stop.exit_code
    except typer.Abort:
        return report_interrupt()
    except ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message(), err=True, nl=False)
            return 2
        return fail(usage_words(error, words), 2)
