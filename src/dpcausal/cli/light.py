"""Keep commands light: two things that libraries load along the way and that no command uses.

Both only change what is imported, and fall back to the libraries' own way where something is not as expected.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

ARROW_FILES = {".csv", ".tsv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc"}
SPARED = ("f2py", "testing")  # of numpy


def load_scipy() -> None:
    """Import ``scipy.special`` without numpy's Fortran compiler and test tools.

    scipy copies every public name of numpy, and asking for these two names imports them. They are given empty modules
    meanwhile; whoever asks for them afterwards gets the real ones.
    """
    if "scipy.special" in sys.modules:
        return
    import numpy as np

    put = {name: ModuleType(f"numpy.{name}") for name in SPARED if name not in vars(np)}
    for name, empty in put.items():
        setattr(np, name, empty)
    try:
        import scipy.special  # noqa: F401
    finally:
        for name, empty in put.items():
            if vars(np).get(name) is empty:
                delattr(np, name)


def load_pyarrow(data: Path | None) -> None:
    """Import pyarrow so that it does not look for pandas, where the rows are in a file that pyarrow reads itself.

    pyarrow imports pandas, where it is installed, when it makes its first array, to recognise frames: here are none.
    """
    if data is None or data.suffix.lower() not in ARROW_FILES or "pandas" in sys.modules:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)


class _Hidden(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name="pandas")
