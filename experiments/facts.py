"""The figures that docs/papers.md quotes, computed anew: beside each what the finished page has.

``papers.toml`` says which cell of which page a fact is, and how far a new computation may be from it. Those that take
more than seconds run on fewer data sets here than on their page.
"""

from __future__ import annotations

import math
import runpy
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from curate import sensitivity
from dpcausal.gwas.printed import with_svt
from dpcausal.planning.sieve import claimed_type_one, claimed_type_two, type_one_error, type_two_error
from dpcausal.stats.published import in_tables, printed_tau, printed_tau_z, spearman_z_sensitivity
from dpcausal.testing import seeded
from gcm import constants, crt_printed, overfit
from gcm.design import Cell
from gcm.methods import KENDALL, named, priv_crt
from gcm.runs import measure
from priv_pc import definitions, reconciled, table2
from priv_pc.runs import finish, table
from unit_circle.published import drawn
from unit_circle.several import LEVEL, SIGNALS, TESTS, Screening, ours

FACTS = Path(__file__).parent / "papers.toml"
TOOL = Path(__file__).parents[1] / "tools" / "papers.py"  # of a source checkout
DATA_SETS = 300


def family_wise(method: Screening) -> float:
    """How often one of ten true nulls is rejected, N = 4,096, epsilon .5."""
    rng = np.random.default_rng(31)
    tables = drawn(rng, DATA_SETS, 4096, np.full(TESTS, 0.5), np.zeros(TESTS))
    return float(method(tables, 0.5, rng).any(axis=1).mean())


def moved_rho() -> float:
    """How far Definition 7 as printed moves when a row is added to 100 in reverse order."""
    falling = np.arange(100, 0, -1.0)
    return definitions.rho_of(falling) - definitions.rho_of(np.append(falling, 101.0))


def questions() -> float:
    """How many times as many questions EM-PC scores on asia."""
    _, scored = table2.as_printed("asia", 5)
    return scored[0] / scored[2]


def kendall_rejects(complexity: int) -> float:
    """How often private Kendall on k-means rejects a null of figure 1, f_s as printed, d = 5; 60 data sets."""
    cell = Cell("", complexity, 10_000, 5, s=complexity, shape="printed")
    (rate,) = measure(named(KENDALL), [cell], 60, 1, seed=102)
    return rate.rejected / rate.reps


def null_rejected(method: str, variant: str) -> float:
    """How often a rank test, as printed or ours, rejects independence where it holds."""
    with seeded(44):
        return reconciled.rejected(0.0, {"method": method, "variant": variant}, 60)


COMPUTED: dict[str, Callable[[], float]] = {
    **{f"line_4_ratio_{r}": lambda r=r: definitions.line_4_attained(1.0, r) for r in (1, 2, 3, 20)},  # type: ignore[misc]
    "printed_tau_independent": lambda: printed_tau(in_tables([[[25, 25], [25, 25]]]))[0],
    "printed_tau_opposite": lambda: printed_tau_z(in_tables([[[20, 0], [0, 20]], [[0, 20], [20, 0]]])),
    "paper_kendall_level": lambda: null_rejected("kendall", "paper"),
    "our_kendall_level": lambda: null_rejected("kendall", "ours"),
    "paper_spearman_level": lambda: null_rejected("spearman", "paper"),
    "our_spearman_level": lambda: null_rejected("spearman", "ours"),
    "printed_rho_moved": moved_rho,
    "lemma_b_6_times": lambda: constants.row(1.0)[2],
    "lemma_c_1": lambda: constants.row(1.0)[4],
    "crt_reach": lambda: constants.row(1.0)[5],
    "kept_at_10": lambda: constants.row(10.0)[6],
    "theorem_4": lambda: type_one_error(1, 20, 1),
    "theorem_4_printed": lambda: type_one_error(1, 20, 1, line_4_printed=True),
    "theorem_5_printed": lambda: type_two_error(2, 0, 1, line_4_printed=True),
    "theorem_4_claim": lambda: claimed_type_one(1, 20, 1),
    "theorem_5": lambda: type_two_error(2, 0, 1),
    "theorem_5_claim": lambda: claimed_type_two(2, 0, 1),
    "reconciled_laplace": lambda: reconciled.real_delta("laplace", 1.0, 1.0),
    "reconciled_gaussian": lambda: reconciled.real_delta("gaussian", 1.0, 1.0),
    "reconciled_beta": lambda: reconciled.real_delta("laplace", 1.0, math.log(1 / reconciled.DELTA) / 2),
    "theorem_9": lambda: 31 * math.sqrt(4) / math.sqrt(1000 - 4),
    "our_rho_bound": lambda: spearman_z_sensitivity("replace-one", 9, 9, 4, 996.0),
    "curate_times_small": lambda: sensitivity.found(100, 4) / sensitivity.claimed(100, 4),
    "curate_times_large": lambda: sensitivity.found(100_000, 8) / sensitivity.claimed(100_000, 8),
    "curate_density_small": lambda: sensitivity.found_density(100, 4) / sensitivity.claimed(100, 4),
    "curate_density_large": lambda: sensitivity.found_density(100_000, 8) / sensitivity.claimed(100_000, 8),
    "figure_1_s_1": lambda: kendall_rejects(1),
    "figure_1_s_32": lambda: kendall_rejects(32),
    "em_questions": questions,
    "overfit_plain": lambda: overfit.rates(300, 3.0, DATA_SETS, 10)[0],
    "overfit_noisy": lambda: overfit.rates(300, 3.0, DATA_SETS, 10)[1],
    "crt_printed": lambda: float(priv_crt(crt_printed.scene(0.5, 600)).mean()),
    "crt_kernel": lambda: crt_printed.called(0.5, 20, list(crt_printed.OURS.values())[1]),
    "circle_fwer_printed": lambda: family_wise(
        lambda tables, epsilon, rng: with_svt(tables, epsilon, LEVEL, SIGNALS, rng, "printed")
    ),
    "circle_fwer_repaired": lambda: family_wise(
        lambda tables, epsilon, rng: with_svt(tables, epsilon, LEVEL, SIGNALS, rng, "repaired")
    ),
    "circle_fwer_ours": lambda: family_wise(ours("svt", "circle")),
}


def main(quick: bool, out: Path) -> None:
    """Compute and print; facts.md in ``out``. Beside each what its page has, where the pages are: in a checkout."""
    facts = tomllib.loads(FACTS.read_text(encoding="utf-8"))["facts"]
    on_page = runpy.run_path(str(TOOL))["on_page"] if TOOL.is_file() else None
    rows = []
    for name, fact in facts.items():
        if name in COMPUTED and not (quick and fact.get("slow")):
            now, there, agrees = COMPUTED[name](), "", ""
            if on_page:
                there = on_page(fact)
                agrees = "yes" if abs(now - float(there)) <= fact["within"] else "NO"
            where = f"{fact['page']}: {', '.join(fact['row'])}, {fact['column']}"
            rows.append([name, where, f"{now:.3g}", there, f"{fact['within']:g}", agrees])
    heads = ["fact", "cell of a finished page", "now", "on the page", "may differ by", "agrees"]
    finish(out, "facts-quick" if quick else "facts", table(heads, rows))
