"""Discovery with scikit-learn's conventions: ``fit``, ``get_params``, ``set_params``, results that end in ``_``.

Thin classes over ``dc.discover``, one for each method; scikit-learn itself is not needed and not imported. Options of a
method are parameters of its class, taken from the method's own description. What the classes add is the reading of
frames and arrays with a declared schema. Errors on shapes and types follow scikit-learn's wording, errors on values do
not exist: a missing or odd cell is mapped as the schema says, since an error would tell about a row.

**Input of** ``fit``. Only shapes, types and names are looked at, never a value. An array has one type, which is public.
A list of rows has none: numpy would choose one that holds all cells, and one row would change how the others are read
(0.5 makes 2^53 + 1 an even number). So every cell of it stays the object it is. How many columns there are is what the
schema declares, for no row may decide it; a row that is shorter is filled up with missing values, one that is longer is
cut, as in a CSV file, and what is no row at all is a missing one.
"""

from __future__ import annotations

import functools
import inspect
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import read
from dpcausal.data.schema import Schema
from dpcausal.data.sources import ColumnSource, open_source
from dpcausal.discovery.discover import METHODS, discover

if TYPE_CHECKING:
    from dpcausal.core.neighbours import Neighbours
    from dpcausal.core.statement import PrivacyStatement
    from dpcausal.discovery.knowledge import Edge, Pair
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.graphs.graph import Graph
    from dpcausal.privacy.ledger import Ledger

__all__ = ["PC", "CuratePC", "EmPC", "MeasuredPC", "MomentsPC", "PrivPC", "SvtPC"]

MIN_COLUMNS = 2  # in a graph


def as_data(X: Any, schema: Schema | Column | None) -> tuple[Dataset, bool]:
    """Return the rows as a ``Dataset``, and whether its columns had names."""
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
    """Return columns by name, and whether the names are their own. Only shapes and types are looked at."""
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
        return _rows(list(X), schema), False
    values = np.asarray(X)
    if values.ndim != 2:
        raise _not_two(values.ndim)
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported")
    _check_shape(values.shape)
    return _named([values[:, i] for i in range(values.shape[1])], schema), False


def _untyped(X: Any) -> bool:
    """Return whether it is a list, or acts like one, whose cells have no type in common."""
    typed = isinstance(X, str | bytes | bytearray | memoryview | array) or any(
        hasattr(X, name) for name in ("__array__", "__array_interface__", "__array_struct__")
    )
    return not typed and hasattr(X, "__len__") and hasattr(X, "__getitem__")


def _rows(rows: list[Any], schema: Schema | Column | None) -> dict[str, list[Any]]:
    """Return the columns of a list of rows by their declared names, cells untouched."""
    if not isinstance(schema, Schema):
        raise InputError(
            "a list of rows needs a Schema that declares its columns: give that, or an array, whose shape is public"
        )
    _check_shape((len(rows), len(schema)))
    missing = [None] * len(schema)
    whole = [((_cells(row) or []) + missing)[: len(schema)] for row in rows]
    return {name: [row[i] for row in whole] for i, name in enumerate(schema)}


def _cells(row: Any) -> list[Any] | None:
    """Return the cells of a row; None for what has none, such as a text, which is a cell itself.

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
    if shape[1] < MIN_COLUMNS:
        rows = shape[0] if shape[0] >= 0 else "n"
        raise InputError(
            f"found {shape[1]} feature(s) (shape=({rows}, {shape[1]})) while a minimum of {MIN_COLUMNS} is required."
        )


def _with_own_options(init: Callable[..., None], own: Mapping[str, Any]) -> Callable[..., None]:
    """Return a constructor that takes the parameters of ``init`` and the options of a method, by their own names."""

    @functools.wraps(init)
    def constructor(self: Estimator, *args: Any, **given: Any) -> None:
        init(self, *args, **{name: value for name, value in given.items() if name not in own})
        for name, default in own.items():
            setattr(self, name, given.get(name, default))

    shared = inspect.signature(init)
    kept = [one for one in shared.parameters.values() if one.kind is not one.VAR_KEYWORD]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=own[name]) for name in own]
    constructor.__signature__ = shared.replace(parameters=[*kept, *more])  # type: ignore[attr-defined]
    return constructor


class Estimator:
    """What every estimator shares: parameters as attributes of the same names, and ``fit``.

    A class that names its ``method`` gets the options of that method as parameters, with their defaults.
    """

    method: ClassVar[str]

    result_: DiscoveryResult
    causal_graph_: Graph
    skeleton_: frozenset[Pair]
    privacy_: PrivacyStatement
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "method" in vars(cls):
            cls.__init__ = _with_own_options(cls.__init__, METHODS[cls.method].options)  # type: ignore[method-assign]

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Return the parameters by name, with their defaults."""
        parameters = inspect.signature(cls.__init__).parameters
        return {name: one.default for name, one in parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default True
            Makes no difference: no parameter is an estimator itself.

        Returns
        -------
        dict
            Values by name.
        """
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name.

        Parameters
        ----------
        **params
            New values by name.

        Returns
        -------
        Self
            The estimator itself.

        Raises
        ------
        InputError
            If there is no parameter of that name; the message names the nearest.
        """
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}{did_you_mean(name, known)}"
                )
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the graph of ``X``.

        Parameters
        ----------
        X : Dataset, frame, table, dict or 2-D array
            The rows: a ``Dataset``, a pandas or polars frame, an Arrow table, a dict of columns, a 2-D array or a list
            of rows. Columns of an array, or of a list of rows, are those of the schema, in its order; a list of rows
            needs a ``Schema``.
        y : None
            There for pipelines, and ignored.

        Returns
        -------
        Self
            The estimator itself, with ``causal_graph_``, ``skeleton_``, ``privacy_``, ``result_``, ``n_features_in_``
            and, where the columns of ``X`` had names, ``feature_names_in_``.

        Raises
        ------
        InputError
            If ``X`` or a parameter can't be used as given; nothing was charged.
        BudgetError
            If the ledger does not allow it; nothing was released.
        """
        given = self.get_params()
        data, named = as_data(X, given.pop("schema"))
        more = given.pop("options") or {}
        known = {name: given.pop(name) or () for name in ("required", "forbidden", "tiers")}
        result = discover(data, **{"method": self.method, "epsilon": None, **given, **known, **more})
        self.result_ = result
        self.causal_graph_ = result.graph
        self.skeleton_ = result.graph.skeleton
        self.privacy_ = result.privacy
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
        """Show what differs from the defaults; of a ledger's address no login, for it may hold a password."""
        from dpcausal.core.redact import ledger_name

        defaults = self._defaults()
        changed = {name: value for name, value in self.get_params().items() if value is not defaults[name]}
        if "ledger" in changed and not hasattr(changed["ledger"], "charge"):
            changed["ledger"] = ledger_name(str(changed["ledger"]))
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    def _repr_html_(self) -> str:
        from html import escape

        return self.result_._repr_html_() if hasattr(self, "result_") else f"<pre>{escape(repr(self))}</pre>"


class PrivateEstimator(Estimator):
    """What the private estimators share: their parameters.

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP; a second ``fit`` on the same rows costs again (a
    ledger adds them up). Cross-validation and grid searches refit, and cost once for every fit.

    Parameters
    ----------
    schema : Schema, Numeric, Categorical or None, default None
        What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``.
    epsilon : float, default 1.0
        What each ``fit`` may cost.
    delta, level, neighbours, max_order, required, forbidden, tiers, ledger, dataset
        As in ``dc.discover``, with the same defaults; None stands for no background knowledge.
    options : mapping or None, default None
        Options for the test that a method asks, where it passes options on.
    **own
        Options of the method, by their own names.
    """

    def __init__(
        self,
        schema: Schema | Column | None = None,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        level: float = 0.05,
        neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
        max_order: int | None = None,
        required: Iterable[Edge] | None = None,
        forbidden: Iterable[Edge] | None = None,
        tiers: Sequence[Collection[str]] | None = None,
        ledger: str | Ledger | None = None,
        dataset: str | None = None,
        options: Mapping[str, Any] | None = None,
        **own: Any,
    ) -> None:
        _keep(self, locals(), own)


def _keep(estimator: Estimator, given: Mapping[str, Any], unknown: Mapping[str, Any]) -> None:
    """Keep every parameter as it was given, under its own name, as scikit-learn asks; refuse unknown ones."""
    if unknown:
        name = type(estimator).__name__
        raise TypeError(f"{name}.__init__() got an unexpected keyword argument {next(iter(unknown))!r}")
    for name in estimator._defaults():
        if name in given:
            setattr(estimator, name, given[name])


class MeasuredPC(PrivateEstimator):
    """PC on tables of counts, measured once with noise.

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP; a second ``fit`` on the same rows costs again.

    Parameters
    ----------
    schema : Schema, Numeric, Categorical or None, default None
        What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``.
    epsilon, delta : float, default 1.0 and 0.0
        What each ``fit`` may cost.
    level, neighbours, max_order, required, forbidden, tiers, ledger, dataset
        As in ``dc.discover``, with the same defaults.
    options : mapping or None, default None
        More options of the method, by name.
    confidence : int or None, default None
        How many times to repeat the search on other samples and other noise, to say how often each edge is found
        again; None is 20 to 100.
    target : str or None, default None
        The one column that the question is about.
    latent : bool, default False
        Whether common causes may be hidden; ``causal_graph_`` is then a ``PAG``.

    Attributes
    ----------
    causal_graph_, skeleton_, privacy_, result_, n_features_in_, feature_names_in_
        After ``fit``: the CPDAG, its skeleton, the privacy statement, the whole ``DiscoveryResult``, the number of
        columns, and their names where ``X`` had any.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.MeasuredPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "measured"


class MomentsPC(PrivateEstimator):
    """PC on a noisy matrix of moments, for numbers.

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP; a second ``fit`` on the same rows costs again.

    Parameters
    ----------
    schema : Schema, Numeric, Categorical or None, default None
        What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``.
    epsilon, delta : float, default 1.0 and 0.0
        What each ``fit`` may cost.
    level, neighbours, max_order, required, forbidden, tiers, ledger, dataset
        As in ``dc.discover``, with the same defaults.
    options : mapping or None, default None
        More options of the method, by name.
    confidence : int or None, default None
        How many times to repeat the search on other samples and other noise, to say how often each edge is found
        again; None is 20 to 100.
    harmonics : int or None, default None
        How many pairs of cosine and sine stand for each numeric column, 0 to 8; None is as many as noise allows.
    reach : float or None, default None
        The length that rows of features are shrunk to; None chooses it privately.
    stable : bool, default True
        Whether the answers of one order are used only after it; False is the original search.
    latent : bool, default False
        Whether common causes may be hidden; ``causal_graph_`` is then a ``PAG``.

    Attributes
    ----------
    causal_graph_, skeleton_, privacy_, result_, n_features_in_, feature_names_in_
        After ``fit``: the CPDAG, its skeleton, the privacy statement, the whole ``DiscoveryResult``, the number of
        columns, and their names where ``X`` had any.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.MomentsPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "moments"


class PrivPC(PrivateEstimator):
    """Priv-PC: a noisy threshold finds candidates for deletion, a second noisy look confirms each.

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP; a second ``fit`` on the same rows costs again.

    Parameters
    ----------
    schema : Schema, Numeric, Categorical or None, default None
        What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``.
    epsilon, delta : float, default 1.0 and 0.0
        What each ``fit`` may cost.
    level, neighbours, max_order, required, forbidden, tiers, ledger, dataset
        As in ``dc.discover``, with the same defaults.
    options : mapping or None, default None
        More options of the method, by name.
    hits : int or None, default None
        The largest number of pairs to look at twice; None is the number of all pairs.
    share : float, default 0.5
        The share of the budget that goes to the threshold.
    subsample : int, "optimal" or None, default None
        How many rows, drawn at random, the threshold sees; None is all of them.
    stable : bool, default True
        Whether the answers of one order are used only after it; False is the original search.
    on : str, default 'values'
        Whether numeric columns are compared by their values, or by their declared bins ("table").
    test : str, default 'kendall'
        The statistic whose score is held against the threshold: "kendall", "spearman", "chi2" or "g".
    tweak : float or None, default None
        How far below the second look's threshold the first one's lies, in scales of its noise; None gives each look a
        shift that is made for its own noise.

    Attributes
    ----------
    causal_graph_, skeleton_, privacy_, result_, n_features_in_, feature_names_in_
        After ``fit``: the CPDAG, its skeleton, the privacy statement, the whole ``DiscoveryResult``, the number of
        columns, and their names where ``X`` had any.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.PrivPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "priv-pc"


class SvtPC(PrivateEstimator):
    """PC by the sparse vector technique: only edges that are deleted cost.

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP; a second ``fit`` on the same rows costs again.

    Parameters
    ----------
    schema : Schema, Numeric, Categorical or None, default None
        What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``.
    epsilon, delta : float, default 1.0 and 0.0
        What each ``fit`` may cost.
    level, neighbours, max_order, required, forbidden, tiers, ledger, dataset
        As in ``dc.discover``, with the same defaults.
    options : mapping or None, default None
        More options of the method, by name.
    positives : int or None, default None
        The largest number of deletions to pay for; None is the number of all pairs.
    stable : bool, default True
        Whether the answers of one order are used only after it; False is the original search.
    on : str, default 'values'
        Whether numeric columns are compared by their values, or by their declared bins ("table").
    test : str, default 'kendall'
        The statistic whose score is held against the threshold: "kendall", "spearman", "chi2" or "g".

    Attributes
    ----------
    causal_graph_, skeleton_, privacy_, result_, n_features_in_, feature_names_in_
        After ``fit``: the CPDAG, its skeleton, the privacy statement, the whole ``DiscoveryResult``, the number of
        columns, and their names where ``X`` had any.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.SvtPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "svt-pc"


class EmPC(PrivateEstimator):
    """PC by the exponential mechanism, which chooses how many edges are deleted, and which.

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP; a second ``fit`` on the same rows costs again.

    Parameters
    ----------
    schema : Schema, Numeric, Categorical or None, default None
        What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``.
    epsilon, delta : float, default 1.0 and 0.0
        What each ``fit`` may cost.
    level, neighbours, max_order, required, forbidden, tiers, ledger, dataset
        As in ``dc.discover``, with the same defaults.
    options : mapping or None, default None
        More options of the method, by name.
    orders : int or None, default None
        For how many orders (sizes of the conditioning set) budget is set aside; None is all that there can be.

    Attributes
    ----------
    causal_graph_, skeleton_, privacy_, result_, n_features_in_, feature_names_in_
        After ``fit``: the CPDAG, its skeleton, the privacy statement, the whole ``DiscoveryResult``, the number of
        columns, and their names where ``X`` had any.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.EmPC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "em-pc"


class CuratePC(PrivateEstimator):
    """CURATE: every question gets a noisy score, at a price that is planned anew for each order.

    **Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP; a second ``fit`` on the same rows costs again.

    Parameters
    ----------
    schema : Schema, Numeric, Categorical or None, default None
        What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``.
    epsilon, delta : float, default 1.0 and 0.0
        What each ``fit`` may cost.
    level, neighbours, max_order, required, forbidden, tiers, ledger, dataset
        As in ``dc.discover``, with the same defaults.
    options : mapping or None, default None
        More options of the method, by name.
    margins : pair of float, default (0.1, 0.1)
        How far below and above zero, in noise scales, a coin decides instead of the score.
    margins_of : str, default 'noise'
        What the margins are shares of: the scale of the noise, or the threshold ("threshold"), as the paper has them.
    stable : bool, default True
        Whether the answers of one order are used only after it; False is the original search.

    Attributes
    ----------
    causal_graph_, skeleton_, privacy_, result_, n_features_in_, feature_names_in_
        After ``fit``: the CPDAG, its skeleton, the privacy statement, the whole ``DiscoveryResult``, the number of
        columns, and their names where ``X`` had any.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(20_000, seed=1)
    >>> found = dc.CuratePC(epsilon=2.0, delta=1e-6).fit(data)
    >>> found.n_features_in_, found.privacy_.epsilon <= 2.0
    (5, True)
    """

    method = "curate"


class PC(Estimator):
    """The classical PC algorithm. It is **not private**, and its statement says so.

    Parameters
    ----------
    schema : Schema, Numeric, Categorical or None, default None
        What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``.
    level, max_order, required, forbidden, tiers
        As in ``dc.discover``, with the same defaults.
    options : mapping or None, default None
        Options of the test.
    test : str or None, default None
        The test that answers, as in ``ci_test(method=...)``, or "moments"; None chooses by the schema.
    stable : bool, default True
        Whether the answers of one order are used only after it; False is the original search.
    latent : bool, default False
        Whether common causes may be hidden; ``causal_graph_`` is then a ``PAG``.

    Attributes
    ----------
    causal_graph_, skeleton_, privacy_, result_, n_features_in_, feature_names_in_
        After ``fit``, as for the private estimators.

    Examples
    --------
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
        **own: Any,
    ) -> None:
        _keep(self, locals(), own)
