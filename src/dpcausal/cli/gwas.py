"""``dpcausal gwas``: private screening of the SNPs of a case/control study; ``gwas-simulate``: a made-up one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from dpcausal.cli.options import AsJson, Charge, Printing, path, spread
from dpcausal.cli.output import warn_before_charge, warn_weak
from dpcausal.cli.release_dir import deliver, report_place, writable_directory, write_texts
from dpcausal.core.arguments import checked_level
from dpcausal.core.errors import InputError
from dpcausal.core.progress import shown
from dpcausal.core.variants import checked_variant, refuse_real_rows
from dpcausal.privacy.accounting.composition import check_total

if TYPE_CHECKING:
    from dpcausal.core.variants import Variant
    from dpcausal.gwas.cohort import AlleleOrder, GenotypeCounts, MissingRule

BUDGET, FREQ_SHARE = "budget", 0.03

HELP = """Find the SNPs that go with a disease, under differential privacy.

PREFIX means PREFIX.bed, .bim and .fam. DIR gets hits.tsv, privacy.json and
hits.png, with released SNPs only. Protects each person's genotypes; who takes
part, and who is a case, is public.

[bold]Examples[/bold]

dpcausal gwas study --epsilon 3 --level 0.05 --method svt --max-hits 10 \\
  --out hits

# two chromosomes only, one JSON object for a script
dpcausal gwas study --epsilon 3 --method em --max-hits 5 --chr 1,2 \\
  --out hits --json"""


def from_tables(
    model: list[Path],
    case_counts: list[Path],
    control_counts: list[Path],
    cases: int,
    controls: int,
    missing: MissingRule,
    allele_order: AlleleOrder,
) -> GenotypeCounts:
    """Return genotype counts from files of plink: .model, or .gcount of cases and of controls."""
    from dpcausal.gwas.tables import read_gcount, read_model

    if model and (case_counts or control_counts):
        raise InputError("give either --model or --case-counts and --control-counts")
    if bool(case_counts) != bool(control_counts):
        raise InputError("--case-counts and --control-counts go together")
    if model:
        return read_model(model, cases, controls, missing=missing, allele_order=allele_order)
    return read_gcount(
        case_counts, control_counts, cases, controls, missing=missing, allele_order=allele_order
    )


@spread
def run_gwas(
    charge: Charge,
    printing: Printing,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What it may cost in all.")],
    out: Annotated[Path, typer.Option("--out", help="Directory to write to.", metavar="DIR", parser=path)],
    prefix: Annotated[str | None, typer.Argument(help="PREFIX of .bed, .bim, .fam.")] = None,
    level: Annotated[float, typer.Option("--level", help="Family-wise error of all SNPs.")] = 0.05,
    method: Annotated[str, typer.Option("--method", help="svt or em.")] = "svt",
    max_hits: Annotated[int, typer.Option("--max-hits", help="Most SNPs to release.")] = 10,
    max_answers: Annotated[
        int, typer.Option("--max-answers", help="svt: most SNPs to ask, in file order (0: all).")
    ] = 0,
    share: Annotated[
        float | None,
        typer.Option(
            "--share", help="em: share of epsilon that chooses, the rest tests; planned if not given."
        ),
    ] = None,
    statistic: Annotated[str, typer.Option("--statistic", help="distance, circle or chi2.")] = "distance",
    unit: Annotated[str, typer.Option("--unit", help="person, or allele as in the papers.")] = "person",
    maf: Annotated[float, typer.Option("--maf", help="Public: no SNP's minor allele is rarer.")] = 0.0,
    freq: Annotated[
        str | None,
        typer.Option("--freq", help="Public frequencies (.frq, .afreq), or the word budget: buy a floor."),
    ] = None,
    freq_share: Annotated[
        float, typer.Option("--freq-share", help="Share of epsilon for --freq budget.")
    ] = FREQ_SHARE,
    pheno: Annotated[
        Path | None, typer.Option("--pheno", help="Phenotypes instead of .fam's.", parser=path)
    ] = None,
    mpheno: Annotated[int, typer.Option("--mpheno", min=1, help="Which column of --pheno.")] = 1,
    zero_one: Annotated[bool, typer.Option("--1", help="Phenotypes are 0 control, 1 case.")] = False,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="People to keep: family, person.", parser=path)
    ] = None,
    chromosomes: Annotated[list[str] | None, typer.Option("--chr", help="Chromosomes: 1,3-5,X.")] = None,
    extract: Annotated[Path | None, typer.Option("--extract", help="SNPs to keep.", parser=path)] = None,
    missing: Annotated[
        str, typer.Option("--missing", help="A missing call counts as het, reference or allele1.")
    ] = "het",
    allele_order: Annotated[
        str,
        typer.Option(
            "--allele-order",
            help="public: the files' order of alleles does not follow the study (plink 1.9's does).",
        ),
    ] = "study",
    model: Annotated[
        list[Path] | None, typer.Option("--model", help="plink .model instead of PREFIX.", parser=path)
    ] = None,
    case_counts: Annotated[
        list[Path] | None, typer.Option("--case-counts", help=".gcount of cases.", parser=path)
    ] = None,
    control_counts: Annotated[
        list[Path] | None, typer.Option("--control-counts", help=".gcount of controls.", parser=path)
    ] = None,
    cases: Annotated[int, typer.Option("--cases", help="Public number of cases, with tables.")] = 0,
    controls: Annotated[int, typer.Option("--controls", help="Public number of controls, with tables.")] = 0,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="Default: all cores.")] = None,
    variant: Annotated[
        str, typer.Option("--variant", help="ours, or paper: as printed, not private, so refused here.")
    ] = "ours",
) -> None:
    """Screen the SNPs of a study; write files to ``out`` and print a summary or JSON."""
    from dpcausal.gwas.cohort import Cohort, check_missing_rule
    from dpcausal.gwas.screen import screen
    from dpcausal.gwas.tables import read_frequencies
    from dpcausal.present.gwas import summary
    from dpcausal.present.plots import draw_hits

    check_total(epsilon, 0.0)  # before a large study is counted
    if checked_variant(cast("Variant", variant)) == "paper":
        refuse_real_rows("gwas")
    checked_level(level)
    tables = bool(model or case_counts or control_counts)
    if tables == (prefix is not None):
        raise InputError(
            "give a PREFIX, or tables of counts (--model, or --case-counts and --control-counts)"
        )
    if freq == BUDGET and not 0.0 < freq_share < 1.0:
        raise InputError("--freq-share must lie within 0 and 1")
    check_missing_rule(missing, allele_order)  # before a large study is counted
    rule, order = cast("MissingRule", missing), cast("AlleleOrder", allele_order)
    if tables:
        counts = from_tables(
            model or [], case_counts or [], control_counts or [], cases, controls, rule, order
        )
    else:
        opened = Cohort.open(
            cast(str, prefix), phenotype_file=pheno, phenotype_column=mpheno, coding="01" if zero_one else "12",
            keep=keep, chromosomes=None if chromosomes is None else ",".join(chromosomes), extract=extract,
        )  # fmt: skip
        with shown("counting genotypes", len(opened.rows), printing.bars) as tick:
            counts = opened.count(missing=rule, allele_order=order, threads=threads, tick=tick)
    known = None if freq is None or freq == BUDGET else read_frequencies(Path(freq), counts)
    file = None if prefix is None else Path(prefix)
    with writable_directory(out), warn_before_charge(file, charge):
        result = screen(
            counts, epsilon, level=level, method=method, max_hits=max_hits, statistic=statistic,  # type: ignore[arg-type]
            unit=unit, maf=maf, frequencies=known, freq_share=freq_share if freq == BUDGET else 0.0,  # type: ignore[arg-type]
            max_answers=max_answers, share=share, ledger=charge.ledger, dataset=charge.dataset,
            variant=variant,  # type: ignore[arg-type]
        )  # fmt: skip
        short = result.to_json() if printing.as_json else result.summary()

        def write(folder: Path) -> None:
            write_texts(folder, {"privacy.json": result.privacy.to_json(), "hits.tsv": result.to_tsv()})
            draw_hits(result, folder / "hits.png")

        where = deliver(short, out, write)
    assert where is not None
    words = summary(result, full=True) if printing.full and not printing.as_json else short
    written = f"Written to {where.folder}: hits.tsv, hits.png, privacy.json"
    typer.echo(words if printing.as_json else f"{words}\n{written}")
    warn_weak(epsilon, 0.0, printed=None if printing.as_json else result.privacy)
    report_place(where, printing.as_json)


# ---- a made-up study

SIMULATE_HELP = """Simulate a case/control study and write PREFIX.bed, .bim, .fam, and the truth to PREFIX.causal.

[bold]Examples[/bold]

dpcausal gwas-simulate study --people 2000 --snps 5000 --causal 10 \\
  --odds-ratio 1.5

# rarer alleles, some calls missing, more controls than cases
dpcausal gwas-simulate study --people 2000 --snps 5000 --maf 0.01-0.3 \\
  --missing 0.01 --case-share 0.3 --seed 7"""


def frequency_range(text: str) -> tuple[float, float]:
    """Parse a range of frequencies: ``0.05-0.5``, or one number.

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
    """Draw a made-up study and write its files."""
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
