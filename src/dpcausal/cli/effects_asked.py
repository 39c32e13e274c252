"""``discover --effect A,B --reserve SHARE``: effects out of the share of the budget that the search left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpcausal.core.errors import DpcausalError, InputError

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult


def parse_effects(texts: Sequence[str], reserve: float | None) -> list[tuple[str, str]]:
    """Return treatments with their outcomes.

    >>> parse_effects(["a, b"], None), parse_effects([], None)
    ([('a', 'b')], [])
    """
    found = []
    for text in texts:
        ends = [name.strip() for name in text.split(",")]
        if len(ends) != 2 or not all(ends):
            raise InputError(
                f"--effect takes two columns, treatment,outcome, not {text!r}; repeat it for more"
            )
        found.append((ends[0], ends[1]))
    if not found and reserve is not None:
        raise InputError("--reserve is the share of the budget kept for --effect treatment,outcome: name one")
    if len(set(found)) < len(found):
        raise InputError("--effect names the same two columns twice")
    return found


def with_effects(
    result: DiscoveryResult, asked: Sequence[tuple[str, str]]
) -> tuple[DiscoveryResult, list[str], list[dict[str, Any]]]:
    """Return the result, whose statement then tells of both, with a text and plain data for each effect.

    Each takes an equal part of the share, or is free where none was kept. Where the graph says that there is no effect,
    that is the answer, and its part is not spent.
    """
    from dpcausal.present.effect import answer_words, assumes_lines

    texts, data = [], []
    for treatment, outcome in asked:
        try:
            found = result.effect(treatment, outcome)
        except DpcausalError as error:  # the graph is paid for: it is not to be lost
            texts.append(f"Effect of {treatment} on {outcome}: none estimated: {error}.")
            data.append({"treatment": treatment, "outcome": outcome, "estimate": None, "why": str(error)})
            continue
        result = replace(result, privacy=found.privacy)
        texts.append("\n".join([answer_words(found), *assumes_lines(found)]))
        data.append({name: value for name, value in found.to_dict().items() if name != "privacy"})
    return result, texts, data


def effects_json(effects: Sequence[dict[str, Any]]) -> str:
    """Return the text of ``effects.json``."""
    return json.dumps(effects, indent=2, ensure_ascii=False, allow_nan=False)
