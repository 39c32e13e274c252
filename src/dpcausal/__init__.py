"""dpcausal: causal graphs and conditional independence tests under differential privacy.

Names are loaded when first used, so that ``import dpcausal`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpcausal._version import __version__

if TYPE_CHECKING:
    from dpcausal import networks, testing
    from dpcausal.core.neighbours import Neighbours
    from dpcausal.data.columns import Categorical, Numeric
    from dpcausal.data.dataset import Dataset
    from dpcausal.data.read import read
    from dpcausal.data.schema import Schema

_HOMES = {
    "Categorical": "dpcausal.data.columns",
    "Dataset": "dpcausal.data.dataset",
    "Neighbours": "dpcausal.core.neighbours",
    "Numeric": "dpcausal.data.columns",
    "Schema": "dpcausal.data.schema",
    "networks": "dpcausal",
    "read": "dpcausal.data.read",
    "testing": "dpcausal",
}

__all__ = [
    "Categorical",
    "Dataset",
    "Neighbours",
    "Numeric",
    "Schema",
    "__version__",
    "networks",
    "read",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpcausal' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"dpcausal.{name}") if home == "dpcausal" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
