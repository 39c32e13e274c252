"""The experiments on the private GCM and CRT: the published algorithms as printed, and figures that are made."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from dpcausal.cli import reproduce
from dpcausal.stats.gcm_parts import PartPlan, part_score

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
    assert gcm.published.crt_bound(1.0) == pytest.approx(4 * (3 + 3 * 2**0.5))


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


def test_low_rank_is_near_enough(gcm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The regressions for many points against the exact ones, d = 1 and (ridge 5 n) d = 5."""
    for d, alpha in ((1, 10.0), (5, 5.0 * 800)):
        data = batch(gcm, 800, 2, d=d, s=1.0)
        exact = gcm.published.Fits(data.z).residuals(data.unit_x, alpha)
        monkeypatch.setattr(gcm.published, "MOST_EXACT", 100)
        near = gcm.published.Fits(data.z).residuals(data.unit_x, alpha)
        monkeypatch.undo()
        assert np.abs(near - exact).max() < 1e-3 * np.abs(exact).max()


def test_fast_scores_are_those_of_the_package(gcm: Any) -> None:
    """Many columns at once against ``part_score`` one by one: one column turns, so there is more than one fit."""
    import gcm.fast as fast

    data = batch(gcm, 700, 3, d=2, beta=0.5)
    data.unit_x[:, 1] += np.sin(40 * data.z[:, 0])
    deal = fast.Deal(data.z, 2.0, 0)
    deal.plan = PartPlan(2, 2, 1.0, 0.5, 720)
    t, own = deal.scores(data.unit_x, data.unit_y)
    assert all(len(part.kept) > 1 for part in deal.parts)
    rng = np.random.default_rng(0)
    rows = [part for _ in range(2) for part in np.array_split(rng.permutation(700), 2)]
    for k, r in product(range(4), range(3)):
        one = part_score(data.unit_x[rows[k], r], data.unit_y[rows[k], r], data.z[rows[k]], (), deal.plan)
        assert (t[k, r], own[k, r]) == pytest.approx(one, abs=1e-8)


def test_our_tests_keep_their_level_and_see_dependence(gcm: Any) -> None:
    """200 repetitions: more than 24 rejections at level .05 have probability 1e-4."""
    from gcm.runs import Points, Scene

    ours = reproduce.load(ROOT / "experiments" / "gcm" / "ours.py")
    for name in (ours.OURS_GCM, ours.OURS_CRT, ours.OURS_CRT_RANK):
        for beta in (0.0, 0.75):
            data = batch(gcm, 1000, 200, beta=beta)
            scene = Scene(data, Points(data.z, 0), np.random.default_rng(3), 4)
            rejected = int(ours.TESTS[name](scene).sum())
            assert rejected <= 24 if beta == 0 else rejected >= 190


@pytest.mark.slow
def test_fast_agrees_with_the_public_call(gcm: Any) -> None:
    """gcm by ``fast.py`` and by ``dc.ci_test`` where power is about a half: two shares of 60, four sd of each other."""
    from gcm.runs import Points, Scene

    ours = reproduce.load(ROOT / "experiments" / "gcm" / "ours.py")
    data = batch(gcm, 400, 60, beta=0.3)
    scene = Scene(data, Points(data.z, 0), np.random.default_rng(3), 4)
    for name, method, options in (
        (ours.OURS_GCM, "gcm", {}),
        (ours.OURS_CRT, "crt", ours.crt_options(scene)),
    ):
        fast, public = ours.TESTS[name](scene).mean(), ours.pvalues(scene, method, **options)[0].mean()
        assert abs(fast - public) < 4 * math.sqrt(2 * 0.25 / 60)


def test_concrete(gcm: Any) -> None:
    """The data is what it says, inside its public bounds, and a figure's point can be computed."""
    figure = reproduce.load(ROOT / "experiments" / "gcm" / "figure5.py")
    columns = figure.load()
    assert {len(v) for v in columns.values()} == {1030}
    assert columns[figure.OUTCOME].mean() == pytest.approx(35.818, abs=0.001)
    assert all(np.abs(figure.unit(name, v)).max() < 1 + 1e-12 for name, v in columns.items())
    rng = np.random.default_rng(0)
    found = figure.published_pvalues(columns, "age", rng, np.random.default_rng(1), 20)
    assert found[figure.GCM].max() < 1e-10
    assert {len(pvalues) for pvalues in found.values()} == {20}
    assert len(found) == 1 + 2 * len(figure.EPSILONS)
    mine = figure.our_pvalues(columns, "age", rng, 1)
    assert (mine <= 0.05).mean() > 0.5
