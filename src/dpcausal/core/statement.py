"""The privacy statement of every release (``privacy.json``).

It holds what NIST SP 800-226 asks for: the definition with its own parameters, epsilon and delta; the unit and
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
from typing import Any, Literal

from dpcausal._version import __version__
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.facts import Fact
from dpcausal.core.neighbours import Neighbours

FORMAT = 2
STRICT_EPSILON = 1.0  # up to it an even guess about one row is right at most 73.2% of the time (e / (1 + e))
WEAK_EPSILON = 3.0  # above it, 95.3%: the bound by itself protects weakly


class Limit(Fact):
    """One thing that a guarantee leaves open."""


class Public(Fact):
    """One thing that a guarantee takes to be known to everyone."""


class Released(Fact):
    """One thing that was computed from the rows and left."""


class Unit(Fact):
    """The unit of privacy: what is protected."""


class Stated(Limit, Public, Released, Unit):
    """Words of an earlier version or of a caller; ``caveat`` is "weak" or "draft" for a limit that is one."""

    text: str
    caveat: str | None = None


class NeverPromised(Limit, named_by="what"):
    """What no guarantee promises."""

    what: Literal["timing", "rounding", "exact-sums", "this-release-only"]


class OneUnit(Limit):
    """Whoever has several units is protected less."""

    unit: Unit


class WeakEpsilon(Limit):
    """An epsilon above ``WEAK_EPSILON``: the bound by itself protects weakly. ``persons``: one entry is a person."""

    epsilon: float
    persons: bool = False


class WeakDelta(Limit):
    """A delta that is not below one over the number of rows, or of ``persons``."""

    delta: float
    rows: int
    persons: bool = False


class UncheckedDraft(Limit, kind="draft-schema"):
    """The schema is an unchecked draft."""


class NoPrivacy(Limit):
    """Nothing is promised."""


class BudgetEnded(Limit):
    """Questions that were answered 'dependent' untested, since nothing was left to spend."""

    questions: int


class SitesTrusted(Limit):
    """Nobody can tell whether what a site contributed comes from real rows."""


class CountedByEngine(Limit, kind="engine"):
    """Rows were counted by an engine; ``remote``: someone else may operate it."""

    engine: str
    remote: bool


class Known(Public, named_by="what"):
    """Something about the rows."""

    what: Literal["schema", "rows", "persons", "not-empty", "quoted-newlines", "allele-order"]


class MostRows(Public):
    """There are at most so many rows: more are refused."""

    rows: int


class MissingAs(Public):
    """What a missing or undeclared value becomes.

    Of each column its name, that value, whether the schema names missing values (by codes or a bin), and whether
    missing numbers have a bin of their own in tables.
    """

    columns: tuple[tuple[str, str | float | None, bool, bool], ...]


class LabelsKnown(Public, kind="labels"):
    """The labels in a column are fixed."""

    labels: str | None


class Asked(Public, named_by="what"):
    """What was asked, and how it is answered."""

    what: Literal["question", "method", "loop", "effect"]


class DeltaNotNeeded(Public):
    """A delta that was allowed: pure mechanisms need none, and charge none."""

    delta: float


class KeptForEffects(Public, kind="reserve"):
    """The share of the budget that is kept for effects, asked once the graph is known."""

    share: float


class RoundOfTwo(Public):
    """One of two rounds that share one charge, and the share of the first; ``in_ledger``: whether a ledger has it."""

    round: int
    first: float
    in_ledger: bool


class OfSites(Public):
    """What is public of some of the sites that were pooled, and not of all."""

    sites: tuple[str, ...]
    fact: Public


class PersonsOfSites(Public, named_by="what"):
    """Whether each person is in the rows of one site, as was declared, or may be in several."""

    what: Literal["one-site", "several-sites"]


class SettingKnown(Public, named_by="what"):
    """A setting of a statistic; earlier versions wrote "given-bins" for "strata"."""

    what: Literal["features", "bounds", "strata", "given-bins", "parts", "deals", "model", "copies"]


class KernelKnown(Public, kind="kernel"):
    """The kernel of a regression with its settings; no bandwidth is the default one."""

    kernel: str
    bandwidth: float | None
    lambda_: float


class KernelLists(Public):
    """The kernel of a regression whose settings are chosen from lists, for a share of epsilon."""

    kernel: str
    share: float


class GroupsKnown(Public, named_by="what"):
    """The sizes of both groups, in people or in alleles, and who belongs to them."""

    what: Literal["groups", "alleles"]
    cases: int
    controls: int


class SnpsKnown(Public, kind="snps"):
    """The list of SNPs."""

    snps: int


class CopiesOfAllele(Public):
    """How many copies of an allele there are."""

    least: int
    most: int


class MissingCalls(Public, kind="missing-rule"):
    """What missing genotype calls count as."""

    rule: str


class FrequenciesKnown(Public, named_by="what"):
    """Allele frequencies: those of all SNPs, or nothing (of one SNP, of all)."""

    what: Literal["frequencies", "no-frequency", "no-frequencies"]


class FrequencyFloor(Public):
    """No allele is rarer than this."""

    maf: float


class FloorReleased(Public):
    """Nothing of allele frequencies: their floor is released for a share of epsilon."""

    share: float


class Exact(Released, named_by="what"):
    """An answer without noise."""

    what: Literal["graph-from-rows", "exact-statistic"]


class Noisy(Released, named_by="what"):
    """A table or statistic with noise, or what was decided by one."""

    what: Literal[
        "joint-table",
        "table",
        "moments",
        "statistic",
        "unit-circle",
        "one-snp",
        "cut-scores",
        "binned-covariance",
        "residual-sums",
        "residuals",
        "noisy-rank",
        "noisy-decision",
        "median-of-parts",
        "trimmed-mean-of-parts",
        "frequency-floor",
    ]


class SearchAnswers(Released, named_by="what"):
    """The answers to the questions of a search."""

    what: Literal["test-outcomes", "independences", "noisy-scores", "deletions"]


class MeasuredTables(Released, kind="tables"):
    """Several tables with noise of this standard deviation."""

    what: str
    sd: float


class MeasuredPairs(Released, kind="chosen-pairs"):
    """Which pairs of columns were chosen to be measured, of how many."""

    number: int
    of: int


class SearchedAgain(Released):
    """What was computed later from an earlier release, at no further cost."""

    release: str


class SitesPooled(Released):
    """Contributions of several sites: of each its name, epsilon and delta, and the ids of what it released."""

    sites: tuple[tuple[str, float, float, tuple[str, ...]], ...]


class CountOfParts(Released):
    """The number of parts of the rows in which a test rejected."""

    test: str


class CircleDecision(Released):
    """A decision by a noisy statistic."""

    statistic: str


class EffectTable(Released):
    """The table of an effect; ``counted``: rows by "event", "levels" or "states" of a follow-up, else rows and sums."""

    treatment: str
    outcome: str
    adjust: tuple[str, ...]
    sd: float
    counted: str | None = None
    event: str | None = None


class EffectSums(Released):
    """The moments of a regression, and what it leaves."""

    treatment: str
    outcome: str
    adjust: tuple[str, ...]
    sd: float


class ChosenRidge(Released, kind="ridge-choice"):
    """The choice of lambda and bandwidth, and what was released then."""

    then: Released


class SpreadCounts(Released, kind="spread"):
    """Counts that cut numbers into strata, and what was released then."""

    columns: tuple[str, ...]
    then: Released


class OneAnswer(Released, kind="answer"):
    """What was released about one question."""

    x: str | tuple[str, ...]
    y: str | tuple[str, ...]
    given: tuple[str, ...]
    released: Released


class ManyAnswers(Released, kind="answers"):
    """What was released about each of several questions."""

    count: int
    test: str
    level: float
    released: Released


class FoundSnps(Released, named_by="what"):
    """SNPs that pass a noisy cut, or that were chosen with noisy statistics."""

    what: Literal["snps-above-cut", "chosen-snps"]
    statistic: str


class WholeUnit(Unit, named_by="what"):
    """One row, or the genotypes of one person, or one allele of each."""

    what: Literal["row", "person", "allele"]


class PersonRows(Unit):
    """A person with all rows. So many are used (None: all), those with the largest ``order_by`` or by chance."""

    rows: int | None = 1
    order_by: str | None = None


class OutcomeOnly(Unit, kind="outcome"):
    """The outcome of one row; the column of labels is public."""

    labels: str | None


class Composition(StrEnum):
    """How the costs of events add up."""

    STATED = "stated"  # written by an earlier version
    NOTHING = "nothing"
    FIXED_EPSILON = "fixed-epsilon"  # all events fixed beforehand: sums of epsilon and of delta
    FIXED_RHO = "fixed-rho"  # all events fixed beforehand: sum of rho, converted
    FILTER_EPSILON = "filter-epsilon"  # chosen adaptively: a filter on the sum of epsilon
    PARALLEL_SITES = "parallel-sites"  # each person is in one site: the largest
    SUM_OF_SITES = "sum-of-sites"  # a person may be in several: the sum
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
    PRINTED = "printed"  # an algorithm as its paper prints it, whose promise does not hold


ONE_ROW = WholeUnit("row")
SCHEMA = Known("schema")
ROWS = Known("rows")
PERSONS = Known("persons")
NOT_EMPTY = Known("not-empty")


def known_limits(unit: Unit) -> tuple[Limit, ...]:
    """Return the limits of every guarantee for this unit of privacy."""
    return (
        NeverPromised("timing"),
        NeverPromised("rounding"),
        NeverPromised("exact-sums"),
        NeverPromised("this-release-only"),
        OneUnit(unit),
    )


def weak_limits(
    epsilon: float | None, delta: float | None, rows: int | None = None, unit: Unit = ONE_ROW
) -> tuple[Limit, ...]:
    """Return the limits that say why a guarantee is weak: a large epsilon or delta.

    A delta of at least 1/n allows releasing a row chosen at random as it is: it is then any given one with
    probability 1/n.

    Parameters
    ----------
    epsilon, delta
        The guarantee; None without privacy.
    rows
        The number of rows, or of persons, where it is public, else None.
    unit
        The unit of privacy.

    >>> weak_limits(1.0, 1e-6, 8000), weak_limits(1.0, 0.1, 8000)
    ((), (WeakDelta(delta=0.1, rows=8000, persons=False),))
    """
    found: list[Limit] = []
    persons = isinstance(unit, PersonRows)
    if epsilon is not None and epsilon > WEAK_EPSILON:
        found.append(WeakEpsilon(epsilon, persons))
    if delta and rows and delta >= 1 / rows:
        found.append(WeakDelta(delta, rows, persons))
    return tuple(found)


def _software() -> dict[str, str]:
    """Return the versions of dpcausal and Python, by name."""
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
        Which two tables the guarantee compares.
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
    >>> statement = PrivacyStatement.none(released=[Exact("graph-from-rows")])
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
        why: NotPrivate = NotPrivate.NOT_ASKED,
        unit: Unit = ONE_ROW,
    ) -> PrivacyStatement:
        """Return the statement of an answer without any privacy."""
        return cls(
            private=False,
            not_private=why,
            definition="none",
            epsilon=None,
            delta=None,
            neighbours=Neighbours.parse(neighbours),
            unit=unit,
            released=tuple(released),
            composition=Composition.NOTHING,
            noise=NoiseSource.NONE if why is NotPrivate.NOT_ASKED else NoiseSource.SEEDED,
            limits=(NoPrivacy(),),
        )

    @property
    def public_anywhere(self) -> tuple[Public, ...]:
        """What is public, of whichever sites."""
        return tuple(fact.fact if isinstance(fact, OfSites) else fact for fact in self.public)

    @property
    def weak(self) -> tuple[Limit, ...]:
        """Those of the limits that say that the guarantee is weak."""
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
        """Return the statement as HTML for a notebook."""
        return display().html(self)


def _caveat(limit: Limit) -> str | None:
    """Return the kind of caveat that a limit is (weak promise, draft schema, engine of others); None if none."""
    match limit:
        case WeakEpsilon() | WeakDelta():
            return "weak"
        case UncheckedDraft():
            return "draft"
        case CountedByEngine(remote=True):
            return "engine"
        case Stated():
            return limit.caveat
    return None


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
    """Return the arguments that make a statement from plain data; where only words are stored, they stay."""
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
        "unit": Unit.from_dict(facts["unit"]),
        "public": tuple(map(Public.from_dict, facts["public"])),
        "released": tuple(map(Released.from_dict, facts["released"])),
        "composition": Composition(facts["composition"]),
        "noise": NoiseSource(facts["noise"]),
        "limits": tuple(map(Limit.from_dict, facts["limits"])),
        "format": FORMAT,
        "stated": {name: words[name] for name, kind in kinds.items() if kind == "stated"},
    }
