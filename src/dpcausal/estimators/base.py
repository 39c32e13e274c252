"""The one estimator: what ``dc.discover`` and a method say about their parameters, as a scikit-learn class."""

from __future__ import annotations

import inspect
import re
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcausal.core.arguments import REQUIRED, refuse_missing_epsilon
from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.discovery.discover import METHODS, MethodName, discover
from dpcausal.estimators.frames import as_data

if TYPE_CHECKING:
    from dpcausal.core.statement import PrivacyStatement
    from dpcausal.data.columns import Column
    from dpcausal.data.schema import Schema
    from dpcausal.discovery.knowledge import Pair
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.discovery.search import Method
    from dpcausal.graphs.graph import Graph

Parameter = inspect.Parameter

OF_DISCOVER = {
    name: one
    for name, one in inspect.signature(discover).parameters.items()
    if one.kind is Parameter.KEYWORD_ONLY and name not in ("method", "plan")  # a plan has terms of its own
}
OF_PRIVACY = {"epsilon", "delta", "neighbours", "ledger", "dataset", "anyway", "effect", "reserve"}
SCHEMA = Parameter(
    "schema", Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="Schema | Column | None"
)
OPTIONS = Parameter("options", Parameter.KEYWORD_ONLY, default=None, annotation="Mapping[str, Any] | None")

SCHEMA_ENTRY = """\
schema : Schema, Numeric, Categorical or None, default None
    What the columns are; one ``Numeric`` or ``Categorical`` is for all columns. Not needed for a ``Dataset``."""
OPTIONS_ENTRY = """\
options : mapping or None, default None
    Options of the test that answers, by name."""
PRIVATE = """\
**Guarantee**: each ``fit`` is one release, (epsilon, delta)-DP for ``neighbours``; a second ``fit`` on the same rows
costs again (a ledger adds them up). Cross-validation and grid searches refit, and cost once for every fit."""
NOT_PRIVATE = "It is **not private**, and its statement says so."
DOCSTRING = """\
{summary}.

{guarantee}

``fit`` calls ``dc.discover(data, method="{method}", ...)``: defaults, warnings and errors are those of that function.

Parameters
----------
{parameters}

Attributes
----------
causal_graph_, skeleton_, privacy_, result_, n_features_in_, feature_names_in_
    After ``fit``: the CPDAG (a ``PAG`` where causes may be hidden), its skeleton, the privacy statement, the whole
    ``DiscoveryResult``, the number of columns, and their names where ``X`` had any.

Examples
--------
>>> import dpcausal as dc
>>> data = dc.networks.load("cancer").sample(20_000, seed=1)
>>> found = dc.{name}({example}).fit(data)
>>> found.n_features_in_, found.privacy_.private
(5, {private})"""


def parameters_of(method: Method) -> dict[str, Parameter]:
    """Return the parameters of a method's estimator by name: schema, those of ``discover``, and its own."""
    shared = [one for name, one in OF_DISCOVER.items() if method.private or name not in OF_PRIVACY]
    own = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=default,
            annotation=method.option_types[name].__origin__,
        )
        for name, default in method.options.items()
    ]
    passed_on = [OPTIONS] if method.passes_options else []
    return {one.name: one for one in (SCHEMA, *shared, *own, *passed_on)}


def docstring_of(name: str, method: Method) -> str:
    """Return the docstring of the estimator of a method, made from those of the method and of ``discover``."""
    text = inspect.getdoc(discover) or ""
    section = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    entries = {entry.split()[0]: entry for entry in re.split(r"\n(?=\S)", section) if entry}
    entries |= {"schema": SCHEMA_ENTRY, "options": OPTIONS_ENTRY}
    parameters = parameters_of(method)
    for option, line in method.option_lines.items():
        kind = inspect.formatannotation(parameters[option].annotation)
        sentence = fill(f"{line[0].upper()}{line[1:]}.", 116, initial_indent="    ", subsequent_indent="    ")
        entries[option] = f"{option} : {kind}, default {method.options[option]!r}\n{sentence}"
    return DOCSTRING.format(
        name=name,
        method=method.name,
        summary=method.description[0].upper() + method.description[1:],
        guarantee=PRIVATE if method.private else NOT_PRIVATE,
        parameters="\n".join(entries[one] for one in parameters if one in entries),
        example="epsilon=2.0, delta=1e-6" if method.private else "level=0.01",
        private=method.private,
    )


class Estimator:
    """Base of all estimators: parameters as attributes of the same names, and ``fit``.

    A class that names its ``method`` gets its parameters, their defaults and its docstring from it.
    """

    method: ClassVar[MethodName]
    _defaults: ClassVar[dict[str, Any]]

    result_: DiscoveryResult
    causal_graph_: Graph
    skeleton_: frozenset[Pair]
    privacy_: PrivacyStatement
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "method" not in vars(cls):
            return
        method = METHODS[cls.method]
        parameters = parameters_of(method)

        def __init__(self: Estimator, schema: Schema | Column | None = None, **given: Any) -> None:
            Estimator.__init__(self, schema, **given)

        shown = [
            one.replace(default=Parameter.empty) if one.default is REQUIRED else one
            for one in parameters.values()
        ]
        this = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        __init__.__signature__ = inspect.Signature([this, *shown])  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]
        cls.__doc__ = docstring_of(cls.__name__, method)
        cls._defaults = {name: one.default for name, one in parameters.items()}

    def __init__(self, schema: Schema | Column | None = None, **given: Any) -> None:
        """Keep every parameter as it was given, under its own name, as scikit-learn asks; refuse unknown ones."""
        whole = {**self._defaults, **given, "schema": schema}
        refuse_missing_epsilon(whole.get("epsilon"), type(self).__name__, given, "dc.PC")
        self.set_params(**whole)

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
        return {name: getattr(self, name) for name in self._defaults}

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
        for name, value in params.items():
            if name not in self._defaults:
                hint = did_you_mean(name, self._defaults)
                raise InputError(f"{type(self).__name__} has no parameter {name!r}{hint}")
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
        given = {"epsilon": None, **self.get_params()}
        data, named = as_data(X, given.pop("schema"))
        for_test = given.pop("options", None) or {}
        taken = sorted(for_test.keys() & {"data", "method", *OF_DISCOVER, *given})
        if taken:
            raise InputError(f"options are those of the test that answers: {taken[0]!r} is none of them")
        result = discover(data, method=self.method, **given, **for_test)
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

        given = self.get_params()
        changed = {
            name: given[name]
            for name, default in self._defaults.items()
            if repr(given[name]) != repr(default)
        }
        if "ledger" in changed and not hasattr(changed["ledger"], "charge"):
            changed["ledger"] = ledger_name(str(changed["ledger"]))
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    def _repr_html_(self) -> str:
        """Return the result as HTML for a notebook; before ``fit`` the parameters."""
        from html import escape

        return self.result_._repr_html_() if hasattr(self, "result_") else f"<pre>{escape(repr(self))}</pre>"
