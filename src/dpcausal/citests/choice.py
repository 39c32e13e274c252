"""Which test ``auto`` asks for a question: every combination of columns has one. Public information only.

- x and y numbers or ordered levels (two levels always are), given nothing, levels and up to two numeric columns:
  ``kendall``, whose noise does not grow with the number of strata;
- the same with three or more numeric columns given: ``gcm``, since bins would be too coarse and the level lost;
- one of x and y unordered: ``measured`` (``g`` without privacy), which need no order.

``kendall`` takes numbers as they are and cuts numeric z finely (``continuous_rank.py``), ``gcm`` regresses on z;
``measured`` and ``g`` use declared bins of numeric columns, so what z does within a bin counts as dependence: the
reason says so. Where only counts are there, not rows, everything goes by declared bins. ``crt`` is never chosen: it
needs a model."""

from __future__ import annotations

from dpcausal.citests.question import Question

MOST_NUMERIC = 2  # numeric conditioning columns that bins are fine enough for


def choose(question: Question, epsilon: float | None, *, rows: bool = True) -> tuple[str, str]:
    """(name, reason) from the schema and the budget alone; ``rows``: whether there are rows or only counts."""
    numeric = sum(z in question.numeric for z in question.given)
    if question.ordered:
        if rows and numeric > MOST_NUMERIC:
            return "gcm", f"chosen because {numeric} numeric columns are given: bins would be too coarse"
        return "kendall", "chosen because the levels are ordered (or two), where it has the most power"
    name = "g" if epsilon is None else "measured"
    why = "chosen because the levels have no order"
    if numeric:
        why += "; numeric columns take part by their declared bins, and what they do within a bin is not taken out"
    return name, why


def method_for(question: Question, epsilon: float | None) -> str:
    """The name alone."""
    return choose(question, epsilon)[0]
