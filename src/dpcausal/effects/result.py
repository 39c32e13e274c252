"""The answer to a question about an effect: an estimate with its interval, and what they rest on. Facts only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from dpcausal.core.display import display
from dpcausal.core.facts import Fact
from dpcausal.core.other_names import OtherNames, spellings
from dpcausal.core.statement import PrivacyStatement


class EffectNoteKind(StrEnum):
    """What must be known about an estimated effect."""

    UNADJUSTED = "unadjusted"
    BINNED = "binned"  # columns: numeric ones held fixed by their declared bins
    BY_GROUPS = (
        "by-groups"  # columns: held fixed by groups of merged levels only, each with the names of its groups
    )
    TREATMENT_BINS = "treatment-bins"  # treatment: a number, by its declared bins
    # outcome: its bins count by their middles, since only counts are there; off: how far off that can be
    OUTCOME_BINS = "outcome-bins"
    # missing: names, and what a missing number counts as; bounds: of an outcome, with its name
    NUMBERS = "numbers"
    # outcome: its rows with a level for missing values are in neither arm; alike: treatment and columns held fixed
    MISSING_LEFT_OUT = "missing-left-out"
    # outcome: missing ones count as value (a number or a level; None: not as the event); regression: strata would leave
    # them out; number: so would missing_level
    MISSING_COUNTS = "missing-counts"
    MISSING_HELD = "missing-held"  # columns: held fixed, with a level for missing values
    POOLED = "pooled"  # strata: smaller than their noise and made one; share: of the noisy rows
    LEFT_OUT = "left-out"  # share: of the rows, in strata with hardly any rows in an arm; noise: whether counts have it
    # low, high: the interval for all rows, whatever the effect is in strata left out; most: the share these may have
    EVERYONE = "everyone"
    NOTHING_KNOWN = "nothing-known"  # no stratum has rows enough in both arms; noise: whether counts have it
    LOPSIDED = (
        "lopsided"  # low, high: what a mean can't pass, so that the interval reaches less far on one side
    )
    # most of the width is noise; held: whether columns are held fixed; outcome, low, high: a number with these bounds;
    # event: how one is written, or None
    NOISE_RULES = "noise-rules"
    WIDE = "wide"  # the released interval says little; as for noise-rules
    FROM_GRAPH = "from-graph"  # columns: what the graph says to adjust for
    HIDDEN_CAUSES = (
        "hidden-causes"  # the columns suffice in every graph with hidden causes that the PAG allows
    )
    DESCENDANT = "descendant"  # columns: adjusted for although the treatment may change them
    # sure: in every graph of the class; treatment; given: whether any column is held fixed; hold, leave: columns whose
    # holding or leaving out closes the paths, each with the edges (a, marks, b); refused: as an error
    BACK_DOOR = "back-door"
    LATER = "later"  # columns: adjusted for although declared to come after the treatment in time
    GRAPH_CHECKS = "graph-checks"  # the columns were named, and the graph was only used to check them
    SEVERAL = "several"  # count: effects that the graph allows
    NO_EFFECT = "no-effect"  # some member of the class has none
    LINEAR = "linear"  # columns: taken out by linear regression
    SCORED = (
        "scored"  # columns: treatment or outcome, in standard deviations of normal scores that were released
    )
    SAME_TABLES = (
        "same-tables"  # those that chose the graph; held, few: of 95% intervals, with many and few rows
    )
    SAME_MOMENTS = "same-moments"  # the moments that chose the graph; rows beyond the reach were shrunk
    FRESH_NOISE = "fresh-noise"  # a table with noise of its own, after a graph was learned
    RESERVED = "reserved"  # share: of the discovery's budget, kept for effects; a table with noise of its own
    # columns: of pairs with the treatment or the outcome that stayed open; both: whether they may be linked to both
    OPEN_PAIRS = "open-pairs"
    HINT_ITSELF = "hint-itself"  # the edge of treatment and outcome is a weak hint
    OPEN_ITSELF = "open-itself"  # the pair of treatment and outcome stayed open in the graph
    CONTRADICTED = (
        "contradicted"  # pairs: about whose direction the graph contradicts itself; own: at one of the two
    )
    NO_PATH = "no-path"  # the graph shows no path of arrows from the treatment to the outcome
    OUTCOME_EARLIER = "outcome-earlier"  # treatment, outcome: the outcome was declared to be earlier in time


class EffectNote(Fact):
    """One thing that must be known about an estimated effect."""

    kinds = EffectNoteKind


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
        return {
            "adjust": None if self.adjust is None else list(self.adjust),
            "estimate": self.estimate,
            "interval": list(self.interval),
            "share": self.share,
        }


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

    @property
    def everyone(self) -> tuple[float, float]:
        """The interval for all rows: that of the answer, wider where strata were left out, whose effect may be any."""
        notes = [note for note in self.notes if note.is_a(EffectNoteKind.EVERYONE)]
        return (float(notes[0]["low"]), float(notes[0]["high"])) if notes else self.interval

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON; an end that nothing limits is None."""
        shown = display()
        return {
            "treatment": self.treatment,
            "outcome": self.outcome,
            "adjust": list(self.adjust),
            "compare": list(self.compare),
            "event": self.event,
            "estimand": self.estimand,
            "estimate": _finite(self.estimate),
            "interval": [_finite(end) for end in self.interval],
            "everyone": [_finite(end) for end in self.everyone],
            "level": self.level,
            "means": [_finite(mean) for mean in self.means],
            "share": self.share,
            "left_out": [list(stratum) for stratum in self.left_out],
            "method": self.method,
            "possible": [_finite_values(one.to_dict()) for one in self.possible],
            "answer": shown.summary(self, part="answer"),
            "assumes": shown.summary(self, part="assumes"),
            "facts": {"notes": [_finite_note(note) for note in self.notes]},
            "privacy": self.privacy.to_dict(),
        }

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
        return display().html(self)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _finite_note(note: EffectNote) -> dict[str, Any]:
    return {
        word: _finite(value) if isinstance(value, float) else value for word, value in note.to_dict().items()
    }


def _finite_values(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **entry,
        "estimate": _finite(entry["estimate"]),
        "interval": [_finite(end) for end in entry["interval"]],
    }
