"""A result and a statement to show, and whole texts to compare with."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import Composition, NoiseSource, PrivacyStatement
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.privacy.events import Event


@pytest.fixture(scope="session")
def result() -> DiscoveryResult:
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    return dc.discover(data, epsilon=1.0, level=0.01)


@pytest.fixture(scope="session")
def statement_of() -> Callable[..., PrivacyStatement]:
    """A private statement with these events."""

    def made(events: Sequence[Event], definition: str = "pure") -> PrivacyStatement:
        return PrivacyStatement(
            private=True,
            definition=definition,
            epsilon=1.0,
            delta=0.0,
            neighbours=Neighbours.REPLACE_ONE,
            composition=Composition.FIXED_EPSILON,
            noise=NoiseSource.OPERATING_SYSTEM,
            events=tuple(event.to_dict() for event in events),
        )

    return made


GOLDEN = Path(__file__).parents[2] / "data" / "golden"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with the file of this name (``test_golden.py`` says how to write it anew)."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("GOLDEN") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check
