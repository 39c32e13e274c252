"""Parameters by name, and ``fit``: what every estimator shares."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.estimators.inputs import as_data

if TYPE_CHECKING:
    from dpcausal.core.statement import PrivacyStatement
    from dpcausal.discovery.knowledge import Pair
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.graphs.graph import Graph


class Estimator:
    """Parameters as attributes of the same names, and ``fit``."""

    method: ClassVar[str]

    result_: DiscoveryResult
    causal_graph_: Graph
    skeleton_: frozenset[Pair]
    privacy_: PrivacyStatement
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; ``deep`` makes no difference here."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name; an unknown one is an ``InputError`` that names the nearest."""
        for name, value in params.items():
            if name not in self._names():
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}{did_you_mean(name, self._names())}"
                )
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the graph of ``X``: a ``Dataset``, a pandas or polars frame, an Arrow table, a dict or a 2-D array.

        Columns of an array, or of a list of rows, are those of the schema, in its order. ``y`` is there for pipelines
        and is ignored.
        """
        from dpcausal.discovery.discover import discover

        data, named = as_data(X, self.get_params()["schema"])
        given = {
            name: value for name, value in self.get_params().items() if name not in ("schema", "options")
        }
        known: dict[str, Any] = {name: given.pop(name) or () for name in ("required", "forbidden", "tiers")}
        given.setdefault("epsilon", None)
        options = self.get_params()["options"] or {}
        self.result_ = discover(data, method=self.method, **given, **known, **options)
        self.causal_graph_ = self.result_.graph
        self.skeleton_ = self.result_.graph.skeleton
        self.privacy_ = self.result_.privacy
        self.n_features_in_ = len(data.columns)
        if named:
            self.feature_names_in_ = np.array(data.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:  # only scikit-learn calls this, so it is there
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(two_d_array=True, categorical=True, string=True, allow_nan=True)
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=inputs,
            non_deterministic=True,
        )

    def __repr__(self) -> str:
        """The parameters that are not the usual ones; of a ledger's address no login, which may hold a password."""
        from dpcausal.report.origin import ledger_name

        defaults = inspect.signature(type(self).__init__).parameters
        changed = {k: v for k, v in self.get_params().items() if v is not defaults[k].default}
        if "ledger" in changed and not hasattr(changed["ledger"], "charge"):
            changed["ledger"] = ledger_name(str(changed["ledger"]))
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    def _repr_html_(self) -> str:
        from html import escape

        return self.result_._repr_html_() if hasattr(self, "result_") else f"<pre>{escape(repr(self))}</pre>"
