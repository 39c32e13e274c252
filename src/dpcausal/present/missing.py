"""What becomes of missing values in a test, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcausal.citests.result import MissingRule


def missing_rule_words(fact: MissingRule) -> str:
    """Return what becomes of missing values, as a sentence."""
    columns = fact["columns"]
    if fact.kind == "shared":
        return (
            f"{' and '.join(columns)} both have a level for missing values: a dependence may be that they are missing "
            "together."
        )
    told = [
        f"missing {name} counts as {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in columns
    ]
    return f"By the schema, {', '.join(told)}: where many are missing, that can hide a dependence or make one up."
