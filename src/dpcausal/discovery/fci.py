"""FCI: the further questions that hidden common causes raise.

Where common causes may be hidden, two columns without an edge need not be separated by neighbours of either. Some set
within one end's *possible-d-sep* separates them: what is reached over colliders and triangles (``graphs/hidden.py``).
So the search asks as PC does, reads colliders off, and asks about every edge that is left with sets from there [1].
It never holds data, and works for any driver to which questions are free.

**Bounds.** Possible-d-sep can hold nearly every column. A driver bounds what it asks: the size of a set, by what its
tables or tests can answer, and how many columns other than neighbours a set is made of, the nearest first. An edge
that a larger set might take away is reported as such (``given_up_to``), as everywhere. Marks are still right where a
search is bounded [2]: what an edge too many hides is still a circle.

References: [1] Spirtes, Glymour & Scheines 2000, section 6.7; [2] Spirtes 2001, "An anytime algorithm for causal
inference".
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dpcausal.core.errors import InputError
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.discovery.search import (
    Answers,
    HiddenCauses,
    Note,
    Query,
    Skeleton,
    Task,
    ask_side_by_side,
    candidate_sets,
    pc_search,
)
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.hidden import possible_d_sep


@dataclass(frozen=True)
class Bounds:
    """What is asked beyond PC's questions, at most; None: no limit."""

    order: int | None = None  # columns in a set
    far: int | None = None  # columns other than neighbours that sets are made of, the nearest first


USUAL = Bounds(order=3, far=6)
LATENT = "whether common causes may be hidden: the graph is then a PAG"


def checked_latent(latent: object, target: object) -> bool:
    """Return whether common causes may be hidden; refuse that together with a target."""
    if not isinstance(latent, bool):
        raise InputError(f"latent must be True or False, not {latent!r}")
    if latent and target is not None:
        raise InputError(
            "hidden causes are looked for in a whole graph, not around a target: leave latent or target out"
        )
    return latent


def fci_search(
    columns: Sequence[str],
    known: Knowledge | None = None,
    *,
    max_order: int | None = None,
    stable: bool = True,
    ahead: int = 1,
    bounds: Bounds = Bounds(),
    forward: bool = False,
) -> Generator[list[Query], Answers, Skeleton]:
    """Search for the skeleton over ``columns``, hidden causes allowed; drive it with ``send``, as ``pc_search``.

    >>> search = fci_search(["a", "b"])
    >>> next(search)
    [Query(x='a', y='b', given=())]
    """
    known = known or Knowledge()
    found = yield from pc_search(
        columns, known, max_order=max_order, stable=stable, ahead=ahead, forward=forward
    )
    if found.complete:
        yield from further_questions(
            found, known, max_order=max_order, ahead=ahead, bounds=bounds, forward=forward
        )
    return found


def search_for(
    task: Task, *, stable: bool, latent: bool, ahead: int = 1, forward: bool = False
) -> Generator[list[Query], Answers, Skeleton]:
    """Return the search of a task: PC's, or with hidden causes FCI's within the usual bounds."""
    options: dict[str, Any] = {"stable": stable, "ahead": ahead, "forward": forward}
    if latent:
        return fci_search(task.columns, task.known, max_order=task.max_order, bounds=USUAL, **options)
    return task.pc_search(**options)


def further_questions(
    found: Skeleton,
    known: Knowledge,
    *,
    max_order: int | None = None,
    ahead: int = 1,
    bounds: Bounds = Bounds(),
    possible: Collection[Pair] = frozenset(),
    forward: bool = False,
) -> Generator[list[Query], Answers, Skeleton]:
    """Ask about every edge given sets from possible-d-sep, as FCI does; remove the edges they separate.

    ``possible``: pairs that may be adjacent though ``found`` has no edge there. ``forward``: as in ``pc_search``.
    """
    graph = Graph(found.columns, undirected=found.edges)
    unknown = frozenset(possible) | (known.forbidden - found.separating.keys())
    near = found.near(forward)
    wide = {
        x: near[x] | _nearest(x, some - near[x], near, found.columns, bounds.far)
        for x, some in possible_d_sep(graph, found.separating, unknown).items()
    }
    limits = [one for one in (max_order, bounds.order) if one is not None]
    most = min([len(found.columns) - 2, *limits])
    edges = [
        (x, y)
        for x, y in combinations(found.columns, 2)
        if y in near[x] and frozenset((x, y)) not in known.required
    ]
    order = 0
    for order in range(1, most + 1):
        live = [pair for pair in edges if pair[1] in found.adjacent[pair[0]]]
        asked = yield from ask_side_by_side(
            found,
            {pair: _new_sets(*pair, order, wide, near, found.columns, known) for pair in live},
            order,
            ahead,
        )
        if asked is None:
            found.complete = False
            break
        if not any(len(wide[end]) > order for pair in live for end in pair):
            break
    for x, y in edges:
        if y in found.adjacent[x] and any(
            True for _ in _new_sets(x, y, order + 1, wide, near, found.columns, known)
        ):
            found.no_answer((x, y), order + 1)
    return found


def _new_sets(
    x: str,
    y: str,
    order: int,
    wide: dict[str, set[str]],
    near: Mapping[str, set[str]],
    columns: Sequence[str],
    known: Knowledge,
) -> Iterator[tuple[str, ...]]:
    """Yield sets from possible-d-sep that PC did not ask: not only neighbours of one end."""
    for given in candidate_sets(x, y, order, wide, columns, known):
        if not near[x].issuperset(given) and not near[y].issuperset(given):
            yield given


def _nearest(
    x: str, others: set[str], near: Mapping[str, set[str]], columns: Sequence[str], most: int | None
) -> set[str]:
    """Return at most ``most`` of ``others``, those reached from x over the fewest edges."""
    if most is None or len(others) <= most:
        return others
    steps, ahead = {x: 0}, [x]
    for one in ahead:  # grows while it is read
        for other in sorted(near[one] - steps.keys()):
            steps[other] = steps[one] + 1
            ahead.append(other)
    ranked = sorted(others, key=lambda name: (steps.get(name, len(columns)), columns.index(name)))
    return set(ranked[:most])


def hidden_note(bounds: Bounds) -> Note:
    """Return the note that common causes may be hidden, and how far sets were asked about for that."""
    return HiddenCauses(bounds.order, bounds.far)
