"""Discovery with scikit-learn's conventions: ``fit``, ``get_params``, ``set_params``, results that end in ``_``.

One class for each method of ``dc.discover``, which ``fit`` calls; scikit-learn itself is not needed and not imported. A
class names its method and nothing else: its parameters, their defaults and its docstring are those of ``dc.discover``
and of the method. What the classes add is that ``fit`` reads frames and arrays by a declared schema.
"""

from __future__ import annotations

from dpcausal.estimators.base import Estimator

__all__ = ["PC", "CodesPC", "CuratePC", "EmPC", "MeasuredPC", "MomentsPC", "PrivPC", "SvtPC"]


class MeasuredPC(Estimator):
    method = "measured"


class MomentsPC(Estimator):
    method = "moments"


class CodesPC(Estimator):
    method = "codes"


class PrivPC(Estimator):
    method = "priv-pc"


class SvtPC(Estimator):
    method = "svt-pc"


class EmPC(Estimator):
    method = "em-pc"


class CuratePC(Estimator):
    method = "curate"


class PC(Estimator):
    method = "pc"
