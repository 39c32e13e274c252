"""A result that decided nothing says so first, everywhere it is told."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

import dpcausal as dc
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.present.discovery import headline, undecided_words
from dpcausal.present.page import render

NAMES = [f"c{i}" for i in range(8)]
PAIRS = [frozenset(pair) for pair in combinations(NAMES, 2)]


@pytest.fixture(scope="module")
def shell() -> DiscoveryResult:
    return dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0)


def made(
    shell: DiscoveryResult, edges: int, untested: int, known: Knowledge | None = None
) -> DiscoveryResult:
    """The first ``edges`` pairs of eight columns, of which the first ``untested`` were not fully tested."""
    return replace(
        shell,
        graph=dc.Graph(NAMES, undirected=[tuple(sorted(pair)) for pair in PAIRS[:edges]]),
        untested=frozenset(PAIRS[:untested]),
        conflicts=frozenset(),
        confidence=None,
        known=known or Knowledge(),
    )


def test_all_pairs_kept_untested_is_nothing_decided(shell: DiscoveryResult) -> None:
    result = made(shell, 28, 28)
    begin = (
        "Nothing could be decided at this budget: 28 of 28 edges among 8 columns are kept without a full test"
    )
    assert undecided_words(result) == begin
    assert result.summary().startswith(begin)
    page = render(result)
    assert f'<p class="stamp" id="undecided">{begin}.</p>' in page
    assert (
        "a larger epsilon, a delta (1e-6, say), or fewer columns" in page
    )  # the shell was asked for without
    assert "found by" not in page[: page.index("<figure>")]
    assert f"<p>{begin}" in result._repr_html_()


@pytest.mark.parametrize(
    ("edges", "untested", "begin"),
    [
        (28, 26, "Nothing could be decided"),  # 93%
        (28, 25, ""),  # 89%
        (26, 26, "Nothing could be decided"),
        (10, 10, "No edge could be fully tested"),  # 18 pairs were separated: something was decided
        (10, 9, "Hardly any edge could be fully tested"),
        (10, 8, ""),
        (10, 0, ""),
        (1, 0, ""),
        (0, 0, ""),
    ],
)
def test_from_nine_tenths_on(shell: DiscoveryResult, edges: int, untested: int, begin: str) -> None:
    words = undecided_words(made(shell, edges, untested))
    assert "independent" not in words
    assert words.startswith(begin)
    assert bool(words) == bool(begin)
    if not begin:
        assert headline(made(shell, edges, untested)).startswith(
            f"{edges} edge{'s' * (edges != 1)} among 8 columns ("
        )


def test_declared_edges_do_not_count(shell: DiscoveryResult) -> None:
    """20 of 28 edges untested, but the other 8 were required: nothing of what was asked is decided."""
    known = Knowledge.of(NAMES, required=PAIRS[20:])
    assert undecided_words(made(shell, 28, 20)) == ""
    assert undecided_words(made(shell, 28, 20, known)).startswith(
        "Nothing could be decided at this budget: 20 of 20"
    )


def test_without_privacy_it_is_not_the_budget() -> None:
    found = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert undecided_words(made(found, 28, 28)).startswith("Nothing could be decided with this many rows:")


def test_a_discovery_with_hardly_a_budget_says_so() -> None:
    """Noise of scale 10^5 and more in every cell of 500 rows: no question can be answered."""
    result = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1e-5, method="measured")
    assert result.summary().startswith(
        "Nothing could be decided at this budget: 10 of 10 edges among 5 columns"
    )
