"""The result of one test of conditional independence, with what it cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Literal

from dpcausal.core.display import display
from dpcausal.core.facts import Fact
from dpcausal.core.other_names import OtherNames, spellings
from dpcausal.core.statement import PrivacyStatement


class ReasonKind(StrEnum):
    """Why a test was used."""

    AS_ASKED = "as-asked"
    ORDERED_LEVELS = "ordered-levels"
    ONE_NUMERIC = "one-numeric"
    NUMERIC_GIVEN = "numeric-given"  # columns: how many numeric ones are given
    # columns: how many numeric ones are given; enough: the epsilon from which on kendall is taken (None: it never is)
    FEW_ROWS = "few-rows"
    MANY_CELLS = "many-cells"  # cells: of the levels that are given beside a number
    NO_ORDER_NUMERIC = "no-order-numeric"  # columns: how many numeric ones are given
    SEVERAL_COLUMNS = "several-columns"
    NO_ORDER = "no-order"  # binned: whether numeric columns take part by their declared bins


class Reason(Fact):
    """Why a test was used."""

    kinds = ReasonKind


class HeldFixedKind(StrEnum):
    """How numeric conditioning columns were held fixed; ``columns`` are their names."""

    REGRESSION = "regression"  # columns
    EQUAL_WIDTHS = "equal-widths"  # columns
    STRATA = "strata"  # columns, strata: number for each, model: whether in the model too
    SPREAD = "spread"  # columns, strata: number for each (None: follows from what was measured)
    MODEL = "model"  # columns
    DECLARED_BINS = "declared-bins"  # columns


class HeldFixed(Fact):
    """How numeric conditioning columns were held fixed."""

    kinds = HeldFixedKind


class ChosenKind(StrEnum):
    """What was chosen privately on the way."""

    RIDGE = "ridge"  # lambda_, bandwidth


class Chosen(Fact):
    """What was chosen privately on the way."""

    kinds = ChosenKind


class MissedKind(StrEnum):
    """Which dependences a test that did not reject misses; w is Cohen's, chances are those of the best case."""

    WEAKER = "weaker"  # w: found in 80% of cases, for this test and budget; weaker ones less often
    WEAKER_WITHOUT_NOISE = "weaker-without-noise"  # w: the same, from the number of rows alone
    EVEN_STRONG = "even-strong"  # strong, medium: chances to find w = .5, below 80%, and w = .3


class Missed(Fact):
    """What a test that did not reject would have missed; from public numbers."""

    kinds = MissedKind


class MissingRuleKind(StrEnum):
    """What becomes of missing values in a test, of columns whose declaration says that there may be some."""

    COUNTS = "counts"  # columns: each with the number or the level that a missing value counts as
    SHARED = "shared"  # columns: one of x and one of y, both with a level for missing values


class MissingRule(Fact):
    """What becomes of missing values in a test; from the schema."""

    kinds = MissingRuleKind


class WithNoiseKind(StrEnum):
    """What ``auto`` asks with an epsilon, where it answered without privacy."""

    SAME = "same"  # the same test at every epsilon
    SAME_TABLE = "same-table"  # test: that of the same table with noise in its cells
    OTHER_BELOW = "other-below"  # epsilon, test: below this epsilon that test, else the same one


class WithNoise(Fact):
    """Which test a private answer to the same question takes; from public numbers."""

    kinds = WithNoiseKind


@dataclass(frozen=True)
class Trend:
    """Which way y goes with x, read off a released statistic that has a sign.

    Attributes
    ----------
    x, y, given
        The columns, as they were asked about.
    rises : bool
        Whether y rises as x rises.
    tau : float or None
        Tau-a within the cells of ``given``, where it is known.
    x_levels, y_levels : tuple of str
        The declared levels in their order; empty for a number.
    """

    x: str
    y: str
    given: tuple[str, ...]
    rises: bool
    tau: float | None
    x_levels: tuple[str, ...] = ()
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
        Which way y goes with x, where the statistic has a sign and independence was rejected.
    tau : float or None
        Mean tau-a within the cells of ``given`` (``kendall`` with a public number of rows).
    missed : Missed or None
        Where independence was not rejected, the dependences that would have been missed; None where rows are protected.
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
    missed: Missed | None = None
    with_noise: WithNoise | None = None
    by_bins: tuple[str, ...] = ()
    missing: tuple[MissingRule, ...] = ()

    @property
    def rejected(self) -> bool:
        """Whether independence was rejected at this level."""
        return not self.independent

    @property
    def shown(self) -> Literal["dependence", "nothing"]:
        """What the test shows: dependence, or nothing; independence is never shown."""
        return "nothing" if self.independent else "dependence"

    @property
    def why(self) -> str:
        """Why this test was used, and how numeric columns were held fixed, in words."""
        shown = display()
        return "; ".join(shown.words(fact) for fact in (self.reason, self.chosen, self.held_fixed) if fact)

    @property
    def trend(self) -> str:
        """Which way y goes with x, as a sentence; empty where it can't be said."""
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
                "reason": self.reason.to_dict(),
                "held_fixed": None if self.held_fixed is None else self.held_fixed.to_dict(),
                "chosen": None if self.chosen is None else self.chosen.to_dict(),
                "direction": None if self.direction is None else self.direction.to_dict(),
                "missed": None if self.missed is None else self.missed.to_dict(),
                "with_noise": None if self.with_noise is None else self.with_noise.to_dict(),
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
        return display().html(self)
