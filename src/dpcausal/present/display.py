"""What ``core.display`` reaches: words, summaries, HTML, plots and reports by the type of what is shown.

Types are looked up by their names.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from dpcausal.core.facts import Fact
from dpcausal.present import (
    citest,
    effect,
    graph_words,
    gwas,
    ledger,
    notes,
    page,
    planning,
    plots,
    schema,
    sites,
    statement,
)

# family of facts -> the function that has its words
FACTS: dict[str, Callable[[Any], str]] = {
    "Limit": statement.fact_words,
    "Public": statement.fact_words,
    "Released": statement.fact_words,
    "Unit": statement.fact_words,
    "Reason": citest.reason_words,
    "HeldFixed": citest.held_fixed_words,
    "Chosen": citest.chosen_words,
    "MissingRule": citest.missing_rule_words,
    "WithNoise": citest.with_noise_words,
    "MethodReason": notes.reason_words,
    "Note": notes.note_words,
    "EffectNote": effect.note_words,
}


def words(fact: Fact | StrEnum) -> str:
    """Return one fact, or one member of an enumeration of the statement, as a clause or sentence."""
    for family in type(fact).__mro__:
        if family.__name__ in FACTS:
            return FACTS[family.__name__](fact)
    if isinstance(fact, StrEnum):
        return str(statement.enum_words(fact))
    raise TypeError(f"no words for {fact!r}")


def summary(value: Any, **options: Any) -> str:
    """Return a result, statement or plan in plain lines; ``part`` asks for one part of them."""
    full, part = bool(options.get("full")), options.get("part")
    match type(value).__name__:
        case "PrivacyStatement":
            return str(statement.summary(value))
        case "CITestResult":
            return str(citest.answer_text(value, full=full))
        case "PowerForecast":
            return str(citest.missed_words(value) if part is None else planning.refusal_words(value))
        case "CITestForecast":
            return str(citest.forecast_words(value))
        case "Trend":
            return str(citest.trend_words(value))
        case "EffectResult":
            if part == "answer":
                return str(effect.answer_words(value))
            if part == "assumes":
                return str(effect.assumes_words(value))
            return str(effect.summary(value, full=full))
        case "EffectForecast":
            return str(effect.refusal_words(value) if part == "refusal" else effect.forecast_words(value))
        case "DiscoveryResult":
            return _discovery(value, part, full=full, every=bool(options.get("open")))
        case "Plan":
            return str(
                planning.design_words(value) if part == "design" else planning.plan_text(value, **options)
            )
        case "Protocol":
            return str(sites.protocol_text(value))
        case "Contribution":
            return str(sites.contribution_text(value))
        case "OtherBudget":
            return str(ledger.other_budget_words(options["dataset"], value))
        case "EarlierRows":
            return str(ledger.other_rows_words(options["dataset"], value))
        case "EarlierQuestion":
            return str(ledger.asked_before_words(value))
        case "EarlierRelease":
            return str(ledger.search_again_words(value))
        case "Screening":
            return str(gwas.summary(value))
        case "Draft":
            return str(schema.draft_toml(value))
        case "SchemaCheck":
            return str(schema.check_text(value))
    raise TypeError(f"no summary of {type(value).__name__}")


def _discovery(value: Any, part: Any, *, full: bool, every: bool) -> str:
    if part == "missing_edges":
        return str(graph_words.absent_means(value))
    if part == "edges":
        return "\n".join(graph_words.edge_lines(value))
    if full:
        return str(graph_words.full_text(value))
    return str(graph_words.discovery_text(value, every=every))


# type -> the function that shows it in a notebook
NOTEBOOK: dict[str, Callable[[Any], str]] = {
    "PrivacyStatement": statement.html,
    "CITestResult": citest.html,
    "EffectResult": effect.html,
    "DiscoveryResult": page.notebook_html,
    "Plan": planning.html,
}


def html(value: Any) -> str:
    """Return a result, statement or plan as a piece of HTML for a notebook."""
    kind = type(value).__name__
    if kind in NOTEBOOK:
        return NOTEBOOK[kind](value)
    raise TypeError(f"no HTML of {kind}")


def plot(value: Any, ax: Any, **options: Any) -> Any:
    """Draw a result, statement or plan with matplotlib; return the axes. Instead of axes, a file is written to."""
    if plots.is_picture(ax):
        return plots.saved(plot(value, None, **options), ax)
    match type(value).__name__:
        case "PrivacyStatement":
            return plots.plot_budget(value, ax)
        case "DiscoveryResult":
            return plots.plot_result(value, ax, **options)
        case "Plan":
            return plots.plot_power(value, ax)
    raise TypeError(f"no plot of {type(value).__name__}")


def report(value: Any, path: str | os.PathLike[str], **options: Any) -> str:
    """Write a discovery as one self-contained HTML page, or a plan as a picture; return its path."""
    match type(value).__name__:
        case "DiscoveryResult":
            return str(page.write(value, os.fspath(path), **options))
        case "Plan":
            plots.draw_plan(value, path)
            return os.fspath(path)
    raise TypeError(f"no report of {type(value).__name__}")
