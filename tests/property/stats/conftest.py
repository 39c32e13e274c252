"""The neighbour search and the simulations live in ``benchmarks/``; let the tests here import them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
