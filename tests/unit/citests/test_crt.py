"""crt: answers, models, refusals, level and power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.crt import Crt
from dpcausal.core.statement import SettingKnown

SCHEMA = dc.Schema(
    x=dc.Numeric(-6, 6),
    y=dc.Numeric(-9, 9),
    z=dc.Numeric(-4, 4),
    a=dc.Categorical(["p", "q", "r"]),
    b=dc.Categorical(["p", "q", "r", "s"]),
    c=dc.Categorical(["no", "yes"]),
)
LINEAR = dc.LinearGaussian(0.0, {"z": 1.0}, sd=1.0)
LAW = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])  # of a given c


def rows(n: int, effect: float, seed: int) -> dc.Dataset:
    """x = z + noise, y = 2 z + effect (x - z) + noise; a depends on c, and b on a if there is an effect."""
    rng = np.random.default_rng(seed)
    z, left = rng.normal(size=(2, n))
    c = rng.integers(0, 2, n)
    a = (rng.random(n)[:, None] >= np.cumsum(LAW, axis=1)[c][:, :2]).sum(axis=1)
    b = np.where(rng.random(n) < effect, (a + 1) % 4, rng.integers(0, 4, n))
    y = 2 * z + effect * left + rng.normal(size=n)
    names = {"a": "pqr", "b": "pqrs"}
    return dc.read(
        {
            "x": z + left,
            "y": y,
            "z": z,
            "a": [names["a"][i] for i in a],
            "b": [names["b"][i] for i in b],
            "c": [("no", "yes")[i] for i in c],
        },
        SCHEMA,
    )


def function(z: Mapping[str, Any], generator: Any) -> Any:
    return z["z"] + generator.standard_normal(len(z["z"]))


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize("model", [LINEAR, function])
@pytest.mark.parametrize("release", ["decision", "rank"])
@pytest.mark.parametrize("score", ["ranks", "plain"])
def test_a_strong_dependence_is_seen(neighbours: str, model: object, release: str, score: str) -> None:
    data = rows(1500, 1.0, seed=1)
    found = dc.ci_test(
        data, "x", "y", ["z"], method="crt", model=model, epsilon=10.0, neighbours=neighbours,
        release=release, score=score,
    )  # fmt: skip
    assert not found.independent
    assert (found.pvalue is None) == (release == "decision")
    assert found.privacy.epsilon == 10.0
    assert {SettingKnown("model"), SettingKnown("copies")} <= set(found.privacy.public)


def test_kernel_score_is_the_paper_s() -> None:
    data = rows(400, 1.0, seed=2)
    options = {"method": "crt", "model": LINEAR, "score": "kernel"}
    assert not dc.ci_test(data, "x", "y", ["z"], epsilon=50.0, **options).independent
    with pytest.raises(dc.InputError, match="replace-one"):
        dc.ci_test(data, "x", "y", ["z"], epsilon=1.0, neighbours="add-remove", **options)


@pytest.mark.parametrize("resampled_first", [True, False])
def test_unordered_columns_with_a_table(resampled_first: bool) -> None:
    data = rows(3000, 0.5, seed=3)
    model = dc.TableModel(("c",), LAW)
    if resampled_first:
        found = dc.ci_test(data, "a", "b", ["c"], method="crt", model=model, epsilon=5.0)
    else:
        found = dc.ci_test(data, "b", "a", ["c"], method="crt", model=model, resample="a", epsilon=5.0)
    assert not found.independent
    with dc.testing.seeded(3):
        free = dc.ci_test(rows(3000, 0.0, seed=4), "a", "b", ["c"], method="crt", model=model, epsilon=5.0)
    assert free.independent


def test_level_with_noise_and_confounding() -> None:
    """200 runs at .05: above .125 with probability below 1e-4. y depends on z four times as much as on its noise."""
    with dc.testing.seeded(6):
        options: dict[str, Any] = {"method": "crt", "model": LINEAR, "epsilon": 1.0, "copies": 39}
        rejected = sum(
            not dc.ci_test(rows(200, 0.0, seed), "x", "y", ["z"], **options).independent
            for seed in range(200)
        )
    assert rejected <= 25


def test_power_where_the_published_rank_has_little() -> None:
    """30 runs, n = 500, epsilon 2: the decision finds at least 27, and no fewer than the noisy rank."""
    found = {"decision": 0, "rank": 0}
    with dc.testing.seeded(7):
        for seed in range(30):
            data = rows(500, 0.5, seed)
            for release in found:
                test = dc.ci_test(
                    data, "x", "y", ["z"], method="crt", model=LINEAR, epsilon=2.0, release=release
                )
                found[release] += not test.independent
    assert found["decision"] >= max(27, found["rank"])


def test_models_fitted_on_separate_rows() -> None:
    public = rows(20_000, 0.0, seed=8)
    linear = dc.LinearGaussian.fit(public, "x", ["z"])
    assert abs(linear.slopes["z"] - 1) < 0.05  # 7 standard errors
    assert abs(linear.sd - 1) < 0.04
    table = dc.TableModel.fit(public, "a", ["c"])
    assert np.abs(table.probabilities - LAW).max() < 0.03  # 6 standard errors


def test_classical_pvalue_counts_copies() -> None:
    data = rows(500, 1.0, seed=9)
    found = dc.ci_test(data, "x", "y", ["z"], method="crt", model=LINEAR, epsilon=None, copies=99)
    assert found.pvalue == pytest.approx(0.01)


def test_the_number_of_copies_follows_the_level() -> None:
    assert Crt()._copies(0.05) == 199
    assert Crt()._copies(0.01) == 199
    assert Crt()._copies(0.001) == 999
    assert Crt(release="rank")._copies(0.05) == 19


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs the law of x given the rest"),
        ({"model": 3}, "needs the law of x given the rest"),
        ({"model": dc.LinearGaussian(0.0, {"c": 1.0}, 1.0)}, "is about"),
        ({"model": dc.TableModel(("z",), np.full((4, 3), 1 / 3))}, "declared levels"),
        ({"model": LINEAR, "resample": "z"}, "resample must name"),
        ({"model": LINEAR, "score": "rank"}, "score must be"),
        ({"model": LINEAR, "release": "all"}, "release must be"),
        ({"model": LINEAR, "copies": 3}, "needs at least 19 copies"),
        ({"model": lambda z, g: z["z"][:3]}, "one number"),
        ({"model": lambda z, g: 1 / 0}, "model of crt failed"),
    ],
)
def test_refusals_say_what_is_needed(options: dict[str, Any], words: str) -> None:
    with pytest.raises(dc.InputError, match=words):
        dc.ci_test(rows(50, 0.0, seed=1), "x", "y", ["z"], method="crt", epsilon=1.0, **options)


@pytest.mark.parametrize("release", ["decision", "rank"])
@pytest.mark.parametrize("drawn", [np.nan, np.inf, -1e300])
def test_a_model_that_draws_nonsense_changes_nothing_but_the_answer(drawn: float, release: str) -> None:
    told = []
    for model in (function, lambda z, g: np.full(len(z["z"]), drawn)):
        found = dc.ci_test(
            rows(60, 0.0, seed=1), "x", "y", ["z"], method="crt", epsilon=1.0, release=release, model=model
        )
        assert found.pvalue is None or 0 < found.pvalue <= 1
        answer = ("shown", "rejected", "independent", "pvalue", "statistic")
        told.append({**found.to_dict(), **dict.fromkeys(answer)})
        told[-1]["facts"].pop("missed")  # follows from the answer
    assert told[0] == told[1]
    assert told[0]["privacy"]["epsilon"] == 1.0


def test_counts_are_refused() -> None:
    from dpcausal.counts.memory import MemoryCounts

    counts = MemoryCounts(rows(50, 0.0, seed=1))
    with pytest.raises(dc.InputError, match="rows themselves"):
        dc.ci_test(counts, "x", "y", ["z"], method="crt", model=LINEAR, epsilon=1.0)
