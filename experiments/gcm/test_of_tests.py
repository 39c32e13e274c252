"""Test of tests by its number of parts: the comparison that the paper's appendix D tells of and does not show.

"We additionally experimented with k in [20, 50, 100] and found that k = 10 performs the best in terms of type-I error."
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gcm import published, rivals
from gcm.design import Cell
from gcm.runs import Points, Scene, Test, finish_named, measure

PARTS = (10, 20, 50, 100)

TEXT = """Share of rejections under the null (beta = 0) by s, of the test of tests over the classical GCM (ridge 10 on
each part); n = 10,000, epsilon = 2, {reps} repetitions over {draws} draws of Z. *printed* and *envelope* as in figure
1. Each number of parts has the size of a part's test that gives it the most power (`stats/tulap.py`)."""


def with_parts(count: int) -> Test:
    """PrivToT over so many parts."""
    kept: list[tuple[Points, list[published.Fits]]] = []  # of the last draw of Z

    def test(scene: Scene) -> published.Flags:
        if not kept or kept[0][0] is not scene.points:
            kept[:] = [(scene.points, rivals.part_fits(scene.points.z, count))]
        return rivals.test_of_tests(scene.batch, kept[0][1], scene.rng)

    return test


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_test_of_tests.png, .csv and .md in ``out``."""
    reps, draws = (100, 1) if quick else (500, 5)
    complexities = (1, 2, 8) if quick else (1, 2, 4, 8, 16, 32)
    cells = [
        Cell(f"{shape}, d = {d}", s, 10_000, d, s=s, shape=shape)
        for shape in ("printed", "envelope")
        for d in (1, 5)
        for s in complexities
    ]
    tests: dict[str, Callable[[Scene], published.Flags]] = {
        f"PrivToT over GCM, {count} parts": with_parts(count) for count in PARTS
    }
    rates = measure(tests, cells, reps, draws, seed=808)
    text = TEXT.format(reps=reps, draws=draws)
    finish_named(out, "gcm_test_of_tests", quick, "Test of tests by number of parts", text, rates, "s", log=2)
