"""Protocols and contributions of sites in words: for whoever is answerable for the rows of one of them."""

from __future__ import annotations

from dataclasses import replace

from dpcausal.core.neighbours import Neighbours
from dpcausal.effects.levels import group_names
from dpcausal.present.statement import odds, short_cost_lines
from dpcausal.present.text import counted, few
from dpcausal.sites.contribute import Contribution
from dpcausal.sites.protocol import Protocol

PAIRS_SHOWN = 12
CHANGE = {
    Neighbours.REPLACE_ONE: "the values of one row of a site",
    Neighbours.ADD_REMOVE: "whether one row is there",
}
PERSONS = {
    "one-site": "Declared: each person is in the rows of one site. Then nobody is protected less because other sites "
    "take part.",
    "several-sites": "Declared: a person may be in the rows of several sites. Such a person is protected less: the "
    "epsilons and deltas of the sites add up.",
}

CHARGED = {  # by the round of two; 0: there is one
    0: "Each site is asked to charge {}",
    1: "Each site is asked to charge {} now, for two rounds together",
    2: "Each site was charged {} for both rounds before the first, and is charged nothing now",
}
FIRST_OF_TWO = {  # whether it is for single columns
    True: "The first is for single columns alone: all sites together show which neighbouring levels to merge where "
    "there are more than the noise leaves room for. The second measures all pairs.",
    False: "The first measures all pairs, the second those that all sites together show to be promising.",
}
TOO_MANY = "Declare fewer levels or bins: sites can't merge them by what their rows look like."
TWO_ROUNDS = " Or let two rounds (--rounds 2) merge neighbours where levels have an order."


def protocol_text(protocol: Protocol) -> str:
    """Return what a protocol asks of each site, one sentence a line."""
    epsilon, delta = protocol.epsilon, protocol.delta
    columns, both = len(protocol.schema), "" if protocol.rounds == 1 else " (both rounds together)"
    asked = CHARGED[protocol.round if protocol.rounds > 1 else 0]
    but = f", apart from a probability of {delta:.3g}" if delta else ""
    which = f" and by all {columns * (columns - 1) // 2:,} pairs of them"
    if protocol.pairs is not None:
        named = few([f"{a} - {b}" for a, b in protocol.pairs], PAIRS_SHOWN)
        which = f" and by {counted(len(protocol.pairs), 'pair')} of them ({named})"
    elif protocol.of_levels:
        which = ", one at a time"
    law = (
        "Gaussian"
        if protocol.plan_for(protocol.schema, max(protocol.rows)).measurement.gaussian
        else "Laplace"
    )
    lines = [
        f"Protocol {protocol.id}, round {protocol.round} of {protocol.rounds}, for "
        f"{counted(len(protocol.rows), 'site')} with about {', '.join(f'{n:,}' for n in protocol.rows)} rows.",
        f"Each site counts its rows by {counted(columns, 'column')}{which}, adds {law} noise to every count, "
        "and gives away nothing else. No row leaves a site, and no site need trust another with its rows.",
        f"{asked.format(f'epsilon {epsilon:.6g}, delta {delta:.6g}')}: a change of {CHANGE[protocol.neighbours]} makes "
        f"no contribution{both} more than {odds(epsilon)} times as likely or unlikely{but}.",
    ]
    if protocol.part is not None:
        lines.append(
            f"{FIRST_OF_TWO[protocol.levels_first]} The first has {protocol.part.first:.0%} of the charge; the rest "
            "can be spent once. A site may leave after the first."
        )
    if protocol.groups:
        grouped = [
            f"{name} ({' | '.join(group_names(protocol.schema[name], which))})"
            for name, which in protocol.groups
        ]
        lines.append(f"Levels are merged before counting, in all sites alike: {few(grouped, PAIRS_SHOWN)}.")
    lines.append(PERSONS[protocol.persons])
    if protocol.pairs is None:
        alone, all_sites = protocol.least_found(1), protocol.least_found()
        lines.append(
            f"The smallest link found 4 times in 5 is about w = {alone:.2g} from the first site alone, and "
            f"{all_sites:.2g} from all (w: the correlation of two columns of two levels; equally common levels)."
        )
    merged = protocol.to_merge
    crowded = [f"{name} ({most})" for name, most in protocol.crowded.items() if name not in merged]
    if crowded:
        helped = protocol.rounds == 1 and replace(protocol, rounds=2).levels_first
        lines.append(
            "Columns with more levels than the noise leaves room for, with the number that it does: "
            f"{few(crowded, PAIRS_SHOWN)}. {TOO_MANY}{TWO_ROUNDS * helped}"
        )
    return "\n".join(lines)


def contribution_text(found: Contribution) -> str:
    """Return what a site released and what it cost."""
    singles = sum(len(one) == 1 for one in found.values.components.values)
    pairs = sum(len(one) == 2 for one in found.values.components.values)
    return "\n".join(
        [
            f"{found.site}: round {found.protocol.round} of protocol {found.protocol.first_id}, "
            f"contribution {found.id}.",
            f"Released with noise: counts of {counted(singles, 'column')} and {counted(pairs, 'pair')} of them.",
            *short_cost_lines(found.privacy),
        ]
    )
