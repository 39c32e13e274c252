"""Discovery with scikit-learn's conventions: ``fit``, ``get_params``, ``set_params``, results that end in ``_``.

Thin classes over ``dc.discover``; scikit-learn itself is not needed and not imported. What they add is the reading of
frames and arrays with a declared schema. Errors on shapes and types follow scikit-learn's wording, errors on values
do not exist: a missing or odd cell is mapped as the schema says, since an error would tell about a row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpcausal.estimators.base import Estimator

if TYPE_CHECKING:
    from dpcausal.data.columns import Column
    from dpcausal.data.schema import Schema
    from dpcausal.discovery.knowledge import Edge
    from dpcausal.privacy.ledger import Ledger

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
