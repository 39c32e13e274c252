"""Lets the tests of this folder import the catalogue and the recorder beside them, and keeps their searches short.

A search that measures once is repeated up to a hundred times on other samples and other noise, to say how often each
edge is found again (``discovery/evidence.py``). That is post-processing, and the hundredth repeat runs the same code as
the third. So calls that do not ask for a number of repeats make three here: half of the time of these tests went there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcausal.discovery import evidence

sys.path.append(str(Path(__file__).parent))

FEW_REPEATS = 3


@pytest.fixture(autouse=True, scope="module")
def few_repeats() -> Iterator[None]:
    """Three repeats where nobody asks for a number of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "REPEATS", FEW_REPEATS)
        patch.setattr(evidence, "MIN_REPEATS", FEW_REPEATS)
        yield
