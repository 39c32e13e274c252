"""``dpcausal gwas-simulate``: a made-up case/control study as .bed, .bim, .fam."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from dpcausal.cli.options import AsJson
from dpcausal.core.errors import InputError
from dpcausal.core.progress import shown

HELP = """Simulate a case/control study and write PREFIX.bed, .bim, .fam, and the truth to PREFIX.causal.

[bold]Examples[/bold]

dpcausal gwas-simulate study --people 2000 --snps 5000 --causal 10 \\
  --odds-ratio 1.5

# rarer alleles, some calls missing, more controls than cases
dpcausal gwas-simulate study --people 2000 --snps 5000 --maf 0.01-0.3 \\
  --missing 0.01 --case-share 0.3 --seed 7"""


def register(app: typer.Typer) -> None:
    """Add the ``gwas-simulate`` command to ``app``."""
    app.command("gwas-simulate", help=HELP)(run_simulate)


def frequency_range(text: str) -> tuple[float, float]:
    """``0.05-0.5`` or one number.

    >>> frequency_range("0.05-0.5"), frequency_range("0.2")
    ((0.05, 0.5), (0.2, 0.2))
    """
    low, _, high = text.partition("-")
    try:
        return float(low), float(high or low)
    except ValueError:
        raise InputError(f"--maf takes a number or a range like 0.05-0.5, not {text!r}") from None


def run_simulate(
    prefix: Annotated[str, typer.Argument(help="PREFIX of the files to write.")],
    people: Annotated[int, typer.Option("--people", "-n", help="How many people.")] = 1000,
    snps: Annotated[int, typer.Option("--snps", help="How many SNPs.")] = 10_000,
    maf: Annotated[str, typer.Option("--maf", help="Range of minor allele frequencies.")] = "0.05-0.5",
    causal: Annotated[int, typer.Option("--causal", help="How many SNPs with an effect.")] = 0,
    odds_ratio: Annotated[float, typer.Option("--odds-ratio", help="Per copy of allele 1.")] = 1.5,
    case_share: Annotated[float, typer.Option("--case-share", help="Share of cases.")] = 0.5,
    missing: Annotated[float, typer.Option("--missing", help="Share of missing calls.")] = 0.0,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same study.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Run it."""
    from dpcausal.gwas.simulate import Simulation

    plan = Simulation(
        people=people, snps=snps, maf=frequency_range(maf), causal=causal, odds_ratio=odds_ratio,
        case_share=case_share, missing=missing, seed=seed,
    )  # fmt: skip
    with shown("drawing genotypes", snps, not as_json and sys.stderr.isatty()) as tick:
        plan.write(prefix, tick)
    names = [plan.variant(int(i)).name for i in plan.causal_rows()]
    if as_json:
        typer.echo(
            json.dumps(
                {"prefix": prefix, "people": people, "cases": plan.cases, "snps": snps, "causal": names}
            )
        )
    else:
        typer.echo(
            f"{prefix}.bed .bim .fam: {people} people ({plan.cases} cases), {snps} SNPs, {causal} with an effect"
        )
