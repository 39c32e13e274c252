"""One sentence on how a test held numeric columns fixed: by which cuts, or as numbers. From public facts."""

from __future__ import annotations

from dpcausal.citests.base import AnyTest, Question
from dpcausal.citests.crt import Crt
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.rank import ValueRankTest, bins_for
from dpcausal.citests.test_of_tests import TestOfGcm
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset

WITHIN = "groups of equal width between the bounds, not the declared bins"


def how_given(test: AnyTest, question: Question, data: Dataset | Counts, n: int | None) -> str:
    """The sentence, without a full stop; empty where no numeric column is given. ``n``: None where it is protected.

    Rank tests and ``crt``: ``continuous_rank.py``; ``gcm``: ``gcm.py``; else, and where there are only counts, tables.
    """
    names = [name for name in question.given if name in question.numeric]
    if not names:
        return ""
    listed = ", ".join(names)
    if isinstance(data, Dataset) and isinstance(test, Gcm | TestOfGcm):
        if isinstance(test, Gcm) and test.variant == "bins":
            return f"{listed} held fixed in {WITHIN}"
        return f"{listed} taken out by regression on the numbers themselves, not by the declared bins"
    if isinstance(data, Dataset) and isinstance(test, ValueRankTest | Crt):
        on_table = isinstance(test, ValueRankTest) and test.on == "table"
        cuts = {} if on_table else bins_for(question, data, test.strata, n)
        model = "in the model" if isinstance(test, Crt) else ""
        if isinstance(test, Crt) and test.score != "ranks":
            return f"{listed} held fixed {model}, as numbers and not by the declared bins"
        if cuts:
            both = f"{model} and " if model else ""
            each = " each" if len(names) > 1 else ""
            return f"{listed} held fixed {both}in {cuts[names[0]]} strata{each}: {WITHIN}"
    return f"{listed} held fixed by the declared bins: what varies within a bin is not taken out"
