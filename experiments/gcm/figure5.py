"""GCM figure 5: power on Concrete Compressive Strength, by n. Y is the strength, X one of 8 features, Z the other 7.

The paper does not say which epsilon PrivGCM had here; it says that PrivCRT had a smaller one, 2, and that the power of
PrivGCM tends to 1. So PrivGCM is run at several, and on up to four times the rows that there are.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dpcausal as dc
from gcm.concrete import FEATURES, OUTCOME, load, resample, schema, unit
from gcm.design import Values
from gcm.fast import Deal, released_pvalues
from gcm.methods import GCM, PRIV_GCM, PRIV_GCM_PICTURED
from gcm.ours import OURS_GCM
from gcm.published import LAMBDA, LEVEL, Fits, gcm_pvalues, products_bound
from gcm.runs import Rate, finish

EPSILON = 2.0  # of ours
EPSILONS = (2.0, 4.0, 7.0)  # of PrivGCM
MORE = 4  # data sets of more rows than there are
BANDWIDTH = 1.0  # of Z scaled to [-1, 1]
NOISES = 25  # draws of noise per resampled data set (at n = 1,030: per deal of the rows into parts)

TEXT = """Share of rejections by n, {reps} repetitions. Ours is at epsilon = 2, PrivGCM at 2, 4 and 7: the paper
does not say which it took, only that PrivCRT had a smaller one, 2. n = 1,030 is the data itself: only the
noise is drawn anew and, for ours, which rows are in which part. Other n are rows drawn with replacement
({sets} data sets, {more} above 1,030, where ours is not run). *not private*: ridge 10, which fits as the
paper's Figure 6 shows, with the noise of lambda = 10. p-values of the classical tests on the
data itself: {classical}."""


def at(method: str, epsilon: float) -> str:
    """The name of a method at this epsilon."""
    return f"{method}, epsilon {epsilon:g}"


def published_pvalues(
    columns: dict[str, Values], feature: str, rng: np.random.Generator, more: np.random.Generator, noises: int
) -> dict[str, Values]:
    """The classical GCM (ridge 10), and Algorithm 1 at both readings of lambda and several epsilon.

    ``rng`` draws the noise of the first epsilon, and then what ours needs; ``more`` that of the others.
    """
    given = [name for name in FEATURES if name != feature]
    z = np.column_stack([unit(name, columns[name]) for name in given])
    both = np.column_stack([unit(feature, columns[feature]), unit(OUTCOME, columns[OUTCOME])])
    fits = Fits(z, BANDWIDTH)
    classical = fits.residuals(both, LAMBDA).prod(1)
    shrunk = fits.residuals(both, len(z) * LAMBDA / 2).prod(1)
    found = {GCM: np.repeat(gcm_pvalues(classical[:, None]), noises)}
    for method, products in ((PRIV_GCM, shrunk), (PRIV_GCM_PICTURED, classical)):
        for epsilon in EPSILONS:
            first = method == PRIV_GCM and epsilon == EPSILONS[0]
            noise = (rng if first else more).laplace(0, products_bound(LAMBDA) / epsilon, (len(z), noises))
            found[at(method, epsilon)] = gcm_pvalues(products[:, None] + noise)
    return found


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
        rng = np.random.default_rng(0)
        theirs = published_pvalues(columns, feature, rng, rng, 1)[GCM][0]
        mine = dc.ci_test(data, feature, OUTCOME, given, method="gcm", epsilon=None).pvalue
        words.append(f"{feature} {theirs:.2g} (ours {mine:.2g})")
    return ", ".join(words)


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure5.png, .csv and .md in ``out``."""
    columns = load()
    rows = len(columns[OUTCOME])
    sizes = (258, rows, 4 * rows) if quick else (129, 258, 515, rows, 2 * rows, 4 * rows)
    reps = 50 if quick else 500
    sets = reps // NOISES
    rates = []
    for feature in FEATURES:
        for n in sizes:
            found: dict[str, list[float]] = {}
            own = 1 if n == rows else min(MORE, sets) if n > rows else sets
            for k in range(own):
                rng = np.random.default_rng([505, n, k, FEATURES.index(feature)])
                more = np.random.default_rng([506, n, k, FEATURES.index(feature)])
                sample = resample(columns, n, rng)
                for method, pvalues in published_pvalues(sample, feature, rng, more, reps // own).items():
                    found.setdefault(method, []).extend(pvalues.tolist())
                if n <= rows:
                    mine = our_pvalues(sample, feature, rng, sets // own)
                    found.setdefault(OURS_GCM, []).extend(mine.tolist())
            rates += [Rate(feature, m, n, sum(p <= LEVEL for p in v), len(v)) for m, v in found.items()]
    private = [at(method, epsilon) for method in (PRIV_GCM, PRIV_GCM_PICTURED) for epsilon in EPSILONS]
    order = [*private, GCM, OURS_GCM]
    rates.sort(key=lambda r: (FEATURES.index(r.panel), order.index(r.method), r.at))
    text = TEXT.format(reps=reps, sets=sets, more=min(MORE, sets), classical=classical_table(columns))
    finish(out, 5, quick, "GCM figure 5: concrete", text, rates, "n", log=2, columns=4)
