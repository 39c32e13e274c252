"""What ``core.display`` reaches: words, summaries, HTML, plots and reports by the type of what is shown."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Any

from dpcausal.citests.result import Chosen, CITestResult, HeldFixed, Reason, Trend
from dpcausal.core.facts import Fact
from dpcausal.core.look import Look
from dpcausal.core.statement import Limit, PrivacyStatement, Public, Released, Unit
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.search import MethodReason, Note
from dpcausal.effects.result import EffectNote, EffectResult
from dpcausal.gwas.result import Screening
from dpcausal.planning.plan import Plan
from dpcausal.present import brief, citest, discovery, effect, gwas, planning, statement


def words(fact: Fact | StrEnum) -> str:
    """Return one fact, or one member of an enumeration of the statement, as a clause or sentence."""
    match fact:
        case Limit():
            return statement.limit_words(fact)
        case Public():
            return statement.public_words(fact)
        case Released():
            return statement.released_words(fact)
        case Unit():
            return statement.unit_words(fact)
        case Reason():
            return citest.reason_words(fact)
        case HeldFixed():
            return citest.held_fixed_words(fact)
        case Chosen():
            return citest.chosen_words(fact)
        case MethodReason():
            return discovery.reason_words(fact)
        case EffectNote():
            return effect.note_words(fact)
        case Note():
            return discovery.note_words(fact)
        case StrEnum():
            return statement.enum_words(fact)
    raise TypeError(f"no words for {fact!r}")


def summary(value: Any, **options: Any) -> str:
    """Return a result, statement or plan in plain lines; ``part`` asks for one part of them."""
    match value:
        case PrivacyStatement():
            return statement.summary(value)
        case CITestResult():
            return citest.full_text(value) if options.get("full") else brief.answer_text(value)
        case Trend():
            return citest.trend_words(value)
        case EffectResult():
            match options.get("part"):
                case "answer":
                    return effect.answer_words(value)
                case "assumes":
                    return effect.assumes_words(value)
            return effect.summary(value, full=bool(options.get("full")))
        case DiscoveryResult():
            match options.get("part"):
                case "missing_edges":
                    return discovery.missing_words(value)
                case "edges":
                    return "\n".join(discovery.edge_lines(value))
            every = bool(options.get("open"))
            if options.get("full"):
                return discovery.full_text(value, open=every)
            return brief.discovery_text(value, every=every)
        case Look():
            return planning.look_words(value, **options)
        case Plan():
            if options.get("part") == "design":
                return planning.design_words(value)
            return planning.plan_text(value, **options)
        case Screening():
            return gwas.summary(value)
    raise TypeError(f"no summary of {type(value).__name__}")


def html(value: Any) -> str:
    """Return a result or statement as a piece of HTML for a notebook."""
    match value:
        case PrivacyStatement():
            return statement.html(value)
        case CITestResult():
            return citest.html(value)
        case EffectResult():
            return effect.html(value)
        case DiscoveryResult():
            from dpcausal.present.notebook import html as notebook

            return notebook(value)
    raise TypeError(f"no HTML of {type(value).__name__}")


def plot(value: Any, ax: Any, **options: Any) -> Any:
    """Draw a result, statement or plan with matplotlib; return the axes."""
    from dpcausal.present import plots

    match value:
        case PrivacyStatement():
            return plots.plot_budget(value, ax)
        case DiscoveryResult():
            return plots.plot_result(value, ax, open=bool(options.get("open")))
        case Plan():
            return plots.plot_power(value, ax)
    raise TypeError(f"no plot of {type(value).__name__}")


def report(value: Any, path: str | os.PathLike[str], **options: Any) -> str:
    """Write a discovery as one self-contained HTML page, or a plan as a picture; return its path."""
    match value:
        case DiscoveryResult():
            from dpcausal.present.page import write

            return str(write(value, os.fspath(path), **options))
        case Plan():
            from dpcausal.present.plots import draw_plan

            draw_plan(value, path)
            return os.fspath(path)
    raise TypeError(f"no report of {type(value).__name__}")
