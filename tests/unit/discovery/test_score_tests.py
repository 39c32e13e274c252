"""priv-pc and svt-pc over other tests, the second look, the tweak, printed margins, smooth medians in ``tests``."""

from __future__ import annotations

from typing import Any

import pytest

import dpcausal as dc
from dpcausal import networks, testing
from dpcausal.core.errors import InputError
from dpcausal.discovery.search import ThresholdUsed
from dpcausal.planning.sieve import once
from dpcausal.present.notes import note_words
from dpcausal.privacy.accounting.composition import Filter

DATA = networks.load("cancer").sample(40_000, seed=2)
TRUTH = networks.load("cancer").dag.skeleton
ORDERED = dc.Schema({name: dc.Categorical([0, 1]) for name in "xyz"} | {"c": dc.Categorical([0, 1, 2])})


@pytest.mark.parametrize("method", ["priv-pc", "svt-pc"])
@pytest.mark.parametrize("test", ["kendall", "spearman", "chi2", "g"])
def test_strong_edges_are_found_by_every_test(method: str, test: str) -> None:
    """Smoker - Cancer and Cancer - Xray, the strong ones, at epsilon 200; no other pair but true ones."""
    with testing.seeded(1):
        found = dc.discover(
            DATA, method=method, epsilon=200.0, delta=1e-6, level=0.001, test=test, anyway=True
        )
    assert frozenset({"Smoker", "Cancer"}) in found.graph.skeleton
    assert frozenset({"Cancer", "Xray"}) in found.graph.skeleton
    assert found.graph.skeleton <= TRUTH
    (note,) = [one for one in found.notes if isinstance(one, ThresholdUsed)]
    assert (note.parts is None) == (test in ("kendall", "spearman"))
    assert ("parts of the rows" in note_words(note)) == (test in ("chi2", "g"))


@pytest.mark.parametrize("method", ["priv-pc", "svt-pc", "em-pc", "curate"])
def test_no_pair_is_found_where_noise_decides(method: str) -> None:
    """epsilon .001: 4,000 rows can show nothing; at most the level, .05, of ten pairs is found by chance."""
    data = networks.load("cancer").sample(4000, seed=3)
    with testing.seeded(4):
        found = [dc.discover(data, method=method, epsilon=0.001, anyway=True) for _ in range(6)]
    assert sum(len(one.graph.skeleton) for one in found) <= 9  # 60 pairs at .05: fails with probability .001
    assert sum(len(one.open) for one in found) > 0


def test_spearman_refuses_levels_without_an_order() -> None:
    data = dc.read({name: [0, 1, 1, 0] for name in ORDERED}, ORDERED)
    with pytest.raises(InputError, match="test='spearman' needs numbers or ordered levels: c has none"):
        dc.discover(data, method="svt-pc", epsilon=1.0, test="spearman")


@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        ("svt-pc", {"test": "gcm"}, "test must be kendall, spearman, chi2 or g, not 'gcm'"),
        ("priv-pc", {"tweak": -1.0}, "tweak must be none or a number between 0 and 100, not -1.0"),
        ("curate", {"margins_of": "rows"}, "margins_of must be noise or threshold, not 'rows'"),
        ("curate", {"margins_of": "threshold", "margins": (2.0, 0.1)}, "a share of the threshold, at most 1"),
        ("tests", {"test": "g", "median": "laplace"}, "tests with these options needs a delta above 0"),
    ],
)
def test_wrong_options_are_one_line(method: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        dc.discover(DATA, method=method, epsilon=1.0, **options)


def test_the_tweak_lowers_the_threshold_of_the_first_look() -> None:
    plain = once(Filter(2.0), 7, 0.5, "replace-one")  # type: ignore[arg-type]
    tweaked = plain.with_tweak(2.0)
    assert tweaked.mechanism.tweak == 2.0 * plain.sieve.query_scale
    assert tweaked.sieve_shift == plain.examine.shift
    assert tweaked.mechanism.event("x") == plain.mechanism.event("x")
    assert plain.with_tweak(0.0).false_hit(50.0) < tweaked.false_hit(50.0)


@pytest.mark.parametrize(("median", "trim"), [("laplace", None), ("gaussian", None), ("laplace", 0.2)])
def test_smooth_medians_drive_a_search_within_the_total(median: str, trim: float | None) -> None:
    """Half of delta is for the tests' own deltas; the rest converts rho."""
    with testing.seeded(5):
        found = dc.discover(
            DATA,
            method="tests",
            epsilon=20.0,
            delta=1e-6,
            test="g",
            median=median,
            trim=trim,
            parts=15,
            max_order=0,
            test_epsilon=2.0,
        )
    events = found.privacy.events
    assert len(events) == 10
    assert {event["mechanism"] for event in events} == {
        f"smooth-{'median' if trim is None else 'trimmed-mean'}-{median}"
    }
    assert all(event["slack"] > 0 for event in events)
    assert sum(event["slack"] for event in events) <= 0.5e-6
    assert found.privacy.delta <= 1e-6


def test_a_median_that_can_never_reject_leaves_pairs_open() -> None:
    """At so small an epsilon, and with the parts that rows allow, no smooth median can show anything."""
    data = networks.load("cancer").sample(2_000, seed=2)
    with testing.seeded(6):
        found = dc.discover(
            data,
            method="tests",
            epsilon=3.0,
            delta=1e-6,
            test="chi2",
            median="laplace",
            max_order=0,
            test_epsilon=0.25,
            anyway=True,
        )
    assert not found.graph.skeleton
    assert len(found.open) == 10


def test_a_smooth_median_finds_a_strong_edge_by_default() -> None:
    with testing.seeded(7):
        found = dc.ci_test(DATA, "Smoker", "Cancer", epsilon=2.0, method="g", median="cauchy", trim=0.2)
    assert not found.independent
