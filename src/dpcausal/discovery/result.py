"""The result of a discovery: the edges that were found, the pairs that are open, and what it cost.

A pair of columns is found, absent or open (``PairState``). The graph holds what was found and what was required; an
open pair is never drawn as an edge unless asked for, has no arrow and no confidence, and counts as possibly adjacent
when edges are directed: every arrow is right whether or not open pairs are edges.

Everything here is a fact; ``dpcausal.present`` makes the words and pictures.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, ClassVar, Generic, Protocol, TypeVar, get_type_hints, overload

from dpcausal.core.display import display
from dpcausal.core.errors import InputError, OtherNames, spellings
from dpcausal.core.spelling import for_everyone
from dpcausal.core.statement import PrivacyStatement
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Level
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.discovery.effect_after import ReleasedTables, Reserve, effect_after
from dpcausal.discovery.evidence import Evidence, LinkStrength
from dpcausal.discovery.knowledge import Knowledge, Pair, declared
from dpcausal.discovery.moments import Moments
from dpcausal.discovery.search import (
    AboutTarget,
    ChosenPairs,
    CoarseEdges,
    CountsMeasured,
    MethodReason,
    Note,
    OneLevel,
    OpenReason,
    Unanswered,
)
from dpcausal.effects.request import EffectPopulation, EffectRequest
from dpcausal.effects.result import EffectResult
from dpcausal.graphs.doubts import WEAK, Doubts, undirected_at
from dpcausal.graphs.graph import Graph, checked_pair
from dpcausal.graphs.pag import PAG

P_VALUES = "p pvalue pvalues p_value p_values pval"  # names that are tried
OPEN_SHARE = 0.9  # of the pairs asked about: from here on little was decided
N = TypeVar("N", bound=Note)
T = TypeVar("T")
DIRECTION_LEVEL = 0.8  # the chance of a direction from which on an arrow is drawn
HINT = WEAK  # of the repeats: an edge that is found again in fewer is a weak hint


class PairState(StrEnum):
    """What is known of two columns."""

    FOUND = "found"  # an edge: a dependence was shown, and no set that could be asked about separates the two
    ABSENT = "absent"  # no edge: some set separates the two, or you declared so
    OPEN = "open"  # neither could be shown


class Verdict(StrEnum):
    """How much a search could decide; pairs declared beforehand don't count."""

    DECIDED = "decided"  # more than a tenth of the pairs are found or absent
    HARDLY_DECIDED = "hardly-decided"  # some edge was found, but at least nine tenths of the pairs are open
    NOTHING_DECIDED = "nothing-decided"  # no edge was found, and at least nine tenths of the pairs are open


class OpenBecause(StrEnum):
    """Why ``measured`` left a pair open, by what was released about it."""

    HIDES_MEDIUM = "hides-medium"  # the test could have missed a medium link
    NOT_CHOSEN = "not-chosen"  # the pair is not among those that were measured
    BEST_GRAPH_LACKS = "best-graph-lacks"  # a link shows, and the whole graph that fits best has none there
    BINS_LEAVE = "bins-leave"  # what the bins of a number leave could make the link


@dataclass(frozen=True)
class OpenWhy:
    """Why a pair stayed open: ``reasons`` (none where the result does not know), given which columns."""

    reasons: tuple[OpenReason | OpenBecause, ...]
    given: tuple[str, ...] = ()


class SearchableRelease(Protocol):
    """What ``result.release`` offers: ``dc.Release`` says what each of these does."""

    @property
    def id(self) -> str:
        """Identifier of the release."""

    @property
    def privacy(self) -> PrivacyStatement:
        """The privacy statement of the measurement."""

    @property
    def schema(self) -> Schema:
        """The schema of the data that were measured."""

    @property
    def discover(self) -> Callable[..., DiscoveryResult]:
        """The function that searches for a graph on this release."""

    def with_privacy(self, statement: PrivacyStatement) -> SearchableRelease:
        """Return the same release with another privacy statement."""

    def to_json(self) -> str:
        """Return the release as JSON."""

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the release to a file and return its path."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What was asked of a search, all of it public."""

    method: Annotated[str, "The method that was used."]
    reason: Annotated[MethodReason, "Why this method was used."]
    level: Annotated[float, "The level of every test."]
    direction_level: Annotated[
        float, "The chance of a direction from which on an arrow is drawn, and of a mark."
    ] = DIRECTION_LEVEL
    known: Annotated[Knowledge, "What was declared beforehand."] = field(default_factory=Knowledge)
    known_before: Annotated[
        Knowledge | None,
        "What had been declared before the release, where other knowledge was declared after it; None: ``known``.",
    ] = None
    rows: Annotated[int | None, "The number of rows where it is public."] = None
    about: Annotated[
        frozenset[Pair] | None,
        "With a target, the pairs that were asked about: those with it. Others are neither found nor absent.",
    ] = None
    labels: Annotated[
        Mapping[str, str], "What columns are called for people, where the schema declares it."
    ] = field(default_factory=dict)
    fewer_columns: Annotated[
        int | None,
        "Among how many columns most pairs could have been decided, where hardly any was; None: not known.",
    ] = None


@dataclass(frozen=True, kw_only=True)
class PairFindings:
    """What was found out about pairs of columns besides the graph.

    Of ``detectable``, ``strength``, ``direction`` and ``marks`` the result shows those that are about its graph, and
    says what they are.
    """

    open: Annotated[
        frozenset[Pair],
        "Pairs that could not be decided: each may be an edge or not. They are not in ``graph``.",
    ] = frozenset()
    given_up_to: Annotated[
        Mapping[Pair, int],
        "For edges about which larger sets could not be asked: the largest k whose sets all were. A set of more than k "
        "columns might separate the two.",
    ] = field(default_factory=dict)
    separating: Annotated[dict[Pair, tuple[str, ...]], "For absent pairs, the set that separated them."] = (
        field(default_factory=dict)
    )
    held: Annotated[
        frozenset[Pair] | None,
        "Pairs about which a question with some column held fixed was answered; None where that is not known.",
    ] = None
    evidence: Annotated[
        Mapping[Pair, Evidence],
        "The p-value or Bayes factor of the question that came nearest to separating each pair, where released. Of "
        "many tests: small p-values are found by chance, too. Methods that release decisions only have none.",
    ] = field(default_factory=dict)
    detectable: Mapping[Pair, float] = field(default_factory=dict)
    strength: Mapping[Pair, LinkStrength] = field(default_factory=dict)
    direction: Mapping[tuple[str, str], float] = field(default_factory=dict)
    marks: Mapping[tuple[str, str], float] = field(default_factory=dict)
    confidence: Annotated[
        Mapping[Pair, float] | None,
        "How often each edge is found again, on another sample and with other noise, drawn as if what was released "
        "were the truth; None where that was not asked for. Open pairs have none.",
    ] = None
    repeats: Annotated[int | None, "How many times the search was repeated for ``confidence``."] = None
    conflicts: Annotated[
        frozenset[Pair],
        "Edges on whose directions test results contradict each other, or contradict what was declared.",
    ] = frozenset()


@dataclass(frozen=True, kw_only=True)
class SearchRecord:
    """What the search did."""

    asked: Annotated[dict[int, int], "How many questions were asked, by size of the conditioning set."]
    complete: Annotated[bool, "Whether the search asked every question that it needed."]
    settled: Annotated[
        bool, "Whether, where answers contradict each other, the nearest graph that exists is shown."
    ] = False
    notes: Annotated[tuple[Note, ...], "What the method did and what must be known about the graph."] = ()


@dataclass(frozen=True, kw_only=True)
class Reusable:
    """What later answers can be made from: released values, a share of the budget, and the release to search again."""

    tables: Annotated[
        ReleasedTables | Moments | None,
        "Noisy tables (``measured``) or moments (``moments``) that were released, from which effects are free.",
    ] = None
    reserve: Annotated[
        Reserve | None, "The share of the budget that was kept for effects, where one was."
    ] = None
    release: SearchableRelease | None = None


PARTS = {Terms: "terms", PairFindings: "pairs", SearchRecord: "search", Reusable: "reuse"}


class FactOf(Generic[T]):
    """A fact of a part of a result, as an attribute of the result; what it is stands at the part's field."""

    def __init__(self, part: type) -> None:
        self._part = part

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        (self.__doc__,) = get_type_hints(self._part, include_extras=True)[name].__metadata__

    @overload
    def __get__(self, result: None, owner: type) -> FactOf[T]: ...

    @overload
    def __get__(self, result: DiscoveryResult, owner: type) -> T: ...

    def __get__(self, result: DiscoveryResult | None, owner: type) -> FactOf[T] | T:
        if result is None:
            return self
        found: T = getattr(getattr(result, PARTS[self._part]), self._name)
        return found

    def __set__(self, result: DiscoveryResult, value: T) -> None:
        raise FrozenInstanceError(f"cannot assign to field {self._name!r}")


@dataclass(frozen=True, kw_only=True)
class DiscoveryResult(OtherNames):
    """The answer of ``dc.discover``, with what it cost.

    Attributes
    ----------
    graph : Graph
        The edges found, and those required: arrows where the data determine a direction, plain edges where they do not.
        Where test results contradict each other it is the nearest graph that exists; ``shown`` has no direction there.
        Where no pair is open it is a CPDAG. With ``latent=True`` it is a ``PAG``: every end of an edge has a mark.
    privacy : PrivacyStatement
        What the discovery cost and what that means.
    terms : Terms
        What was asked: ``method``, ``level``, ``known``, ``rows``, ...
    pairs : PairFindings
        What was found out about pairs: ``open``, ``confidence``, ``evidence``, ``separating``, ...
    search : SearchRecord
        What the search did: ``asked``, ``complete``, ``notes``, ...
    reuse : Reusable
        What later answers can be made from: ``release``, ``reserve`` and ``tables``.

    Every fact in these parts is also an attribute of the result itself: ``result.open``, ``result.confidence``.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(20_000, seed=1)
    >>> result = dc.discover(data, epsilon=2.0, delta=1e-6)
    >>> frozenset({"smoke", "bronc"}) in result.graph.skeleton, result.privacy.epsilon <= 2.0
    (True, True)
    """

    _other_names: ClassVar[dict[str, str]] = spellings(
        (P_VALUES, "result.evidence, by pairs"),
        ("bayes_factor bayes_factors bf bayes", "result.evidence, by pairs"),
        ("sepset sepsets separating_sets", "result.separating"),
        ("dag cpdag pdag pag", "result.graph"),
        ("nodes columns variables", "result.graph.nodes"),
        ("skeleton", "result.graph.skeleton"),
        ("directed arrows", "result.shown.directed"),
        ("undirected", "result.shown.undirected"),
        ("adjacency", "result.graph.skeleton, the set of adjacent pairs"),
        ("undecided open_pairs", "result.open"),
        ("untested", "result.given_up_to"),
        ("alpha", "result.level"),
        ("n n_rows", "result.rows"),
        ("effects", "result.effect(treatment, outcome)"),
        ("epsilon delta", "result.privacy.epsilon and result.privacy.delta"),
    )

    def _instead_of(self, name: str) -> str | None:
        """Return the advice for an attribute that has another name, or that this method does not have."""
        parts = self.__dict__.get("pairs")
        known: Mapping[Pair, Evidence] = {} if parts is None else parts.evidence
        if name in P_VALUES.split():
            if any(one.log10_bayes is not None for one in known.values()):
                return "this method has Bayes factors, no p-values: write result.evidence, by pairs"
            if not known:
                return "this method released decisions, no p-values; result.open and result.graph have them"
        return super()._instead_of(name)

    graph: Graph
    privacy: PrivacyStatement
    terms: Terms
    pairs: PairFindings
    search: SearchRecord
    reuse: Reusable = field(default=Reusable(), repr=False, compare=False)

    method = FactOf[str](Terms)
    reason = FactOf[MethodReason](Terms)
    level = FactOf[float](Terms)
    direction_level = FactOf[float](Terms)
    known = FactOf[Knowledge](Terms)
    known_before = FactOf[Knowledge | None](Terms)
    rows = FactOf[int | None](Terms)
    about = FactOf[frozenset[Pair] | None](Terms)
    labels = FactOf[Mapping[str, str]](Terms)
    fewer_columns = FactOf[int | None](Terms)
    open = FactOf[frozenset[Pair]](PairFindings)
    given_up_to = FactOf[Mapping[Pair, int]](PairFindings)
    separating = FactOf[dict[Pair, tuple[str, ...]]](PairFindings)
    held = FactOf[frozenset[Pair] | None](PairFindings)
    evidence = FactOf[Mapping[Pair, Evidence]](PairFindings)
    confidence = FactOf[Mapping[Pair, float] | None](PairFindings)
    repeats = FactOf[int | None](PairFindings)
    conflicts = FactOf[frozenset[Pair]](PairFindings)
    asked = FactOf[dict[int, int]](SearchRecord)
    complete = FactOf[bool](SearchRecord)
    settled = FactOf[bool](SearchRecord)
    notes = FactOf[tuple[Note, ...]](SearchRecord)
    tables = FactOf[ReleasedTables | Moments | None](Reusable)
    reserve = FactOf[Reserve | None](Reusable)

    @cached_property
    def detectable(self) -> Mapping[Pair, float]:
        """Of pairs without an edge, the link (Cohen's w) that would be found in 80% of runs.

        By the released margins of the two columns, the noise of their pair, merged levels and what was held fixed. Of
        ``measured``; other methods have none.
        """
        names = {*self.graph.nodes}
        edges = self.graph.skeleton
        return {pair: w for pair, w in self.pairs.detectable.items() if pair <= names and pair not in edges}

    @cached_property
    def strength(self) -> Mapping[Pair, LinkStrength]:
        """How strong each link found is (Cohen's w with a 95% interval), with nothing held fixed.

        Of ``codes``; other methods have none.
        """
        return {pair: link for pair, link in self.pairs.strength.items() if pair in self.graph.skeleton}

    @property
    def direction(self) -> Mapping[tuple[str, str], float]:
        """The chance that an edge is there and points from the first column to the second, by all that was released.

        An arrow is drawn from ``direction_level`` on. Of ``measured`` and ``moments`` without hidden causes; others,
        which decide by separating sets, have none. A declared direction has 1.
        """
        edges = self.graph.skeleton
        return {arrow: chance for arrow, chance in self.pairs.direction.items() if frozenset(arrow) in edges}

    @property
    def marks(self) -> Mapping[tuple[str, str], float]:
        """With ``latent=True``, the chance that the second column of an edge is no cause of the first: a head there.

        So ``1 - marks["b", "a"]`` is the chance that a causes b, directly or through others, and what is left of 1,
        ``marks["a", "b"] + marks["b", "a"] - 1``, that neither causes the other: they share a cause that was not
        measured. Marks are drawn from ``direction_level`` on. Of ``measured`` and ``moments``; ``pc``, which decides by
        separating sets, has none.
        """
        edges = self.graph.skeleton
        return {end: chance for end, chance in self.pairs.marks.items() if frozenset(end) in edges}

    @property
    def release(self) -> SearchableRelease | None:
        """What was released, to be searched again at no cost; None for methods that release decisions only.

        Also later from its file: ``release.save(path)``, ``dc.load_release(path).discover(tiers=...)``. Its statement
        is that of the result, effects that were paid for later included.
        """
        release = self.reuse.release
        if release is None or release.privacy == self.privacy:
            return release
        return release.with_privacy(self.privacy)

    @property
    def why(self) -> str:
        """Why this method was used, in words."""
        return display().words(self.reason)

    def state(self, a: str, b: str) -> PairState:
        """Return whether an edge between two columns was found, is absent or open.

        Raises
        ------
        InputError
            If there is no such column, or it is the same twice.
        """
        pair = checked_pair((a, b), self.graph.nodes)
        if pair in self.graph.skeleton:
            return PairState.FOUND
        return PairState.ABSENT if pair in self.absent else PairState.OPEN

    @property
    def states(self) -> dict[Pair, PairState]:
        """The state of every pair of columns."""
        return {frozenset((a, b)): self.state(a, b) for a, b in combinations(self.graph.nodes, 2)}

    @cached_property
    def absent(self) -> frozenset[Pair]:
        """Pairs without an edge that are not open; with a target, only pairs with it."""
        pairs = self.about or frozenset(map(frozenset, combinations(self.graph.nodes, 2)))
        return pairs - self.graph.skeleton - self.open

    @cached_property
    def nothing_held(self) -> frozenset[Pair]:
        """Edges for which no question with a column held fixed was answered, though one may explain them.

        None could be answered (``given_up_to`` is 0), or some third column may be linked to both: neither of its pairs
        with them is absent. Declared edges are not among them.
        """
        bare = frozenset(pair for pair, columns in self.given_up_to.items() if not columns)
        if self.held is None:
            return bare
        # with a target, pairs of other columns that were asked about are separated, too
        absent = self.absent | self.separating.keys()
        return bare | frozenset(
            pair
            for pair in self.graph.skeleton - self.known.required - self.held
            if any(self._may_explain(name, pair, absent) for name in self.graph.nodes if name not in pair)
        )

    @property
    def none_to_hold(self) -> frozenset[Pair]:
        """Edges for which no column needed to be held fixed: none is linked to both ends."""
        if self.held is None:
            return frozenset()
        return self.graph.skeleton - self.known.required - self.held - self.nothing_held

    def _may_explain(self, name: str, pair: Pair, absent: Collection[Pair]) -> bool:
        """Return whether a column may be linked to both ends of an edge and does not come after both."""
        return not any(frozenset((name, end)) in absent for end in pair) and self.known.may_separate(
            name, *pair
        )

    @property
    def verdict(self) -> Verdict:
        """Category of how much the search could decide."""
        columns = len(self.graph.nodes)
        declared_pairs = self.known.required | self.known.forbidden
        pairs = (
            columns * (columns - 1) // 2 - len(declared_pairs)
            if self.about is None
            else len(self.about - declared_pairs)
        )
        if not self.open or len(self.open) < OPEN_SHARE * pairs:
            return Verdict.DECIDED
        found = self.graph.skeleton - self.known.required
        return Verdict.HARDLY_DECIDED if found else Verdict.NOTHING_DECIDED

    @property
    def unsure_arrows(self) -> frozenset[tuple[str, str]]:
        """Arrows on edges that a larger, unanswered conditioning set might remove; not declared ones."""
        return frozenset(
            arrow
            for arrow in self.graph.directed
            if frozenset(arrow) in self.given_up_to and arrow not in self.known.arrows
        )

    @property
    def contradicted(self) -> frozenset[Pair]:
        """Edges on whose directions test results contradict each other; one that was declared is never among them."""
        fixed = {frozenset(arrow) for arrow in self.known.required_arrows(self.graph.skeleton)}
        return (self.conflicts & self.graph.skeleton) - (fixed if self.graph.kind != PAG.kind else set())

    @property
    def doubts(self) -> Doubts:
        """Reasons to doubt the graph: contradicted edges, open pairs, weak hints, order of time."""
        tiers = declared(self.known).get("tiers", ())
        return Doubts(self.contradicted, self.open, tuple(map(frozenset, tiers)), self.hints)

    @property
    def hints(self) -> frozenset[Pair]:
        """Edges that are weak hints: found again in less than half of the repeats, so not counted with the others."""
        return frozenset(pair for pair, part in self.found_confidence.items() if part < HINT)

    @property
    def target(self) -> str | None:
        """The one column that was asked about, where there was one."""
        return next((note.target for note in self._notes_of(AboutTarget)), None)

    @property
    def one_level(self) -> tuple[str, ...]:
        """Columns with one level: they can't depend on anything, and are neither counted nor asked about."""
        return tuple(name for note in self._notes_of(OneLevel) for name in note.columns)

    @property
    def not_shown(self) -> frozenset[Pair]:
        """Absent pairs that the data decided: without those declared absent, or of one level."""
        return self._of_several_levels(self.absent - self.known.forbidden)

    @property
    def declared_absent(self) -> frozenset[Pair]:
        """Pairs that background knowledge declares to have no edge."""
        return self._of_several_levels(self.absent & self.known.forbidden)

    def _of_several_levels(self, pairs: Iterable[Pair]) -> frozenset[Pair]:
        """Return the pairs without a column of one level."""
        single = {*self.one_level}
        return frozenset(pair for pair in pairs if not pair & single)

    @property
    def undecided_columns(self) -> tuple[str, ...]:
        """Columns without any decision: no edge, and no absent pair."""
        decided = {name for pair in self.graph.skeleton | self.not_shown for name in pair}
        asked = {name for pair in self.open for name in pair}
        return tuple(name for name in self.graph.nodes if name in asked and name not in decided)

    @property
    def asked_given(self) -> dict[Pair, tuple[str, ...]]:
        """Edges of ``nothing_held``, with the columns that were held fixed in questions that decided nothing."""
        bare = self.nothing_held
        given = {pair: one.given for pair, one in self.evidence.items() if pair in bare}
        return {pair: columns for pair, columns in given.items() if columns}

    @property
    def joined_absent(self) -> list[tuple[str, str, str]]:
        """Absent pairs (a, b) that a non-collider c joins although nothing was held fixed, as (a, b, c).

        Edges whose direction is contradicted are passed over: c may be a collider there.
        """
        graph, found = self.shown, []
        near = {
            name: {next(iter(pair - {name})) for pair in graph.skeleton if name in pair}
            for name in graph.nodes
        }
        for a, b in in_order(self.not_shown, graph.nodes):
            if self.separating.get(frozenset((a, b))) != ():
                continue
            for c in graph.nodes:
                heads = [graph.marks(end, c).endswith(">") for end in (a, b) if end in near[c]]
                if (
                    len(heads) == 2
                    and not all(heads)
                    and not {frozenset((a, c)), frozenset((b, c))} & self.contradicted
                ):
                    found.append((a, b, c))
                    break
        return found

    def why_open(self, pair: Pair) -> OpenWhy:
        """Return why a pair stayed open.

        Of ``measured`` it is known for each pair: the evidence that was released about it either shows a link, which
        the bins of a number may have made or which the best whole graph lacks; or it comes from a test that could have
        missed a medium link. Of other methods the reasons of all questions without an answer are known, and all are
        named.
        """
        if self.method != "measured":
            return OpenWhy(tuple(why for note in self._notes_of(Unanswered) for why, _ in note.reasons))
        explained = self.coarse_edges("explained-by-bins")
        if pair in explained:
            return OpenWhy((OpenBecause.BINS_LEAVE,), explained[pair])
        found = self.evidence.get(pair)
        if found is None:
            chosen = self._notes_of(ChosenPairs)
            return OpenWhy((OpenBecause.NOT_CHOSEN if chosen else OpenBecause.HIDES_MEDIUM,))
        if self._shows_a_link(found):
            return OpenWhy((OpenBecause.BEST_GRAPH_LACKS,))
        return OpenWhy((OpenBecause.HIDES_MEDIUM,), found.given)

    def _shows_a_link(self, evidence: Evidence) -> bool:
        """Return whether evidence is strong enough for an edge: p-value or Bayes factor."""
        if evidence.pvalue is not None and evidence.pvalue <= self.level:
            return True
        threshold = min((note.enough for note in self._notes_of(CountsMeasured)), default=math.inf)
        return (evidence.log10_bayes or 0.0) * math.log(10.0) > threshold

    def _notes_of(self, kind: type[N]) -> list[N]:
        """Return the notes of one kind."""
        return [note for note in self.notes if isinstance(note, kind)]

    def coarse_edges(self, what: str) -> dict[Pair, tuple[str, ...]]:
        """Return the pairs that notes on coarse bins name, each with the columns responsible."""
        notes = self._notes_of(CoarseEdges)
        return {frozenset((a, b)): by for note in notes if note.what == what for a, b, by in note.edges}

    @cached_property
    def _free_effects(self) -> dict[tuple[str, str], EffectResult | InputError]:
        """The effect along each edge shown, from released tables at no cost, or the error that prevents it."""
        found: dict[tuple[str, str], EffectResult | InputError] = {}
        for a, b, _ in self.shown.edges() if self.tables is not None else ():
            try:
                with for_everyone():
                    found[a, b] = self.effect(a, b, free=True)
            except InputError as error:
                found[a, b] = error
        return found

    def edge_effect(self, a: str, b: str) -> EffectResult | InputError | None:
        """Return the effect along an edge: the paid one, else from released tables at no cost.

        Where these can't answer, the error says why: a contradicted direction, columns that no table holds together,
        levels without an order. None where nothing was released or no such edge is shown. Free effects are computed
        once.
        """
        paid = None if self.reserve is None else self.reserve.answered(a, b)
        return paid or self._free_effects.get((a, b))

    @property
    def shown(self) -> Graph:
        """The graph as it is printed, drawn and written for other programs.

        Contradicted edges have no direction. A PAG is shown as it is: they have circles already.

        Examples
        --------
        >>> import dpcausal as dc
        >>> data = dc.networks.load("asia").sample(5_000, seed=1)
        >>> result = dc.discover(data, epsilon=None, method="pc")
        >>> result.shown.skeleton == result.graph.skeleton, result.contradicted <= result.shown.undirected
        (True, True)
        """
        if not self.contradicted or self.graph.kind == PAG.kind:
            return self.graph
        return undirected_at(self.graph, self.contradicted)

    @property
    def found_confidence(self) -> dict[Pair, float]:
        """Confidence in edges that were found, not declared."""
        return {
            pair: part for pair, part in (self.confidence or {}).items() if pair not in self.known.required
        }

    def edges(self) -> list[str]:
        """Return every edge as it is shown, ``a -> b`` or ``a - b``; of a PAG with its marks, as ``a o-> b``."""
        return [" ".join(edge) for edge in self.shown.marked_edges()]

    def edge_lines(self) -> list[str]:
        """Return every edge on a line, with its confidence where it has one, and what the marks mean."""
        return display().summary(self, part="edges").splitlines()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON: words under ``why``, ``notes``, ``missing_edges``; facts under ``facts``."""
        shown = display()
        return {
            "method": self.method,
            "why": self.why,
            "level": self.level,
            "graph": json.loads(self.graph.to_json()),
            "complete": self.complete,
            "open": sorted_pairs(self.open),
            "given_up_to": by_pair(self.given_up_to, "columns"),
            "conflicts": sorted_pairs(self.contradicted),
            "unsure_arrows": sorted(list(arrow) for arrow in self.unsure_arrows),
            "on_hints": [],  # of earlier versions: edges whose direction rested on weak hints
            "direction": by_arrow(self.direction, "chance"),
            "mark_chances": by_arrow(self.marks, "head"),
            "detectable": by_pair(
                {pair: w if math.isfinite(w) else None for pair, w in self.detectable.items()}, "w"
            ),
            "strength": by_pair({pair: link.to_dict() for pair, link in self.strength.items()}),
            "separating": by_pair({pair: list(given) for pair, given in self.separating.items()}, "given"),
            "labels": dict(self.labels),
            "evidence": by_pair({pair: one.to_dict() for pair, one in self.evidence.items()}),
            "asked": {str(order): count for order, count in sorted(self.asked.items())},
            "notes": [shown.words(note) for note in self.notes],
            "declared": declared(self.known),
            "confidence": None if self.confidence is None else by_pair(self.confidence, "found_again"),
            "confidence_repeats": self.repeats,
            "missing_edges": shown.summary(self, part="missing_edges"),
            "facts": self.facts(),
            "privacy": self.privacy.to_dict(),
        }

    def facts(self) -> dict[str, Any]:
        """Return the facts behind the words as plain data."""
        return {
            "reason": self.reason.to_dict(),
            "verdict": str(self.verdict),
            "pairs": {
                "found": len(self.graph.skeleton - self.doubts.hints),
                "hints": len(self.doubts.hints),
                "absent": len(self.absent),
                "open": len(self.open),
            },
            "notes": [note.to_dict() for note in self.notes],
        }

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def report(self, path: str | os.PathLike[str], *, open: bool = False) -> str:  # noqa: A002
        """Write one self-contained HTML page and return its path.

        Parameters
        ----------
        path : str or PathLike
            The file.
        open : bool, default False
            Whether open pairs are shown when the page is opened; a box on the page shows and hides them.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        return display().report(self, path, open=open)

    def plot(
        self,
        ax: Any = None,
        *,
        open: bool = False,  # noqa: A002
        title: bool = True,
        alone: bool = True,
        labels: bool = False,
    ) -> Any:
        """Draw the graph with matplotlib on ``ax`` or on new axes, or write it to a file; return the axes.

        Parameters
        ----------
        ax : matplotlib axes, path or None, default None
            Where to draw; None makes new axes. The name of a file (.pdf, .png, .svg, .eps, .jpg) is written to.
        open : bool, default False
            Whether to draw open pairs too: faint, dashed, without a direction.
        title : bool, default True
            Whether to write a title above the graph, and which columns are not drawn. That a graph is not private is
            always written.
        alone : bool, default True
            Whether to draw columns without an edge, where they are few.
        labels : bool, default False
            Whether to write the labels of the schema into the boxes, where columns have one, instead of their names.
        """
        return display().plot(self, ax, open=open, title=title, alone=alone, labels=labels)

    def effect(
        self,
        treatment: str,
        outcome: str,
        *,
        adjust: Iterable[str] | None = None,
        data: Dataset | Counts | None = None,
        epsilon: float | None = None,
        free: bool = False,
        part: float | None = None,
        estimand: str = "auto",
        compare: Sequence[Level] | None = None,
        event: Level | None = None,
        population: EffectPopulation = "auto",
        level: float = 0.95,
        **options: Any,
    ) -> EffectResult:
        """Estimate the effect of one column on another, with what the graph says to hold fixed.

        Where the discovery kept a share of its budget, as it does for ``discover(..., effect=("a", "b"))``, a table is
        measured now, with noise of its own, and paid from that share: the total of the discovery covers it. Where it
        kept none, or with ``free=True``, the answer is computed from the tables that were released and costs nothing.
        They also chose the graph, so that the interval may be too short. With ``data`` and an ``epsilon`` a table is
        measured as a release of its own, charged as such. The answer says which of the three it is.

        Parameters
        ----------
        treatment, outcome : str
            The columns.
        adjust : iterable of str or None, default None
            The columns to hold fixed; None takes them from the graph. Where directions at the treatment are open, every
            effect that the graph allows is estimated (``.possible``).
        data : Dataset, Counts or None, default None
            The rows, for a fresh table.
        epsilon : float or None, default None
            What the fresh table may cost.
        free : bool, default False
            Whether to answer from released tables although a share of the budget was kept.
        part : float or None, default None
            The part of that share, above 0 and at most 1, that this answer may cost. None is an equal part for effects
            that ``discover`` named, and what these leave for others. Columns that were measured before cost nothing
            more.
        estimand, compare, event, population, level
            As for ``dc.effect``; what the search released tells the effect in one population only.
        **options
            ``delta``, ``neighbours``, ``ledger`` and ``dataset`` of ``dc.effect``, with ``data``; ``method``, with
            ``data`` or a share that was kept; ``anyway``.

        Raises
        ------
        InputError
            If the tables do not hold the columns (the message says what a fresh table costs), or the graph says that
            there is no effect.
        BudgetError
            If less of the share is left than is asked for; nothing was charged.

        Examples
        --------
        >>> import dpcausal as dc
        >>> data = dc.networks.load("cancer").sample(50_000, seed=1)
        >>> result = dc.discover(data, epsilon=2.0, tiers=[["Pollution", "Smoker"], ["Cancer"], ["Xray", "Dyspnoea"]])
        >>> found = result.effect("Cancer", "Xray")
        >>> found.estimand, found.interval[0] <= found.estimate <= found.interval[1], found.privacy == result.privacy
        ('risk difference', True, True)
        >>> kept = dc.discover(data, epsilon=2.0, effect=("Smoker", "Cancer"), required=[("Smoker", "Cancer")])
        >>> found = kept.effect("Smoker", "Cancer", adjust=[])
        >>> found.privacy.epsilon, kept.reserve.left
        (2.0, 0.0)
        """
        request = EffectRequest(
            treatment,
            outcome,
            adjust=adjust,
            graph=self.graph,
            doubts=self.doubts,
            estimand=estimand,
            compare=compare,
            event=event,
            population=population,
            level=level,
            epsilon=epsilon,
            **options,
        )
        return effect_after(
            request, self.tables, self.privacy, data=data, reserve=self.reserve, free=free, part=part
        )

    def plot_budget(self, ax: Any = None) -> Any:
        """Draw where the budget went; the same as ``privacy.plot()``."""
        return self.privacy.plot(ax)

    def summary(self, *, open: bool = False, full: bool = False) -> str:  # noqa: A002
        """Return the graph and what it cost, in words.

        Parameters
        ----------
        open : bool, default False
            Whether to list every open pair instead of the first few.
        full : bool, default False
            Whether to say everything: what the marks mean, what the method did, and the whole privacy statement.
            Without it there are a table of edges and a line each on open pairs, privacy and the ledger.
        """
        return display().summary(self, open=open, full=full)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        cost = f"epsilon={self.privacy.epsilon}, delta={self.privacy.delta}"
        stamp = "" if self.privacy.private else ", private=False"
        left = f", {len(self.open)} pairs open" if self.open else ""
        return (
            f"DiscoveryResult({len(self.graph.skeleton)} edges{left}, method={self.method!r}, {cost}{stamp})"
        )

    def _repr_html_(self) -> str:
        """Return the result as HTML for a notebook."""
        return display().html(self)


R = TypeVar("R")


def replaced(value: R, **facts: Any) -> R:
    """Return a result with some facts replaced, in whichever of its parts they are.

    >>> made = replaced(DiscoveryResult(
    ...     graph=Graph(["a", "b"]), privacy=PrivacyStatement.none(released=[]), pairs=PairFindings(),
    ...     terms=Terms(method="pc", reason=MethodReason(), level=0.05), search=SearchRecord(asked={}, complete=True),
    ... ), level=0.01)
    >>> made.level, made.terms.method
    (0.01, 'pc')
    """
    changes = dict(facts)
    for one in fields(value):  # type: ignore[arg-type]
        part = getattr(value, one.name)
        inner = {name for name in facts if type(part) in PARTS and hasattr(part, name)}
        if inner:
            changes[one.name] = replace(part, **{name: changes.pop(name) for name in inner})
    return replace(value, **changes)  # type: ignore[type-var]


def sorted_pairs(pairs: Collection[Pair]) -> list[list[str]]:
    """Return pairs as sorted lists of sorted names, for JSON."""
    return sorted(sorted(pair) for pair in pairs)


def by_pair(values: Mapping[Pair, Any], name: str = "") -> list[dict[str, Any]]:
    """Return values by pair as a list of plain data for JSON, each under ``name`` or as a mapping.

    >>> by_pair({frozenset("ba"): 0.5}, "w"), by_pair({frozenset("ba"): {"w": 0.5}})
    ([{'pair': ['a', 'b'], 'w': 0.5}], [{'pair': ['a', 'b'], 'w': 0.5}])
    """
    ranked = sorted((sorted(pair), value) for pair, value in values.items())
    return [{"pair": pair, **({name: value} if name else value)} for pair, value in ranked]


def by_arrow(chances: Mapping[tuple[str, str], float], name: str) -> list[dict[str, Any]]:
    """Return probabilities by ordered pair as a list of plain data for JSON."""
    return [{"from": a, "to": b, name: round(chance, 4)} for (a, b), chance in sorted(chances.items())]


def checked_direction_level(level: object) -> float:
    """Return the probability from which an arrow is drawn; refuse one not above 0.5 and up to 1.

    >>> checked_direction_level(0.9)
    0.9
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 < level <= 1.0:
        raise InputError(f"direction_level must be above 0.5 and at most 1, not {level!r}")
    return float(level)


def in_order(pairs: Collection[Pair], columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return pairs, and the names in each, in the order of the columns: as a graph lists its edges.

    >>> in_order([frozenset("bc"), frozenset("ca")], ["c", "b", "a"])
    [('c', 'b'), ('c', 'a')]
    """
    place = {name: j for j, name in enumerate(columns)}
    ends = [tuple(sorted(pair, key=place.__getitem__)) for pair in pairs]
    return sorted(ends, key=lambda pair: [place[name] for name in pair])
