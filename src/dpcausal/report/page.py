"""One self-contained HTML page for a discovery: opens without a network, prints, and follows a dark theme."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, select_autoescape

from dpcausal._version import __version__
from dpcausal.core.errors import InputError
from dpcausal.report.drawing import svg

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

BARS = 12  # events are shown one by one up to here, then summed by label


def spent_by(events: list[dict[str, Any]]) -> list[tuple[str, int, float]]:
    """(what for, how many, share of the width) of the charged events, by epsilon or rho, whichever they have."""
    cost: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for event in events:
        label = (
            str(event.get("label", "")) if len(events) <= BARS else str(event.get("label", "")).split(":")[0]
        )
        size = event.get("cost")
        if size is None:
            spread = event.get("scale", event.get("sigma", 1.0))
            size = float(event.get("sensitivity", 1.0)) / float(spread)
        cost[label] += float(size)  # type: ignore[assignment]
        times[label] += 1
    most = max(cost.values(), default=1.0)
    return [(label, times[label], value / most) for label, value in cost.most_common(BARS)]


def render(result: DiscoveryResult, title: str = "Causal graph") -> str:
    """The page as text."""
    environment = Environment(
        loader=PackageLoader("dpcausal.report"),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    statement = result.privacy.to_dict()
    return environment.get_template("report.html").render(
        title=title,
        result=result,
        statement=statement,
        statement_json=json.dumps(statement, indent=2, ensure_ascii=False),
        graph_json=result.graph.to_json(),
        drawing=svg(result.graph, result.untested),
        bars=spent_by(statement["events"]),
        edges=result.edges(),
        summary=result.privacy.summary().splitlines(),
        untested=sorted(" and ".join(sorted(pair)) for pair in result.untested),
        version=__version__,
    )


def write(result: DiscoveryResult, path: str | Path, title: str = "Causal graph") -> Path:
    """Write the page; its path."""
    target = Path(path)
    try:
        target.write_text(render(result, title), encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {target}: {error.strerror}") from None
    return target
