"""A result that decided nothing says so first, everywhere it is told."""

from __future__ import annotations

from itertools import combinations

import pytest

import dpcausal as dc
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult, Verdict
from dpcausal.discovery.result import replaced as replace
from dpcausal.present.graph_words import headline, helps_words, undecided_words
from dpcausal.present.page import render

NAMES = [f"c{i}" for i in range(8)]
PAIRS = [frozenset(pair) for pair in combinations(NAMES, 2)]


@pytest.fixture(scope="module")
def shell() -> DiscoveryResult:
    return dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0)


def made(shell: DiscoveryResult, edges: int, left: int, known: Knowledge | None = None) -> DiscoveryResult:
    """Of the pairs of eight columns the last ``edges`` are found and the first ``left`` open."""
    return replace(
        shell,
        graph=dc.Graph(NAMES, undirected=[tuple(sorted(pair)) for pair in PAIRS[28 - edges :]]),
        open=frozenset(PAIRS[:left]),
        given_up_to={},
        conflicts=frozenset(),
        confidence=None,
        known=known or Knowledge(),
    )


def test_all_pairs_open_is_nothing_decided(shell: DiscoveryResult) -> None:
    result = made(shell, 0, 28)
    begin = f"{undecided_words(result)}: no edges found among 8 columns, 0 pairs absent, 28 pairs open"
    assert result.summary().startswith(begin)
    page = render(result)
    assert f'<p class="stamp" id="undecided">{undecided_words(result)}.</p>' in page
    assert helps_words(result) in page
    assert "delta" not in helps_words(result)  # a joint table needs none
    assert "found by" not in page[: page.index("<figure>")]
    assert f"<p>{begin}" in result._repr_html_()


@pytest.mark.parametrize(
    ("edges", "left", "verdict"),
    [
        (0, 28, Verdict.NOTHING_DECIDED),
        (0, 26, Verdict.NOTHING_DECIDED),  # 93%
        (0, 25, Verdict.DECIDED),  # 89%: three pairs are absent
        (2, 26, Verdict.HARDLY_DECIDED),
        (1, 26, Verdict.HARDLY_DECIDED),
        (3, 25, Verdict.DECIDED),
        (10, 18, Verdict.DECIDED),
        (28, 0, Verdict.DECIDED),
        (1, 0, Verdict.DECIDED),
        (0, 0, Verdict.DECIDED),
    ],
)
def test_from_nine_tenths_on(shell: DiscoveryResult, edges: int, left: int, verdict: Verdict) -> None:
    result = made(shell, edges, left)
    assert result.verdict is verdict
    assert "independent" not in headline(result)
    counts = f"edge{'s' * (edges != 1)} found among 8 columns, {28 - edges - left} pair"
    assert counts in headline(result)
    assert f"{left} pair{'s' * (left != 1)} open (" in headline(result)
    begin = {
        Verdict.NOTHING_DECIDED: f"{undecided_words(result)}: no edges",
        Verdict.HARDLY_DECIDED: f"{undecided_words(result)}: {edges} edge",
        Verdict.DECIDED: f"{edges or 'No'} edge",
    }
    assert headline(result).startswith(begin[verdict])
    assert bool(undecided_words(result)) == (verdict is not Verdict.DECIDED)


def test_declared_pairs_do_not_count(shell: DiscoveryResult) -> None:
    """18 of 28 pairs open, but 8 of the others were required and 2 forbidden: nothing of what was asked is decided."""
    known = Knowledge.of(NAMES, required=PAIRS[20:], forbidden=PAIRS[18:20])
    assert undecided_words(made(shell, 8, 18)) == ""
    declared = made(shell, 8, 18, known)
    assert declared.verdict is Verdict.NOTHING_DECIDED
    assert "8 edges found among 8 columns, 0 pairs absent, 18 pairs open, 2 declared" in headline(declared)
    assert "declared" not in headline(made(shell, 8, 20))


def test_without_privacy_it_is_not_the_budget() -> None:
    found = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert undecided_words(made(found, 0, 28)).endswith("with this many rows")


def test_a_discovery_with_hardly_a_budget_says_so() -> None:
    """Noise of scale 10^5 and more in every cell of 500 rows: no question can be answered."""
    result = dc.discover(
        dc.networks.load("cancer").sample(500, seed=1), epsilon=1e-5, method="measured", anyway=True
    )
    assert "could be decided at this budget: " in result.summary().splitlines()[0]
    assert (
        len(result.open) >= 9
    )  # at level .05 one of ten pairs may be called dependent; two with probability .09
