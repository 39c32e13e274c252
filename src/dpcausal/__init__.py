"""dpcausal: causal graphs and conditional independence tests under differential privacy.

- Declare the columns (``Schema``, ``Categorical``, ``Numeric``, ``Date``) and read the rows (``read``, ``Dataset``);
  ``check`` says beforehand, on your own machine, what becomes of them.
- Learn a graph (``discover``, ``DiscoveryResult``, ``Graph``, ``PAG``) or test one question (``ci_test``,
  ``CITestResult``), or say first what a test will find (``forecast_ci_test``, ``CITestForecast``).
- Several sites, one graph (``protocol``, ``Protocol``, ``contribute``, ``Contribution``, ``pool``): each site releases
  noisy tables, and no row leaves it.
- Search what was released again at no cost, with other background knowledge (``load_release``, ``Release``).
- Estimate an effect (``effect``, ``EffectResult``): how much a treatment changes an outcome, others held fixed; or say
  first how wide its interval will be (``forecast_effect``, ``EffectForecast``).
- Plan a budget before any data is touched (``plan``, ``Plan``, ``PowerForecast``), keep one per data set (``Ledger``,
  ``Budget``), see what was promised (``PrivacyStatement``, ``Neighbours``) and what releases cost together
  (``compose``).
- Ask where you may not hold the rows: a custodian's desk (``remote``), with ``dummy`` rows to try a script on.
- ``estimators`` for scikit-learn, ``models`` for tests with a known law, ``gwas`` for genotypes, ``networks`` for
  simulated data, ``testing`` for repeatable runs that are not private.

Names are loaded when first used, so that ``import dpcausal`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from dpcausal._version import __version__
from dpcausal.core import display

if TYPE_CHECKING:
    from dpcausal import estimators, gwas, models, networks, testing
    from dpcausal.citests.ci_test import ci_test
    from dpcausal.citests.forecast import CITestForecast, forecast_ci_test
    from dpcausal.citests.result import CITestResult
    from dpcausal.core.display import Display
    from dpcausal.core.errors import (
        BudgetError,
        DpcausalError,
        EngineError,
        InputError,
        LedgerError,
        SchemaError,
    )
    from dpcausal.core.forecast import PowerForecast, UnderpoweredError
    from dpcausal.core.neighbours import Neighbours
    from dpcausal.core.statement import PrivacyStatement
    from dpcausal.counts.connect import connect
    from dpcausal.counts.connect_codes import connect_codes
    from dpcausal.data.check import check
    from dpcausal.data.codes import read_codes
    from dpcausal.data.columns import Categorical, Numeric
    from dpcausal.data.dataset import Dataset
    from dpcausal.data.dates import Date
    from dpcausal.data.person_unit import UnitNotDeclared
    from dpcausal.data.read import ColumnsIgnored, DecimalNotDeclared, DraftSchema, read
    from dpcausal.data.schema import Schema
    from dpcausal.desk.client import remote
    from dpcausal.discovery.discover import NoDelta, discover
    from dpcausal.discovery.release import Release, load_release
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.effects.adjustment import AdjustsForDescendant, LeavesBackDoorOpen
    from dpcausal.effects.effect import effect, forecast_effect
    from dpcausal.effects.forecast import EffectForecast
    from dpcausal.effects.result import EffectResult
    from dpcausal.effects.survival import Survival
    from dpcausal.estimators import PC, CodesPC, CuratePC, EmPC, MeasuredPC, MomentsPC, PrivPC, SvtPC
    from dpcausal.graphs.graph import Graph
    from dpcausal.graphs.pag import PAG
    from dpcausal.models import LinearGaussian, TableModel
    from dpcausal.networks.dummy import dummy
    from dpcausal.planning.plan import Plan, plan
    from dpcausal.privacy.accounting.pld import compose
    from dpcausal.privacy.budget import Budget
    from dpcausal.privacy.ledger.store import Ledger
    from dpcausal.sites.contribute import Contribution, contribute
    from dpcausal.sites.pool import pool
    from dpcausal.sites.protocol import Protocol, protocol

_HOMES = {
    "AdjustsForDescendant": "dpcausal.effects.adjustment",
    "Budget": "dpcausal.privacy.budget",
    "BudgetError": "dpcausal.core.errors",
    "CITestForecast": "dpcausal.citests.forecast",
    "CITestResult": "dpcausal.citests.result",
    "Categorical": "dpcausal.data.columns",
    "ColumnsIgnored": "dpcausal.data.read",
    "DecimalNotDeclared": "dpcausal.data.read",
    "UnitNotDeclared": "dpcausal.data.person_unit",
    "Contribution": "dpcausal.sites.contribute",
    "CodesPC": "dpcausal.estimators",
    "CuratePC": "dpcausal.estimators",
    "Dataset": "dpcausal.data.dataset",
    "Date": "dpcausal.data.dates",
    "DiscoveryResult": "dpcausal.discovery.result",
    "DpcausalError": "dpcausal.core.errors",
    "DraftSchema": "dpcausal.data.read",
    "EffectForecast": "dpcausal.effects.forecast",
    "EffectResult": "dpcausal.effects.result",
    "EmPC": "dpcausal.estimators",
    "EngineError": "dpcausal.core.errors",
    "Graph": "dpcausal.graphs.graph",
    "UnderpoweredError": "dpcausal.core.forecast",
    "InputError": "dpcausal.core.errors",
    "LeavesBackDoorOpen": "dpcausal.effects.adjustment",
    "Ledger": "dpcausal.privacy.ledger.store",
    "LedgerError": "dpcausal.core.errors",
    "LinearGaussian": "dpcausal.models",
    "MeasuredPC": "dpcausal.estimators",
    "MomentsPC": "dpcausal.estimators",
    "Neighbours": "dpcausal.core.neighbours",
    "NoDelta": "dpcausal.discovery.discover",
    "Numeric": "dpcausal.data.columns",
    "PAG": "dpcausal.graphs.pag",
    "PC": "dpcausal.estimators",
    "Plan": "dpcausal.planning.plan",
    "PowerForecast": "dpcausal.core.forecast",
    "PrivPC": "dpcausal.estimators",
    "PrivacyStatement": "dpcausal.core.statement",
    "Protocol": "dpcausal.sites.protocol",
    "Release": "dpcausal.discovery.release",
    "Schema": "dpcausal.data.schema",
    "SchemaError": "dpcausal.core.errors",
    "Survival": "dpcausal.effects.survival",
    "SvtPC": "dpcausal.estimators",
    "TableModel": "dpcausal.models",
    "check": "dpcausal.data.check",
    "ci_test": "dpcausal.citests.ci_test",
    "compose": "dpcausal.privacy.accounting.pld",
    "connect": "dpcausal.counts.connect",
    "contribute": "dpcausal.sites.contribute",
    "discover": "dpcausal.discovery.discover",
    "dummy": "dpcausal.networks.dummy",
    "effect": "dpcausal.effects.effect",
    "estimators": "dpcausal",
    "forecast_ci_test": "dpcausal.citests.forecast",
    "forecast_effect": "dpcausal.effects.effect",
    "gwas": "dpcausal",
    "load_release": "dpcausal.discovery.release",
    "models": "dpcausal",
    "networks": "dpcausal",
    "plan": "dpcausal.planning.plan",
    "pool": "dpcausal.sites.pool",
    "protocol": "dpcausal.sites.protocol",
    "read": "dpcausal.data.read",
    "connect_codes": "dpcausal.counts.connect_codes",
    "read_codes": "dpcausal.data.codes",
    "remote": "dpcausal.desk.client",
    "testing": "dpcausal",
}

__all__ = [
    "PAG",
    "PC",
    "AdjustsForDescendant",
    "Budget",
    "BudgetError",
    "CITestForecast",
    "CITestResult",
    "Categorical",
    "CodesPC",
    "ColumnsIgnored",
    "Contribution",
    "CuratePC",
    "Dataset",
    "Date",
    "DecimalNotDeclared",
    "DiscoveryResult",
    "DpcausalError",
    "DraftSchema",
    "EffectForecast",
    "EffectResult",
    "EmPC",
    "EngineError",
    "Graph",
    "InputError",
    "LeavesBackDoorOpen",
    "Ledger",
    "LedgerError",
    "LinearGaussian",
    "MeasuredPC",
    "MomentsPC",
    "Neighbours",
    "NoDelta",
    "Numeric",
    "Plan",
    "PowerForecast",
    "PrivPC",
    "PrivacyStatement",
    "Protocol",
    "Release",
    "Schema",
    "SchemaError",
    "Survival",
    "SvtPC",
    "TableModel",
    "UnderpoweredError",
    "UnitNotDeclared",
    "__version__",
    "check",
    "ci_test",
    "compose",
    "connect",
    "connect_codes",
    "contribute",
    "discover",
    "dummy",
    "effect",
    "estimators",
    "forecast_ci_test",
    "forecast_effect",
    "gwas",
    "load_release",
    "models",
    "networks",
    "plan",
    "pool",
    "protocol",
    "read",
    "read_codes",
    "remote",
    "testing",
]


_COMMANDS = {  # of the command line, where Python has another name
    "test": "dc.ci_test",
    "again": "dc.load_release(path).discover",
    "schema": "dc.Schema.draft",
    "ledger": "dc.Ledger",
}


def _present() -> Display:
    """Import the package ``present`` and return its interface, which makes words and pictures."""
    room: Any = import_module("dpcausal.present.display")
    return cast("Display", room)


display.register(_present)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        instead = _COMMANDS.get(name)
        hint = f"; the command {name!r} is {instead} in Python" if instead else ""
        raise AttributeError(f"module 'dpcausal' has no attribute {name!r}{hint}")
    home = _HOMES[name]
    value = import_module(f"dpcausal.{name}") if home == "dpcausal" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
