"""GCM figure 5: power on Concrete Compressive Strength, by n. Y is the strength, X one of 8 features, Z the other 7."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dpcausal as dc
from gcm.concrete import FEATURES, OUTCOME, load, resample, schema, unit
from gcm.design import Values
from gcm.fast import Deal, released_pvalues
from gcm.methods import GCM, PRIV_GCM
from gcm.ours import OURS_GCM
from gcm.published import LAMBDA, LEVEL, Fits, gcm_pvalues, products_bound
from gcm.runs import Rate, finish

EPSILON = 2.0
BANDWIDTH = 1.0  # of Z scaled to [-1, 1]
NOISES = 25  # draws of noise per resampled data set (at n = 1,030: per deal of the rows into parts)

TEXT = """Share of rejections by n; epsilon = 2, {reps} repetitions. n = 1,030 is the data itself (only the noise, and
for ours the deal of the rows into parts, is drawn anew), other n are rows drawn with replacement ({sets}
data sets, {noises} draws of noise each). p-values of the classical tests on the data itself: {classical}."""


def published_pvalues(
    columns: dict[str, Values], feature: str, rng: np.random.Generator, noises: int
) -> Values:
    """Row 0: the classical GCM (ridge 10) ``noises`` times; row 1: Algorithm 1 (lambda = 10) with fresh noise."""
    given = [name for name in FEATURES if name != feature]
    z = np.column_stack([unit(name, columns[name]) for name in given])
    both = np.column_stack([unit(feature, columns[feature]), unit(OUTCOME, columns[OUTCOME])])
    fits = Fits(z, BANDWIDTH)
    classical = fits.residuals(both, LAMBDA).prod(1)
    shrunk = fits.residuals(both, len(z) * LAMBDA / 2).prod(1)
    noise = rng.laplace(0, products_bound(LAMBDA) / EPSILON, (len(z), noises))
    first = np.repeat(gcm_pvalues(classical[:, None]), noises)
    return np.vstack([first, gcm_pvalues(shrunk[:, None] + noise)])


def our_pvalues(columns: dict[str, Values], feature: str, rng: np.random.Generator, deals: int) -> Values:
    """gcm: ``deals`` deals of the rows into parts, ``NOISES`` draws of noise each."""
    given = [name for name in FEATURES if name != feature]
    x, y, *z = ((unit(name, columns[name]) + 1) / 2 for name in (feature, OUTCOME, *given))
    both = np.column_stack(z)
    found = []
    for _ in range(deals):
        deal = Deal(both, EPSILON, int(rng.integers(1 << 31)))
        t, own = (np.repeat(found, NOISES, axis=1) for found in deal.scores(x[:, None], y[:, None]))
        found.append(released_pvalues((t, own), deal.plan, EPSILON, rng))
    return np.concatenate(found)


def classical_table(columns: dict[str, Values]) -> str:
    """p-values without privacy, ours and the paper's, in words."""
    data = dc.read(columns, schema())
    words = []
    for feature in FEATURES:
        given = [name for name in FEATURES if name != feature]
        theirs = published_pvalues(columns, feature, np.random.default_rng(0), 1)[0, 0]
        mine = dc.ci_test(data, feature, OUTCOME, given, method="gcm", epsilon=None).pvalue
        words.append(f"{feature} {theirs:.2g} (ours {mine:.2g})")
    return ", ".join(words)


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure5.png, .csv and .md in ``out``."""
    columns = load()
    rows = len(columns[OUTCOME])
    sizes = (258, rows) if quick else (129, 258, 515, rows)
    reps = 50 if quick else 500
    sets = reps // NOISES
    rates = []
    for feature in FEATURES:
        for n in sizes:
            found: dict[str, list[float]] = {PRIV_GCM: [], GCM: [], OURS_GCM: []}
            own = 1 if n == rows else sets
            for k in range(own):
                rng = np.random.default_rng([505, n, k, FEATURES.index(feature)])
                sample = resample(columns, n, rng)
                classical, private = published_pvalues(sample, feature, rng, reps // own)
                found[GCM] += classical.tolist()
                found[PRIV_GCM] += private.tolist()
                found[OURS_GCM] += our_pvalues(sample, feature, rng, sets // own).tolist()
            rates += [Rate(feature, m, n, sum(p <= LEVEL for p in v), len(v)) for m, v in found.items()]
    order = [PRIV_GCM, GCM, OURS_GCM]
    rates.sort(key=lambda r: (FEATURES.index(r.panel), order.index(r.method), r.at))
    text = TEXT.format(reps=reps, sets=sets, noises=NOISES, classical=classical_table(columns))
    finish(out, 5, quick, "GCM figure 5: concrete", text, rates, "n", log=2, columns=4)
