"""The risk of an event over time in both arms, with its bands, as an SVG and on a page."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from html import escape
from typing import Any

from dpcausal._version import __version__
from dpcausal.effects.result import EffectResult

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 110, 20, 44
COLOURS = ("#1b5e8a", "#b5461b")  # told apart by people who see few colours, and by lightness in print
DASHES = ("", "6 3")
TICKS = 5  # about as many on an axis


def curves_svg(result: EffectResult) -> str:
    """Return the survival curves of an effect as SVG; empty where there are none."""
    curves = result.curves
    if curves is None:
        return ""
    last = curves.times[-1]
    most = min(1.0, 1.1 * max(max(one) for one in curves.high) or 1.0)

    def at(time: float, risk: float) -> str:
        x = LEFT + (WIDTH - LEFT - RIGHT) * time / last
        y = TOP + (HEIGHT - TOP - BOTTOM) * (1 - risk / most)
        return f"{x:.1f},{y:.1f}"

    parts = [_axes(last, most, at)]
    for arm, name in enumerate(result.compare):
        low, risks, high = ([0.0, *one[arm]] for one in (curves.low, curves.risks, curves.high))
        times = (0.0, *curves.times)
        there = [at(t, risk) for t, risk in zip(times, high, strict=True)]
        back = [at(t, risk) for t, risk in reversed(list(zip(times, low, strict=True)))]
        line = " ".join(at(t, risk) for t, risk in zip(times, risks, strict=True))
        colour, dash = COLOURS[arm], f' stroke-dasharray="{DASHES[arm]}"' if DASHES[arm] else ""
        parts.append(f'<polygon points="{" ".join([*there, *back])}" fill="{colour}" fill-opacity="0.15"/>')
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        x, y = at(last, risks[-1]).split(",")
        label = escape(f"{result.treatment} {name}")
        parts.append(
            f'<text x="{float(x) + 6:.1f}" y="{float(y) + 4:.1f}" fill="{colour}" font-size="12">{label}</text>'
        )
    title = escape(f"Risk of {result.outcome} = {result.event} over time")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" font-family="sans-serif" style="max-width:100%;height:auto">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )


def round_ticks(last: float) -> list[float]:
    """Return about ``TICKS`` round numbers from 0 to ``last``, evenly spaced.

    >>> round_ticks(1826), round_ticks(5), round_ticks(0.57)
    ([0.0, 500.0, 1000.0, 1500.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    """
    power = 10.0 ** math.floor(math.log10(last / TICKS))
    step = min((power * one for one in (1, 2, 5, 10)), key=lambda step: abs(last / step - TICKS))
    return [round(step * i, 12) for i in range(math.floor(last / step * (1 + 1e-9)) + 1)]


def _axes(last: float, most: float, at: Callable[[float, float], str]) -> str:
    """Return both axes with their ticks as SVG."""
    parts = []
    for time in round_ticks(last):
        x, y = at(time, 0.0).split(",")
        parts.append(
            f'<text x="{x}" y="{float(y) + 16:.1f}" font-size="11" text-anchor="middle">{time:.12g}</text>'
        )
    for risk in round_ticks(most):
        x, y = at(0.0, risk).split(",")
        parts.append(
            f'<line x1="{x}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#ddd"/>'
            f'<text x="{float(x) - 6:.1f}" y="{float(y) + 4:.1f}" font-size="11" text-anchor="end">'
            f"{100 * risk:g}%</text>"
        )
    middle, low = (LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM
    parts.append(f'<text x="{middle:g}" y="{low + 34}" font-size="12" text-anchor="middle">time</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP - 6}" font-size="12">risk</text>')
    return "".join(parts)


def effect_page(result: Any) -> str:
    """Return a self-contained HTML page about an effect: the answer, curves, and privacy."""
    first, second = result.compare
    of = result.outcome if result.event is None else f"{result.outcome} = {result.event}"
    title = escape(f"{result.treatment}, {second} against {first}: {of}")
    made = f"dpcausal {__version__}, {date.today().isoformat()}"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><style>body{font-family:sans-serif;'
        "max-width:46em;margin:2em auto;padding:0 1em;line-height:1.4;overflow-wrap:anywhere}</style></head>"
        f"<body><h1>{title}</h1>{_paragraphs(result.summary())}{curves_svg(result)}"
        f"<h2>What was promised</h2>{_paragraphs(result.privacy.summary())}<p>{made}</p></body></html>"
    )


def _paragraphs(text: str) -> str:
    """Return lines as HTML paragraphs."""
    return "".join(f"<p>{escape(line)}</p>" for line in text.splitlines() if line)
