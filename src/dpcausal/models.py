"""Models for the conditional randomisation test: what is known about the law of x given the other columns.

``ci_test(method="crt", model=...)`` draws copies of x from one of these. They are public knowledge, from other data or
from the design of a study; a model fitted to the rows at hand would not be covered by the guarantee. A private test
refuses a data set that ``fit`` was given, or a part of it. It knows them by their place in memory, since comparing
values would tell about the rows: a copy, or the same file read again, it can't know.

>>> from dpcausal.models import LinearGaussian
>>> LinearGaussian(80.0, {"age": 0.5}, sd=12.0).sd
12.0
"""

from dpcausal.citests.crt_models import LinearGaussian, TableModel

__all__ = ["LinearGaussian", "TableModel"]
