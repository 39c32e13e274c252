"""crt with permutations: no model within cells, pairs with one; level, power, secret draws, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.crt import below_each

SCHEMA = dc.Schema(
    x=dc.Numeric(-5, 9),
    y=dc.Numeric(-6, 12),
    c=dc.Categorical(["a", "b", "d", "e"]),
    b=dc.Categorical([0, 1]),
    z=dc.Numeric(-4, 4),
)
LAW = dc.LinearGaussian(0.0, {"z": 1.0}, sd=1.0)


def rows(n: int, seed: int, strength: float = 0.0, by_z: bool = False) -> dc.Dataset:
    rng = np.random.default_rng(seed)
    code, z = rng.integers(0, 4, n), rng.normal(size=n)
    pull = z if by_z else code.astype(float)
    x = pull + rng.normal(size=n)
    y = pull + strength * (x - pull) + rng.normal(size=n)
    return dc.read(
        {"x": x, "y": y, "c": np.array(["a", "b", "d", "e"])[code], "b": (x > 0).astype(int), "z": z}, SCHEMA
    )


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_it_sees_dependence_within_cells_without_a_model(neighbours: str) -> None:
    with dc.testing.seeded(1):
        found = dc.ci_test(
            rows(1500, 1, 0.8),
            "x",
            "y",
            ["c"],
            method="crt",
            draw="permutation",
            epsilon=2.0,
            neighbours=neighbours,
        )
    assert not found.independent
    assert "law" not in " ".join(found.privacy.to_dict()["public"])


def test_pairs_follow_the_model() -> None:
    with dc.testing.seeded(1):
        found = dc.ci_test(
            rows(1500, 1, 0.8, by_z=True),
            "x",
            "y",
            ["z"],
            method="crt",
            draw="permutation",
            model=LAW,
            epsilon=2.0,
        )
    assert not found.independent


@pytest.mark.parametrize("by_z", [False, True])
def test_the_level_is_kept(by_z: bool) -> None:
    """z drives both columns. 150 data sets at level .1: more than 31 rejections have probability below 1e-4."""
    rejected = 0
    options = {"model": LAW} if by_z else {}
    with dc.testing.seeded(2):
        for seed in range(150):
            found = dc.ci_test(
                rows(200, seed, by_z=by_z), "x", "y", ["z" if by_z else "c"], method="crt", draw="permutation",
                epsilon=5.0, level=0.1, copies=19, **options,
            )  # fmt: skip
            rejected += not found.independent
    assert 1 <= rejected <= 31  # none at all in 150 has probability below 1e-6


def test_draws_are_uniform_and_the_systems() -> None:
    """6,000 draws below 3: a count outside 2,000 +- 165 has probability below 1e-5."""
    found = below_each(np.full(6000, 3))
    assert all(abs(np.count_nonzero(found == k) - 2000) < 165 for k in range(3))
    assert not np.array_equal(below_each(np.full(64, 2**40)), below_each(np.full(64, 2**40)))
    with dc.testing.seeded(5):
        first = below_each(np.full(64, 2**40))
    with dc.testing.seeded(5):
        assert np.array_equal(first, below_each(np.full(64, 2**40)))


def test_words_that_are_too_many_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2^64 words one is too many for thirds: word 0 is drawn again."""
    given = iter([np.array([0, 7], np.uint64).tobytes(), np.array([5], np.uint64).tobytes()])
    monkeypatch.setattr("dpcausal.citests.crt.random_bytes", lambda count: next(given))
    assert below_each(np.array([3, 3])).tolist() == [2, 1]


def test_refusals() -> None:
    data = rows(50, 0)
    for given, options, told in (
        (["c"], {"model": LAW}, "needs no model"),
        (["z"], {}, "needs the law"),
        (["z"], {"model": lambda z, g: g.normal(size=50)}, "needs a density"),
        (["z"], {"model": LAW, "score": "kernel"}, "not 'kernel'"),
        (["c"], {"draw": "shuffle"}, "draw must be"),
        (["z"], {"model": LAW, "neighbours": "add-remove"}, "replace-one"),
    ):
        with pytest.raises(dc.InputError, match=told):
            dc.ci_test(data, "x", "y", given, method="crt", epsilon=1.0, **{"draw": "permutation", **options})


def test_a_model_that_was_fitted_on_the_rows_is_refused() -> None:
    data = rows(100, 0, by_z=True)
    law = dc.LinearGaussian.fit(data, "x", ["z"])
    with pytest.raises(dc.InputError, match="fitted on"):
        dc.ci_test(data, "x", "y", ["z"], method="crt", draw="permutation", model=law, epsilon=1.0)


def test_tables_have_densities_too() -> None:
    table = dc.TableModel(("z",), np.full((4, 2), 0.5))
    data = rows(300, 0)
    found = dc.ci_test(data, "b", "y", ["z"], method="crt", draw="permutation", model=table, epsilon=None)
    assert found.pvalue is not None
    density = dc.TableModel((), np.array([0.25, 0.75])).log_density(
        data, np.array([0, 1]), np.array([1.0, 0.0])
    )
    assert density == pytest.approx(np.log([0.75, 0.25]))
