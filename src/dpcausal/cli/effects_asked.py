"""``discover --effect A,B --reserve SHARE``: effects out of the share of the budget that the search left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpcausal.core.errors import DpcausalError, InputError

if TYPE_CHECKING:
    from dpcausal.data.schema import Schema
    from dpcausal.discovery.result import DiscoveryResult

USUAL_RESERVE = 0.3  # of the budget, where effects are asked and no share is named


def parse_effects(texts: Sequence[str], reserve: float | None) -> tuple[list[tuple[str, str]], float]:
    """Return treatments with their outcomes, and the share of the budget to keep for them.

    >>> parse_effects(["a, b"], None), parse_effects([], None)
    (([('a', 'b')], 0.3), ([], 0.0))
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
    return found, (USUAL_RESERVE if reserve is None else reserve) if found else 0.0


def check_effects(asked: Sequence[tuple[str, str]], schema: Schema) -> None:
    """Refuse, before anything is charged, columns and levels between which no effect can be asked."""
    from dpcausal.effects.question import effect_question

    for treatment, outcome in asked:
        effect_question(schema, treatment, outcome, ())


def with_effects(
    result: DiscoveryResult, asked: Sequence[tuple[str, str]]
) -> tuple[DiscoveryResult, list[str], list[dict[str, Any]]]:
    """Return the result, whose statement then tells of both, with a text and plain data for each effect.

    Each takes an equal part of the share. Where the graph says that there is none, that is the answer, and its part is
    not spent.
    """
    from dpcausal.present.effect import answer_words, assumes_words

    texts, data = [], []
    for treatment, outcome in asked:
        try:
            found = result.effect(treatment, outcome, part=1.0 / len(asked))
        except DpcausalError as error:  # the graph is paid for: it is not to be lost
            texts.append(f"Effect of {treatment} on {outcome}: none estimated: {error}.")
            data.append({"treatment": treatment, "outcome": outcome, "estimate": None, "why": str(error)})
            continue
        result = replace(result, privacy=found.privacy)
        texts.append(f"{answer_words(found)}\n{assumes_words(found)}")
        data.append({name: value for name, value in found.to_dict().items() if name != "privacy"})
    return result, texts, data


def effects_json(effects: Sequence[dict[str, Any]]) -> str:
    """Return the text of ``effects.json``."""
    return json.dumps(effects, indent=2, ensure_ascii=False, allow_nan=False)
