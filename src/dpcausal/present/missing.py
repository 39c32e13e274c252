"""What becomes of missing values in a test, in words."""

from __future__ import annotations

from dpcausal.citests.result import BothMissing, MissingCountsAs, MissingRule


def missing_rule_words(fact: MissingRule) -> str:
    """Return what becomes of missing values, as a sentence."""
    match fact:
        case BothMissing():
            return (
                f"{' and '.join(fact.columns)} both have a level for missing values: a dependence may be that they are "
                "missing together."
            )
        case MissingCountsAs():
            told = ", ".join(
                f"missing {name} counts as {value if isinstance(value, str) else f'{value:g}'}"
                for name, value in fact.columns
            )
            return (
                f"By the schema, {told}: where many are missing, that can hide a dependence or make one up."
            )
    raise TypeError(f"no words for {fact!r}")
