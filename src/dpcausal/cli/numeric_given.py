"""One sentence on how a test held numeric columns fixed: by which cuts, or as numbers. From public facts."""

from __future__ import annotations

from dpcausal.citests.continuous_rank import bins_for
from dpcausal.citests.question import Question
from dpcausal.data.dataset import Dataset


def how_given(method: str, question: Question, data: Dataset, n: int | None) -> str:
    """The sentence, without a full stop; empty where no numeric column is given. ``n``: None where it is protected.

    ``kendall``, ``spearman``, ``crt``: ``citests/continuous_rank.py``; ``gcm``: ``gcm.py``; else tables.
    """
    names = [name for name in question.given if name in question.numeric]
    if not names:
        return ""
    listed = ", ".join(names)
    if method in ("kendall", "spearman", "crt"):
        cuts = bins_for(question, data, "auto", n)[names[0]]
        model = "in the model and " if method == "crt" else ""
        strata = f"{model}in {cuts} strata of equal width between the bounds"
        return f"{listed} held fixed {strata}, not in the declared bins"
    if method == "gcm":
        return f"{listed} taken out by regression on the numbers themselves, not by the declared bins"
    return f"{listed} held fixed by the declared bins: what varies within a bin is not taken out"
