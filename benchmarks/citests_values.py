"""Values of the classical statistics against R, scipy, statsmodels and pgmpy.

R's values (stats, coin, vcd) are in ``tests/references/*.json``, made by ``make_references.R`` there; with ``fresh``,
and where R is installed, the same script is run on as many new tables. scipy is run here on freshly drawn tables;
statsmodels (CMH) and pgmpy (chi-squared and G on rows) only where they are installed.
"""

from __future__ import annotations

import importlib
import json
import math
import runpy
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpcausal.citests.registry import make_table_test
from dpcausal.stats.chi2 import likelihood_ratio, pearson
from dpcausal.stats.kendall import kendall, kendall_terms
from dpcausal.stats.published import tau_a
from dpcausal.stats.spearman import spearman

REFERENCES = Path(__file__).parents[1] / "tests" / "references"
SHAPES = [(2, 2), (2, 3), (3, 3), (4, 2), (5, 5)]
Table = NDArray[np.int64]


@dataclass
class Line:
    """Largest relative difference to one reference, and on how many data sets."""

    what: str
    sets: int = 0
    worst: float = 0.0
    notes: dict[str, int] = field(default_factory=dict)

    def add(self, ours: float, theirs: float) -> None:
        self.sets += 1
        self.worst = max(self.worst, abs(ours - theirs) / max(1.0, abs(theirs)))

    def note(self, why: str) -> None:
        self.notes[why] = self.notes.get(why, 0) + 1


def draw(seed: int, count: int, *, sparse: bool = False) -> Iterator[Table]:
    """Tables of 1 to 6 blocks of various shapes; ``sparse`` ones have empty levels and blocks."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        k = int(rng.integers(1, 7))
        cells = rng.gamma(0.3 if sparse else 1.5, 1.0, (k, *SHAPES[i % 5])) * (
            3 if sparse else (4, 10, 60)[i % 3]
        )
        table = rng.poisson(cells)
        if sparse or (table.sum(2).min() > 0 and table.sum(1).min() > 0):
            yield np.asarray(table, np.int64)


def rows_of(table: Table) -> NDArray[np.int64]:
    """One line (z, x, y) per row of the data set."""
    return np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0)


def fresh_references(seed: int, where: Path) -> bool:
    """Run ``make_references.R`` on newly drawn tables, in ``where``; whether R is there to do it."""
    program = shutil.which("Rscript")
    if program is None:
        return False
    tables = runpy.run_path(str(REFERENCES / "make_tables.py"))["tables"](seed)
    (where / "tables.json").write_text(json.dumps(tables))
    shutil.copy(REFERENCES / "make_references.R", where)
    done = subprocess.run([program, str(where / "make_references.R")], capture_output=True, check=False)
    return done.returncode == 0


def against_r(*, fresh: bool) -> list[Line]:
    """The references of the repository and, with ``fresh``, as many again made now."""
    records = {name: json.loads((REFERENCES / name).read_text()) for name in ("ranks.json", "chi2_g.json")}
    if fresh:
        with tempfile.TemporaryDirectory() as folder:
            if fresh_references(7, Path(folder)):
                for name, known in records.items():
                    known += json.loads((Path(folder) / name).read_text())
    names = ("tau-a per block", "Kendall z per block", "CMH (mantelhaen.test)", "K, V (coin)", "F, U (coin)")
    tau, z, cmh, kv, fu = (Line(f"R: {name}") for name in names)
    for record in records["ranks.json"]:
        table = np.array(record["blocks"], np.int64)
        value, variance = kendall_terms(table)
        for i, block in enumerate(table):
            tau.add(tau_a(block[None]), record["tau_a"][i])
            if block.sum() > 2:
                z.add(value[i] / math.sqrt(variance[i]), record["z_kendall"][i])
            else:
                z.note("a block of two rows, where cor.test divides 0 by 0")
        statistic, spread = kendall(table)
        if "cmh" in record:
            cmh.add(statistic**2 / spread, record["cmh"])
            kv.add(statistic, record["k"])
            kv.add(spread, record["v"])
        for ours, theirs in zip(spearman(table), (record["f"], record["u"]), strict=True):
            fu.add(ours, theirs)
    chi2, g = Line("R: chi2 and d.o.f. (vcd::assocstats)"), Line("R: G (vcd::assocstats)")
    for record in records["chi2_g.json"]:
        table = np.array(record["blocks"], np.int64)
        chi2.add(pearson(table).statistic, record["chi2"])
        chi2.add(pearson(table).dof, record["df"])
        g.add(likelihood_ratio(table).statistic, record["g"])
    return [tau, z, cmh, kv, fu, chi2, g]


def against_scipy(count: int) -> list[Line]:
    chi2, g = Line("scipy: chi2, d.o.f., p-value"), Line("scipy: G, p-value")
    pvalue, tau = Line("scipy: Kendall p-value, one block (asymptotic)"), Line("scipy: tau-a from kendalltau")
    for table in draw(1, count):
        for line, ours, kind in (
            (chi2, pearson(table), "pearson"),
            (g, likelihood_ratio(table), "log-likelihood"),
        ):
            theirs = [stats.chi2_contingency(block, correction=False, lambda_=kind) for block in table]
            value, dof = sum(t.statistic for t in theirs), sum(t.dof for t in theirs)
            line.add(ours.statistic, value)
            line.add(ours.pvalue, stats.chi2.sf(value, dof))
        block = table[0]
        _, x, y = rows_of(block[None]).T
        found = stats.kendalltau(x, y, method="asymptotic")
        ours_p = make_table_test("kendall", {}).classical(block[None], 0.05).pvalue
        pvalue.add(math.nan if ours_p is None else ours_p, found.pvalue)
        n = len(x)
        pairs = [n * (n - 1) / 2 - sum(t * (t - 1) / 2 for t in block.sum(axis)) for axis in (1, 0)]
        tau.add(tau_a(block[None]), found.statistic * math.sqrt(pairs[0] * pairs[1]) / (n * (n - 1) / 2))
    return [chi2, g, pvalue, tau]


def against_statsmodels(count: int) -> list[Line]:
    try:
        strata = importlib.import_module("statsmodels.stats.contingency_tables")
    except ImportError:
        return []
    line = Line("statsmodels: CMH (StratifiedTable)")
    for table in draw(2, 5 * count):
        if table.shape[1:] == (2, 2) and len(table) > 1:
            statistic, variance = kendall(table)
            theirs = strata.StratifiedTable([b.astype(float) for b in table]).test_null_odds(correction=False)
            line.add(statistic**2 / variance, float(theirs.statistic))
    return [line]


def against_pgmpy(count: int) -> list[Line]:
    """pgmpy on rows. Its policy differs in two ways, which are undone one by one and counted.

    Yates' continuity correction in every stratum of one degree of freedom (scipy's default, kept by pgmpy), and NaN
    where no degree of freedom is left, which reads as dependent; here p = 1, independent.
    """
    try:
        pandas, tests = importlib.import_module("pandas"), importlib.import_module("pgmpy.estimators.CITests")
    except ImportError:
        return []
    lines = []
    for name, call, ours in (("chi2", tests.chi_square, pearson), ("G", tests.g_sq, likelihood_ratio)):
        line = Line(f"pgmpy: {name} and d.o.f.")
        for sparse in (False, True):
            for table in draw(3, count, sparse=sparse):
                frame = pandas.DataFrame(rows_of(table), columns=["z", "x", "y"])
                if len(frame) == 0:
                    continue
                value, pvalue, dof = call("x", "y", ["z"], frame, boolean=False)
                found = ours(table)
                if found.dof == 0:
                    line.note(f"no degree of freedom: p-value {pvalue} there, {found.pvalue:g} here")
                    continue
                live = [b[b.sum(1) > 0][:, b.sum(0) > 0] for b in table if b.sum()]
                if any(b.shape == (2, 2) for b in live):
                    kind = "pearson" if name == "chi2" else "log-likelihood"
                    with_yates, plain = (
                        sum(stats.chi2_contingency(b, correction=yates, lambda_=kind).statistic for b in live)
                        for yates in (True, False)
                    )
                    line.note(
                        "Yates' correction there, in strata of one degree of freedom; equal once undone"
                    )
                    value += plain - with_yates
                line.add(found.statistic, value)
                line.add(found.dof, dof)
        lines.append(line)
    return lines


def print_values(*, quick: bool, fresh: bool = False) -> bool:
    """The table; whether every difference is rounding."""
    count = 60 if quick else 300
    lines = against_r(fresh=fresh) + against_scipy(count) + against_statsmodels(count) + against_pgmpy(count)
    print("values: largest difference relative to max(1, |reference|), and number of comparisons\n")
    print("| reference | what | largest difference | comparisons |\n|---|---|---|---|")
    for line in lines:
        reference, _, what = line.what.partition(": ")
        print(f"| {reference} | {what} | {line.worst:.1e} | {line.sets:,} |")
    print()
    for line in lines:
        for why, times in line.notes.items():
            print(f"{line.what}: {times} times {why}")
    missing = {"statsmodels", "pgmpy"} - {line.what.split(":")[0] for line in lines}
    if missing:
        print(f"not installed here: {', '.join(sorted(missing))}")
    return all(line.worst < 1e-9 for line in lines)
