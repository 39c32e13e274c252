"""Concrete: what the generalised covariance measure says of each feature depends on the regression. No privacy here.

    python benchmarks/gcm_concrete.py

T of (feature, strength | the other seven features) on all 1,030 rows, by regression: lines; all squares and products;
the paper's kernel ridge (alpha = 10, bandwidth 1 on [-1, 1]); gaussian kernel ridge whose bandwidth and penalty have
the least leave-one-out error, for each column by itself (in-sample residuals, then leave-one-out ones); and the
package's own fit (``epsilon=None``). "left" is the leave-one-out share of the feature's variance that the other seven
do not explain: recipes are made of few ingredients and many rows share one, so hardly anything is left.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import dpcausal as dc
from gcm.concrete import FEATURES, OUTCOME, load, schema, unit

Values = NDArray[np.float64]
WIDTHS = (0.25, 0.5, 1.0, 2.0)
PENALTIES = 10.0 ** np.arange(-3, 3.01, 0.25)


def statistic(left: Values, right: Values) -> float:
    """T."""
    products = left * right
    return float(products.sum() / np.sqrt(products @ products - products.sum() ** 2 / len(products)))


def standardised(z: Values) -> Values:
    """Mean 0, standard deviation 1."""
    return np.asarray((z - z.mean(axis=0)) / z.std(axis=0))


def squares(z: Values) -> Values:
    """1, lines, squares, products."""
    d = z.shape[1]
    return np.column_stack([np.ones(len(z)), z, *(z[:, i] * z[:, j] for i in range(d) for j in range(i + 1))])


def least_squares(design: Values, target: Values) -> Values:
    """Residuals."""
    return np.asarray(target - design @ np.linalg.lstsq(design, target)[0])


def gaussian(z: Values, width: float) -> Values:
    """exp(-|a - b|^2/(2 width^2))."""
    size = np.square(z).sum(axis=1)
    return np.asarray(np.exp(-np.maximum(size[:, None] + size - 2 * z @ z.T, 0) / (2 * width**2)))


def best_ridge(z: Values, target: Values) -> tuple[float, Values, Values]:
    """(leave-one-out error, residuals, leave-one-out residuals) of the best bandwidth and penalty."""
    found = []
    for width in WIDTHS:
        values, vectors = np.linalg.eigh(gaussian(z, width) + 1.0)
        turned = vectors.T @ target
        for penalty in PENALTIES:
            left = penalty / (np.maximum(values, 0) + penalty)
            residuals = vectors @ (left * turned)
            out = residuals / np.einsum("ij,j,ij->i", vectors, left, vectors)
            found.append((float(np.mean(out**2)), residuals, out))
    return min(found, key=lambda one: one[0])


def main() -> None:
    """Print the table."""
    columns = load()
    data = dc.read(columns, schema())
    scaled = {name: unit(name, values) for name, values in columns.items()}
    y = standardised(scaled[OUTCOME])
    print("| feature | lines | squares | ridge 10 | best ridge | leave-one-out | the package | left |")
    print("|---|---|---|---|---|---|---|---|")
    for feature in FEATURES:
        given = [name for name in FEATURES if name != feature]
        raw = np.column_stack([scaled[name] for name in given])
        z, x = standardised(raw), standardised(scaled[feature])
        lines = np.column_stack([np.ones(len(z)), z])
        paper = gaussian(raw, 1.0)
        tens = [
            10 * np.linalg.solve(paper + 10 * np.eye(len(z)), scaled[name]) for name in (feature, OUTCOME)
        ]
        error, of_x, out_x = best_ridge(z, x)
        _, of_y, out_y = best_ridge(z, y)
        cells = [
            statistic(least_squares(lines, x), least_squares(lines, y)),
            statistic(least_squares(squares(z), x), least_squares(squares(z), y)),
            statistic(*tens),
            statistic(of_x, of_y),
            statistic(out_x, out_y),
            dc.ci_test(data, feature, OUTCOME, given, method="gcm", epsilon=None).statistic or 0.0,
        ]
        print(
            f"| {feature} | " + " | ".join(f"{cell:.1f}" for cell in cells) + f" | {error:.3f} |", flush=True
        )


if __name__ == "__main__":
    main()
