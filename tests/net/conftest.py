"""Lets the tests of this folder import the catalogue and the recorder beside them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
