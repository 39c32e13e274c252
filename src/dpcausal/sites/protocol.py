"""A protocol: what every site measures, and what it is asked to charge, agreed on before any row is read.

All sites measure the same columns and pairs of the same schema, each with noise of its own
(``planning/measurement_plan.py``: components, no levels merged by what a site's rows look like). In one round every
pair is measured. Two rounds share one total (``PartOfTotal``), which a site charges before the first: of rho where the
noise is Gaussian, so that nothing is lost by asking twice, and of epsilon where it is Laplace. What the first is for
follows from public numbers:

- **Levels** (``SHARE_LEVELS``), where noise is Gaussian and leaves no room for all levels of some column with an order:
  single columns alone. All sites together show which neighbouring levels to merge, and the second round measures all
  pairs of merged ones. Levels without an order have no neighbours: which may be merged their names alone say.
- **Pairs** (``SHARE_PAIRS``) elsewhere: all of them, and the second round measures the promising ones again. On random
  networks that gains little, and merging neighbours much.

**The file** is one JSON object: ``format``; ``software``; ``id``, a hash of the content; ``words``, the same for a
board of ethics; and the content, ``CONTENT``. It holds public numbers alone.

**Guarantee.** Nothing here sees a row.
"""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from dpcausal._version import __version__
from dpcausal.core.arguments import checked_count, checked_level, checked_list
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.facts import content_id
from dpcausal.core.json_files import check_kind, read_json, refuse_damaged, save_text
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Column, has_order, missing_place
from dpcausal.data.schema import Schema
from dpcausal.planning.measurement_plan import (
    MeasurementPlan,
    PublicNumbers,
    Shares,
    again_count,
    components_noise,
    merged_levels,
    most_levels,
    signal,
    spread_pairs,
)
from dpcausal.planning.plan import ExecutablePlan
from dpcausal.planning.settings import SETTINGS
from dpcausal.privacy.accounting.composition import PartOfTotal, check_total
from dpcausal.sites.levels import Groups, groups_of, join, merging
from dpcausal.stats.contrasts import Floats, least_detectable

FORMAT = 1
MOST_ROUNDS = 2
# of the total, for the first of two rounds: both were set on random networks
SHARE_LEVELS = 0.1  # where it is for single columns
SHARE_PAIRS = 0.5  # where it is for all pairs
CONTENT = (
    "schema", "level", "rows", "epsilon", "delta", "neighbours", "persons", "rounds", "round", "pairs", "first",
    "sites", "groups",
)  # fmt: skip
Persons = Literal["one-site", "several-sites"]


@dataclass(frozen=True)
class Protocol:
    """What every site is asked to measure.

    Attributes
    ----------
    schema : Schema
        The columns, the same for all sites.
    rows : tuple of int
        Of each site, about.
    epsilon, delta : float
        What each site is asked to charge, once for all rounds.
    neighbours : Neighbours
        Which two tables of a site must be hard to tell apart.
    level : float
        The level of every test.
    persons : str
        ``one-site``: each person is in the rows of one site. ``several-sites``: a person may be in several.
    rounds, round : int
        How many there are, and which this is.
    pairs : tuple of pairs of str or None
        What is measured in this round; None: all pairs, unless the round is for single columns (``of_levels``).
    first : str or None
        The id of the first round's protocol, in the second.
    sites : tuple of str
        In the second round: the sites of the first.
    groups : tuple of (str, tuple of int)
        In the second round: columns whose levels are merged, with the group of every level.

    Examples
    --------
    >>> from dpcausal.data.columns import Categorical
    >>> yes_no = Categorical(["no", "yes"])
    >>> Protocol(Schema(a=yes_no, b=yes_no), (1000, 800), epsilon=1.0, rounds=2).part
    PartOfTotal(round=1, first=0.5)
    """

    schema: Schema
    rows: tuple[int, ...]
    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    level: float = 0.05
    persons: Persons = "one-site"
    rounds: int = 1
    round: int = 1
    pairs: tuple[tuple[str, str], ...] | None = None
    first: str | None = None
    sites: tuple[str, ...] = ()
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.first is not None and self.first != first_round_of(self).id:
            raise InputError("the second round of a protocol keeps all that was agreed on for the first")
        place = {name: j for j, name in enumerate(self.schema)}
        pairs = [(place.get(a, -1), place.get(b, -1)) for a, b in self.pairs or ()]
        if len(set(pairs)) < len(pairs) or any(not 0 <= i < j for i, j in pairs):
            raise InputError("the pairs of a second round are different pairs of columns, in their sequence")

    @cached_property
    def id(self) -> str:
        """The name of the protocol, made from its content."""
        return content_id(self._content())

    @property
    def first_id(self) -> str:
        """The id of the first round's protocol."""
        return self.first or self.id

    @cached_property
    def part(self) -> PartOfTotal | None:
        """Which of two rounds this is, and the share of the first; None: there is one."""
        if self.rounds == 1:
            return None
        return PartOfTotal(self.round, SHARE_LEVELS if self.levels_first else SHARE_PAIRS)

    @cached_property
    def levels_first(self) -> bool:
        """Whether the first of two rounds is for single columns."""
        if self.rounds == 1:
            return False
        public = self._public(max(self.rows))
        return public.total.rho > 0 and bool(self._in_order(self._crowded(PartOfTotal(2, SHARE_LEVELS))))

    def _public(
        self,
        rows: float,
        schema: Schema | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Neighbours | None = None,
    ) -> PublicNumbers:
        """Return the public numbers of a site: all columns and the terms of the protocol, unless it has others.

        Of two rounds with Laplace noise without a delta. Which noise both have follows from all columns, the total and
        the relation.
        """
        epsilon = self.epsilon if epsilon is None else epsilon
        delta = self.delta if delta is None else delta
        relation = self.neighbours if neighbours is None else neighbours
        public = PublicNumbers.of_schema(self.schema, rows, epsilon, delta, relation)
        if self.rounds > 1 and not measured_at_once(public).gaussian:
            delta = 0.0
        return PublicNumbers.of_schema(schema or self.schema, rows, epsilon, delta, relation)

    @property
    def of_levels(self) -> bool:
        """Whether this round is for single columns alone."""
        return self.levels_first and self.round == 1

    @cached_property
    def of_pairs(self) -> Protocol:
        """The round in which all pairs are measured; before it is known which levels are merged, by their number."""
        if not self.of_levels:
            return self
        second = replace(self, round=2)
        even = {name: merged_evenly(self.schema[name], few) for name, few in self.to_merge.items()}
        return replace(second, groups=tuple(even.items()))

    def plan_for(
        self,
        schema: Schema,
        rows: float,
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Neighbours | None = None,
    ) -> ExecutablePlan:
        """Return what a site measures that has these columns and rows.

        ``epsilon``, ``delta`` and ``neighbours`` are those of the protocol unless the site has others.

        Raises
        ------
        InputError
            If a column is not that of the protocol, or there are fewer than two.
        """
        self.check_fits(schema)
        public = replace(self._public(rows, schema, epsilon, delta, neighbours), part=self.part)
        place = {name: j for j, name in enumerate(schema)}
        only: tuple[tuple[int, ...], ...] | None = () if self.of_levels else None
        if self.pairs is not None:
            only = tuple((place[a], place[b]) for a, b in self.pairs if a in place and b in place)
            if not only:
                raise InputError(
                    "no pair of this round is among the columns of this site: nothing to measure"
                )
        noted = {
            "command": "contribute",
            "question": f"round {self.round} of protocol {self.first_id}",
            "protocol": self.id,
        }
        groups = {}
        for name, which in self.groups:
            own = groups_of(schema[name], self.schema[name]) if name in place else None
            # what a site has merged otherwise is left as it is: whoever pools finds what is common
            if own is not None and max(own) > max(which) and join([own, which]) == which:
                groups[place[name]] = merging(own, which)
        return ExecutablePlan(schema, measured_at_once(public, only, groups), self.level, noted)

    def check_fits(self, schema: Schema) -> None:
        """Refuse columns that the protocol has otherwise (levels may be merged), or in another sequence.

        Raises
        ------
        InputError
            With the first that differs.
        """
        for name, column in schema.items():
            if name not in self.schema:
                raise InputError(f'the protocol has no column "{name}": leave it out')
            if groups_of(column, self.schema[name]) is None:
                raise InputError(
                    f'the protocol declares "{name}" otherwise than this schema, which may have fewer bins, or levels '
                    "whose aliases say which of the protocol's they are"
                )
        if list(schema) != [name for name in self.schema if name in schema]:
            raise InputError("the columns are in another sequence than in the protocol")
        if len(schema) < 2:
            raise InputError("a contribution needs at least two columns of the protocol")

    def for_promising(self, pairs: Sequence[tuple[str, str]] | None, sites: Sequence[str]) -> Protocol:
        """Return the protocol of the second round, which measures these pairs; None: all."""
        pairs = None if pairs is None else tuple(pairs)
        return replace(self, round=2, pairs=pairs, first=self.id, sites=tuple(sites))

    def for_common(self, counts: Mapping[str, Floats], sites: Sequence[str]) -> Protocol:
        """Return the protocol of the second round, which measures all pairs, levels merged by how common they are."""
        groups = [
            (name, join([merged_evenly(self.schema[name], few, counts[name])]))
            for name, few in self.to_merge.items()
            if name in counts
        ]
        return replace(self.for_promising(None, sites), groups=tuple(groups))

    # ---- what can be expected

    def noise(self, rows: float) -> float:
        """Return the variance of the noise in a pair of a site with so many rows, promising where some are."""
        once = self.of_pairs.plan_for(self.schema, rows).measurement.first_look
        if self.part is None or self.levels_first:
            return once
        names, number = list(self.schema), again_count(len(self.schema))
        some = [(names[i], names[j]) for i, j in spread_pairs(len(names), number)]
        again = self.for_promising(some, ()).plan_for(self.schema, rows).measurement.first_look
        return 1.0 / (1.0 / once + 1.0 / again)

    def least_found(self, sites: int | None = None) -> float:
        """Return the dependence (Cohen's w) that the first so many sites find in four runs of five.

        Of two columns with as many levels as most have, equally common. None: all sites.
        """
        plan = self.of_pairs.plan_for(self.schema, self.rows[0]).measurement
        size = int(statistics.median(plan.sizes))
        exactness = math.fsum(
            1.0 / (1.0 / n + self.noise(n) * size**2 / n**2) for n in self.rows[: sites or len(self.rows)]
        )
        return least_detectable(1.0 / exactness, max(size - 1, 1) ** 2, plan.enough(self.level))

    @property
    def crowded(self) -> dict[str, int]:
        """Columns with more levels than noise leaves room for, and for how many it does.

        What a site's rows look like must not decide which levels are merged: sites would merge others. So the schema is
        to declare fewer, or a first round shows how common they are in all sites together.
        """
        return self._crowded(replace(self, round=2).part if self.levels_first else self.part)

    @property
    def to_merge(self) -> dict[str, int]:
        """Those of them of which a first round decides which levels are merged, and to how many."""
        return self._in_order(self.crowded) if self.levels_first else {}

    def _in_order(self, crowded: Mapping[str, int]) -> dict[str, int]:
        return {name: few for name, few in crowded.items() if has_order(self.schema[name])}

    def _crowded(self, part: PartOfTotal | None) -> dict[str, int]:
        """Return the same for what this part of the total measures."""
        public = replace(self._public(sum(self.rows)), part=part)
        plan = measured_at_once(public)
        # the noise in a sum over k sites is that of one times the root of k
        rows = sum(self.rows) / math.sqrt(len(self.rows))
        room = math.sqrt(signal(public.sizes, rows, plan.total, self.neighbours, gaussian=plan.gaussian))
        most = most_levels(public.columns, room)
        return {
            name: few
            for name, kind, few in zip(self.schema, public.columns, most, strict=True)
            if kind.size - kind.missing > few
        }

    # ---- the file

    def summary(self) -> str:
        """Return the protocol in plain lines, for whoever is answerable for a site's rows."""
        return display().summary(self)

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        head = {"format": FORMAT, "software": f"dpcausal {__version__}", "id": self.id}
        return {**head, "words": self.summary().splitlines(), **self._content()}

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the protocol to a file, and return its path.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        return save_text(path, self.to_json() + "\n")

    def _content(self) -> dict[str, Any]:
        """Return what the id is made of."""
        return {
            "schema": self.schema.to_toml(),
            "level": self.level,
            "rows": list(self.rows),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": str(self.neighbours),
            "persons": self.persons,
            "rounds": self.rounds,
            "round": self.round,
            "pairs": None if self.pairs is None else [list(pair) for pair in self.pairs],
            "first": self.first,
            "sites": list(self.sites),
            **({"groups": [[name, list(which)] for name, which in self.groups]} if self.groups else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Protocol:
        """Return the protocol that ``to_dict`` wrote.

        Raises
        ------
        InputError, LookupError, TypeError, ValueError
            If it is none, or was changed.
        """
        there = [name for name in CONTENT if name != "groups" or name in data]
        if data["id"] != content_id({name: data[name] for name in there}):
            raise ValueError("its id is not that of its content")
        first = protocol(
            Schema.from_toml_string(data["schema"]),
            data["rows"],
            float(data["epsilon"]),
            float(data["delta"]),
            neighbours=data["neighbours"],
            level=data["level"],
            persons=data["persons"],
            rounds=data["rounds"],
        )
        if data["round"] == 1:
            found = first
        else:
            pairs = None if data["pairs"] is None else [(str(a), str(b)) for a, b in data["pairs"]]
            groups = tuple((str(name), tuple(map(int, which))) for name, which in data.get("groups", ()))
            second = first.for_promising(pairs, list(map(str, data["sites"])))
            found = replace(second, groups=groups)
            for name, which in groups:
                if len(which) != found.schema[name].size or join([which]) != which or max(which) < 1:
                    raise ValueError(f'the groups of "{name}" are none')
        if found.id != data["id"]:
            raise ValueError("its id is not that of its content")
        return found


def measured_at_once(
    public: PublicNumbers,
    only: tuple[tuple[int, ...], ...] | None = None,
    groups: Mapping[int, tuple[int, ...]] | None = None,
) -> MeasurementPlan:
    """Return the plan that measures single columns and these pairs (None: all), with whichever noise is smaller.

    ``groups`` are those of the levels of columns that are merged.
    """
    groups = groups or {}
    rows = SETTINGS.share_rows if public.neighbours is Neighbours.ADD_REMOVE else 0.0
    columns = [(j,) for j in range(len(public.columns))]
    sets: Sequence[tuple[int, ...]] = public.pairs if only is None else (only or columns)
    shares = Shares(rows=rows, singles=1.0 - rows if only == () else SETTINGS.share_singles)
    shares = replace(shares, pairs=0.0 if only == () else shares.left)
    sizes = [max(groups[j]) + 1 if j in groups else size for j, size in enumerate(public.sizes)]

    def noise(gaussian: bool) -> float:
        total = (shares.pairs or shares.singles) * public.amount(gaussian=gaussian)
        return components_noise(sets, sizes, total, public.neighbours, gaussian=gaussian)

    kinds = (False, True) if public.total.rho > 0 else (False,)
    # two rounds share rho where the total allows any
    gaussian = kinds[-1] if public.part is not None else min(kinds, key=noise)
    levels = tuple(
        max(size - (kind.missing and j in groups), 2)
        for j, (size, kind) in enumerate(zip(sizes, public.columns, strict=True))
    )
    return MeasurementPlan(
        public, False, gaussian, levels, False, shares, only=only, groups=tuple(groups.items())
    )


def first_round_of(second: Protocol) -> Protocol:
    """Return a protocol without what the first round chose for the second."""
    return replace(second, round=1, pairs=None, first=None, sites=(), groups=())


def merged_evenly(column: Column, most: int, counts: Floats | None = None) -> Groups:
    """Return the group of every level of a column, ``most`` and one for missing values; None: levels equally common."""
    common = [1.0] * column.size if counts is None else list(counts)
    return merged_levels(common, most, ordered=has_order(column), apart=missing_place(column))


def protocol(
    schema: Schema,
    rows: Sequence[int],
    epsilon: float,
    delta: float = 0.0,
    *,
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
    level: float = 0.05,
    persons: Persons = "one-site",
    rounds: int = 1,
) -> Protocol:
    """Return a protocol for several sites; no row is read.

    Parameters
    ----------
    schema : Schema
        The columns. A site may lack some, and else has the same.
    rows : sequence of int
        How many rows each site has, about.
    epsilon, delta : float
        What each site is asked to charge, in all rounds together.
    neighbours, level
        As for ``dc.discover``.
    persons : str, default "one-site"
        Whether each person is in the rows of one site, or may be in ``"several-sites"``: epsilons then add up.
    rounds : int, default 1
        1, or 2, which share the charge. Where Gaussian noise leaves no room for all levels of some column the first has
        a tenth, for single columns: all sites then merge the same levels. Elsewhere it has half, for all pairs: the
        second measures those that look promising.

    Returns
    -------
    Protocol
        ``print`` it for a board of ethics; ``.save(path)`` writes the file that sites are given.

    Raises
    ------
    InputError
        If an argument can't be used as given.

    Examples
    --------
    >>> from dpcausal.data.columns import Categorical
    >>> schema = Schema({name: Categorical(["no", "yes"]) for name in "abcdefgh"})
    >>> three = protocol(schema, [1000, 1000, 1000], 1.0, 1e-6)
    >>> three.epsilon, three.least_found() < three.least_found(1)
    (1.0, True)
    """
    if not isinstance(schema, Schema):
        raise InputError(f"a protocol needs a schema, not {schema!r}")
    counts = tuple(checked_count(n, "rows") for n in checked_list(rows, "rows", "numbers of rows"))
    if not counts or min(counts) < 1:
        raise InputError("rows must name the number of rows of each site, each at least 1")
    check_total(epsilon, delta)
    if persons not in ("one-site", "several-sites"):
        raise InputError(f"persons must be one-site or several-sites, not {persons!r}")
    if isinstance(rounds, bool) or rounds not in range(1, MOST_ROUNDS + 1):
        raise InputError(f"rounds must be 1 or {MOST_ROUNDS}, not {rounds!r}")
    relation = Neighbours.parse(neighbours, labels=False)
    found = Protocol(
        schema, counts, float(epsilon), float(delta), relation, checked_level(level), persons, int(rounds)
    )
    found.check_fits(schema)
    return found


def load_protocol(path: str | os.PathLike[str]) -> Protocol:
    """Read a protocol from its file.

    Raises
    ------
    InputError
        If there is no such file, or it is no protocol, or one of a newer version, or was changed.
    """
    return protocol_of(read_json(path, "protocol"), os.fspath(path))


def protocol_of(data: Any, name: str) -> Protocol:
    """Return a protocol from plain data; ``name`` is its file, for errors."""
    check_kind(
        data, name, "protocol", has=["rounds", "schema"], newest=FORMAT, written_by="dpcausal protocol"
    )
    with refuse_damaged(name):
        return Protocol.from_dict(data)
