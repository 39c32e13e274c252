"""One graph from the contributions of several sites.

**Evidence** is taken inside each site, with its own margins and the known variance of its noise, and added up
(``stats/within_sites.py``): other margins in other sites make no link. What sites released becomes one ``Release``, so
that everything that can be asked of a discovery can be asked of it at no cost: the search, directions, open pairs,
effects, other background knowledge.

**The promise.** Each contribution has its own statement, which no other site can weaken. Where each person is in the
rows of one site, all of them together protect a person as the weakest of them does (parallel composition); where a
person may be in several, epsilons and deltas add up. The protocol says which was declared. The two rounds of one site
share one charge, which counts once (``cost_of``). Where sites have different neighbours, the statement is for one row
replaced, which is one removed and one added: (2 epsilon, (1 + e^epsilon) delta).

**Mistakes.** A folder that was changed, that is there twice, or that belongs to another protocol is refused. A site
that makes up its tables can't be recognised.

**Guarantee.** Post-processing of what was released: no row is read, and nothing is charged.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpcausal.core.arguments import checked_list
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import (
    Composition,
    MeasuredTables,
    NoiseSource,
    NotPrivate,
    OfSites,
    PersonsOfSites,
    PrivacyStatement,
    Public,
    Released,
    SitesPooled,
    SitesTrusted,
    known_limits,
)
from dpcausal.discovery.knowledge import Edge, Knowledge
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.measured.tables import Components, Site, TablesOfSites
from dpcausal.discovery.release import Release
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.search import MethodByCall
from dpcausal.planning.measurement_plan import PublicNumbers, again_count
from dpcausal.privacy.accounting.composition import FirstCharge
from dpcausal.sites.contribute import Contribution, load_contribution
from dpcausal.sites.levels import Groups, groups_of, join, merged, merging, refuse_nothing_left
from dpcausal.sites.protocol import Protocol, measured_at_once
from dpcausal.stats.contrasts import Round, all_pairs

Rounds = Mapping[str, Sequence[Contribution]]  # of every site, the first round first


def pool(
    contributions: Sequence[Contribution | str | os.PathLike[str]],
    *,
    tiers: Sequence[Collection[str]] = (),
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    max_order: int | None = None,
    latent: bool = False,
    level: float | None = None,
    direction_level: float | None = None,
    confidence: int | None = None,
    progress: bool = False,
) -> DiscoveryResult:
    """Learn one graph from what several sites released. It costs nothing, and no row is read.

    Parameters
    ----------
    contributions : sequence of paths
        The folders of the sites, of all rounds; or what ``dc.contribute`` returned.
    tiers, required, forbidden, max_order, latent, level, direction_level, confidence, progress
        As for ``dc.discover``.

    Returns
    -------
    DiscoveryResult
        As of ``dc.discover``: ``.graph``, ``.open``, ``.effect``, ``.report``. Its notes name the sites, and the links
        that differ between them.

    Raises
    ------
    InputError
        If contributions can't be combined; the message names the two sites.

    Examples
    --------
    >>> import dpcausal as dc
    >>> network = dc.networks.load("asia")
    >>> sites = {name: network.sample(20_000, seed=seed) for seed, name in enumerate(["north", "south"])}
    >>> protocol = dc.protocol(network.schema, [20_000, 20_000], epsilon=1.0, delta=1e-6)
    >>> result = dc.pool([dc.contribute(rows, protocol, name) for name, rows in sites.items()])
    >>> frozenset({"smoke", "bronc"}) in result.graph.skeleton, result.privacy.epsilon <= 1.0
    (True, True)
    """
    return pooled_release(contributions).discover(
        tiers=tiers,
        required=required,
        forbidden=forbidden,
        max_order=max_order,
        latent=latent,
        level=level,
        direction_level=direction_level,
        confidence=confidence,
        progress=progress,
    )


def pooled_release(contributions: Sequence[Contribution | str | os.PathLike[str]]) -> Release:
    """Return what sites released, as one release."""
    rounds = checked_rounds(contributions)
    protocol = first_protocol(rounds)
    schema, columns = protocol.schema, tuple(protocol.schema)
    groups = common_groups(rounds, protocol)
    sites = [site_of(name, given, protocol, groups) for name, given in rounds.items()]
    tables = TablesOfSites(sites[0].components.sizes, sites)
    privacy = pooled_statement(rounds)
    every = [one for given in rounds.values() for one in given]
    counts = [given[0].release.rows for given in rounds.values()]
    rows = math.fsum(site.rows for site in sites)
    public = PublicNumbers.of_schema(schema, rows, protocol.epsilon, protocol.delta, privacy.neighbours)
    of_levels = all(one.protocol.of_levels for one in every)
    plan = measured_at_once(public, () if of_levels else None, groups)
    plan = replace(plan, gaussian=any(one.values.plan.gaussian for one in every))
    return Release(
        method="measured",
        schema=schema,
        privacy=privacy,
        rows=None if None in counts else sum(n for n in counts if n is not None),
        known=Knowledge.of(columns),
        values=Measurements(plan, schema, tables, rows, groups, rounds=equivalent_rounds(rounds)),
        reason=MethodByCall("sites"),
        delta=privacy.delta or 0.0,
        level=protocol.level,
    )


def next_protocol(contributions: Sequence[Contribution | str | os.PathLike[str]]) -> Protocol | None:
    """Return the protocol of the second round, which the first one chooses; None where there is none to come."""
    rounds = checked_rounds(contributions)
    protocol = first_protocol(rounds)
    if protocol.rounds < 2 or any(one.protocol.round > 1 for given in rounds.values() for one in given):
        return None
    release, columns = pooled_release(contributions), tuple(protocol.schema)
    assert isinstance(release.values, Measurements)
    if protocol.levels_first:
        tables, declared = release.values.tables, protocol.schema.values()
        counts = {
            name: tables.table((j,))
            for j, (name, column) in enumerate(zip(columns, declared, strict=True))
            if tables.knows((j,)) and tables.sizes[j] == column.size  # else a site has merged levels itself
        }
        return protocol.for_common(counts, list(rounds))
    evidence = release.values.contrasts().pair_evidence
    ranked = sorted(all_pairs(len(columns)), key=lambda pair: (-evidence[pair], pair))
    chosen = sorted(ranked[: again_count(len(columns))])
    return protocol.for_promising([(columns[i], columns[j]) for i, j in chosen], list(rounds))


def checked_rounds(contributions: Sequence[Contribution | str | os.PathLike[str]]) -> Rounds:
    """Return the contributions by site, in the sequence of names; refuse what can't be combined."""
    listed = checked_list(contributions, "contributions", "folders")
    every = [one if isinstance(one, Contribution) else load_contribution(_folder(one)) for one in listed]
    if not every:
        raise InputError("pool needs the folder of one site at least")
    for i, one in enumerate(every):
        for other in every[:i]:
            refuse_pair(other, one)
    found: dict[str, list[Contribution]] = {}
    for one in sorted(every, key=lambda one: (one.site, one.protocol.round)):
        found.setdefault(one.site, []).append(one)
    return found


def refuse_pair(one: Contribution, other: Contribution) -> None:
    """Refuse two contributions that can't be combined, in one line that names both sites."""
    both = f"{one.site} and {other.site}" if one.site != other.site else f"two folders of {one.site}"
    if one.release.id == other.release.id:
        raise InputError(f"{both} are the same release: its folder is there twice, or was copied")
    if one.protocol.first_id != other.protocol.first_id:
        raise InputError(
            f"{both} followed different protocols ({one.protocol.first_id} and {other.protocol.first_id})"
        )
    if one.protocol.round == other.protocol.round and one.protocol.id != other.protocol.id:
        raise InputError(f"{both} measured different pairs in the second round: its protocols differ")
    if one.privacy.unit != other.privacy.unit:
        raise InputError(f"{both} protect different units: one promise can't be made for both")
    if one.site != other.site:
        return
    if one.protocol.round == other.protocol.round:
        raise InputError(
            f"{both} are for the same round: a site contributes once, and two sites need two names"
        )
    first, second = sorted((one, other), key=lambda given: given.protocol.round)
    if not is_rest_of(second, first):
        raise InputError(
            f"{one.site} spent in its second round the rest of another first round than this one"
        )
    if one.release.rows != other.release.rows:
        raise InputError(
            f"{one.site} has another number of rows in its second round: other persons are in it"
        )
    if one.privacy.neighbours != other.privacy.neighbours:
        raise InputError(f"{one.site} has other neighbours in its second round")


def is_rest_of(second: Contribution, first: Contribution) -> bool:
    """Return whether one contribution of a site spent the rest of what another was charged for both.

    By the first folder that it names, or else by its ledger.
    """
    if second.protocol.round != 2 or first.protocol.round != 1:
        return False
    if second.rest_of is not None:
        return second.rest_of == first.id
    charge, rest = ((one.privacy.ledger or {}).get("release") for one in (first, second))
    return rest is not None and bool(rest == FirstCharge(first.id, charge).rest)


def first_protocol(rounds: Rounds) -> Protocol:
    """Return the protocol of the first round."""
    every = [one.protocol for given in rounds.values() for one in given]
    first = min(every, key=lambda one: one.round)
    if first.round > 1:
        raise InputError("there are contributions to the second round alone: add those to the first")
    return first


def told_apart(one: Contribution, protocol: Protocol) -> dict[str, Groups]:
    """Return which levels of the protocol a contribution tells apart, of every column that it has."""
    found = {}
    for j, (name, column) in enumerate(one.release.schema.items()):
        own = groups_of(column, protocol.schema[name])
        assert own is not None  # ``load_contribution`` has refused it
        merged_here = one.values.groups.get(j)
        found[name] = own if merged_here is None else tuple(merged_here[level] for level in own)
    return found


def common_groups(rounds: Rounds, protocol: Protocol) -> dict[int, Groups]:
    """Return the groups of levels that all contributions tell apart, of the columns in which any has merged some."""
    every = [(name, told_apart(one, protocol)) for name, given in rounds.items() for one in given]
    found = {}
    for j, (column, declared) in enumerate(protocol.schema.items()):
        groupings = [(name, one[column]) for name, one in every if column in one]
        groups = join([one for _, one in groupings] or [tuple(range(declared.size))])
        refuse_nothing_left(column, groups, groupings)
        if max(groups) + 1 < declared.size:
            found[j] = groups
    return found


def site_of(
    name: str, given: Sequence[Contribution], protocol: Protocol, groups: Mapping[int, Groups]
) -> Site:
    """Return what a site released in all rounds, with columns by their places in the protocol, and these groups."""
    place = {column: j for j, column in enumerate(protocol.schema)}
    sizes = [column.size for column in protocol.schema.values()]
    found = Components([max(groups[j]) + 1 if j in groups else size for j, size in enumerate(sizes)])
    for one in given:
        apart, components = told_apart(one, protocol), one.values.components
        own = list(one.release.schema)
        into = {
            k: merging(apart[column], groups[place[column]])
            for k, column in enumerate(own)
            if place[column] in groups
        }
        for columns in components.values:
            value, variance = merged(components, columns, into)
            found = found.with_measured([(tuple(place[own[k]] for k in columns), value)], variance)
    return Site(name, found, max(float(found.values[()]), 1.0))


def equivalent_rounds(rounds: Rounds) -> tuple[Round, ...]:
    """Return how pairs were measured, as if by one site with all rows; empty: all at once."""
    rows = math.fsum(given[0].values.rows for given in rounds.values())
    found = []
    for number in (1, 2):
        some = [one for given in rounds.values() for one in given if one.protocol.round == number]
        some = [one for one in some if one.values.rounds]  # others are of single columns
        exactness = math.fsum(one.values.rows**2 / one.values.rounds[0].variance for one in some)
        if some:
            pairs = max(one.values.rounds[0].pairs for one in some)
            found.append(Round(pairs, rows**2 / exactness))
    return tuple(found) if len(found) > 1 else ()


def pooled_statement(rounds: Rounds) -> PrivacyStatement:
    """Return what all contributions together promise."""
    every = [one for given in rounds.values() for one in given]
    first, several = every[0].privacy, first_protocol(rounds).persons == "several-sites"
    mixed = len({one.privacy.neighbours for one in every}) > 1
    costs = {name: cost_of(given, as_replaced=mixed) for name, given in rounds.items()}
    add = math.fsum if several else max
    epsilon, delta = (add([cost[k] for cost in costs.values()]) for k in (0, 1))
    private = all(one.privacy.private for one in every)
    pooled = SitesPooled(
        tuple((name, *costs[name], tuple(one.release.id for one in given)) for name, given in rounds.items())
    )
    return PrivacyStatement(
        private=private,
        not_private=None if private else NotPrivate.SEEDED,
        definition="pure" if delta == 0 else "approximate",
        parameters={"epsilon": epsilon} | ({} if delta == 0 else {"delta": delta}),
        epsilon=epsilon,
        delta=delta,
        neighbours=Neighbours.REPLACE_ONE if mixed else first.neighbours,
        unit=first.unit,
        public=(
            *public_of_sites(rounds),
            PersonsOfSites(first_protocol(rounds).persons),
        ),
        released=(
            pooled,
            *dict.fromkeys(of_site(fact, one.site) for one in every for fact in one.privacy.released),
        ),
        composition=Composition.SUM_OF_SITES if several else Composition.PARALLEL_SITES,
        events=tuple(
            {**event, "label": f"{one.site}: {event.get('label', '')}"}
            for one in every
            for event in one.privacy.events
        ),
        asked={"epsilon": epsilon, "delta": delta},
        reading={"epsilon": epsilon, "delta": delta},
        noise=NoiseSource.OPERATING_SYSTEM if private else NoiseSource.SEEDED,
        limits=(
            *dict.fromkeys((*known_limits(first.unit), *(f for one in every for f in one.privacy.limits))),
            SitesTrusted(),
        ),
    )


def public_of_sites(rounds: Rounds) -> list[Public]:
    """Return what is public, with the names of the sites where it is not public of all."""
    holding: dict[Public, list[str]] = {}
    for name, given in rounds.items():
        for fact in dict.fromkeys(fact for one in given for fact in one.privacy.public):
            holding.setdefault(fact, []).append(name)
    return [
        fact if len(names) == len(rounds) else OfSites(tuple(names), fact) for fact, names in holding.items()
    ]


def of_site(fact: Released, site: str) -> Released:
    """Return what was released, with tables named by their site: each has noise of its own."""
    return replace(fact, what=f"{fact.what} of {site}") if isinstance(fact, MeasuredTables) else fact


def cost_of(given: Sequence[Contribution], *, as_replaced: bool) -> tuple[float, float]:
    """Return epsilon and delta of the rounds of a site; ``as_replaced``: for one row replaced, whatever it was for.

    What spent the rest of a charge that is there as well counts with it: the first round's statement is of both.
    """
    statements = [one.privacy for one in given if not any(is_rest_of(one, first) for first in given)]
    epsilon = math.fsum(one.epsilon or 0.0 for one in statements)
    delta = math.fsum(one.delta or 0.0 for one in statements)
    if as_replaced and statements[0].neighbours is Neighbours.ADD_REMOVE:
        return 2.0 * epsilon, (1.0 + math.exp(epsilon)) * delta
    return epsilon, delta


def _folder(path: Any) -> str | os.PathLike[str]:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"pool takes the folders of sites, not {path!r}")
    return path
