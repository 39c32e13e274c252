"""Laws of one column given others, for the conditional randomization test.

A law is public: written down from knowledge of the design, or fitted on **public or separate** rows. Fitted on the rows
that are tested it would be a release without noise, so nothing here ever sees those. Three ways to say it:

- a function ``draw(z, generator)``: z maps the names in ``given`` to arrays (numbers, or codes of levels); it returns
  one drawn x a row (numbers, or codes). It must treat every row by itself and must not fail, whatever the values;
- ``LinearGaussian``: x = intercept + sum slope z + N(0, sd^2);
- ``TableModel``: probabilities of the levels of x in every cell of given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.data.columns import MAX_ABS_BOUND, Categorical
from dpcausal.data.dataset import Dataset

if TYPE_CHECKING:
    from dpcausal.citests.base import Question

Floats = NDArray[np.float64]
Draw = Callable[[Mapping[str, NDArray[Any]], Any], NDArray[Any]]  # the second argument is a numpy generator


@runtime_checkable
class Model(Protocol):
    """A law of x given z that knows how to draw from a data set's z."""

    def check(self, question: Question, resampled: str) -> None:
        """Refuse a question that this law is not about, from public information only."""
        ...

    def draw(self, data: Dataset, generator: Any) -> NDArray[Any]:
        """Return one x for each row, drawn given that row's z."""
        ...


def numbers(data: Dataset, name: str) -> NDArray[Any]:
    """Return the values of a numeric column, else its codes."""
    return data.values[name] if name in data.values else data.codes[name]


@dataclass(frozen=True)
class FunctionModel:
    """A user's function as a law. Whatever it raises becomes one constant line, since it may depend on rows."""

    function: Draw
    given: tuple[str, ...]

    def check(self, question: Question, resampled: str) -> None:
        """Accept any question."""

    def draw(self, data: Dataset, generator: Any) -> NDArray[Any]:
        """Return what the function draws."""
        try:
            drawn = np.asarray(self.function({name: numbers(data, name) for name in self.given}, generator))
        except Exception:  # what went wrong may be in a row
            raise InputError("the model of crt failed: it must draw one value a row whatever z is") from None
        if drawn.shape != (data.n,) or drawn.dtype.kind not in "biuf":
            raise InputError("the model of crt must return one number (or code) a row")
        return drawn


@dataclass(frozen=True)
class LinearGaussian:
    """A linear law with normal errors: x = intercept + sum_j slopes[j] z_j + N(0, sd^2).

    Parameters
    ----------
    intercept : float
        The mean of x where every z is 0.
    slopes : mapping
        By the name of the conditioning column; the z of a categorical column is its code.
    sd : float
        Standard deviation of the error, above 0.

    Raises
    ------
    InputError
        If a number is beyond what products of values can hold, or ``sd`` is not above 0.

    Examples
    --------
    >>> LinearGaussian(0.5, {"age": 0.1}, sd=2.0).sd
    2.0
    """

    intercept: float
    slopes: Mapping[str, float]
    sd: float

    def __post_init__(self) -> None:
        wanted = (self.intercept, self.sd, *self.slopes.values())
        if not (all(abs(number) <= MAX_ABS_BOUND for number in wanted) and self.sd >= 1 / MAX_ABS_BOUND):
            raise InputError(
                f"a linear model needs numbers within {-MAX_ABS_BOUND:g} and {MAX_ABS_BOUND:g} and an sd above 0"
            )

    @classmethod
    def fit(cls, public: Dataset, x: str, given: Sequence[str] = ()) -> LinearGaussian:
        """Return the law fitted by least squares. Not private.

        Parameters
        ----------
        public
            Rows that are public, or separate from the rows that will be tested.
        x, given
            The column and what it is regressed on.
        """
        design = np.column_stack([np.ones(public.n), *(numbers(public, name) for name in given)])
        target = numbers(public, x).astype(np.float64)
        weights, *_ = np.linalg.lstsq(design, target, rcond=None)
        residuals = target - design @ weights
        sd = math.sqrt(float(residuals @ residuals) / max(public.n - design.shape[1], 1))
        return cls(float(weights[0]), dict(zip(given, map(float, weights[1:]), strict=True)), max(sd, 1e-12))

    def check(self, question: Question, resampled: str) -> None:
        """Refuse a question with other conditioning columns, or about a column without numbers."""
        if set(self.slopes) != set(question.given):
            raise InputError(
                f"the linear model is about {sorted(self.slopes)}, not about {list(question.given)}"
            )
        if resampled not in question.numeric:
            raise InputError(f'"{resampled}" is not numeric: use a TableModel')

    def mean(self, data: Dataset) -> Floats:
        """Return E[x] of every row."""
        mean = np.full(data.n, float(self.intercept))
        for name, slope in self.slopes.items():
            mean += slope * numbers(data, name)
        return mean

    def draw(self, data: Dataset, generator: Any) -> NDArray[Any]:
        """Return the mean plus a normal number for every row."""
        return np.asarray(self.mean(data) + self.sd * generator.standard_normal(data.n))


@dataclass(frozen=True, eq=False)
class TableModel:
    """A law of a categorical x: the probability of every level in every cell of ``given``.

    Parameters
    ----------
    given : tuple of str
        The conditioning columns. Columns of numbers take part by their declared bins.
    probabilities : array
        One axis for each column of ``given`` in their order, the last one for x; they sum to 1 over the last.

    Raises
    ------
    InputError
        If the axes do not fit, or the numbers are no probabilities.

    Examples
    --------
    >>> TableModel(("z",), np.array([[0.9, 0.1], [0.2, 0.8]])).probabilities.shape
    (2, 2)
    """

    given: tuple[str, ...]
    probabilities: Floats

    def __post_init__(self) -> None:
        table = np.asarray(self.probabilities, dtype=np.float64)
        fits = table.ndim == len(self.given) + 1 and table.size > 0 and bool((table >= 0).all())
        if not fits or not np.allclose(table.sum(axis=-1), 1.0, atol=1e-6):
            raise InputError(
                "a table model needs one axis per given column and one for x, summing to 1 over x"
            )
        object.__setattr__(self, "given", tuple(self.given))
        object.__setattr__(self, "probabilities", table)

    @classmethod
    def fit(cls, public: Dataset, x: str, given: Sequence[str] = (), smoothing: float = 0.5) -> TableModel:
        """Return the law of the frequencies in a table. Not private.

        Parameters
        ----------
        public
            Rows that are public, or separate from the rows that will be tested.
        x, given
            The column and what it is conditioned on.
        smoothing
            Added to the count of every cell.
        """
        table = np.full(public.sizes((*given, x)), float(smoothing))
        np.add.at(table, tuple(public.codes[name] for name in (*given, x)), 1.0)
        return cls(tuple(given), table / table.sum(axis=-1, keepdims=True))

    def check(self, question: Question, resampled: str) -> None:
        """Refuse a question with other conditioning columns, or other declared sizes."""
        if set(self.given) != set(question.given):
            raise InputError(f"the table model is about {list(self.given)}, not about {list(question.given)}")
        size = question.r if resampled == question.x else question.c
        cells = math.prod(self.probabilities.shape[:-1])
        if resampled in question.numeric or self.probabilities.shape[-1] != size or cells != question.k:
            raise InputError(f'the table model does not have the declared levels of "{resampled}" and given')

    def draw(self, data: Dataset, generator: Any) -> NDArray[Any]:
        """Return a level for every row, drawn by inversion."""
        if data.sizes(self.given) != self.probabilities.shape[:-1]:
            raise InputError(f"the table model does not have the declared sizes of {list(self.given)}")
        below = np.cumsum(self.probabilities, axis=-1)
        rows = below[tuple(data.codes[name] for name in self.given)] if self.given else below[None]
        return np.asarray((generator.random(data.n)[:, None] >= rows[:, :-1]).sum(axis=1))


def as_model(model: object, question: Question) -> Model:
    """Return ``model`` itself, or the user's function as a model."""
    if isinstance(model, Model):
        return model
    if callable(model):
        return FunctionModel(model, question.given)
    raise InputError(
        "crt needs the law of x given the rest: model= a function draw(z, generator), LinearGaussian or "
        "TableModel, known or fitted on public or separate rows; it can't be learned from the rows under test"
    )


def usable(drawn: NDArray[Any], data: Dataset, name: str) -> Floats:
    """Return drawn values as the schema takes them: clamped numbers, or codes of declared levels."""
    column = data.schema[name]
    values = np.asarray(drawn, dtype=np.float64)
    if isinstance(column, Categorical):
        return np.asarray(np.clip(np.nan_to_num(np.floor(values)), 0, column.size - 1))
    other = column.lower if column.other is None else column.other
    finite = np.nan_to_num(values, nan=other, posinf=column.upper, neginf=column.lower)
    return np.asarray(np.clip(finite, column.lower, column.upper))
