"""What ``core.display`` reaches: words, summaries, HTML, plots and reports by the type of what is shown.

Types are told apart by their names, and the file with their words is imported when one is shown: a test needs nothing
of what a graph, a plan or a screening needs, so a short command stays light.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Any

from dpcausal.core.facts import Fact

# kind of fact -> the file that has its words, and the function there
FACTS = {
    "Limit": ("statement", "limit_words"),
    "Public": ("statement", "public_words"),
    "Released": ("statement", "released_words"),
    "Unit": ("statement", "unit_words"),
    "Reason": ("citest", "reason_words"),
    "HeldFixed": ("citest", "held_fixed_words"),
    "Chosen": ("citest", "chosen_words"),
    "Missed": ("citest", "missed_words"),
    "MissingRule": ("citest", "missing_rule_words"),
    "WithNoise": ("citest", "with_noise_words"),
    "MethodReason": ("discovery", "reason_words"),
    "Note": ("discovery", "note_words"),
    "EffectNote": ("effect", "note_words"),
}


def _file(name: str) -> Any:
    """Return a file of this room, imported now if it was not."""
    match name:
        case "statement":
            from dpcausal.present import statement

            return statement
        case "citest":
            from dpcausal.present import citest

            return citest
        case "brief":
            from dpcausal.present import brief

            return brief
        case "discovery":
            from dpcausal.present import discovery

            return discovery
        case "brief_graph":
            from dpcausal.present import brief_graph

            return brief_graph
        case "full_graph":
            from dpcausal.present import full_graph

            return full_graph
        case "effect":
            from dpcausal.present import effect

            return effect
        case "citest_forecast":
            from dpcausal.present import citest_forecast

            return citest_forecast
        case "planning":
            from dpcausal.present import planning

            return planning
        case "gwas":
            from dpcausal.present import gwas

            return gwas
        case "ledger":
            from dpcausal.present import ledger

            return ledger
        case "schema":
            from dpcausal.present import schema

            return schema
        case "notebook":
            from dpcausal.present import notebook

            return notebook
        case "plots":
            from dpcausal.present import plots

            return plots
        case _:
            from dpcausal.present import page

            return page


def words(fact: Fact | StrEnum) -> str:
    """Return one fact, or one member of an enumeration of the statement, as a clause or sentence."""
    kind = type(fact).__name__
    if kind in FACTS:
        name, function = FACTS[kind]
        return str(getattr(_file(name), function)(fact))
    if isinstance(fact, StrEnum):
        return str(_file("statement").enum_words(fact))
    raise TypeError(f"no words for {fact!r}")


def summary(value: Any, **options: Any) -> str:
    """Return a result, statement or plan in plain lines; ``part`` asks for one part of them."""
    full, part = bool(options.get("full")), options.get("part")
    match type(value).__name__:
        case "PrivacyStatement":
            return str(_file("statement").summary(value))
        case "CITestResult":
            return str(_file("citest").full_text(value) if full else _file("brief").answer_text(value))
        case "CITestForecast":
            return str(_file("citest_forecast").forecast_words(value))
        case "Trend":
            return str(_file("citest").trend_words(value))
        case "EffectResult":
            effect = _file("effect")
            if part == "answer":
                return str(effect.answer_words(value))
            if part == "assumes":
                return str(effect.assumes_words(value))
            return str(effect.summary(value, full=full))
        case "EffectForecast":
            effect = _file("effect")
            return str(effect.refusal_words(value) if part == "refusal" else effect.forecast_words(value))
        case "DiscoveryResult":
            return _discovery(value, part, full=full, every=bool(options.get("open")))
        case "Look":
            return str(_file("planning").look_words(value, **options))
        case "Plan":
            planning = _file("planning")
            return str(
                planning.design_words(value) if part == "design" else planning.plan_text(value, **options)
            )
        case "OtherBudget":
            return str(_file("ledger").other_budget_words(options["dataset"], value))
        case "EarlierRows":
            return str(_file("ledger").other_rows_words(options["dataset"], value))
        case "EarlierQuestion":
            return str(_file("ledger").asked_before_words(value))
        case "EarlierRelease":
            return str(_file("ledger").search_again_words(value))
        case "Screening":
            return str(_file("gwas").summary(value))
        case "Draft":
            return str(_file("schema").draft_toml(value))
        case "SchemaCheck":
            return str(_file("schema").check_text(value))
    raise TypeError(f"no summary of {type(value).__name__}")


def _discovery(value: Any, part: Any, *, full: bool, every: bool) -> str:
    if part == "missing_edges":
        return str(_file("discovery").missing_words(value))
    if part == "edges":
        return "\n".join(_file("full_graph").edge_lines(value))
    if full:
        return str(_file("full_graph").full_text(value))
    return str(_file("brief_graph").discovery_text(value, every=every))


# type -> the file whose ``html`` shows it in a notebook
NOTEBOOK = {
    "PrivacyStatement": "statement",
    "CITestResult": "citest",
    "EffectResult": "effect",
    "DiscoveryResult": "notebook",
    "Plan": "planning",
}


def html(value: Any) -> str:
    """Return a result, statement or plan as a piece of HTML for a notebook."""
    kind = type(value).__name__
    if kind in NOTEBOOK:
        return str(_file(NOTEBOOK[kind]).html(value))
    raise TypeError(f"no HTML of {kind}")


def plot(value: Any, ax: Any, **options: Any) -> Any:
    """Draw a result, statement or plan with matplotlib; return the axes. Instead of axes, a file is written to."""
    if _file("plots").is_picture(ax):
        return _file("plots").saved(plot(value, None, **options), ax)
    match type(value).__name__:
        case "PrivacyStatement":
            return _file("plots").plot_budget(value, ax)
        case "DiscoveryResult":
            return _file("plots").plot_result(value, ax, **options)
        case "Plan":
            return _file("plots").plot_power(value, ax)
    raise TypeError(f"no plot of {type(value).__name__}")


def report(value: Any, path: str | os.PathLike[str], **options: Any) -> str:
    """Write a discovery as one self-contained HTML page, or a plan as a picture; return its path."""
    match type(value).__name__:
        case "DiscoveryResult":
            return str(_file("page").write(value, os.fspath(path), **options))
        case "Plan":
            _file("plots").draw_plan(value, path)
            return os.fspath(path)
    raise TypeError(f"no report of {type(value).__name__}")
