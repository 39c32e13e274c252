"""dpcausal: causal graphs and conditional independence tests under differential privacy.

Names are loaded when first used, so that ``import dpcausal`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from dpcausal._version import __version__
from dpcausal.core import display

if TYPE_CHECKING:
    from dpcausal import networks, testing
    from dpcausal.citests.ci_test import ci_test
    from dpcausal.citests.crt_models import LinearGaussian, TableModel
    from dpcausal.core.display import Display
    from dpcausal.core.errors import BudgetError, DpcausalError, InputError, LedgerError, SchemaError
    from dpcausal.core.neighbours import Neighbours
    from dpcausal.data.columns import Categorical, Numeric
    from dpcausal.data.dataset import Dataset
    from dpcausal.data.read import ColumnsIgnored, read
    from dpcausal.data.schema import Schema
    from dpcausal.discovery.discover import discover
    from dpcausal.estimators import PC, CuratePC, EmPC, MeasuredPC, MomentsPC, PrivPC, SvtPC
    from dpcausal.graphs.graph import Graph
    from dpcausal.planning.plan import plan
    from dpcausal.privacy.budget import Budget

_HOMES = {
    "Budget": "dpcausal.privacy.budget",
    "BudgetError": "dpcausal.core.errors",
    "Categorical": "dpcausal.data.columns",
    "ColumnsIgnored": "dpcausal.data.read",
    "CuratePC": "dpcausal.estimators",
    "Dataset": "dpcausal.data.dataset",
    "DpcausalError": "dpcausal.core.errors",
    "EmPC": "dpcausal.estimators",
    "Graph": "dpcausal.graphs.graph",
    "InputError": "dpcausal.core.errors",
    "LedgerError": "dpcausal.core.errors",
    "LinearGaussian": "dpcausal.citests.crt_models",
    "MeasuredPC": "dpcausal.estimators",
    "MomentsPC": "dpcausal.estimators",
    "Neighbours": "dpcausal.core.neighbours",
    "Numeric": "dpcausal.data.columns",
    "PC": "dpcausal.estimators",
    "PrivPC": "dpcausal.estimators",
    "Schema": "dpcausal.data.schema",
    "SchemaError": "dpcausal.core.errors",
    "SvtPC": "dpcausal.estimators",
    "TableModel": "dpcausal.citests.crt_models",
    "ci_test": "dpcausal.citests.ci_test",
    "discover": "dpcausal.discovery.discover",
    "networks": "dpcausal",
    "plan": "dpcausal.planning.plan",
    "read": "dpcausal.data.read",
    "testing": "dpcausal",
}

__all__ = [
    "PC",
    "Budget",
    "BudgetError",
    "Categorical",
    "ColumnsIgnored",
    "CuratePC",
    "Dataset",
    "DpcausalError",
    "EmPC",
    "Graph",
    "InputError",
    "LedgerError",
    "LinearGaussian",
    "MeasuredPC",
    "MomentsPC",
    "Neighbours",
    "Numeric",
    "PrivPC",
    "Schema",
    "SchemaError",
    "SvtPC",
    "TableModel",
    "__version__",
    "ci_test",
    "discover",
    "networks",
    "plan",
    "read",
    "testing",
]


def _present() -> Display:
    """Load the room of words and pictures."""
    room: Any = import_module("dpcausal.present.display")
    return cast("Display", room)


display.register(_present)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpcausal' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"dpcausal.{name}") if home == "dpcausal" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
