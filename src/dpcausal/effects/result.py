"""The answer to a question about an effect: an estimate with its interval, and what they rest on. Facts only."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal

from dpcausal.core.display import display
from dpcausal.core.errors import OtherNames, spellings
from dpcausal.core.facts import Fact
from dpcausal.core.statement import PrivacyStatement


class EffectNote(Fact):
    """One thing that must be known about an estimated effect."""


class RestsOn(EffectNote, named_by="what"):
    """What an answer rests on: nothing is held fixed, or what the graph is used for, and how weak or open it is."""

    what: Literal["unadjusted", "hidden-causes", "graph-checks", "hint-itself", "open-itself", "no-path"]


class FromGraph(EffectNote):
    """What the graph says to adjust for."""

    columns: tuple[str, ...]


class OpenPairs(EffectNote):
    """Columns of open pairs with the treatment or the outcome; ``both``: they may be linked to both."""

    columns: tuple[str, ...]
    both: bool


class ColumnsEnter(EffectNote, named_by="how"):
    """Columns held fixed by their declared bins or by linear regression, or measured by their normal scores."""

    how: Literal["binned", "linear", "scored"]
    columns: tuple[str, ...]


class ByGroups(EffectNote):
    """Columns held fixed by groups of merged levels only, each with the names of its groups."""

    columns: tuple[tuple[str, tuple[str, ...]], ...]


class TreatmentBins(EffectNote):
    """The treatment is a number, and counts by its declared bins."""

    treatment: str


class OutcomeBins(EffectNote):
    """The outcome counts by the middles of its bins, since only counts are there: how far off that can be."""

    outcome: str
    off: float


class NumberRules(EffectNote, kind="numbers"):
    """What missing numbers of columns count as, and the bounds of an outcome."""

    missing: tuple[tuple[str, float | str], ...]
    bounds: tuple[tuple[str, float | str, float | str], ...]


class FollowedUp(EffectNote):
    """The outcome is the risk of an event by the last of these times, from a life table on intervals that end there.

    ``happens`` and ``censored`` are levels of the status; ``competing`` are those after which the event can't happen.
    """

    time: str
    event: str
    ends: tuple[float, ...]
    happens: str
    censored: str
    competing: tuple[str, ...]


class MissingLeftOut(EffectNote):
    """Rows with a missing outcome are in neither arm: right among people who are alike in these columns."""

    outcome: str
    alike: tuple[str, ...]


class MissingCounts(EffectNote):
    """Missing outcomes count as a number or a level (None: not as the event).

    ``regression``: strata would leave them out; ``number``: so would ``missing_level``.
    """

    outcome: str
    value: str | float | None
    regression: bool
    number: bool


class MissingHeld(EffectNote):
    """Columns held fixed that have a level for missing values."""

    columns: tuple[str, ...]


class Pooled(EffectNote):
    """So many strata are smaller than their noise and made one, with this share of the noisy rows."""

    strata: int
    share: float


class StrataLeftOut(EffectNote, kind="left-out"):
    """The share of the rows in strata with hardly any rows in an arm; ``noise``: counts have noise."""

    share: float
    noise: bool


class Everyone(EffectNote):
    """The interval for all rows, whatever the effect is in strata left out; ``most``: the share these may have."""

    low: float
    high: float
    most: float | None = None


class NothingKnown(EffectNote):
    """No stratum has rows enough in both arms; ``noise``: counts have noise."""

    noise: bool


class Lopsided(EffectNote):
    """Bounds that a mean can't pass, so that the interval reaches less far on one side."""

    low: float
    high: float


class WideInterval(EffectNote, named_by="why"):
    """Most of the width is noise, or the released interval says little.

    ``held``: columns are held fixed; ``event``: how one is written; outcome and bounds where it is a number.
    """

    why: Literal["noise-rules", "wide"]
    held: bool
    event: str | None
    outcome: str | None = None
    low: float | None = None
    high: float | None = None


class AdjustsForLater(EffectNote, named_by="by"):
    """Adjusted for, although the treatment may change them: by the graph, or declared to come after it in time."""

    by: Literal["descendant", "later"]
    columns: tuple[str, ...]
    treatment: str = ""


class BackDoor(EffectNote):
    """The graph draws paths by which other causes come in, each as edges (a, marks, b).

    ``sure``: in every graph of the class; ``given``: columns are held fixed; ``hold``, ``leave``: columns whose holding
    or leaving out closes the paths; ``refused``: as an error.
    """

    sure: bool
    paths: tuple[tuple[tuple[str, str, str], ...], ...]
    hold: tuple[str, ...]
    leave: tuple[str, ...]
    treatment: str
    given: bool
    refused: bool


class Contradicted(EffectNote):
    """Pairs about whose direction the graph contradicts itself; ``own``: at one of the two columns."""

    pairs: tuple[tuple[str, ...], ...]
    own: bool


class OutcomeEarlier(EffectNote):
    """The outcome was declared to be earlier in time."""

    treatment: str
    outcome: str


class Several(EffectNote):
    """How many effects the graph allows; ``no_effect``: one of them is none at all."""

    count: int
    no_effect: bool


class SameRelease(EffectNote, named_by="what"):
    """From what chose the graph; ``held``, ``few``: of 95% intervals of tables, with many and few rows."""

    what: Literal["same-tables", "same-moments"]
    held: float | None = None
    few: float | None = None


class FreshNoise(EffectNote, named_by="what"):
    """A table with noise of its own, after a graph was learned; the share of the budget that was kept for it."""

    what: Literal["fresh-noise", "reserved"]
    share: float | None = None


@dataclass(frozen=True)
class RiskCurves:
    """The risk of an event by each of several times in both arms, standardised, with an interval for each alone.

    Attributes
    ----------
    times : tuple of float
        The ends of the intervals of the life table; the last is the horizon.
    risks : pair of tuples of float
        Of the first and the second level of the treatment.
    low, high : pair of tuples of float
        The ends of their intervals.
    """

    times: tuple[float, ...]
    risks: tuple[tuple[float, ...], tuple[float, ...]]
    low: tuple[tuple[float, ...], tuple[float, ...]]
    high: tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class PossibleEffect:
    """One of the effects that a graph allows.

    Attributes
    ----------
    adjust : tuple of str, or None
        What was adjusted for; None where the treatment has no effect at all.
    estimate : float
        The effect.
    interval : pair of float
        Low and high end.
    share : float
        Of the noisy population that it speaks for.
    """

    adjust: tuple[str, ...] | None
    estimate: float
    interval: tuple[float, float]
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class EffectResult(OtherNames):
    """The answer of ``dc.effect``, with what it cost.

    Attributes
    ----------
    treatment, outcome : str
        The columns.
    adjust : tuple of str
        What was adjusted for; of several possible sets, the first.
    compare : pair of str
        The levels of the treatment; the effect is that of the second against the first.
    event : str or None
        The level of the outcome whose risk is compared, or the cut of a number (">= 400"); None for a mean.
    estimand : str
        "risk difference", "risk ratio", "odds ratio" or "mean difference".
    estimate : float
        The effect; NaN where nothing can be said, and where the graph allows several (``possible``).
    interval : pair of float
        Low and high end; sampling and privacy noise are both in it. An end that nothing limits is ``inf``.
    level : float
        The confidence of the interval.
    means : pair of float
        The standardised risk, or mean, in both arms; NaN where a regression gives only the difference.
    share : float
        Of the noisy population that the answer speaks for.
    left_out : tuple of tuples of str
        Strata of ``adjust``, by their levels, that it does not speak for: noise hides one of the arms there.
    method : str
        "table" or "regression".
    population : str
        Whose effect it is: "all", "exposed" (those with the second level of ``compare``) or "overlap" (by how much the
        treatment varies among people alike in ``adjust``).
    curves : RiskCurves or None
        Where the outcome is an event in the course of time: its risk over time in both arms.
    possible : list of PossibleEffect
        From a graph that leaves directions open: every effect that it allows. ``estimate`` is then NaN, and
        ``interval`` holds all of their intervals.
    notes : tuple of EffectNote
        What must be known about it.
    privacy : PrivacyStatement
        What it cost and what that means.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(20_000, seed=1)
    >>> found = dc.effect(data, "smoke", "bronc", adjust=[], epsilon=1.0)
    >>> found.estimand, 0.2 < found.estimate < 0.4, found.interval[0] < found.estimate < found.interval[1]
    ('risk difference', True, True)
    """

    _other_names: ClassVar[dict[str, str]] = spellings(
        ("effect ate value point", "result.estimate"),
        ("ci conf_int confidence_interval confint", "result.interval"),
        (
            "p pvalue p_value pval se stderr std_err",
            "result.interval: it has sampling and privacy noise in it",
        ),
        ("alpha confidence", "result.level"),
        ("risks", "result.means"),
        ("adjusted adjustment given confounders", "result.adjust"),
        ("epsilon delta", "result.privacy.epsilon and result.privacy.delta"),
    )

    treatment: str
    outcome: str
    adjust: tuple[str, ...]
    compare: tuple[str, str]
    event: str | None
    estimand: str
    estimate: float
    interval: tuple[float, float]
    level: float
    means: tuple[float, float]
    share: float
    method: str
    notes: tuple[EffectNote, ...]
    privacy: PrivacyStatement
    possible: list[PossibleEffect] = field(default_factory=list)
    left_out: tuple[tuple[str, ...], ...] = ()
    population: str = "all"
    curves: RiskCurves | None = None

    @property
    def everyone(self) -> tuple[float, float]:
        """The interval for all rows: wider than the answer's where strata were left out."""
        notes = [note for note in self.notes if isinstance(note, Everyone)]
        return (notes[0].low, notes[0].high) if notes else self.interval

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON; an end that nothing limits is None."""
        own = [item.name for item in fields(self) if item.name not in ("notes", "privacy")]
        plain = {name: getattr(self, name) for name in own} | {
            "everyone": self.everyone,
            "possible": [one.to_dict() for one in self.possible],
            "curves": None if self.curves is None else asdict(self.curves),
            "answer": display().summary(self, part="answer"),
            "assumes": display().summary(self, part="assumes"),
            "facts": {"notes": [note.to_dict() for note in self.notes]},
        }
        return {name: _finite(value) for name, value in plain.items()} | {"privacy": self.privacy.to_dict()}

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def summary(self, *, full: bool = False) -> str:
        """Return three lines: the answer, what it rests on, what it cost; ``full`` adds the whole statement."""
        return display().summary(self, full=full)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        low, high = self.interval
        stamp = "" if self.privacy.private else ", private=False"
        what = f"{len(self.possible)} possible" if self.possible else f"{self.estimate:.4g}"
        return (
            f"EffectResult({self.estimand} {what}, {self.level:g} interval ({low:.4g}, {high:.4g}), "
            f"epsilon={self.privacy.epsilon}{stamp})"
        )

    def _repr_html_(self) -> str:
        """Return the result as HTML for a notebook."""
        return display().html(self)


def _finite(value: Any) -> Any:
    """Return a value for JSON: tuples as lists, and None for a number that is not finite."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
