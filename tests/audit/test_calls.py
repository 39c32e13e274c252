"""The audit of public calls: every name has a target, true claims stand, planted bugs are refuted, with real noise."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from typing import Any, get_args

import numpy as np
import pytest

from dpcausal.audit.calls import ADD, CALLS, FIXED, REPLACE, stored, target
from dpcausal.audit.empirical import ANSWERING, AuditResult, Observation, answers, audit, flat
from dpcausal.citests.registry import TESTS
from dpcausal.cli.app import run
from dpcausal.discovery.discover import METHODS
from dpcausal.gwas.plan import Method
from dpcausal.privacy import mechanisms, noise

ALL = [(name, relation) for name, call in CALLS.items() for relation in call.relations]


def test_every_registered_name_has_a_target() -> None:
    private = ["auto", *(name for name, method in METHODS.items() if method.private)]
    names = {f"ci-test:{name}" for name in ("auto", *TESTS)} | {f"discover:{name}" for name in private}
    names |= {f"gwas:{name}" for name in (*get_args(Method), "single")}
    assert {":".join(name.split(":")[:2]) for name in CALLS} == names
    assert names <= set(CALLS)  # each by its own name, not by a variant only
    assert {name for name, call in CALLS.items() if call.relations == (REPLACE,)} == {
        "ci-test:gcm:moments",
        "ci-test:gcm:residuals",
    }  # which need a public n


def test_every_mechanism_that_answers_is_watched() -> None:
    found = set()
    for info in pkgutil.iter_modules(mechanisms.__path__):
        module = importlib.import_module(f"{mechanisms.__name__}.{info.name}")
        kinds = [kind for kind in vars(module).values() if inspect.isclass(kind)]
        for kind in kinds:
            if kind.__module__ != module.__name__ or getattr(kind, "_is_protocol", False):
                continue
            public = {
                name for name, method in vars(kind).items() if inspect.isfunction(method) and name[0] != "_"
            }
            asked = public if kind.__name__.endswith("Session") else public & {"sample", "ask"}
            found |= {(kind, name) for name in asked}
    assert found == set(ANSWERING)


def test_answers_are_seen_once_and_nothing_is_left_behind() -> None:
    before = [vars(kind)[method] for kind, method in ANSWERING]
    top = mechanisms.TopK(sensitivity=1.0, count=2, epsilon=1.0, grid=mechanisms.INTEGERS)
    with answers() as found:
        chosen = top.sample([0, 0, 900])
    assert found == flat("TopK 1", chosen)  # not what its rounds said
    assert [vars(kind)[method] for kind, method in ANSWERING] == before


@pytest.mark.parametrize(("name", "relation"), ALL)
def test_stored_data_sets_are_neighbours(name: str, relation: str) -> None:
    first, second = stored(CALLS[name], relation)
    sizes = [len(next(iter(world.values()))) for world in (first, second)]
    assert abs(sizes[0] - sizes[1]) == (relation == ADD)
    shared = min(sizes) - (relation != ADD)  # all but the last row
    for column, other in zip(first.values(), second.values(), strict=True):
        assert (column[:shared] == other[:shared]).all()
    if relation == FIXED:
        label = "case" if "case" in first else "x"
        assert (first[label] == second[label]).all()


# --- the audit ---

TRUE = 1 - 1e-9  # confidence, so that a true claim is refuted once in 1e9 audits


def audited(name: str, trials: int, relation: str | None = None, confidence: float = TRUE) -> AuditResult:
    of = target(name, 1.0, relation)
    return audit(name, of.sampler, of.claim, of.delta, trials=trials, confidence=confidence)


@pytest.mark.parametrize("name", ["ci-test:auto", "discover:svt-pc"])
def test_a_true_claim_is_not_refuted(name: str) -> None:
    assert not audited(name, 200).refuted


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation"), ALL)
def test_no_true_claim_is_refuted(name: str, relation: str) -> None:
    result = audited(name, 1000, relation)
    assert not result.refuted
    assert 0 <= result.lower < 1


def quieter(monkeypatch: pytest.MonkeyPatch, draw: str, factor: float) -> None:
    """Noise of this kind has ``factor`` times the scale that was asked for; none at all with 0."""
    real = getattr(noise, draw)

    def less(scale: float, size: int | None = None) -> Any:
        if factor:
            return real(factor * scale, size) if size is not None else real(factor * scale)
        return 0 if size is None else 0 * real(scale, size)

    monkeypatch.setattr(noise, draw, less)


@pytest.mark.parametrize(
    "name", ["ci-test:auto", "ci-test:measured", pytest.param("gwas:single", marks=pytest.mark.slow)]
)
def test_half_the_noise_is_seen_through_the_public_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """epsilon is 2. The bound of 2,000 trials is about 1.6 with a standard deviation of .2, so one audit misses it once
    in some hundred times, and four in a row less than once in 1e7."""
    quieter(monkeypatch, "discrete_laplace", 0.5)
    assert any(audited(name, 2000, confidence=0.95).refuted for _ in range(4))


def no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that a mechanism draws is what is most likely."""
    for draw in ("geometric", "discrete_laplace", "discrete_gaussian", "discrete_cauchy"):
        quieter(monkeypatch, draw, 0.0)
    monkeypatch.setattr(noise, "bernoulli_exp_many", lambda steps, _: np.asarray(steps) <= 0)
    monkeypatch.setattr(
        noise, "categorical", lambda weights, gammas: int(np.argmin([float(g) for g in gammas]))
    )
    monkeypatch.setattr(noise, "categorical_steps", lambda steps, _: int(np.argmin(steps)))


QUICK = ("ci-test:auto", "discover:svt-pc", "discover:curate", "discover:em-pc")


@pytest.mark.parametrize(
    ("name", "relation"),
    [pytest.param(*one, marks=() if one[0] in QUICK else pytest.mark.slow) for one in ALL],
)
def test_missing_noise_is_seen(name: str, relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact answers differ; only public randomness (deals, copies) is left to chance."""
    no_noise(monkeypatch)
    assert audited(name, 200, relation, confidence=0.95).refuted


@pytest.mark.parametrize(("shift", "least", "most"), [(0.0, 0.0, 0.2), (1.0, 0.5, 1.0), (3.0, 1.5, 3.0)])
def test_numbers_are_told_apart_by_what_they_differ(shift: float, least: float, most: float) -> None:
    """Laplace noise of scale 1 about 0 and about ``shift``, beside ten numbers and words that say nothing."""
    rng = np.random.default_rng(5)

    def sample(world: int) -> Observation:
        other = {f"result {i}": float(value) for i, value in enumerate(rng.normal(size=10))}
        return Observation({"a": float(rng.laplace() + world * shift), "b": str(rng.integers(9)), **other})

    assert least <= audit("x", sample, 1.0, trials=4000).lower <= most


# --- the command ---


def test_the_command_runs_a_call(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "audit",
        "ci-test:kendall",
        "--neighbours",
        "add-remove",
        "--trials",
        "200",
        "--confidence",
        str(TRUE),
    ]
    assert run(words) == 0
    assert "consistent" in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["says"] == "the public call, add-remove"
    assert (told["trials"], told["exact"], told["refuted"]) == (200, None, False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ci-test:kendal", 'did you mean "ci-test:kendall"'),
        ("discover:pc", "pc is not private"),
        ("ci-test:unit-circle --neighbours replace-one", "audited for fixed-labels"),
        ("laplace --neighbours replace-one", "--neighbours goes with a public call"),
    ],
)
def test_the_command_refuses(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", *words.split()]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
