"""``dpcausal audit METHOD``: an empirical lower bound on the epsilon of a mechanism, a broken one or a public call."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.core.progress import shown

if TYPE_CHECKING:  # loaded late, so that other commands start fast
    from dpcausal.audit.empirical import AuditResult
    from dpcausal.audit.targets import Target


def _methods() -> dict[str, Callable[[float], Target]]:
    """Return the functions that make audit targets, by name: mechanisms, and broken variants."""
    from dpcausal.audit.broken import BROKEN
    from dpcausal.audit.targets import SHIPPED

    return {**SHIPPED, **{f"broken-{name}": make for name, make in BROKEN.items()}}


def _names() -> list[str]:
    """Return the names of everything that can be audited."""
    from dpcausal.audit.calls import CALLS

    return [*_methods(), *CALLS]


def find(method: str, epsilon: float, neighbours: str | None = None) -> Target:
    """Return the audit target of that name; raise ``InputError``, which lists all names, if there is none."""
    from dpcausal.audit import calls
    from dpcausal.discovery.discover import METHODS

    if not (math.isfinite(epsilon) and 0 < epsilon <= 20):
        raise InputError(f"--epsilon must lie above 0 and up to 20, not {epsilon!r}")
    if method in calls.CALLS:
        return calls.target(method, epsilon, neighbours)
    group, _, name = method.partition(":")
    if group == "discover" and name in METHODS and not METHODS[name].private:
        raise InputError(f"{name} is not private: there is nothing to audit")
    methods = _methods()
    if method not in methods:
        hint = did_you_mean(method, _names())
        raise InputError(f"no method {method!r} to audit{hint}; there are {', '.join(_names())}")
    if neighbours is not None:
        raise InputError(
            f"--neighbours goes with a public call, such as ci-test:kendall, not with {method!r}"
        )
    return methods[method](epsilon)


def run(method: str, target: Target, trials: int, confidence: float) -> AuditResult:
    """Audit a target, with a progress bar on a terminal."""
    from dpcausal.audit.empirical import audit

    with shown(f"auditing {method}", trials, sys.stderr.isatty()) as step:
        return audit(method, target.sampler, target.claim, target.delta, trials, confidence, step)


def verdict(target: Target, result: AuditResult) -> str:
    """Return one sentence: the claim is refuted, is consistent with the trials, or a known fault was missed."""
    if result.refuted:
        return f"REFUTED: the claim of {result.claim:g} is false, epsilon is at least {result.lower:.3f}"
    if target.broken:
        return (
            f"not caught: this variant is known to cost {target.real():.3f}, but {result.trials:,} trials show only "
            f"{result.lower:.3f}"
        )
    return (
        f"consistent with the claim of {result.claim:g} (a sampling audit can refute a claim, never prove it)"
    )


def run_audit(
    method: str = typer.Argument(
        help="A mechanism, such as laplace, svt or median; broken-...; or a public call: ci-test:NAME, "
        "discover:NAME, gwas:NAME.",
        autocompletion=_names,
    ),
    epsilon: float = typer.Option(1.0, "--epsilon", help="The epsilon to claim."),
    trials: int | None = typer.Option(
        None, "--trials", help="Runs on each of two neighbours; 100,000, or 2,000 of a public call."
    ),
    confidence: float = typer.Option(0.95, "--confidence", help="Confidence of the lower bound."),
    neighbours: str | None = typer.Option(
        None, "--neighbours", help="Of a public call: replace-one, add-remove or fixed-labels."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Lower-bound the epsilon of a mechanism by running it on two neighbours.

    Half of the trials choose an event, the other half test it (Clopper-Pearson). Broken variants, named
    broken-..., show what an audit can and can't catch. A public call runs as yours do, with real noise, on the
    neighbours that came nearest to its charge in a search; what it returns and what its mechanisms answer is seen.

    [bold]Examples[/bold]

    dpcausal audit laplace --epsilon 1 --trials 20000

    # a variant with a known fault: the audit refutes its claim
    dpcausal audit broken-svt-no-query-noise --epsilon 1 --trials 20000 --json

    # a whole call
    dpcausal audit ci-test:kendall --neighbours add-remove
    """
    target = find(method, epsilon, neighbours)
    result = run(method, target, target.trials if trials is None else trials, confidence)
    if as_json:
        real = target.real()
        exact = None if not math.isfinite(real) else real
        typer.echo(
            json.dumps(
                {
                    **result.to_dict(),
                    "says": target.says,
                    "broken": target.broken,
                    "exact": exact,
                    "verdict": verdict(target, result),
                }
            )
        )
        return
    typer.echo(f"{method}: {target.says}")
    typer.echo(
        f"claim        epsilon {result.claim:g}" + (f", delta {result.delta:g}" if result.delta else "")
    )
    typer.echo(
        f"lower bound  epsilon {result.lower:.4f} at {100 * result.confidence:.10g}%, {result.trials:,} trials"
    )
    typer.echo(verdict(target, result))
