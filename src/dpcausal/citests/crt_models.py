"""Laws of one column given others, for the conditional randomization test.

A law is public: written down from knowledge of the design, or fitted on **public or separate** rows. Fitted on the rows
that are tested it would be a release without noise. A law made by ``fit`` remembers the arrays it was fitted to, and
a private test of those arrays, or of a part of them, is refused (``FittedRows``). Three ways to say a law:

- a function ``draw(z, generator)``: z maps the names in ``given`` to arrays (numbers, or codes of levels); it returns
  one drawn x a row (numbers, or codes). It must treat every row by itself and must not fail, whatever the values;
- ``LinearGaussian``: x = intercept + sum slope z + N(0, sd^2);
- ``TableModel``: probabilities of the levels of x in every cell of given.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.spelling import worded
from dpcausal.data.columns import MAX_ABS_BOUND, Categorical, Numeric
from dpcausal.data.dataset import Dataset

if TYPE_CHECKING:
    from dpcausal.citests.base import Question

Floats = NDArray[np.float64]
Draw = Callable[[Mapping[str, NDArray[Any]], Any], NDArray[Any]]  # the second argument is a numpy generator


@runtime_checkable
class Model(Protocol):
    """A law of x given z that knows how to draw from a data set's z."""

    def check(self, question: Question, resampled: str) -> None:
        """Refuse a question to which this model of x given z does not apply, from public information only."""
        ...

    def draw(self, data: Dataset, generator: Any) -> NDArray[Any]:
        """Return one x for each row, drawn given that row's z."""
        ...


class FittedRows:
    """The arrays that a law was fitted to, known by where they are and not by what they hold.

    Comparing values would not do: a refusal for equal rows would tell whoever guesses the rows under test that the
    guess is right, without noise. So a copy of the rows, or the same file read once more, is not recognised; whoever
    fits on them breaks the promise. Weak references only: a pickled law forgets them.
    """

    def __init__(self, arrays: Iterable[NDArray[Any]] = ()) -> None:
        self._places = tuple((weakref.ref(owner_of(array)), bytes_of(array)) for array in arrays)

    @classmethod
    def of(cls, data: Dataset, names: Sequence[str]) -> FittedRows:
        """Record which arrays the columns of these rows are, to recognise the rows later."""
        return cls(array for name in names for array in arrays_of(data, name))

    def __reduce__(self) -> tuple[type[FittedRows], tuple[()]]:
        return FittedRows, ()

    def __deepcopy__(self, memo: dict[int, Any]) -> FittedRows:
        return self  # a copy of a law in this process was fitted on the same rows

    def overlap(self, data: Dataset) -> bool:
        """Return whether ``data`` shares memory with the rows that the model was fitted to."""
        alive = [bounds for owner, bounds in self._places if owner() is not None]
        held = [bytes_of(array) for name in data.columns for array in arrays_of(data, name)]
        return any(one.start < two.stop and two.start < one.stop for one in alive for two in held)


def owner_of(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory of this one."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def bytes_of(array: NDArray[Any]) -> range:
    """Return the range of memory addresses of a contiguous array."""
    start = array.__array_interface__["data"][0]
    return range(start, start + array.nbytes)


def arrays_of(data: Dataset, name: str) -> list[NDArray[Any]]:
    """Return the arrays of a column: its codes, and its numbers if it has any."""
    return [data.codes[name], *([data.values[name]] if name in data.values else [])]


def refuse_fitted_rows(model: Model, data: Dataset) -> None:
    """Raise ``InputError`` if the model was fitted to arrays that ``data`` shares; no value is compared."""
    fitted = getattr(model, "fitted_on", None)
    if isinstance(fitted, FittedRows) and fitted.overlap(data):
        raise InputError(
            "the model of crt was fitted on these rows, which is a release without noise: fit it on public or separate "
            "rows, or write it down"
        )


def numbers(data: Dataset, name: str) -> NDArray[Any]:
    """Return the values of a numeric column, else its codes."""
    return data.numbers(name) if isinstance(data.schema[name], Numeric) else data.codes[name]


@dataclass(frozen=True)
class FunctionModel:
    """A law given by a user's function, whose errors become one constant line since they may depend on rows."""

    function: Draw
    given: tuple[str, ...]

    def check(self, question: Question, resampled: str) -> None:
        """Accept any question."""

    def draw(self, data: Dataset, generator: Any) -> NDArray[Any]:
        """Return one x for each row, as the user's function draws it."""
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
    fitted_on : FittedRows or None, default None
        Set by ``fit``: rows that may not be tested with this law.

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
    fitted_on: FittedRows | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        wanted = (self.intercept, self.sd, *self.slopes.values())
        if not (all(abs(number) <= MAX_ABS_BOUND for number in wanted) and self.sd >= 1 / MAX_ABS_BOUND):
            raise InputError(
                f"a linear model needs numbers within {-MAX_ABS_BOUND:g} and {MAX_ABS_BOUND:g} and an sd above 0"
            )

    @classmethod
    def fit(cls, public: Dataset, x: str, given: Sequence[str] = ()) -> LinearGaussian:
        """Return the linear Gaussian model of x given columns, fitted by least squares. Not private.

        Parameters
        ----------
        public
            Rows that are public, or separate from the rows that will be tested: a private test refuses these.
        x, given
            The column and what it is regressed on.
        """
        design = np.column_stack([np.ones(public.n), *(numbers(public, name) for name in given)])
        target = numbers(public, x).astype(np.float64)
        weights, *_ = np.linalg.lstsq(design, target, rcond=None)
        residuals = target - design @ weights
        sd = math.sqrt(float(residuals @ residuals) / max(public.n - design.shape[1], 1))
        slopes = dict(zip(given, map(float, weights[1:]), strict=True))
        return cls(float(weights[0]), slopes, max(sd, 1e-12), fitted_on=FittedRows.of(public, (x, *given)))

    def check(self, question: Question, resampled: str) -> None:
        """Refuse a question with other conditioning columns, or about a column without numbers."""
        if set(self.slopes) != set(question.given):
            raise InputError(
                f"the linear model is about {sorted(self.slopes)}, not about {list(question.given)}"
            )
        if resampled not in question.numeric:
            raise InputError(f'"{resampled}" is not numeric: use a TableModel')

    def mean(self, data: Dataset) -> Floats:
        """Return the mean of x given z, for every row."""
        mean = np.full(data.n, float(self.intercept))
        for name, slope in self.slopes.items():
            mean += slope * numbers(data, name)
        return mean

    def draw(self, data: Dataset, generator: Any) -> NDArray[Any]:
        """Return one x for each row: its conditional mean plus normal noise."""
        return np.asarray(self.mean(data) + self.sd * generator.standard_normal(data.n))

    def log_density(self, data: Dataset, rows: NDArray[np.int64], x: Floats) -> Floats:
        """Return log q(x | z) up to a constant, for the z of these rows."""
        return np.asarray(-0.5 * np.square((x - self.mean(data)[rows]) / self.sd))


@dataclass(frozen=True, eq=False)
class TableModel:
    """A law of a categorical x: the probability of every level in every cell of ``given``.

    Parameters
    ----------
    given : tuple of str
        The conditioning columns. Columns of numbers take part by their declared bins.
    probabilities : array
        One axis for each column of ``given`` in their order, the last one for x; they sum to 1 over the last.
    fitted_on : FittedRows or None, default None
        Set by ``fit``: rows that may not be tested with this law.

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
    fitted_on: FittedRows | None = field(default=None, repr=False, kw_only=True)

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
        """Return the model of x given columns by the frequencies in a table. Not private.

        Parameters
        ----------
        public, x, given
            As in ``LinearGaussian.fit``.
        smoothing
            Added to the count of every cell.
        """
        table = np.full(public.sizes((*given, x)), float(smoothing))
        np.add.at(table, tuple(public.codes[name] for name in (*given, x)), 1.0)
        fitted_on = FittedRows.of(public, (x, *given))
        return cls(tuple(given), table / table.sum(axis=-1, keepdims=True), fitted_on=fitted_on)

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
        below = np.cumsum(self.probabilities, axis=-1)
        rows = below[self._cells(data)] if self.given else below[None]
        return np.asarray((generator.random(data.n)[:, None] >= rows[:, :-1]).sum(axis=1))

    def log_density(self, data: Dataset, rows: NDArray[np.int64], x: Floats) -> Floats:
        """Return log q(x | z), x a code, for the z of these rows; minus infinity where it is 0."""
        cells = tuple(codes[rows] for codes in self._cells(data))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities[(*cells, x.astype(np.int64))]))

    def _cells(self, data: Dataset) -> tuple[NDArray[Any], ...]:
        """Return the codes of the given columns; refuse declared sizes other than those of the table."""
        if data.sizes(self.given) != self.probabilities.shape[:-1]:
            raise InputError(f"the table model does not have the declared sizes of {list(self.given)}")
        return tuple(data.codes[name] for name in self.given)


def as_model(model: object, question: Question) -> Model:
    """Return ``model`` itself, or the user's function as a model."""
    if isinstance(model, Model):
        return model
    if callable(model):
        return FunctionModel(model, question.given)
    raise InputError(
        worded(
            "crt needs the law of x given the rest: --model FILE, or --model-from PUBLIC, a sample of other rows; it "
            "can't be learned from the rows under test",
            "crt needs the law of x given the rest: model= a function draw(z, generator), LinearGaussian or "
            "TableModel, known or fitted on public or separate rows; it can't be learned from the rows under test",
            "crt needs the law of x given the rest, a function, which can't be sent to a desk: choose another method",
        )
    )


def usable(drawn: NDArray[Any], data: Dataset, name: str) -> Floats:
    """Return drawn values as the schema allows them: clamped numbers, or codes of declared levels."""
    column = data.schema[name]
    values = np.asarray(drawn, dtype=np.float64)
    if isinstance(column, Categorical):
        return np.asarray(np.clip(np.nan_to_num(np.floor(values)), 0, column.size - 1))
    other = column.lower if column.other is None else column.other
    finite = np.nan_to_num(values, nan=other, posinf=column.upper, neginf=column.lower)
    return np.asarray(np.clip(finite, column.lower, column.upper))
