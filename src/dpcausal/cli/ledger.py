"""``dpcausal ledger create|show|log|verify``: a data set's one budget for all releases, ever."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.options import AsJson
from dpcausal.cli.output import table_width, warn_large_delta, warn_weak
from dpcausal.cli.usage import Command
from dpcausal.core.errors import InputError, LedgerError
from dpcausal.privacy.accounting.composition import check_total

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Entry, Ledger

NOTE_IT = (
    "a check sum: noted elsewhere, ledger verify --head shows later whether entries were changed or removed"
)
HEAD = re.compile("[0-9a-f]{64}")
SHORT = 8  # characters shown of a release id

HELP = """Keep the budget of a data set: charged before noise, append-only, tamper-evident.

[bold]Examples[/bold]

dpcausal ledger create --ledger sqlite:///budget.db --dataset cohort \\
  --epsilon 1 --delta 1e-5

# what is left, what it was spent on, whether anybody altered it
dpcausal ledger show --ledger sqlite:///budget.db
dpcausal ledger log --ledger sqlite:///budget.db
dpcausal ledger verify --ledger sqlite:///budget.db"""

commands = typer.Typer(help=HELP, no_args_is_help=True)

Url = Annotated[str, typer.Option("--ledger", help="sqlite:///file.db or postgresql://user@host/database")]
Name = Annotated[str, typer.Option("--dataset", help="Name of the data set.")]
AnyName = Annotated[str | None, typer.Option("--dataset", help="Only this data set.")]


def _open(url: str, *, create: bool = False) -> Ledger:
    """Open the ledger at a URL, and import SQLAlchemy only then."""
    from dpcausal.privacy.ledger import Ledger  # SQLAlchemy only where a ledger is used

    return Ledger.open(url, create=create)


def _print_json(value: dict[str, Any]) -> None:
    """Print a value as indented JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def _as_numbers(entry: Entry) -> dict[str, Any]:
    """Return an entry with amounts as numbers, and under ``exact`` as the texts that are stored and hashed."""
    plain = entry.to_dict()
    exact = {name: plain[name] for name in ("epsilon", "delta", "spent_epsilon", "spent_delta")}
    who = asdict(entry.asker)
    return {**plain, **{name: float(text) for name, text in exact.items()}, **who, "exact": exact}


@commands.command(cls=Command)
def create(
    ledger: Url,
    dataset: Name,
    epsilon: Annotated[float, typer.Option(help="Total epsilon of all releases, ever.")],
    delta: Annotated[float, typer.Option(help="Total delta of all releases, ever.")] = 0.0,
    neighbours: Annotated[
        str,
        typer.Option(
            help="Which tables must give like results: replace-one, add-remove, or fixed-labels (gwas)."
        ),
    ] = "replace-one",
    similar_name: Annotated[
        bool, typer.Option("--similar-name", help="Take a name that looks like another data set's.")
    ] = False,
    cap_epsilon: Annotated[
        float | None, typer.Option(help="Most epsilon of one release; without it, the total.")
    ] = None,
    cap_delta: Annotated[
        float | None, typer.Option(help="Most delta of one release; without it, the total.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record a data set with its total budget, for ever; makes the ledger if there is none.

    [bold]Examples[/bold]

    dpcausal ledger create --ledger sqlite:///budget.db --dataset cohort \\
      --epsilon 1 --delta 1e-5

    dpcausal ledger create --ledger sqlite:///budget.db --dataset survey \\
      --epsilon 1 --delta 1e-6 --neighbours add-remove

    # no release may take more than a fifth
    dpcausal ledger create --ledger sqlite:///budget.db --dataset trial \\
      --epsilon 1 --delta 1e-6 --cap-epsilon 0.2
    """

    check_total(epsilon, delta)  # before a file is made
    opened = _open(ledger, create=True)
    warn_weak(epsilon, delta)
    warn_large_delta(delta)
    from dpcausal.present.ledger import others_words
    from dpcausal.privacy.ledger.beside import SecondBudget, ledgers_beside

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecondBudget)  # the remark below says more
        entry = opened.create(
            dataset,
            epsilon,
            delta,
            neighbours=neighbours,
            similar_name=similar_name,
            cap_epsilon=cap_epsilon,
            cap_delta=cap_delta,
        )
    here = [one.dataset for one in opened.show() if one.dataset != dataset]
    beside = others_words(dataset, here, ledgers_beside(ledger))
    if as_json:
        _print_json({**_as_numbers(entry), **({"remark": beside} if beside else {})})
    else:
        typer.echo(
            f"{opened.name}: data set {dataset!r} with epsilon {epsilon:g}, delta {delta:g}, {neighbours}"
        )
        if beside:
            typer.echo(beside)
        typer.echo(f"head {entry.hash} ({NOTE_IT})")


@commands.command(cls=Command)
def show(ledger: Url, dataset: AnyName = None, as_json: AsJson = False) -> None:
    """Total, spent and left of each data set, and what all its releases together promise, in words.

    [bold]Examples[/bold]

    dpcausal ledger show --ledger sqlite:///budget.db

    dpcausal ledger show --ledger sqlite:///budget.db --dataset cohort --json
    """
    from dpcausal.present.ledger import combined_words, left_words, promise_words
    from dpcausal.present.text import ruled

    accounts = _open(ledger).show(dataset)
    several = combined_words(accounts)
    if as_json:
        plain = [{**asdict(account), "promise": promise_words(account)} for account in accounts]
        _print_json({"datasets": plain, **({"remark": several} if several else {})})
        return
    for account in accounts:
        typer.echo(f"{left_words(account)} {promise_words(account)}")
    if several:
        typer.echo(several)
    rows = []
    for account in accounts:
        amounts = [account.epsilon, account.spent_epsilon, account.left_epsilon]
        amounts += [account.delta, account.spent_delta, account.left_delta]
        rows.append([account.dataset, *(f"{amount:g}" for amount in amounts), str(account.releases)])
    heads = ["data set", "epsilon", "spent", "left", "delta", "spent", "left", "releases"]
    typer.echo("\n".join(ruled(heads, rows, left=heads[:1], width=table_width())))


@commands.command(cls=Command)
def log(ledger: Url, dataset: AnyName = None, as_json: AsJson = False) -> None:
    """Every entry, oldest first; --json has whole release ids and hashes.

    [bold]Examples[/bold]

    dpcausal ledger log --ledger sqlite:///budget.db

    dpcausal ledger log --ledger sqlite:///budget.db --dataset cohort --json
    """
    from dpcausal.present.ledger import entry_words
    from dpcausal.present.text import ruled

    entries = _open(ledger).log(dataset)
    if as_json:
        _print_json({"entries": [_as_numbers(entry) for entry in entries]})
        return
    rows = [
        [
            str(entry.seq),
            entry.time[:16].replace("T", " "),
            entry.dataset,
            f"{float(entry.epsilon):g}",
            f"{float(entry.delta):g}",
            "" if entry.kind == "create" else entry.release[:SHORT],
            entry_words(entry),
        ]
        for entry in entries
    ]
    heads = ["entry", "time (UTC)", "data set", "epsilon", "delta", "release", "what"]
    typer.echo("\n".join(ruled(heads, rows, left=["data set", "release", "what"], width=table_width())))


@commands.command(cls=Command)
def verify(
    ledger: Url,
    dataset: AnyName = None,
    head: Annotated[str | None, typer.Option(help="The head that an earlier command printed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check the hash chain and all sums; exit code 2 if anything was altered.

    One chain holds all data sets, so all are checked; --dataset only makes sure that this one is there.

    [bold]Examples[/bold]

    dpcausal ledger verify --ledger sqlite:///budget.db

    # keep the head that it prints: next time --head also finds a cut-off end
    """
    if head is not None and not HEAD.fullmatch(head.strip().lower()):
        raise InputError(f"--head takes the 64 digits 0-9, a-f that an earlier command printed, not {head!r}")
    opened = _open(ledger)
    found = opened.verify(head if head is None else head.strip().lower())
    if found.ok and dataset is not None:
        opened.show(dataset)
    if as_json:
        _print_json(
            {"ok": found.ok, "entries": found.entries, "head": found.head, "faults": list(found.faults)}
        )
        if not found.ok:
            raise typer.Exit(2)
        return
    count = f"{found.entries} {'entry' if found.entries == 1 else 'entries'}"
    if not found.ok:
        raise LedgerError(
            f"the ledger {opened.name} was altered: {'; '.join(found.faults)} ({count} verified, head {found.head})"
        )
    typer.echo(f"{opened.name} is intact: {count}, chain and sums hold")
    typer.echo(f"head {found.head} ({NOTE_IT})")
