"""The privacy statement that goes with every release (``privacy.json``).

It tells a reader what NIST SP 800-226 asks for: the definition with its own parameters, epsilon and delta; the unit and
the neighbouring relation; what was assumed public; every charged event and how they compose; what was released; where
noise came from and known limits; the software version. The first field says whether it is private at all.

``Budget.statement`` makes it. It holds facts (kinds and numbers); ``to_dict`` writes the words that
``dpcausal.present`` makes of them under the same names, and the facts themselves under ``facts``. Events enter as plain
dictionaries.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from dpcausal._version import __version__
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.facts import Fact
from dpcausal.core.neighbours import Neighbours

FORMAT = 2
WEAK_EPSILON = 10.0  # above it e^epsilon is over 22,000


class LimitKind(StrEnum):
    """What a guarantee leaves open."""

    STATED = "stated"  # text, caveat (None, "weak" or "draft"): written by an earlier version, or by a caller
    TIMING = "timing"
    ROUNDING = "rounding"
    EXACT_SUMS = "exact-sums"
    THIS_RELEASE_ONLY = "this-release-only"
    ONE_UNIT = "one-unit"  # unit
    WEAK_EPSILON = "weak-epsilon"  # epsilon
    WEAK_DELTA = "weak-delta"  # delta, rows
    DRAFT_SCHEMA = "draft-schema"
    NO_PRIVACY = "no-privacy"
    BUDGET_ENDED = "budget-ended"  # questions
    ENGINE = "engine"  # engine, remote: whether someone else may operate it


class Limit(Fact):
    """One thing that a guarantee leaves open."""

    kinds = LimitKind


class PublicKind(StrEnum):
    """What a guarantee takes to be known to everyone."""

    STATED = "stated"  # text
    SCHEMA = "schema"
    ROWS = "rows"
    NOT_EMPTY = "not-empty"
    MOST_ROWS = "most-rows"  # rows: more are refused
    QUOTED_NEWLINES = "quoted-newlines"
    # columns: of each its name, what a missing or undeclared value becomes, whether the schema names missing values
    # (by codes or a bin), and whether missing numbers have a bin of their own in tables
    MISSING_AS = "missing-as"
    LABELS = "labels"  # labels: the column that holds them
    METHOD = "method"
    QUESTION = "question"
    LOOP = "loop"
    EFFECT = "effect"
    DELTA_NOT_NEEDED = (
        "delta-not-needed"  # delta: that was allowed; pure mechanisms need none, and charge none
    )
    RESERVE = "reserve"  # share: of the budget, kept for effects that are asked once the graph is known
    FEATURES = "features"
    BOUNDS = "bounds"
    STRATA = "strata"
    GIVEN_BINS = "given-bins"
    KERNEL = "kernel"  # kernel, bandwidth (None: the default), lambda_
    KERNEL_LISTS = "kernel-lists"  # kernel, share
    PARTS = "parts"
    DEALS = "deals"
    MODEL = "model"
    COPIES = "copies"
    GROUPS = "groups"  # cases, controls
    SNPS = "snps"  # snps
    ALLELE_ORDER = "allele-order"
    ALLELES = "alleles"  # cases, controls: alleles of each group
    COPIES_OF_ALLELE = "copies-of-allele"  # least, most
    NO_FREQUENCY = "no-frequency"
    MISSING_RULE = "missing-rule"  # rule
    FREQUENCIES = "frequencies"
    FREQUENCY_FLOOR = "frequency-floor"  # maf
    NO_FREQUENCIES = "no-frequencies"
    FLOOR_RELEASED = "floor-released"  # share


class Public(Fact):
    """One thing that a guarantee takes to be known to everyone."""

    kinds = PublicKind


class ReleasedKind(StrEnum):
    """What was computed from the rows and left."""

    STATED = "stated"  # text
    GRAPH_FROM_ROWS = "graph-from-rows"
    JOINT_TABLE = "joint-table"
    TABLES = "tables"  # what, sd
    CHOSEN_PAIRS = "chosen-pairs"  # number, of
    MOMENTS = "moments"
    SEARCHED_AGAIN = "searched-again"  # release: the id of what was released before, and costs nothing more
    TEST_OUTCOMES = "test-outcomes"
    INDEPENDENCES = "independences"
    NOISY_SCORES = "noisy-scores"
    DELETIONS = "deletions"
    STATISTIC = "statistic"
    TABLE = "table"
    # treatment, outcome, adjust, sd; counted: rows by "event" (event), by "levels", or None: rows and sums
    EFFECT_TABLE = "effect-table"
    EFFECT_SUMS = "effect-sums"  # treatment, outcome, adjust, sd
    MEDIAN_OF_PARTS = "median-of-parts"
    TRIMMED_MEAN_OF_PARTS = "trimmed-mean-of-parts"
    COUNT_OF_PARTS = "count-of-parts"  # test
    CUT_SCORES = "cut-scores"
    BINNED_COVARIANCE = "binned-covariance"
    RESIDUAL_SUMS = "residual-sums"
    RESIDUALS = "residuals"
    RIDGE_CHOICE = "ridge-choice"  # then: another Released
    SPREAD = "spread"  # columns, then: another Released
    NOISY_RANK = "noisy-rank"
    NOISY_DECISION = "noisy-decision"
    UNIT_CIRCLE = "unit-circle"
    CIRCLE_DECISION = "circle-decision"  # statistic
    EXACT_STATISTIC = "exact-statistic"
    ANSWER = "answer"  # x, y, given, released: another Released
    ANSWERS = "answers"  # count, test, level, released: another Released
    SNPS_ABOVE_CUT = "snps-above-cut"  # statistic
    CHOSEN_SNPS = "chosen-snps"  # statistic
    FREQUENCY_FLOOR = "frequency-floor"
    ONE_SNP = "one-snp"


class Released(Fact):
    """One thing that was computed from the rows and left."""

    kinds = ReleasedKind


class UnitKind(StrEnum):
    """What is protected."""

    STATED = "stated"  # text
    ROW = "row"
    OUTCOME = "outcome"  # labels: the column whose values are public
    PERSON = "person"
    ALLELE = "allele"


class Unit(Fact):
    """The unit of privacy."""

    kinds = UnitKind


class Composition(StrEnum):
    """How the costs of events add up."""

    STATED = "stated"  # written by an earlier version
    NOTHING = "nothing"
    FIXED_EPSILON = "fixed-epsilon"  # all events fixed beforehand: sums of epsilon and of delta
    FIXED_RHO = "fixed-rho"  # all events fixed beforehand: sum of rho, converted
    FILTER_EPSILON = "filter-epsilon"  # chosen adaptively: a filter on the sum of epsilon
    FILTER = "filter"  # chosen adaptively: a filter on the sum of epsilon, or of rho


class NoiseSource(StrEnum):
    """Where noise came from."""

    STATED = "stated"  # written by an earlier version
    NONE = "none"
    OPERATING_SYSTEM = "operating-system"
    SEEDED = "seeded"


class NotPrivate(StrEnum):
    """Why a release is not private."""

    STATED = "stated"  # written by an earlier version, or by a caller
    NOT_ASKED = "not-asked"
    SEEDED = "seeded"


ONE_ROW = Unit(UnitKind.ROW)
SCHEMA = Public(PublicKind.SCHEMA)
ROWS = Public(PublicKind.ROWS)
NOT_EMPTY = Public(PublicKind.NOT_EMPTY)


def known_limits(unit: Unit) -> tuple[Limit, ...]:
    """Return what every guarantee for ``unit`` leaves open."""
    always = (LimitKind.TIMING, LimitKind.ROUNDING, LimitKind.EXACT_SUMS, LimitKind.THIS_RELEASE_ONLY)
    return (*map(Limit, always), Limit(LimitKind.ONE_UNIT, unit=unit))


def weak_limits(epsilon: float | None, delta: float | None, rows: int | None = None) -> tuple[Limit, ...]:
    """Return what makes a budget promise little.

    A delta of at least 1/n allows releasing a row chosen at random as it is: it is then any given one with
    probability 1/n.

    Parameters
    ----------
    epsilon, delta
        The guarantee; None without privacy.
    rows
        The number of rows where it is public, else None.

    >>> weak_limits(1.0, 1e-6, 8000), weak_limits(1.0, 0.1, 8000)
    ((), (Limit('weak-delta', delta=0.1, rows=8000),))
    """
    found = []
    if epsilon is not None and epsilon > WEAK_EPSILON:
        found.append(Limit(LimitKind.WEAK_EPSILON, epsilon=epsilon))
    if delta and rows and delta >= 1 / rows:
        found.append(Limit(LimitKind.WEAK_DELTA, delta=delta, rows=rows))
    return tuple(found)


def _software() -> dict[str, str]:
    return {"dpcausal": __version__, "python": platform.python_version()}


@dataclass(frozen=True, kw_only=True)
class PrivacyStatement:
    """What a release cost and what that means.

    Attributes
    ----------
    private : bool
        Whether the guarantee holds at all.
    epsilon, delta : float or None
        The guarantee: what was really spent where the plan was fixed in advance, the total that could have been spent
        where it was not; never more than was asked. None without privacy.
    neighbours : Neighbours
        Which two tables must be hard to tell apart.
    definition : str
        ``pure``, ``approximate``, ``zCDP`` or ``none``.
    parameters : dict
        The parameters of that definition, in its own unit.
    unit, public, released, limits
        Facts: what is protected, assumed public, released, and left open.
    composition, noise, not_private
        How costs add up, where noise came from, and why it is not private, if it is not.
    events : tuple of dict
        Every charged event.
    asked, reading : dict
        What was asked for, and the sum over the events of this run.
    ledger : dict or None
        The entry of the ledger, where one was charged.
    software : dict
        The versions of dpcausal and of Python.
    format : int
        The version of the file format.
    stated : dict
        Words of an earlier version that wrote no facts.

    Examples
    --------
    >>> statement = PrivacyStatement.none(released=[Released(ReleasedKind.GRAPH_FROM_ROWS)])
    >>> statement.private, statement.epsilon
    (False, None)
    >>> PrivacyStatement.from_json(statement.to_json()) == statement
    True
    """

    private: bool
    not_private: NotPrivate | None = None
    definition: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    epsilon: float | None
    delta: float | None
    neighbours: Neighbours
    unit: Unit = ONE_ROW
    public: tuple[Public, ...] = ()
    released: tuple[Released, ...] = ()
    composition: Composition
    events: tuple[Mapping[str, Any], ...] = ()
    asked: Mapping[str, float] = field(default_factory=dict)
    reading: Mapping[str, float] = field(default_factory=dict)
    noise: NoiseSource
    limits: tuple[Limit, ...] = known_limits(ONE_ROW)
    ledger: Mapping[str, Any] | None = None
    software: Mapping[str, str] = field(default_factory=_software)
    format: int = FORMAT
    stated: Mapping[str, str] = field(default_factory=dict)  # words of an earlier version that has no facts

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours.parse(self.neighbours))
        for name in ("public", "released", "events", "limits"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.private == (self.not_private is not None):
            raise InputError("a privacy statement is private, or says why it is not")
        if self.private and (self.epsilon is None or self.delta is None):
            raise InputError("a private statement needs its epsilon and delta")

    @classmethod
    def none(
        cls,
        *,
        released: Iterable[Released],
        neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
    ) -> PrivacyStatement:
        """Return the statement of an answer without any privacy."""
        return cls(
            private=False,
            not_private=NotPrivate.NOT_ASKED,
            definition="none",
            epsilon=None,
            delta=None,
            neighbours=Neighbours.parse(neighbours),
            released=tuple(released),
            composition=Composition.NOTHING,
            noise=NoiseSource.NONE,
            limits=(Limit(LimitKind.NO_PRIVACY),),
        )

    @property
    def weak(self) -> tuple[Limit, ...]:
        """Those of the limits that say that the guarantee promises little."""
        return tuple(limit for limit in self.limits if _caveat(limit) == "weak")

    @property
    def caveats(self) -> tuple[Limit, ...]:
        """Those of the limits that hold for this release and not for every one: a weak promise, a draft schema."""
        return tuple(limit for limit in self.limits if _caveat(limit) is not None)

    @property
    def why_not_private(self) -> str | None:
        """Why the release is not private, in words; None where it is private."""
        if self.not_private is None:
            return None
        return self.stated.get("why_not_private") or display().words(self.not_private)

    def facts(self) -> dict[str, Any]:
        """Return the facts as plain data, by the name of their field."""
        return {
            "not_private": None if self.not_private is None else str(self.not_private),
            "unit": self.unit.to_dict(),
            "public": [fact.to_dict() for fact in self.public],
            "released": [fact.to_dict() for fact in self.released],
            "composition": str(self.composition),
            "noise": str(self.noise),
            "limits": [fact.to_dict() for fact in self.limits],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data in reading order: words under each name, and the facts behind them under ``facts``.

        ``why_not_private`` is there only where it says something.
        """
        shown = display()
        data: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            match item.name:
                case "not_private":
                    if value is not None:
                        data["why_not_private"] = self.why_not_private
                case "composition" | "noise":
                    data[item.name] = self.stated.get(item.name) or shown.words(value)
                case "unit":
                    data[item.name] = shown.words(value)
                case "public" | "released" | "limits":
                    data[item.name] = [shown.words(fact) for fact in value]
                case "events":
                    data[item.name] = [dict(event) for event in value]
                case "stated":
                    pass
                case _:
                    plain = dict(value) if isinstance(value, Mapping) else value
                    data[item.name] = str(plain) if isinstance(plain, Neighbours) else plain
        data["facts"] = self.facts()
        return data

    def to_json(self) -> str:
        """Return the statement as JSON text: strict JSON, without NaN or infinity."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PrivacyStatement:
        """Return the statement that ``to_json`` wrote, by this or an earlier version.

        Raises
        ------
        InputError
            If the text is no privacy statement or was written by a newer version.
        """
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"a privacy statement that is not JSON: {error}") from None
        if not isinstance(data, dict):
            raise InputError("a privacy statement must be one JSON object")
        if isinstance(data.get("format"), int) and data["format"] > FORMAT:
            raise InputError(f"a privacy statement of format {data['format']}: written by a newer version")
        try:
            return cls(**_with_facts(data))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise InputError(f"a privacy statement that can't be read: {error}") from None

    def summary(self) -> str:
        """Return the statement in a few plain lines."""
        return display().summary(self)

    def __str__(self) -> str:
        return self.summary()

    def plot(self, ax: Any = None) -> Any:
        """Draw where the budget went with matplotlib, on ``ax`` or on new axes; return the axes."""
        return display().plot(self, ax)

    def _repr_html_(self) -> str:
        return display().html(self)


def _caveat(limit: Limit) -> str | None:
    """Return which caveat a limit is: a weak promise, a draft schema, an engine that others operate, or none."""
    match limit.kind:
        case LimitKind.WEAK_EPSILON | LimitKind.WEAK_DELTA:
            return "weak"
        case LimitKind.DRAFT_SCHEMA:
            return "draft"
        case LimitKind.ENGINE:
            return "engine" if limit["remote"] else None
    return limit.values.get("caveat")


FORMAT_1_CAVEATS = {
    "Weak promise: ": "weak",
    "The schema is an unchecked draft": "draft",
}  # first words -> which


def _facts_of_words(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a statement of format 1, which has words alone: each of the kind ``stated``."""

    def stated(name: str) -> list[dict[str, Any]]:
        return [{"kind": "stated", "text": str(text)} for text in data.get(name, ())]

    limits = stated("limits")
    for limit in limits:
        which = [kind for start, kind in FORMAT_1_CAVEATS.items() if limit["text"].startswith(start)]
        limit["caveat"] = which[0] if which else None
    return {
        "not_private": "stated" if data.get("why_not_private") else None,
        "unit": {"kind": "stated", "text": data.get("unit", "one row")},
        "public": stated("public"),
        "released": stated("released"),
        "composition": "stated",
        "noise": "stated",
        "limits": limits,
    }


def _with_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a statement; of what is only ``stated`` the words are kept."""
    given = dict(data)
    facts = given.pop("facts") if given.get("format", 1) != 1 else _facts_of_words(given)
    why = given.pop("why_not_private", None)
    words = {"why_not_private": why, "composition": given["composition"], "noise": given["noise"]}
    kinds = {
        "why_not_private": facts["not_private"],
        "composition": facts["composition"],
        "noise": facts["noise"],
    }
    why_not = facts["not_private"]
    return given | {
        "not_private": None if why_not is None else NotPrivate(why_not),
        "unit": _unit(facts["unit"]),
        "public": tuple(map(Public.from_dict, facts["public"])),
        "released": tuple(map(_released, facts["released"])),
        "composition": Composition(facts["composition"]),
        "noise": NoiseSource(facts["noise"]),
        "limits": tuple(map(_limit, facts["limits"])),
        "format": FORMAT,
        "stated": {name: words[name] for name, kind in kinds.items() if kind == "stated"},
    }


def _unit(data: Mapping[str, Any]) -> Unit:
    return Unit.from_dict(data)


def _released(data: Mapping[str, Any]) -> Released:
    """A released fact whose values may be released facts themselves."""
    inner = {name: _released(value) if isinstance(value, Mapping) else value for name, value in data.items()}
    return Released.from_dict(inner)


def _limit(data: Mapping[str, Any]) -> Limit:
    inner = {name: _unit(value) if isinstance(value, Mapping) else value for name, value in data.items()}
    return Limit.from_dict(inner)
