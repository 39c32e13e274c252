"""Accounts of a ledger in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.present.statement import CHANGES, happened, meaning_words, odds
from dpcausal.present.text import few, listed
from dpcausal.privacy.ledger.asker import Asker
from dpcausal.privacy.ledger.beside import OtherBudget
from dpcausal.privacy.ledger.chain import Account, Entry
from dpcausal.privacy.ledger.earlier import EarlierQuestion, EarlierRelease, EarlierRows

MOST_NAMED = 5  # other data sets that a line names


def left_words(account: Account) -> str:
    """Return what remains of the total budget, in words.

    >>> left_words(Account("d", "replace-one", 10.0, 1e-5, 2.6, 2e-6, 7.4, 8e-6, 3, "2026"))
    'd: epsilon 7.4 of 10 left, delta 8e-06 of 1e-05 left.'
    """
    delta = f", delta {account.left_delta:.6g} of {account.delta:.6g} left" if account.delta else ""
    return f"{account.dataset}: epsilon {account.left_epsilon:.6g} of {account.epsilon:.6g} left{delta}."


def promise_words(account: Account) -> str:
    """Return the guarantee of all releases together, in words.

    >>> promise_words(Account("d", "replace-one", 10.0, 1e-5, 2.6, 2e-6, 7.4, 8e-6, 3, "2026"))[:70]
    'All 3 releases together: epsilon 2.6, delta 2e-06 (replace-one): chang'
    """
    if not account.releases:
        return "No release was charged yet."
    one = account.releases == 1
    which = "The one release" if one else f"All {account.releases:,} releases together"
    but = f", apart from a probability of at most {account.spent_delta:.3g}" if account.spent_delta else ""
    means = meaning_words(account.spent_epsilon, account.spent_delta, account.neighbours)
    return (
        f"{which}: epsilon {account.spent_epsilon:.6g}, delta {account.spent_delta:.6g} ({account.neighbours}): "
        f"{CHANGES[Neighbours.parse(account.neighbours)]} makes no result{'' if one else ' of them all'} "
        f"more than {odds(account.spent_epsilon)} times as likely or unlikely{but}. {means}"
    )


def others_words(dataset: str, here: Sequence[str], beside: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the warning when a budget is opened beside others; empty where there are none.

    ``here``: other data sets of the ledger. ``beside``: other ledgers in its folder, with their data sets.

    >>> others_words("cohort2", ["cohort"], [("old.db", ["survey"])])
    "Other data sets of this ledger: 'cohort'. Other ledgers in this folder: old.db ('survey'). If the same people are \
in 'cohort2', budgets add up: charge only one of them. No ledger holds rows or knows of another, so none can tell."
    """
    used = [f"{ledger} ({few([*map(repr, names)], MOST_NAMED)})" for ledger, names in beside if names]
    parts = [f"Other data sets of this ledger: {few([*map(repr, here)], MOST_NAMED)}."] if here else []
    parts += [f"Other ledgers in this folder: {few(used, MOST_NAMED)}."] if used else []
    if not parts:
        return ""
    return (
        f"{' '.join(parts)} If the same people are in {dataset!r}, budgets add up: charge only one of them. No ledger "
        "holds rows or knows of another, so none can tell."
    )


def other_budget_words(dataset: str | None, other: OtherBudget) -> str:
    """Return the warning that the rows may have a second budget.

    >>> other_budget_words("cohort2", OtherBudget("", "cohort", "p.csv"))
    "p.csv was charged to the data set 'cohort' of this ledger before. For the same people, its budget and that of \
'cohort2' add up: charge one of them only."
    >>> other_budget_words("cohort", OtherBudget("old.db", "cohort"))
    "The ledger old.db has a data set 'cohort', too. For the same people, its budget and that of 'cohort' here add up: \
charge one of them only."
    >>> other_budget_words(None, OtherBudget("old.db", "cohort", "p.csv"))
    "p.csv was charged to the data set 'cohort' of the ledger old.db before, and no ledger is named now. For the same \
people, what this costs adds to that and is not counted there: name the ledger (ledger=, dataset=)."
    """
    if dataset is None:
        return (
            f"{other.file} was charged to the data set {other.dataset!r} of the ledger {other.ledger} before, and no "
            "ledger is named now. For the same people, what this costs adds to that and is not counted there: name the "
            f"ledger ({spelled('--ledger, --dataset', 'ledger=, dataset=')})."
        )
    here = f"{dataset!r} here" if other.ledger else repr(dataset)
    if other.file:
        where = f"the ledger {other.ledger}" if other.ledger else "this ledger"
        first = f"{other.file} was charged to the data set {other.dataset!r} of {where} before."
    else:
        first = f"The ledger {other.ledger} has a data set {other.dataset!r}, too."
    return f"{first} For the same people, its budget and that of {here} add up: charge one of them only."


def entries_words(entries: Sequence[int]) -> str:
    """Return entries by their numbers, those in a row as a range.

    >>> entries_words([3]), entries_words([1, 2, 3]), entries_words([1, 2, 5, 8])
    ('Entry 3', 'Entries 1 to 3', 'Entries 1, 2, 5 and 8')
    """
    runs: list[list[int]] = []
    for entry in entries:
        if runs and runs[-1][-1] == entry - 1:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    parts = [
        text
        for run in runs
        for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [f"{one}" for one in run])
    ]
    return f"Entr{'y' if len(entries) == 1 else 'ies'} {listed(parts)}"


def other_rows_words(dataset: str, found: EarlierRows) -> str:
    """Return the warning that a data set had another number of rows before.

    >>> other_rows_words("cohort", EarlierRows((2, 3, 4), (7425,), 4147))
    "Entries 2 to 4 of 'cohort' had 7,425 rows, this has 4,147. If these are other people, give them a data set of \
their own. If they are some of the same, chosen by their values, their number is a count from the data that no noise \
hides."
    """
    low, high = min(found.counts), max(found.counts)
    before = f"{low:,} to {high:,}" if len(found.counts) > 1 else f"{low:,}"
    return (
        f"{entries_words(found.entries)} of {dataset!r} had {before} rows, this has {found.rows:,}. If these are other "
        "people, give them a data set of their own. If they are some of the same, chosen by their values, their number "
        "is a count from the data that no noise hides."
    )


def asked_before_words(found: EarlierQuestion) -> str:
    """Return that the same question was paid for before.

    >>> asked_before_words(EarlierQuestion((3,), (0.2,), False, False))
    'Entry 3 of this ledger asked this before, at epsilon 0.2: its answer costs nothing to read again. This is charged \
once more.'
    """
    several = len(found.entries) > 1
    what = ("graph" if found.graph else "answer") + "s" * several
    more = f", nor to search with other knowledge ({again_words()})" if found.again else ""
    return (
        f"{_paid_words(found, 'asked this before')}: {'their' if several else 'its'} {what} "
        f"{'cost' if several else 'costs'} nothing to read again{more}. This is charged once more."
    )


def _paid_words(found: EarlierQuestion | EarlierRelease, did: str) -> str:
    """Return what earlier entries did, and at which epsilon."""
    return f"{entries_words(found.entries)} of this ledger {did}, at {_spent_words(found.epsilons)}"


def search_again_words(found: EarlierRelease) -> str:
    """Return that an earlier release can be searched for what is asked now.

    >>> search_again_words(EarlierRelease((4,), (1.0,), True))
    'Entry 4 of this ledger learned a graph of these columns, at epsilon 1: what it released can be searched for a \
graph with hidden common causes at no cost (dc.load_release(DIR).discover(latent=True)). This is charged once more.'
    """
    it = "they" if len(found.entries) > 1 else "it"
    hidden = f"{'with' if found.latent else 'without'} hidden common causes"
    return (
        f"{_paid_words(found, 'learned a graph of these columns')}: what {it} released can be searched for a graph "
        f"{hidden} at no cost ({again_words(latent=found.latent)}). This is charged once more."
    )


def again_words(*, latent: bool | None = None) -> str:
    """Return how a release can be searched again.

    >>> again_words()
    'dc.load_release(DIR).discover()'
    """
    option = "" if latent is None else " --latent" if latent else " --no-latent"
    argument = "" if latent is None else f"latent={latent}"
    return spelled(f"dpcausal again DIR{option}", f"dc.load_release(DIR).discover({argument})")


def _spent_words(epsilons: Sequence[float]) -> str:
    """Return the costs of entries: each, or from the least to the most."""
    costs = sorted(set(epsilons))
    spent = f"{costs[0]:g}" if len(costs) == 1 else f"{costs[0]:g} to {costs[-1]:g}"
    return f"epsilon {spent}{' each' if len(epsilons) > 1 and len(costs) == 1 else ''}"


def combined_words(accounts: Sequence[Account]) -> str:
    """Return the note that promises hold for each data set alone; empty for one data set."""
    used = [account for account in accounts if account.releases]
    if len(used) < 2:
        return ""
    relations = sorted({account.neighbours for account in used})
    line = "These promises are for each data set by itself: for people who are in several, they add up"
    if len(relations) == 1:
        return f"{line} (sum of epsilon, sum of delta)."
    return f"{line}, and not by a plain sum, since the relations differ ({', '.join(relations)})."


COLUMNS_NAMED = 6  # of a discovery, in the log: of more, so many less two


def entry_words(entry: Entry) -> str:
    """Return what an entry is for, by its note: the command, its method, and what was asked."""
    if entry.kind == "create":
        return "total (create)"
    what, who = note_words(entry.to_dict()["note"]) or entry.kind, asker_words(entry.asker)
    return f"{what}. {who}" if who else what


def asker_words(asker: Asker) -> str:
    """Return who asked and what for; empty where an entry does not say.

    >>> asker_words(Asker("anna", "does smoking cause it?", "lungs")), asker_words(Asker(purpose="a thesis"))
    ('Asked by anna for lungs: does smoking cause it?', 'Asked for: a thesis')
    """
    if not asker.note():
        return ""
    by = f" by {asker.person}" if asker.person else ""
    project = f" for {asker.project}" if asker.project else ""
    first = f"Asked{by}{project}"
    if not asker.purpose:
        return first
    return f"{first}: {asker.purpose}" if by or project else f"Asked for: {asker.purpose}"


def note_words(note: Mapping[str, Any]) -> str:
    """Return what a charge was for.

    >>> note_words({"command": "discover", "method": "measured", "columns": ["age", "sex", "bmi"], "target": "bmi"})
    'discover measured: what is linked to bmi, among age, sex, bmi'
    >>> asked = {"question": "effect of arm on cells", "compare": ["a", "b"], "event": ">= 350"}
    >>> note_words({"command": "effect", "outcome": "cells", **asked})
    'effect: effect of arm on cells (b against a; cells >= 350)'
    """
    first = " ".join(str(note[name]) for name in ("command", "method") if note.get(name))
    asked = [str(note["question"])] if note.get("question") else []
    if note.get("target"):
        asked.append(f"what is linked to {note['target']}, among {_column_words(note.get('columns', []))}")
    elif note.get("columns"):
        asked.append(_column_words(note["columns"]))
    asked += [f"effect of {a} on {b} later" for a, b in note.get("effects", [])]
    levels = [f"{note['compare'][1]} against {note['compare'][0]}"] if note.get("compare") else []
    if note.get("event"):
        levels.append(f"{note['outcome']} {happened(note['event'])}")
    words = "; ".join(asked) + (f" ({'; '.join(levels)})" if levels else "")
    return f"{first}: {words}" if words else first


def _column_words(names: Sequence[str]) -> str:
    """Return columns by name, or their number and the first of them."""
    if len(names) <= COLUMNS_NAMED:
        return ", ".join(names)
    return f"{len(names)} columns ({few(names, COLUMNS_NAMED - 2)})"
