"""The experiments on the private GCM and CRT: the published algorithms as printed, and figures that are made."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from dpcausal.cli import reproduce

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def gcm() -> Any:
    """The module of figure 1, through which the others are reached."""
    return reproduce.load(ROOT / "experiments" / "gcm" / "methods.py")


def batch(gcm: Any, n: int, reps: int, d: int = 1, **cell: Any) -> Any:
    """Some data sets."""
    import gcm.design as design  # on the path once a script was loaded

    rng = np.random.default_rng(7)
    at = design.Cell("", 0, n, d, **cell)
    return design.draw(at, design.draw_z(n, d, rng), reps, rng)


def test_published_bounds(gcm: Any) -> None:
    """Lemmas B.6 and C.1 at lambda = 1 and 10, by hand."""
    assert gcm.published.products_bound(1.0) == pytest.approx(4 * (1 + 2**0.5) * (5 + 5 * 2**0.5))
    assert gcm.published.products_bound(10.0) == pytest.approx(11.72, abs=0.01)
    assert gcm.published.sum_bound(1.0) == pytest.approx(4 * (3 + 3 * 2**0.5))


def test_residuals_are_those_of_ridge(gcm: Any) -> None:
    """alpha (K + alpha I)^-1 y against y - K (K + alpha I)^-1 y."""
    data = batch(gcm, 50, 3)
    distances = (data.z - data.z.T) ** 2
    kernel = np.exp(-distances / 2)
    expected = data.y - kernel @ np.linalg.solve(kernel + 10 * np.eye(50), data.y)
    assert np.allclose(gcm.published.Fits(data.z, 1.0).residuals(data.y, 10.0), expected)


def test_kendall_of_one_cluster(gcm: Any) -> None:
    data = batch(gcm, 60, 2, beta=0.5)
    z = gcm.rivals.kendall_z(data, np.zeros(60, np.int64))
    tau = kendalltau(data.x[:, 0], data.y[:, 0]).statistic
    assert z[0] == pytest.approx(tau * math.sqrt(9 * 60 * 59 / (2 * 125)))


def test_crt_without_noise_is_the_classical_one(gcm: Any) -> None:
    statistics = np.random.default_rng(1).normal(size=(20, 200)) * 100
    private = gcm.published.priv_crt_pvalues(statistics, 1e9, np.random.default_rng(2))
    assert np.array_equal(private, gcm.published.crt_pvalues(statistics))


def test_published_gcm_keeps_its_level_and_has_no_power(gcm: Any) -> None:
    """400 repetitions of each: at level .05 more than 39 rejections have probability 1e-4; power was .04."""
    from gcm.runs import Points, Scene

    for beta in (0.0, 0.5):
        data = batch(gcm, 300, 400, beta=beta)
        rejected = gcm.priv_gcm(Scene(data, Points(data.z, 0), np.random.default_rng(3), 0))
        assert rejected.sum() <= 39
    assert gcm.gcm_pictured(Scene(data, Points(data.z, 0), np.random.default_rng(3), 0)).mean() > 0.9


def test_kendall_after_clusters_loses_its_level_in_five_dimensions(gcm: Any) -> None:
    from gcm.runs import Points, Scene

    data = batch(gcm, 2000, 20, d=5, s=1.0)
    scene = Scene(data, Points(data.z, 0), np.random.default_rng(3), 0)
    assert gcm.kendall(scene).mean() > 0.5
    assert gcm.tests_of_tests(scene).mean() > 0.5


def test_rates_table_and_picture(gcm: Any, tmp_path: Path) -> None:
    from gcm.design import Cell
    from gcm.runs import finish, measure

    cells = [Cell("null", n, n) for n in (50, 100)] + [Cell("beta = 1.5", n, n, beta=1.5) for n in (50, 100)]
    rates = measure(gcm.named(gcm.PRIV_CRT, gcm.CRT), cells, 20, 2, seed=5)
    assert [r.reps for r in rates] == [20] * 8
    assert all(r.interval[0] <= r.rate <= r.interval[1] for r in rates)
    strong = [r.rate for r in rates if r.panel == "beta = 1.5" and r.method == gcm.CRT]
    assert min(strong) > 0.8
    finish(tmp_path, 3, True, "A title", "Some words.", rates, "n")
    assert (tmp_path / "gcm_figure3_quick.png").read_bytes()[:4] == b"\x89PNG"
    page = (tmp_path / "gcm_figure3_quick.md").read_text()
    assert page.count("|---|---|---|---|") == 1
    assert len((tmp_path / "gcm_figure3_quick.csv").read_text().splitlines()) == 9


def test_what_is_fitted(gcm: Any, tmp_path: Path) -> None:
    reproduce.load(ROOT / "experiments" / reproduce.FIGURES["gcm-figure6"]).main(quick=True, out=tmp_path)
    assert (tmp_path / "gcm_figure6_quick.png").read_bytes()[:4] == b"\x89PNG"
    assert "no fit" in (tmp_path / "gcm_figure6_quick.md").read_text()
