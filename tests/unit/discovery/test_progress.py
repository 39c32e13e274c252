"""What a progress bar of ``discover`` is driven by: public amounts, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
import pytest

import dpcausal as dc
from dpcausal.core.compiled import compile_note
from dpcausal.core.progress import Stage, Tick
from dpcausal.discovery.discover import METHODS

Seen = list[tuple[str, float | None, float]]  # (what, total, ticked)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    found: Seen = []

    @contextmanager
    def stage(what: str, total: float | None) -> Iterator[Tick]:
        done: list[float] = []
        yield done.append
        found.append((what, total, sum(done)))

    @contextmanager
    def stages(show: bool) -> Iterator[Stage]:
        assert show
        yield stage

    monkeypatch.setattr("dpcausal.discovery.discover.stages", stages)
    return found


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"measured", "moments", "codes", "pc"}))
def test_a_search_whose_length_depends_on_its_answers_has_no_total(method: str, seen: Seen) -> None:
    data = dc.networks.load("cancer").sample(500, seed=1)
    dc.discover(data, epsilon=1.0, method=method, progress=True)
    ((what, total, ticked),) = seen
    assert what.startswith(f"learning a graph by {method}")
    assert (total, ticked) == (None, 0)


@pytest.mark.parametrize("method", ["moments", "pc"])
def test_answers_that_are_free_to_follow_show_edges_by_order(method: str, seen: Seen) -> None:
    """From released moments, or without privacy: the first order has all pairs, and a bar never passes its end."""
    data = dc.networks.load("cancer").sample(2000, seed=1)
    found = dc.discover(data, epsilon=None if method == "pc" else 1.0, method=method, progress=True)
    *inner, (_, outer, _) = seen
    assert outer is None
    if method == "moments":
        *inner, last = inner
        assert last == ("repeating the search on other samples and other noise", found.repeats, found.repeats)
    assert inner[0][:2] == ("testing given 0 columns", 10)
    assert [what for what, _, _ in inner] == [
        f"testing given {order} column{'' if order == 1 else 's'}" for order in sorted(found.asked)
    ]
    assert all(total is not None and 0 <= ticked <= total for _, total, ticked in inner)


def test_measured_counts_questions_that_the_result_tells_anyway(seen: Seen) -> None:
    data = dc.networks.load("asia").sample(20_000, seed=1)  # little noise: PC asks about what was found
    found = dc.discover(data, epsilon=5.0, delta=1e-6, method="measured", confidence=3, progress=True)
    (tables, *inner, (_, outer, _)) = seen
    assert outer is None
    assert tables[1:] == (None, 0)
    assert inner.pop([what.startswith("scoring whole graphs") for what, *_ in inner].index(True))[1:] == (
        None,
        0,
    )
    questions = [total for what, total, _ in inner if what.startswith("testing given")]
    assert 0 < sum(total or 0 for total in questions) <= sum(found.asked.values())
    assert ("repeating the search on other samples and other noise", 3, 3) in inner
    assert all(total == ticked for _, total, ticked in inner)


def test_a_kernel_that_has_to_be_compiled_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    @numba.njit(cache=True)
    def kernel(x: float) -> float:
        return x + 1.0

    assert compile_note(kernel) == " (compiling, once)"
    assert kernel(1.0) == 2.0
    assert compile_note(kernel) == ""
    assert compile_note(len) == ""  # no kernel: nothing to say
