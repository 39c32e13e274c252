"""CURATE, equations 16 and 17: the sensitivity of the weighted tau, against a pair of neighbours.

Half of k blocks of n/k rows are in order and half in reverse order, without ties, so that tau = 0. A row is added to a
block in order, above all in x and below all in y. Everything here is a closed form; nothing is searched or drawn.
"""

from __future__ import annotations

import math
from pathlib import Path

from scipy.special import ndtr

from priv_pc.runs import finish, table

DENSITY = ("found, density", "density: found/claimed")
SETTINGS = ((100, 4), (1000, 4), (10_000, 8), (100_000, 8))


def weight(n: float) -> float:
    """w of a block: one over the variance of tau without ties."""
    return 9 * n * (n - 1) / (2 * (2 * n + 5))


def equation_16(n: int, k: int) -> float:
    """How much the weight of a block over the root of the sum moves: the first line of (16)."""
    old, new = weight(n / k), weight(n / k + 1)
    return abs(new / math.sqrt((k - 1) * old + new) - old / math.sqrt(k * old))


def equation_17(n: int, k: int) -> float:
    """The bound of (17) on that."""
    m = n / k
    return math.sqrt(2 / n) * abs(9 * m * (m + 1) / (2 * (2 * (m + 1) + 5)) - 9 * m * m / (2 * (2 * m + 5)))


def claimed(n: int, k: int) -> float:
    """Delta of Phi(tau) as printed: 1/sqrt(2 pi) times 2/(n_i - 1) times (17)."""
    return equation_17(n, k) * 2 / (n / k - 1) / math.sqrt(2 * math.pi)


def moved_tau(n: int, k: int) -> float:
    """The weighted tau of the larger of the two neighbours; that of the other is 0."""
    m = n / k
    ordered = weight(m)  # w tau of a block in order; in reverse order minus that
    pairs = m * (m - 1) / 2 - m  # concordant minus discordant, with the row added
    numerator = (k / 2 - 1) * ordered - k / 2 * ordered + 9 * pairs / (2 * (m + 1) + 5)
    return numerator / math.sqrt((k - 1) * ordered + weight(m + 1))


def found(n: int, k: int) -> float:
    """How far Phi(tau) moves between the two neighbours, Phi being the distribution function."""
    return abs(float(ndtr(moved_tau(n, k))) - 0.5)


def found_density(n: int, k: int) -> float:
    """The same for the density, which the paper's text calls Phi."""
    return -math.expm1(-(moved_tau(n, k) ** 2) / 2) / math.sqrt(2 * math.pi)


def main(quick: bool, out: Path) -> None:
    """Compute and print; curate-sensitivity.md in ``out``."""
    del quick  # at once
    rows = []
    for n, k in SETTINGS:
        values = (equation_16(n, k), equation_17(n, k), claimed(n, k), found(n, k), 0.3627 / math.sqrt(n))
        rows.append([f"{n:,}", f"{k}", *(f"{x:.3g}" for x in values), f"{found(n, k) / claimed(n, k):.3g}"])
        rows[-1] += [f"{x:.3g}" for x in (found_density(n, k), found_density(n, k) / claimed(n, k))]
    lines = [
        "# CURATE: the sensitivity of weighted tau",
        "",
        "Equation 16 is how much the weight of one block moves, 17 the bound on it that is printed, and *claimed* the "
        "sensitivity of Phi(tau) as printed: the product of both sensitivities. *Found*: how far Phi(tau) moves "
        "between two data sets that differ in one row (blocks in order and in reverse order, no ties), Phi being the "
        "normal distribution function, whose Lipschitz constant is the printed 1/sqrt(2 pi) and which the public code "
        "takes; the last two columns are for the density, which the text calls Phi. (17) is below "
        "(16), and a product is no bound for a product of two things that move. *Public code*: .3627/sqrt(n). Made by "
        "`dpcausal reproduce curate-sensitivity`.",
        "",
        *table(
            ["n", "k", "(16)", "(17)", "claimed", "found", "public code", "found/claimed", *DENSITY], rows
        ),
    ]
    finish(out, "curate-sensitivity", lines)
