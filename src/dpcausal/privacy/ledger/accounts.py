"""What a data set's entries come to: total, spent, left, and what all its releases together promise, in words.

**Guarantee behind the words**: releases of one data set have one relation and their epsilons and deltas add up, so all
of them together are (spent epsilon, spent delta)-DP for it (``store.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement_words import RELATIONS, WEAK_EPSILON, factor
from dpcausal.privacy.accounting.exact import exact, left_of
from dpcausal.privacy.ledger.chain import Entry


@dataclass(frozen=True)
class Account:
    """A data set's total, what was spent of it and what is left."""

    dataset: str
    neighbours: str
    epsilon: float
    delta: float
    spent_epsilon: float
    spent_delta: float
    left_epsilon: float
    left_delta: float
    releases: int
    created: str

    def left_words(self) -> str:
        """What is left."""
        return f"epsilon {self.left_epsilon:.6g}, delta {self.left_delta:.6g}"

    def promise(self) -> str:
        """What was promised by all releases together, whoever sees them all.

        >>> Account("d", "replace-one", 10.0, 1e-5, 2.6, 2e-6, 7.4, 8e-6, 3, "2026").promise()[:70]
        'All 3 releases together: epsilon 2.6, delta 2e-06 (replace-one): of tw'
        """
        if not self.releases:
            return "No release was charged yet."
        one = self.releases == 1
        which = "The one release" if one else f"All {self.releases:,} releases together"
        but = f", apart from a probability of at most {self.spent_delta:.3g}" if self.spent_delta else ""
        weak = f" Above epsilon {WEAK_EPSILON:g} that promises almost nothing."
        return (
            f"{which}: epsilon {self.spent_epsilon:.6g}, delta {self.spent_delta:.6g} ({self.neighbours}): of "
            f"{RELATIONS[Neighbours.parse(self.neighbours)]}, no result of {'it' if one else 'them all'} "
            f"is more than {factor(self.spent_epsilon)} times as likely from one as from the other{but}."
            f"{weak if self.spent_epsilon > WEAK_EPSILON else ''}"
        )


def account(total: Entry, last: Entry, releases: int) -> Account:
    """The account after the entry ``last``; ``total`` is the entry that created the data set."""
    cap = exact(total.epsilon), exact(total.delta)
    spent = exact(last.spent_epsilon), exact(last.spent_delta)
    return Account(
        dataset=total.dataset,
        neighbours=str(total.to_dict()["note"]["neighbours"]),
        epsilon=float(cap[0]),
        delta=float(cap[1]),
        spent_epsilon=float(spent[0]),
        spent_delta=float(spent[1]),
        left_epsilon=float(left_of(spent[0], cap[0])),
        left_delta=float(left_of(spent[1], cap[1])),
        releases=releases,
        created=total.time,
    )


def apart(accounts: Sequence[Account]) -> str:
    """What must be known where several data sets have releases; empty where not: each promise is for one."""
    used = [account for account in accounts if account.releases]
    if len(used) < 2:
        return ""
    relations = sorted({account.neighbours for account in used})
    line = "These promises are for each data set by itself: for people who are in several, they add up"
    if len(relations) == 1:
        return f"{line} (sum of epsilon, sum of delta)."
    return f"{line}, and not by a plain sum, since the relations differ ({', '.join(relations)})."
