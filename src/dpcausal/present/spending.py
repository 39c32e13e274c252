"""Where a budget went: the charged events of a statement, summed by step, and drawn as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from dpcausal.core.statement import PrivacyStatement
from dpcausal.present.statement import mechanism_words, size_words
from dpcausal.privacy.events import Event, event_from_dict

BARS = 12  # events are shown one by one up to here, then summed by the part of the label before a colon
WIDE, AMOUNT, STEP, THICK = (
    300.0,
    170.0,
    46.0,
    14.0,
)  # the name stands above its bar: narrow enough for a phone


@dataclass(frozen=True)
class Step:
    """What one step cost: ``cost`` in ``unit`` ("epsilon", "rho", or "events" where they have no unit in common)."""

    label: str
    times: int
    cost: float
    unit: str


def steps(statement: PrivacyStatement) -> list[Step]:
    """The steps of a release in the order they were first charged.

    Costs are epsilon where every event has one and their sum is within what was promised; else they were added up as
    rho, and shown is that, where every event has it.
    """
    events = [event_from_dict(event) for event in statement.events]
    most = (statement.epsilon or 0.0) * (1 + 1e-9)
    by_epsilon = math.fsum(event.epsilon for event in events) <= most
    by_rho = all(math.isfinite(event.rho) for event in events)
    unit = "epsilon" if by_epsilon and statement.definition != "zCDP" else "rho" if by_rho else "events"
    found: dict[str, tuple[int, float]] = {}
    for event in events:
        label = _label(event, len(events))
        times, cost = found.get(label, (0, 0.0))
        found[label] = times + 1, cost + (1.0 if unit == "events" else float(getattr(event, unit)))
    return [Step(label, times, cost, unit) for label, (times, cost) in found.items()]


def _label(event: Event, many: int) -> str:
    label = event.label or event.kind
    return label if many <= BARS else label.split(":")[0]


def rows(events: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Every event in words, for a table."""
    shown = []
    for data in events:
        event = event_from_dict(data)
        shown.append(
            {
                "label": event.label,
                "mechanism": mechanism_words(str(data.get("mechanism", event.kind))),
                "size": size_words(data),
                "epsilon": _number(event.epsilon),
                "delta": _number(event.delta),
                "rho": _number(event.rho),
            }
        )
    return shown


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else ""


def unit_words(found: Sequence[Step]) -> str:
    """One line to stand under the chart; empty where it needs none."""
    parts = []
    if found and found[0].unit == "rho":
        parts.append(
            "shares are those of rho, the unit in which these steps add up (zCDP); the table of steps below has it"
        )
    elif found and found[0].unit != "events":
        parts.append("the bars show shares of the total")
    if any(step.times > 1 for step in found):
        parts.append("a bar sums the steps of one kind")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def shortened(label: str, most: int = 60) -> str:
    """``label``, or its beginning where it is longer than ``most``."""
    return label if len(label) <= most else label[: most - 1] + "…"


def chart(found: Sequence[Step]) -> str:
    """The bars as an ``<svg>`` element with the amounts in words; empty where nothing was charged."""
    if not found:
        return ""
    most, total = max(step.cost for step in found) or 1.0, math.fsum(step.cost for step in found)
    height = STEP * len(found) + 8
    parts = [
        f'<svg id="spending" viewBox="0 0 {WIDE + AMOUNT:g} {height:g}" role="img" '
        f'aria-label="Cost of each step, in {found[0].unit}">'
    ]
    for i, step in enumerate(found):
        y = i * STEP + 6
        name = step.label + (f" ({step.times} times)" if step.times > 1 else "")
        share = f"{step.cost / total:.0%}" if step.unit != "events" and total > 0 else ""
        amount = f"{step.unit} {step.cost:.4g}" + (f" ({share})" if share else "")
        wide = max(WIDE * step.cost / most, 1.0)
        parts.append(
            f'<g class="bar"><title>{escape(f"{name}: {amount}")}</title>'
            f'<text class="name" x="0" y="{y + 12:g}">{escape(shortened(name))}</text>'
            f'<rect x="0" y="{y + 18:g}" width="{wide:.1f}" height="{THICK:g}" rx="3"/>'
            f'<text x="{wide + 8:.1f}" y="{y + 30:g}">{escape(share or amount)}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])
