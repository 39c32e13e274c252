"""A discovery in a notebook: the graph drawn, what it cost and what is open, as a piece of HTML without scripts."""

from __future__ import annotations

from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from dpcausal.present.discovery import (
    free_words,
    headline,
    helps_words,
    merged_line,
    missing_words,
    open_words,
    tiers_words,
)
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.page import banners
from dpcausal.present.svg import svg

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

# the notebook's own colours, dark or light
STYLE = """\
#{name} {{ max-width: calc(var(--natural) * 1); width: 100%; height: auto; }}
#{name} .edge path {{ fill: none; stroke: currentColor; stroke-width: 1.8; }}
#{name} .edge path.hit {{ stroke: transparent; stroke-width: 14; }}
#{name} .edge.plain .line {{ stroke-dasharray: 8 5; }}
#{name} .edge.conflict .line {{ stroke-dasharray: 10 4 2 4; }}
#{name} .edge.sure .line {{ stroke-width: 3.6; }}
#{name} .edge.weaker .line {{ stroke-width: 1.8; }}
#{name} .edge.hint .line {{ stroke-width: .9; stroke-opacity: .6; }}
#{name} .head {{ fill: currentColor; }}
#{name} .told {{ fill: Canvas; stroke: currentColor; stroke-width: 1.3; }}
#{name} .weak {{ opacity: .6; }}
#{name} .node.undecided rect {{ stroke-dasharray: 4 3; }}
#{name} .ring {{ fill: none; stroke: currentColor; stroke-width: 1.4; }}
#{name} .node rect {{ fill: none; stroke: currentColor; stroke-width: 1.4; }}
#{name} .node text {{ text-anchor: middle; font: 14px system-ui, sans-serif; fill: currentColor; }}"""


def html(result: DiscoveryResult) -> str:
    """The piece; edges and boxes tell themselves in words when pointed at."""
    name = "dpcausal-" + sha256(result.to_json().encode()).hexdigest()[:8]
    drawing = svg(result.shown, EdgeNotes.of(result), name)
    lead = f"{headline(result)}."
    remarks = [f"{words} result.plot(open=True) draws them." for words in [open_words(result)] if words]
    remarks += [line for kind, line in banners(result) if kind == "conflicts"]  # others are in the statement
    about = (
        helps_words(result),
        missing_words(result),
        tiers_words(result),
        free_words(result),
        merged_line(result),
    )
    remarks += [told for told in about if told]
    return (
        f"<div><style>{STYLE.format(name=name)}</style><p>{escape(' '.join([lead, *remarks]))}</p>{drawing}"
        f"{result.privacy._repr_html_()}</div>"
    )
