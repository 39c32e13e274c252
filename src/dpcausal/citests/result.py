"""The result of one test of conditional independence, with what it cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from dpcausal.core.display import display
from dpcausal.core.errors import OtherNames, spellings
from dpcausal.core.facts import Fact
from dpcausal.core.forecast import PowerForecast
from dpcausal.core.statement import PrivacyStatement


class Reason(Fact):
    """Why a test was used."""


class ByQuestion(Reason, named_by="why"):
    """The test was asked for, or the kinds of the columns decide."""

    why: Literal["as-asked", "ordered-levels", "one-numeric", "several-columns"]


class NumbersGiven(Reason, named_by="why"):
    """The test adjusts for numbers by regression: several are given, or some beside unordered levels."""

    why: Literal["numeric-given", "no-order-numeric"]
    columns: int


class FewRows(Reason):
    """Too few rows at this epsilon to stratify by a number; ``enough``: an epsilon that suffices, or None."""

    columns: int
    enough: float | None


class ManyCells(Reason):
    """Levels that are given beside a number make too many cells for strata of it."""

    cells: int


class NoOrder(Reason):
    """Levels have no order; ``binned``: numeric columns enter by their declared bins."""

    binned: bool


Holding = Literal["regression", "equal-widths", "strata", "spread", "model", "declared-bins"]


class HeldFixed(Fact):
    """How numeric conditioning columns were controlled for."""

    columns: tuple[str, ...]


class HeldBy(HeldFixed, named_by="how"):
    """Numeric conditioning columns were controlled for by regression, by declared bounds or bins, or by a model."""

    how: Literal["regression", "equal-widths", "model", "declared-bins"]


class HeldByStrata(HeldFixed, kind="strata"):
    """Numeric conditioning columns were cut into this many strata each; ``model``: they also enter the model."""

    strata: int
    model: bool


class HeldBySpread(HeldFixed, kind="spread"):
    """Numeric conditioning columns were cut into strata of equal counts, as measured.

    At most ``strata`` for each; None where their number follows from what was measured.
    """

    strata: int | None


class Chosen(Fact, kind="ridge"):
    """The regression that was chosen privately on the way."""

    lambda_: float
    bandwidth: float | None


class MissingRule(Fact):
    """What becomes of missing values in a test; from the schema."""


class MissingCountsAs(MissingRule, kind="counts"):
    """Columns, each with the number or the level that a missing value counts as."""

    columns: tuple[tuple[str, float | str], ...]


class BothMissing(MissingRule, kind="shared"):
    """One column of x and one of y, both with a level for missing values."""

    columns: tuple[str, ...]


class WithNoise(Fact, named_by="which"):
    """Which test ``auto`` would choose under privacy, where it answered without.

    The same at every epsilon; or ``test``, with noise in the cells of the same table; or ``test`` below an epsilon.
    """

    which: Literal["same", "same-table", "other-below"]
    test: str = ""
    epsilon: float = 0.0


@dataclass(frozen=True)
class Trend:
    """Whether y rises or falls with x, read off a released statistic that has a sign."""

    x: str  # the columns, as they were asked about
    y: str
    given: tuple[str, ...]
    rises: bool  # whether y rises as x rises
    tau: float | None  # tau-a within the cells of ``given``, where it is known
    x_levels: tuple[str, ...] = ()  # the declared levels in their order; empty for a number
    y_levels: tuple[str, ...] = ()

    @property
    def by_levels(self) -> bool:
        """Whether the direction follows the declared order of levels, for x or for y."""
        return bool(self.x_levels or self.y_levels)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "x": self.x,
            "y": self.y,
            "given": list(self.given),
            "rises": self.rises,
            "by_levels": self.by_levels,
            "tau": self.tau,
        }


@dataclass(frozen=True, kw_only=True)
class CITestResult(OtherNames):
    """The answer of ``dc.ci_test``, with what it cost.

    Attributes
    ----------
    x, y, given
        The question; x or y is a tuple where several columns were asked about at once.
    independent : bool
        True means no more than that independence was not rejected: there was no evidence against it at this level
        and budget. ``shown`` says it without that trap.
    rejected : bool
        Whether independence was rejected: the opposite of ``independent``.
    shown : str
        "dependence" where independence was rejected, else "nothing": a test never shows independence.
    pvalue, statistic : float or None
        None where the mechanism releases only a decision.
    dof : int or None
        Degrees of freedom, where the test has them.
    method : str
        The test that was used.
    level : float
        The size of the test.
    reason : Reason
        Why this test was used.
    held_fixed : HeldFixed or None
        How numeric conditioning columns were held fixed, where there are any.
    chosen : Chosen or None
        What was chosen privately on the way, if anything was.
    direction : Trend or None
        Whether y rises or falls with x, where the statistic has a sign and independence was rejected.
    tau : float or None
        Mean tau-a within the cells of ``given`` (``kendall`` with a public number of rows).
    missed : PowerForecast or None
        Where independence was not rejected, which dependences the test finds and how often: weaker ones would have been
        missed; None where rows are protected.
    with_noise : WithNoise or None
        Without privacy and with ``method="auto"``: whether a private answer takes the same test.
    by_bins : tuple of str
        Numbers among x and y that the test would have ranked, and took by their declared bins: there were counts only,
        as on an engine.
    missing : tuple of MissingRule
        What becomes of missing values, where the schema says that there may be some.
    privacy : PrivacyStatement
        What the test cost and what that means.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(20_000, seed=1)
    >>> test = dc.ci_test(data, "smoke", "bronc", epsilon=1.0)
    >>> test.independent, test.method, test.direction.rises, test.privacy.epsilon
    (False, 'kendall', True, 1.0)
    """

    _other_names: ClassVar[dict[str, str]] = spellings(
        ("p p_value pval p_val", "result.pvalue"),
        ("stat test_statistic value", "result.statistic"),
        ("df degrees_of_freedom", "result.dof"),
        ("alpha", "result.level"),
        ("test name", "result.method"),
        ("dependent reject significant", "result.rejected"),
        ("sign", "result.direction (None where it is not known)"),
        ("epsilon delta", "result.privacy.epsilon and result.privacy.delta"),
    )

    x: str | tuple[str, ...]
    y: str | tuple[str, ...]
    given: tuple[str, ...]
    method: str
    level: float
    independent: bool
    pvalue: float | None
    statistic: float | None
    dof: int | None
    reason: Reason
    privacy: PrivacyStatement
    held_fixed: HeldFixed | None = None
    chosen: Chosen | None = None
    direction: Trend | None = None
    tau: float | None = None
    missed: PowerForecast | None = None
    with_noise: WithNoise | None = None
    by_bins: tuple[str, ...] = ()
    missing: tuple[MissingRule, ...] = ()

    @property
    def rejected(self) -> bool:
        """Whether independence was rejected at this level."""
        return not self.independent

    @property
    def shown(self) -> Literal["dependence", "nothing"]:
        """What the test shows: dependence, or nothing; a test never shows independence."""
        return "nothing" if self.independent else "dependence"

    @property
    def why(self) -> str:
        """Why this test was chosen, and how numeric columns were controlled for, in words."""
        shown = display()
        return "; ".join(shown.words(fact) for fact in (self.reason, self.chosen, self.held_fixed) if fact)

    @property
    def trend(self) -> str:
        """Whether y rises or falls with x, as a sentence; empty where that is not known."""
        return "" if self.direction is None else display().summary(self.direction)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON: words under ``why`` and ``trend``, the facts behind them under ``facts``.

        ``independent`` is False where independence was rejected and else None: a test never shows independence.
        """
        return {
            "x": self.x if isinstance(self.x, str) else list(self.x),
            "y": self.y if isinstance(self.y, str) else list(self.y),
            "given": list(self.given),
            "method": self.method,
            "level": self.level,
            "shown": self.shown,
            "rejected": self.rejected,
            "independent": False if self.rejected else None,
            "pvalue": self.pvalue,
            "statistic": self.statistic,
            "dof": self.dof,
            "tau": self.tau,
            "trend": self.trend or None,
            "why": self.why,
            "facts": {
                **{
                    name: None if (fact := getattr(self, name)) is None else fact.to_dict()
                    for name in ("reason", "held_fixed", "chosen", "direction", "missed", "with_noise")
                },
                "by_bins": list(self.by_bins),
                "missing": [fact.to_dict() for fact in self.missing],
            },
            "privacy": self.privacy.to_dict(),
        }

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def summary(self, *, full: bool = False) -> str:
        """Return the answer and what it cost, in three lines.

        Parameters
        ----------
        full : bool, default False
            Whether to say everything: why this test was taken, how columns were held fixed, and the whole privacy
            statement.
        """
        return display().summary(self, full=full)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        pvalue = "None" if self.pvalue is None else f"{self.pvalue:.4g}"
        cost = f"method={self.method!r}, epsilon={self.privacy.epsilon}"
        stamp = "" if self.privacy.private else ", private=False"
        return f"CITestResult(shown={self.shown!r}, rejected={self.rejected}, pvalue={pvalue}, {cost}{stamp})"

    def _repr_html_(self) -> str:
        """Return the result as HTML for a notebook."""
        return display().html(self)
