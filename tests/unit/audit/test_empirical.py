"""Clopper-Pearson bounds, event choice, and the command line."""

from __future__ import annotations

import json

import pytest
from scipy.stats import binom

from dpcausal.audit.empirical import audit, choose_event, clopper_pearson, lower_bound
from dpcausal.audit.exact import worst_loss
from dpcausal.cli.app import run
from dpcausal.core.errors import InputError


@pytest.mark.parametrize("successes", [0, 1, 37, 99, 100])
def test_clopper_pearson_inverts_the_binomial_tails(successes: int) -> None:
    low, high = clopper_pearson(successes, 100, 0.01)
    assert low <= successes / 100 <= high
    if successes:
        assert binom.sf(successes - 1, 100, low) == pytest.approx(0.01)
    if successes < 100:
        assert binom.cdf(successes, 100, high) == pytest.approx(0.01)


def test_lower_bound() -> None:
    assert lower_bound(50, 50, 100, 0.025, 0.0) == 0.0
    assert 1.0 < lower_bound(9000, 1000, 10_000, 0.025, 0.0) < 2.2
    assert lower_bound(9000, 1000, 10_000, 0.025, 0.5) < lower_bound(9000, 1000, 10_000, 0.025, 0.0)


def test_choose_event_finds_the_telling_output() -> None:
    first, second = ["a"] * 90 + ["b"] * 10, ["a"] * 50 + ["b"] * 50
    choice = choose_event(first, second, 0.025, 0.0)
    assert (choice.event, choice.world) == (frozenset({"b"}), 1)


def test_event_and_test_use_different_trials() -> None:
    """A sampler that never repeats an output: any event chosen on one half has no hits in the other."""
    counter = iter(range(10**9))
    result = audit("unique", lambda world: next(counter), 1.0, trials=2000)
    assert result.lower == 0.0


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="100 trials"):
        audit("x", lambda world: 0, 1.0, trials=10)
    with pytest.raises(InputError, match="confidence"):
        audit("x", lambda world: 0, 1.0, trials=1000, confidence=1.0)


def test_losses() -> None:
    assert worst_loss({0: 1.0}, {0: 0.5, 1: 0.5}) == float("inf")
    assert worst_loss({0: 1.0}, {0: 1.0}) == 0.0


def test_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "broken-svt-no-query-noise", "--epsilon", "1", "--trials", "2000", "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert out["refuted"] is True
    assert out["lower"] > out["claim"] == 1.0
    assert out["exact"] is None  # infinite


def test_command_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    # real noise: at this confidence a true claim is refuted once in 1e9 runs
    assert run(["audit", "laplace", "--trials", "1000", "--confidence", "0.999999999"]) == 0
    assert "consistent" in capsys.readouterr().out
    assert run(["audit", "broken-gaussian-small-sigma", "--trials", "1000"]) == 0
    assert "not caught" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["audit", "lapalce"], 'did you mean "laplace"'),
        (["audit", "laplace", "--epsilon", "0"], "--epsilon"),
        (["audit", "laplace", "--epsilon", "nan"], "--epsilon"),
        (["audit", "laplace", "--trials", "5"], "trials"),
        (["audit", "laplace", "--confidence", "2"], "confidence"),
    ],
)
def test_command_refuses(arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert word in error
    assert len(error.splitlines()) == 1
