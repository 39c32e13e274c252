"""What ``core.display`` reaches: words, summaries, HTML, plots and reports by the type of what is shown.

Types are looked up by their names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
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

# type, or a part of what is said of it -> the function that says it
SUMMARIES: dict[str, Callable[..., str]] = {
    "PrivacyStatement": statement.summary,
    "CITestResult": citest.answer_text,
    "PowerForecast": citest.missed_words,
    "PowerForecast.refusal": planning.refusal_words,
    "CITestForecast": citest.forecast_words,
    "Trend": citest.trend_words,
    "EffectResult": effect.summary,
    "EffectResult.answer": effect.answer_words,
    "EffectResult.assumes": effect.assumes_words,
    "EffectForecast": effect.forecast_words,
    "EffectForecast.refusal": effect.refusal_words,
    "DiscoveryResult": graph_words.summary,
    "DiscoveryResult.missing_edges": graph_words.absent_means,
    "DiscoveryResult.edges": lambda result: "\n".join(graph_words.edge_lines(result)),
    "Plan": planning.plan_text,
    "Plan.design": planning.design_words,
    "Protocol": sites.protocol_text,
    "Contribution": sites.contribution_text,
    "OtherBudget": lambda other, dataset: ledger.other_budget_words(dataset, other),
    "EarlierRows": lambda rows, dataset: ledger.other_rows_words(dataset, rows),
    "EarlierQuestion": ledger.asked_before_words,
    "EarlierRelease": ledger.search_again_words,
    "Screening": gwas.summary,
    "Draft": schema.draft_toml,
    "SchemaCheck": schema.check_text,
}

NOTEBOOK: dict[str, Callable[..., str]] = {
    "PrivacyStatement": statement.html,
    "CITestResult": citest.html,
    "EffectResult": effect.html,
    "DiscoveryResult": page.notebook_html,
    "Plan": planning.html,
}
PLOTS: dict[str, Callable[..., Any]] = {
    "PrivacyStatement": plots.plot_budget,
    "DiscoveryResult": plots.plot_result,
    "Plan": plots.plot_power,
}
REPORTS: dict[str, Callable[..., Any]] = {"DiscoveryResult": page.write, "Plan": plots.draw_plan}


def words(fact: Fact | StrEnum) -> str:
    """Return a fact, or a member of an enumeration, as a clause or sentence."""
    for family in type(fact).__mro__:
        if family.__name__ in FACTS:
            return FACTS[family.__name__](fact)
    if isinstance(fact, StrEnum):
        return statement.enum_words(fact)
    raise TypeError(f"no words for {fact!r}")


def _of(table: Mapping[str, Callable[..., Any]], value: Any, what: str, part: str = "") -> Callable[..., Any]:
    """Return the function that presents a value, by its type; raise ``TypeError`` if there is none."""
    name = type(value).__name__
    key = f"{name}.{part}" if part else name
    if key not in table:
        raise TypeError(f"no {what} of {name}")
    return table[key]


def summary(value: Any, *, part: str = "", **options: Any) -> str:
    """Return a result, statement or plan in plain lines; ``part`` asks for one part of them."""
    return str(_of(SUMMARIES, value, "summary", part)(value, **options))


def html(value: Any) -> str:
    """Return a result, statement or plan as a piece of HTML for a notebook."""
    return str(_of(NOTEBOOK, value, "HTML")(value))


def plot(value: Any, ax: Any, **options: Any) -> Any:
    """Draw a result, statement or plan with matplotlib; return the axes. Instead of axes, a file is written to."""
    draw = _of(PLOTS, value, "plot")
    return (
        plots.saved(draw(value, None, **options), ax) if plots.is_picture(ax) else draw(value, ax, **options)
    )


def report(value: Any, path: str | os.PathLike[str], **options: Any) -> str:
    """Write a discovery as one self-contained HTML page, or a plan as a picture; return its path."""
    _of(REPORTS, value, "report")(value, path, **options)
    return os.fspath(path)
