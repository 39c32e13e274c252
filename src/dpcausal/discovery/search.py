"""The PC search: asks whether x and y are independent given a set, and never holds data.

``pc_search`` is a generator: it yields a batch of questions and is sent one answer each, ``True`` (independent: the
edge is removed, and the set that separated its ends is recorded), ``False`` (dependent), or ``None`` (not tested: the
pair remains adjacent for the search). Sending ``None`` for a whole batch ends the search. What it asks depends on the
columns, what is known beforehand and the answers, nothing else, so it can't leak; and it is deterministic.

**Three states.** A pair that some set separated is *absent*. A pair still adjacent is *found* if it was called
dependent without conditions; where a larger question about it had no answer, ``given_up_to`` is the largest k such
that all questions with up to k columns had one. A pair still adjacent whose first question had no answer is *open*: it
may be an edge or not, and a dependence given one of many sets would be a find among many. What is required beforehand
is found. A driver that knows better says so in its outcome.

- *stable* (default): the neighbours that sets are drawn from are those at the start of an order, so the skeleton
  does not depend on the order of columns [2]. Edges of one order are asked about side by side; each stops at its
  first separating set.
- *original*: one question at a time, neighbours change as edges are removed [1].

Sets are drawn from the neighbours of either end; each unordered question is asked once.

A driver is given a ``Task`` and returns a ``SearchOutcome``, with notes on what it did and why questions had no answer;
``drive`` is the loop between search and driver; ``Method`` is what a driver says about itself.

References: [1] Spirtes, Glymour & Scheines 2000, section 5.4.2; [2] Colombo & Maathuis 2014, Algorithm 4.1.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations, islice
from typing import Any, Literal, NamedTuple, get_type_hints

from dpcausal.core.arguments import refuse_unknown
from dpcausal.core.errors import InputError
from dpcausal.core.facts import Fact
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import Stage, silent
from dpcausal.core.statement import Public, Released
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.evidence import Evidence, LinkStrength
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.planning.measurement_plan import MeasurementPlan
from dpcausal.privacy.budget import Budget


class MethodReason(Fact):
    """Why a method was used."""


class MethodByCall(MethodReason, named_by="why"):
    """The call decides."""

    why: Literal["as-asked", "no-privacy", "counts-only", "one-target", "sites", "read-codes"]


class MethodByNumbers(MethodReason, named_by="why"):
    """How many columns hold numbers, of how many, decides; "numbers-in-noise": most do, and noise would hide them."""

    why: Literal["mostly-numbers", "not-mostly-numbers", "numbers-in-noise"]
    numbers: int
    columns: int


class OpenReason(StrEnum):
    """Why a question could not be answered."""

    TOO_MANY_CELLS = "too-many-cells"
    NOT_MEASURED = "not-measured"
    TOO_FEW_ROWS = "too-few-rows"
    NOISE = "noise"
    NOISE_AND_ROWS = "noise-and-rows"
    WEAK_TEST = "weak-test"


class Note(Fact):
    """One thing that must be known of a result besides its graph."""


class OneLevel(Note):
    """Columns with one level: nothing depends on them."""

    columns: tuple[str, ...]


class FollowUpColumns(Note):
    """Pairs of columns that are a time and a status by their names."""

    pairs: tuple[tuple[str, str], ...]


class CountsMeasured(Note):
    """Tables were measured: the noise of a count of two columns, and the rows in it (None where they are protected)."""

    gaussian: bool
    sd: float
    mean_cell: float | None
    least_cell: float | None
    enough: float  # evidence that makes an edge


class JointTableMeasured(CountsMeasured, kind="joint-table"):
    """One table of all columns was measured."""

    cells: int


class TablesMeasured(CountsMeasured, kind="components"):
    """Tables of so many sets of columns were measured; with a target, the noise is that of pairs with it."""

    rows_measured: bool
    singles: int
    pairs: int
    larger: int
    target: str | None


class SitesMeasured(CountsMeasured, kind="sites"):
    """Tables of several sites were combined: the name of each, its rows, its noise in a pair, and columns it lacks.

    ``sd`` is the noise in the sum over sites.
    """

    sites: tuple[tuple[str, float, float, tuple[str, ...]], ...]


class SitesDiffer(Note):
    """Pairs whose dependence is not the same in all sites, with the p-value, and the level of all these tests."""

    pairs: tuple[tuple[str, str, float], ...]
    level: float


class ScoredGraphs(Note, kind="whole-graphs"):
    """Whole graphs were scored: how many edges the best one has."""

    edges: int


class HiddenCauses(Note):
    """Common causes may be hidden: the bounds of the further questions that were asked for that (None: none)."""

    order: int | None
    far: int | None


class AboutTarget(Note, kind="target"):
    """The one column that was asked about, and those that were measured with it a second time."""

    target: str
    near: tuple[str, ...]


class ChosenPairs(Note):
    """How many pairs were chosen to be measured, of how many."""

    number: int
    of: int


class MergedLevels(Note):
    """Columns with the number of groups of their levels, and the group of every level where that is known."""

    columns: tuple[tuple[str, int], ...]
    groups: tuple[tuple[str, tuple[int, ...]], ...]


class Unanswered(Note):
    """Why questions could not be answered, and how many: most frequent reasons first."""

    reasons: tuple[tuple[OpenReason, int], ...]


class WithoutDelta(Note, kind="no-delta"):
    """How many times larger noise is than with a small delta."""

    times: float


class Conflicts(Note):
    """Pairs about whose direction answers contradict each other, or contradict what was declared.

    ``settled``: the nearest graph that exists is shown; ``circles``: so are circles at these edges.
    """

    pairs: tuple[tuple[str, ...], ...]
    declared: tuple[tuple[str, ...], ...]
    settled: bool
    circles: bool


class AskedTests(Note, kind="tests"):
    """Which tests a private search asked, and the epsilon of each."""

    tests: tuple[str, ...]
    epsilon: float


class Classical(Note):
    """Which tests a search without privacy asked; ``like``: the private method that asks the same ones, or empty."""

    tests: tuple[str, ...]
    level: float
    like: str


class ClassicalMoments(Note):
    """A search without privacy asked tests on moments."""

    harmonics: int
    level: float


class MomentsMeasured(Note, kind="moments"):
    """Moments of features were measured."""

    features: int
    waves: int
    sd: float


class CodesMeasured(Note, kind="codes"):
    """Capped co-occurrences were measured: the ones that count in full, the mean weight of a pair, and the noise."""

    ones: int
    retained: float
    sd: float
    again: int
    sd_again: float


class ThresholdUsed(Note, kind="threshold"):
    """A noisy threshold for so many answers at most; the resolution is in rows, or in parts where tests run on them."""

    of: Literal["deletions", "pairs"]
    most: int
    renewed: bool
    rows: int | None  # None: all
    resolution: float
    parts: int | None


class ChoicesMade(Note, kind="choices"):
    """Deletions were chosen privately; the resolution is in rows."""

    epsilon: float
    choices: int
    mechanism: str
    resolution: float


class CostsOfTests(Note, kind="test-costs"):
    """What a test costs, by the number of columns given."""

    unit: str
    costs: tuple[tuple[int, float], ...]


PaperName = Literal["priv-pc", "svt-pc", "em-pc", "curate"]


class AsPrinted(Note):
    """The method ran as its paper prints it: not private.

    ``epsilon`` is of a round (priv-pc), a deletion (svt-pc), a choice (em-pc) or in all (curate); ``claimed`` the total
    at ``delta`` that the paper's sums give for ``rounds`` of them.
    """

    method: PaperName
    epsilon: float
    rounds: int
    claimed: float
    delta: float


class EqualWidths(Note):
    """Numbers that are cut into equal widths where they are given."""

    columns: tuple[str, ...]


class CoarseEdges(Note, named_by="what"):
    """Edges that columns cut or merged may have made, or that the bins of columns explain: these pairs are open."""

    what: Literal["held-coarsely", "explained-by-bins"]
    edges: tuple[tuple[str, str, tuple[str, ...]], ...]


class SharedMissing(Note):
    """Edges between columns that both declare a level for missing values."""

    pairs: tuple[tuple[str, ...], ...]


def unanswered(reasons: Counter[OpenReason]) -> Note:
    """Return the note on questions without an answer, counted by reason.

    >>> unanswered(Counter({OpenReason.NOISE: 2, OpenReason.TOO_MANY_CELLS: 1})).to_dict()["reasons"]
    [['noise', 2], ['too-many-cells', 1]]
    """
    return Unanswered(tuple(reasons.most_common()))


STABLE = "whether answers of one order are used only after it; false is the original search"


class Query(NamedTuple):
    """Is x independent of y given the set? x comes before y, and given is sorted, in the order of columns."""

    x: str
    y: str
    given: tuple[str, ...]


Answer = bool | None
Answers = Sequence[Answer] | None


@dataclass
class Skeleton:
    """What a search found: edges, the set that separated every other pair, and what was left untested."""

    columns: tuple[str, ...]
    adjacent: dict[str, set[str]]
    separating: dict[Pair, tuple[str, ...]] = field(default_factory=dict)
    asked: dict[int, int] = field(default_factory=dict)  # questions by order
    answered: set[Pair] = field(default_factory=set)  # pairs about which some question was
    held: set[Pair] = field(default_factory=set)  # pairs about which one was with some column held fixed
    complete: bool = True  # False: ended before every order was done
    # the least order of a question without an answer
    unanswered_from: dict[Pair, int] = field(default_factory=dict)

    @property
    def edges(self) -> frozenset[Pair]:
        """Unordered pairs still adjacent."""
        return frozenset(frozenset((x, y)) for x in self.columns for y in self.adjacent[x])

    def open(self, known: Knowledge) -> frozenset[Pair]:
        """Return the adjacent pairs that were never shown to be dependent, and are not required."""
        return (self.edges - self.answered | self.undecided) - known.required

    @property
    def undecided(self) -> frozenset[Pair]:
        """Adjacent pairs whose question with nothing held fixed has no answer."""
        return frozenset(pair for pair, order in self.unanswered_from.items() if order == 0) & self.edges

    def near(self, forward: bool) -> dict[str, set[str]]:
        """Return the neighbours from which conditioning sets are made; with ``forward`` without undecided ones."""
        far = self.undecided if forward else frozenset()
        return {x: {y for y in some if frozenset((x, y)) not in far} for x, some in self.adjacent.items()}

    @property
    def given_up_to(self) -> dict[Pair, int]:
        """For edges with unanswered questions, the largest order of which all were answered."""
        edges = self.edges & self.answered
        return {pair: order - 1 for pair, order in self.unanswered_from.items() if order and pair in edges}

    def with_edges(self, edges: Collection[Pair]) -> Skeleton:
        """Return the same skeleton with these edges instead."""
        adjacent = {
            name: {other for pair in edges if name in pair for other in pair if other != name}
            for name in self.columns
        }
        return replace(self, adjacent=adjacent)

    def no_answer(self, pair: Collection[str], order: int) -> None:
        """Record that a question of this order about a pair has no answer."""
        self.unanswered_from[frozenset(pair)] = min(self.unanswered_from.get(frozenset(pair), order), order)

    def record(self, question: Query, answer: Answer) -> None:
        """Record an answer: independent removes the edge, None is no answer."""
        pair = frozenset(question[:2])
        if answer is None:
            self.no_answer(pair, len(question.given))
            return
        self.answered.add(pair)
        if question.given:
            self.held.add(pair)
        if answer and question.y in self.adjacent[question.x]:
            self.remove(question)

    def remove(self, question: Query) -> None:
        """Remove an edge and record the set that separated its ends."""
        self.adjacent[question.x].discard(question.y)
        self.adjacent[question.y].discard(question.x)
        self.separating[frozenset((question.x, question.y))] = question.given


def complete_skeleton(columns: Sequence[str], known: Knowledge) -> Skeleton:
    """Return the complete graph over the columns without forbidden edges."""
    adjacent = {
        x: {y for y in columns if y != x and frozenset((x, y)) not in known.forbidden} for x in columns
    }
    return Skeleton(tuple(columns), adjacent)


def candidate_sets(
    x: str, y: str, order: int, adjacent: dict[str, set[str]], columns: Sequence[str], known: Knowledge
) -> Iterator[tuple[str, ...]]:
    """Yield candidate separating sets of size ``order``: subsets of the neighbours of x, then new ones of y."""
    near_x, near_y = (
        [z for z in columns if z in adjacent[end] and z not in (x, y) and known.may_separate(z, x, y)]
        for end in (x, y)
    )
    yield from combinations(near_x, order)
    inside = set(near_x)
    for given in combinations(near_y, order):
        if not inside.issuperset(given):
            yield given


def pc_search(
    columns: Sequence[str],
    known: Knowledge | None = None,
    *,
    max_order: int | None = None,
    stable: bool = True,
    ahead: int = 1,
    forward: bool = False,
) -> Generator[list[Query], Answers, Skeleton]:
    """Search for the skeleton over ``columns``; drive it with ``send``.

    ``ahead`` > 1 asks up to that many sets of an edge at once, for drivers to whom questions are free: answers past the
    first ``True`` are not used, so the result is the same.

    ``forward``, for drivers that often have no answer: a pair without one with nothing held fixed is undecided and is
    not asked about again, since holding columns fixed leaves less to see. No set is made of such neighbours. Else PC
    would ask about every subset of everything.

    >>> search = pc_search(["a", "b"])
    >>> next(search)
    [Query(x='a', y='b', given=())]
    >>> try: search.send([True])
    ... except StopIteration as stop: print(stop.value.edges, list(stop.value.separating.values()))
    frozenset() [()]
    """
    known = known or Knowledge()
    found = complete_skeleton(columns, known)
    most = len(columns) - 2 if max_order is None else min(max_order, len(columns) - 2)
    order = -1
    for order in range(most + 1):
        pairs = [
            (x, y)
            for x, y in combinations(columns, 2)
            if y in found.adjacent[x] and frozenset((x, y)) not in known.required
        ]
        if forward:
            undecided = found.undecided
            pairs = [pair for pair in pairs if frozenset(pair) not in undecided]
        if stable:
            near = found.near(forward)
            sets = {pair: candidate_sets(*pair, order, near, found.columns, known) for pair in pairs}
            done = yield from ask_side_by_side(found, sets, order, ahead)
        else:
            done = yield from _order_one_by_one(found, pairs, order, known, forward)
        if done is None:
            found.complete = False
            break
        if not done:  # no edge had enough neighbours
            break
    if forward:
        beside_undecided = {name for pair in found.undecided for name in pair}
        _not_asked(found, 1, known, beside_undecided)
    _not_asked(found, order + 1, known, set(columns))
    return found


def _not_asked(found: Skeleton, order: int, known: Knowledge, ends: Collection[str]) -> None:
    """Record, when a search ends early, which edges at ``ends`` have sets of this size left to ask about."""
    for x, y in combinations(found.columns, 2):
        pair = frozenset((x, y))
        if y not in found.adjacent[x] or pair in known.required or pair in found.unanswered_from:
            continue
        if not pair.isdisjoint(ends) and any(
            True for _ in candidate_sets(x, y, order, found.adjacent, found.columns, known)
        ):
            found.unanswered_from[pair] = order


def ask_side_by_side(
    found: Skeleton, sets_of: Mapping[tuple[str, str], Iterator[tuple[str, ...]]], order: int, ahead: int
) -> Generator[list[Query], Answers, int | None]:
    """Ask the questions of one order of stable PC: every edge asks its next sets in each round.

    Returns how many questions were asked, or None if the search was ended. Edges that a set separates leave ``found``.
    """
    waiting = dict(sets_of)
    total = 0
    while waiting:
        batch: list[Query] = []
        for pair in list(waiting):
            sets = list(islice(waiting[pair], ahead))
            batch += [Query(*pair, given) for given in sets]
            if len(sets) < ahead:
                del waiting[pair]
        if not batch:
            break
        answers = yield batch
        if answers is None:
            for pair in {(q.x, q.y) for q in batch} | set(waiting):
                found.no_answer(pair, order)
            return None
        total += len(batch)
        for question, answer in zip(batch, answers, strict=True):
            found.record(question, answer)
            if answer:
                waiting.pop((question.x, question.y), None)
    if total:
        found.asked[order] = found.asked.get(order, 0) + total
    return total


def _order_one_by_one(
    found: Skeleton, pairs: list[tuple[str, str]], order: int, known: Knowledge, forward: bool
) -> Generator[list[Query], Answers, int | None]:
    """Ask the questions of one order of the original PC: one edge at a time, neighbours as they now are."""
    total = 0
    for x, y in pairs:
        for given in candidate_sets(x, y, order, found.near(forward), found.columns, known):
            question = Query(x, y, given)
            answers = yield [question]
            if answers is None:
                for pair in pairs[pairs.index((x, y)) :]:
                    if pair[1] in found.adjacent[pair[0]]:
                        found.no_answer(pair, order)
                return None
            total += 1
            found.asked[order] = total
            found.record(question, answers[0])
            if answers[0]:
                break
    return total


@dataclass(frozen=True)
class Task:
    """A discovery to be done: the counts, what is known, the level of each test, and what may be spent."""

    counts: Counts
    known: Knowledge
    level: float
    max_order: int | None
    neighbours: Neighbours
    budget: Budget | None  # None: no privacy
    rows: Dataset | None = None  # for tests on values; None where there are only counts
    stage: Stage = silent  # opens a progress bar; only public amounts may drive it
    plan: MeasurementPlan | None = None  # of what ``measured`` measures
    searched: bool = True  # whether ``measured`` searches what it measured

    def __post_init__(self) -> None:
        # drivers compare members of the enumeration: a name would not be ``is``
        object.__setattr__(self, "neighbours", Neighbours.parse(self.neighbours))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the order of the schema."""
        return tuple(self.counts.schema)

    @property
    def n(self) -> int | None:
        """The public number of rows; None under add-remove, where it is protected."""
        return self.counts.n if self.neighbours is Neighbours.REPLACE_ONE else None

    def pc_search(
        self, *, stable: bool = True, ahead: int = 1, forward: bool = False
    ) -> Generator[list[Query], Answers, Skeleton]:
        """Return the search of PC over the columns, by what is known and up to the order asked for."""
        return pc_search(
            self.columns, self.known, max_order=self.max_order, stable=stable, ahead=ahead, forward=forward
        )

    def measurement_plan(self) -> MeasurementPlan:
        """Return the plan that ``measured`` executes."""
        assert self.plan is not None, "a task of measured has a plan"
        return self.plan

    def private_budget(self) -> Budget:
        """Return the budget of a private driver."""
        if self.budget is None:
            raise InputError("this method is private: give it an epsilon, or use method='pc'")
        return self.budget


@dataclass(frozen=True)
class SearchOutcome:
    """A skeleton with its separating sets, what was released to get there, and notes on it."""

    skeleton: Skeleton
    released: tuple[Released, ...]
    public: tuple[Public, ...] = ()
    notes: tuple[Note, ...] = ()
    adaptive: bool = True  # False: every event was fixed before the first answer
    # the chance that each edge points from the first column to the second; None: separating sets decide
    direction: Mapping[tuple[str, str], float] | None = None
    # where causes may be hidden: the chance that the second column is no cause of the first; None: as above
    marks: Mapping[tuple[str, str], float] | None = None
    # of pairs that are not edges: the w that would be found in most runs
    detectable: Mapping[Pair, float] = field(default_factory=dict)
    strength: Mapping[Pair, LinkStrength] = field(default_factory=dict)  # of edges, where it is known
    confidence: Mapping[Pair, float] | None = None  # how often each edge is found again
    repeats: int | None = None  # of the search, for confidence
    about: frozenset[Pair] | None = None  # the pairs that the search was about; None: all
    open: frozenset[Pair] | None = None  # pairs that could not be decided; None: those of the skeleton
    values: Any = None  # released values that can be searched again, as ``Release.values``
    # of found edges about which larger sets could not be asked: the largest order fully asked; None: as there
    given_up_to: Mapping[Pair, int] | None = None
    latent: bool = False  # whether common causes may be hidden: the graph is a PAG
    # p-values or Bayes factors, where they were released
    evidence: Mapping[Pair, Evidence] = field(default_factory=dict)
    printed: bool = False  # whether the method ran as its paper prints it: not private, whatever was charged


def drive(
    search: Generator[list[Query], Answers, Skeleton],
    answer: Callable[[list[Query]], Answers],
    stage: Stage = silent,
) -> Skeleton:
    """Run a search to its end: send it the answers of ``answer`` to each batch of questions (None ends it).

    ``stage`` shows how many edges an order has done with. That depends on the answers: give it only where they come
    from values released before the search began, or where there is no privacy.
    """
    found: Skeleton
    try:
        batch = next(search)
    except StopIteration as stop:
        found = stop.value
        return found
    while True:
        order, left = _shape(batch)
        with stage(f"testing given {order} column{'' if order == 1 else 's'}", left) as tick:
            while _shape(batch)[0] == order:
                now = min(left, _shape(batch)[1])
                tick(left - now)
                left = now
                try:
                    batch = search.send(answer(batch))
                except StopIteration as stop:
                    found = stop.value
                    return found
            tick(left)


def _shape(batch: list[Query]) -> tuple[int, int]:
    """Return the order of a batch of questions, and the number of edges that they are about."""
    return len(batch[0].given) if batch else 0, len({(question.x, question.y) for question in batch})


@dataclass(frozen=True)
class Method:
    """A way to learn a graph, with what it says about itself; every driver module has one, called ``METHOD``.

    Attributes
    ----------
    name : str
        As in ``discover(method=...)``.
    description : str
        What it does, in one line for someone who has read no paper.
    run : callable
        ``run(task, **options)`` learns the skeleton; the options are its keyword parameters, each ``Annotated`` with a
        line on what it is.
    private : bool
        Whether it needs an epsilon.
    tables_only : bool
        Whether it sees numeric columns by their declared bins only.
    settles : bool
        Whether, where answers contradict each other, the nearest graph that exists is shown.
    own_delta : callable
        ``own_delta(options)`` says whether its events carry a delta of their own, for which half of delta is reserved.
    """

    name: str
    description: str
    run: Callable[..., SearchOutcome]
    private: bool = True
    tables_only: bool = False
    settles: bool = False
    own_delta: Callable[[Mapping[str, Any]], bool] = lambda _: False

    def reserved(self, delta: float, options: Mapping[str, Any]) -> float:
        """Return the part of delta that must be reserved for events with a delta of their own.

        Raises
        ------
        InputError
            If there are such events and no delta.
        """
        if not self.own_delta(options):
            return 0.0
        if not delta:
            raise InputError(
                f"{self.name} with these options needs a delta above 0: every test has one of its own"
            )
        return delta / 2

    @property
    def options(self) -> dict[str, Any]:
        """Names of the options with their defaults."""
        parameters = inspect.signature(self.run).parameters.values()
        return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}

    @property
    def option_types(self) -> dict[str, Any]:
        """Types of the options, each ``Annotated`` with a line on what it is."""
        hints = get_type_hints(self.run, include_extras=True)
        return {name: hints[name] for name in self.options}

    @property
    def option_lines(self) -> dict[str, str]:
        """One line of help for each option."""
        return {name: hint.__metadata__[0] for name, hint in self.option_types.items()}

    @property
    def passes_options(self) -> bool:
        """Whether options that the method does not name are passed on to its test."""
        parameters = inspect.signature(self.run).parameters.values()
        return any(one.kind is one.VAR_KEYWORD for one in parameters)

    def check_options(self, given: Collection[str], shared: Sequence[str]) -> None:
        """Refuse an option that this method does not take; ``shared`` are options of the call itself."""
        if not self.passes_options:
            refuse_unknown(self.name, given, list(self.options), shared)
