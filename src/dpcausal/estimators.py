"""What ``fit`` is given, as a ``Dataset``. Only shapes, types and names are looked at, never a value.

An array has one type, which is public. A list of rows has none: numpy would choose one that holds all cells, and one
row would change how the others are read (0.5 makes 2^53 + 1 an even number). So every cell of it stays the object it
is. How many columns there are is the length of the first row, public like an array's shape; a row that is shorter is
filled up with missing values, one that is longer is cut, as in a CSV file, and what is no row at all is a missing one.

Parameters by name, and ``fit``: what every estimator shares.

Discovery with scikit-learn's conventions: ``fit``, ``get_params``, ``set_params``, results that end in ``_``.

Thin classes over ``dc.discover``; scikit-learn itself is not needed and not imported. What they add is the reading of
frames and arrays with a declared schema. Errors on shapes and types follow scikit-learn's wording, errors on values
do not exist: a missing or odd cell is mapped as the schema says, since an error would tell about a row.
"""

from __future__ import annotations

import inspect
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import read
from dpcausal.data.schema import Schema
from dpcausal.data.sources import ColumnSource, open_source

if TYPE_CHECKING:
    from dpcausal.core.statement import PrivacyStatement
    from dpcausal.data.columns import Column
    from dpcausal.data.schema import Schema
    from dpcausal.discovery.knowledge import Edge, Pair
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.graphs.graph import Graph
    from dpcausal.privacy.ledger import Ledger

LEAST = 2  # columns in a graph


def as_data(X: Any, schema: Schema | Column | None) -> tuple[Dataset, bool]:
    """The rows as a ``Dataset``, and whether its columns had names."""
    if isinstance(X, Dataset):
        return X, True
    source, named = _columns(X, schema)
    if schema is None:
        raise InputError(
            "a schema is needed: bounds and levels must be declared, they can't be read from rows"
        )
    if isinstance(schema, Numeric | Categorical):
        schema = Schema(dict.fromkeys(source, schema))
    if not isinstance(schema, Schema):
        raise InputError(f"schema must be a Schema, a Numeric or a Categorical, not {type(schema).__name__}")
    return read(source, schema), named


def _columns(X: Any, schema: Schema | Column | None) -> tuple[Mapping[str, Any], bool]:
    """Columns by name, and whether the names are their own. Only shapes and types are looked at."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InputError("sparse input is not supported: give a dense array or a frame")
    if (
        isinstance(X, Mapping)
        or (hasattr(X, "columns") and not isinstance(X, np.ndarray))
        or hasattr(X, "schema")
    ):
        found = open_source(X)
        if not isinstance(found, ColumnSource):
            raise InputError(f"can't fit on {type(X).__name__}: read it with dc.read first")
        _check_shape((-1, len(found.names)))
        return found.whole, True
    if _untyped(X):
        return _named(_split(list(X)), schema), False
    values = np.asarray(X)
    if values.ndim != 2:
        raise _not_two(values.ndim)
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported")
    _check_shape(values.shape)
    return _named([values[:, i] for i in range(values.shape[1])], schema), False


def _untyped(X: Any) -> bool:
    """Whether it is a list, or acts like one, whose cells have no type in common."""
    typed = isinstance(X, str | bytes | bytearray | memoryview | array) or any(
        hasattr(X, name) for name in ("__array__", "__array_interface__", "__array_struct__")
    )
    return not typed and hasattr(X, "__len__") and hasattr(X, "__getitem__")


def _split(rows: list[Any]) -> list[list[Any]]:
    """The columns of a list of rows, cells untouched."""
    first = _cells(rows[0]) if rows else None
    if first is None:
        raise _not_two(1)
    _check_shape((len(rows), len(first)))
    missing = [None] * len(first)
    whole = [((_cells(row) or []) + missing)[: len(first)] for row in rows]
    return [[row[i] for row in whole] for i in range(len(first))]


def _cells(row: Any) -> list[Any] | None:
    """The cells of a row; None for what has none, such as a text, which is a cell itself.

    Whatever the row's own code raises would tell that this row is there.
    """
    try:
        if isinstance(row, str | bytes | bytearray | Mapping):
            return None
        return list(np.asarray(row) if hasattr(row, "__array__") else row)  # an array's type is its own
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def _named(columns: Sequence[Any], schema: Schema | Column | None) -> dict[str, Any]:
    if isinstance(schema, Schema) and len(schema) != len(columns):
        raise InputError(f"the array has {len(columns)} columns, the schema declares {len(schema)}")
    names = list(schema) if isinstance(schema, Schema) else [f"x{i}" for i in range(len(columns))]
    return dict(zip(names, columns, strict=True))


def _not_two(dimensions: int) -> InputError:
    return InputError(f"expected a 2D array, got {dimensions}D: reshape it to (rows, columns)")


def _check_shape(shape: tuple[int, ...]) -> None:
    if shape[1] < LEAST:
        rows = shape[0] if shape[0] >= 0 else "n"
        raise InputError(
            f"found {shape[1]} feature(s) (shape=({rows}, {shape[1]})) while a minimum of {LEAST} is required."
        )


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
        from dpcausal.core.redact import ledger_name

        defaults = inspect.signature(type(self).__init__).parameters
        changed = {k: v for k, v in self.get_params().items() if v is not defaults[k].default}
        if "ledger" in changed and not hasattr(changed["ledger"], "charge"):
            changed["ledger"] = ledger_name(str(changed["ledger"]))
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    def _repr_html_(self) -> str:
        from html import escape

        return self.result_._repr_html_() if hasattr(self, "result_") else f"<pre>{escape(repr(self))}</pre>"


__all__ = [
    "PC",
    "CuratePC",
    "EmPC",
    "Estimator",
    "MeasuredPC",
    "MomentsPC",
    "PrivPC",
    "PrivateEstimator",
    "SvtPC",
]


class PrivateEstimator(Estimator):
    """What the private ones share: their parameters.

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP; a second ``fit`` on the same rows costs again (a
    ledger sums them). Cross-validation and grid searches refit: they cost once a fit.

    Parameters: ``schema`` declares the columns (a ``Schema``, or one ``Numeric`` or ``Categorical`` that all columns
    share; not needed for a ``Dataset``); ``options`` goes to the method; the others are those of ``dc.discover``.

    Attributes after ``fit``: ``causal_graph_`` (the CPDAG), ``skeleton_``, ``privacy_`` (the statement), ``result_``,
    ``n_features_in_``, and ``feature_names_in_`` where the columns of ``X`` had names.
    """

    def __init__(
        self,
        schema: Schema | Column | None = None,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        level: float = 0.05,
        neighbours: str = "replace-one",
        max_order: int | None = None,
        required: Iterable[Edge] | None = None,
        forbidden: Iterable[Edge] | None = None,
        tiers: Sequence[Collection[str]] | None = None,
        ledger: str | Ledger | None = None,
        dataset: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.delta = delta
        self.level = level
        self.neighbours = neighbours
        self.max_order = max_order
        self.required = required
        self.forbidden = forbidden
        self.tiers = tiers
        self.ledger = ledger
        self.dataset = dataset
        self.options = options


class MeasuredPC(PrivateEstimator):
    """PC on tables released with noise (``discovery/measured.py``).

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP. Parameters: ``schema`` (not needed for a
    ``Dataset``), ``options`` of the method, else those of ``dc.discover``. Attributes after ``fit``:
    ``causal_graph_``, ``skeleton_``, ``privacy_``, ``result_``; more in ``PrivateEstimator``.

    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.MeasuredPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "measured"


class MomentsPC(PrivateEstimator):
    """PC on a noisy matrix of moments, for numbers (``discovery/moments.py``).

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP. Parameters: ``schema`` (not needed for a
    ``Dataset``), ``options`` of the method, else those of ``dc.discover``. Attributes after ``fit``:
    ``causal_graph_``, ``skeleton_``, ``privacy_``, ``result_``; more in ``PrivateEstimator``.

    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.MomentsPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "moments"


class PrivPC(PrivateEstimator):
    """Priv-PC: sieve and examine (``discovery/priv_pc.py``).

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP. Parameters: ``schema`` (not needed for a
    ``Dataset``), ``options`` of the method, else those of ``dc.discover``. Attributes after ``fit``:
    ``causal_graph_``, ``skeleton_``, ``privacy_``, ``result_``; more in ``PrivateEstimator``.

    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.PrivPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "priv-pc"


class SvtPC(PrivateEstimator):
    """PC by the sparse vector technique (``discovery/svt_pc.py``).

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP. Parameters: ``schema`` (not needed for a
    ``Dataset``), ``options`` of the method, else those of ``dc.discover``. Attributes after ``fit``:
    ``causal_graph_``, ``skeleton_``, ``privacy_``, ``result_``; more in ``PrivateEstimator``.

    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.SvtPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "svt-pc"


class EmPC(PrivateEstimator):
    """PC by the exponential mechanism (``discovery/em_pc.py``).

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP. Parameters: ``schema`` (not needed for a
    ``Dataset``), ``options`` of the method, else those of ``dc.discover``. Attributes after ``fit``:
    ``causal_graph_``, ``skeleton_``, ``privacy_``, ``result_``; more in ``PrivateEstimator``.

    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.EmPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "em-pc"


class CuratePC(PrivateEstimator):
    """CURATE: a budget that adapts to the order (``discovery/curate.py``).

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP. Parameters: ``schema`` (not needed for a
    ``Dataset``), ``options`` of the method, else those of ``dc.discover``. Attributes after ``fit``:
    ``causal_graph_``, ``skeleton_``, ``privacy_``, ``result_``; more in ``PrivateEstimator``.

    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.CuratePC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "curate"


class PC(Estimator):
    """The classical PC algorithm. **Not private**: its statement says so.

    Attributes as for the private ones, with ``feature_names_in_`` where the columns of ``X`` had names.

    >>> import dpcausal as dc
    >>> PC(level=0.01).fit(dc.networks.load("cancer").sample(20_000, seed=1)).privacy_.private
    False
    """

    method = "pc"

    def __init__(
        self,
        schema: Schema | Column | None = None,
        *,
        level: float = 0.05,
        max_order: int | None = None,
        required: Iterable[Edge] | None = None,
        forbidden: Iterable[Edge] | None = None,
        tiers: Sequence[Collection[str]] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.schema = schema
        self.level = level
        self.max_order = max_order
        self.required = required
        self.forbidden = forbidden
        self.tiers = tiers
        self.options = options
