"""The report: layout, drawing, and the page as a browser would see it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.report.drawing import svg
from dpcausal.report.layout import layers, layout
from dpcausal.report.page import render, spent_by, write


@pytest.fixture(scope="module")
def result() -> dc.discovery.result.DiscoveryResult:  # type: ignore[name-defined]
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    return dc.discover(data, epsilon=1.0, level=0.01)


class Resources(HTMLParser):
    """Every address a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for key, value in attrs if key in ("src", "href") and tag != "a"]


def test_arrows_point_down_and_no_two_nodes_share_a_place() -> None:
    for name in dc.networks.names():
        graph = dc.networks.load(name).cpdag
        places = layout(graph)
        assert len(set(places.values())) == len(graph.nodes)
        depth = layers(graph)
        assert all(depth[a] < depth[b] for a, b in graph.directed)


def test_drawing_has_every_node_and_edge_in_words() -> None:
    graph = dc.Graph(["a<b", "c", "d"], directed=[("a<b", "c")], undirected=[("c", "d")])
    drawing = svg(graph, untested=[frozenset(("c", "d"))])
    assert "a&lt;b causes c" in drawing
    assert "direction not known; not fully tested" in drawing
    assert drawing.count('class="node"') == 3
    assert drawing.count("<path d=") == 3  # two edges and the head of arrows


def test_page_is_self_contained_and_complete(result, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    page = render(result)
    resources = Resources()
    resources.feed(page)
    assert resources.found == []
    assert not re.search(r"url\((?!#)", page)
    assert "NOT PRIVATE" not in page
    (found,) = re.findall(r'<pre id="privacy-json">(.*?)</pre>', page, flags=re.DOTALL)
    assert (
        json.loads(found.replace("&#34;", '"').replace("&#39;", "'").replace("&amp;", "&"))["epsilon"] == 1.0
    )
    assert Path(result.report(str(tmp_path / "report.html"))).read_text() == page


def test_a_page_that_is_not_private_says_so_first() -> None:
    data = dc.networks.load("cancer").sample(1000, seed=1)
    page = render(dc.discover(data, epsilon=None, method="pc"))
    assert page.index("NOT PRIVATE") < page.index('<div class="cards">')


def test_names_from_a_schema_are_escaped() -> None:
    schema = dc.Schema({"<script>x</script>": dc.Categorical([0, 1]), "b": dc.Categorical([0, 1])})
    data = dc.read({"<script>x</script>": [0, 1] * 50, "b": [0, 1] * 50}, schema)
    assert "<script>x" not in render(dc.discover(data, epsilon=1.0))


def test_bars_sum_events_by_label() -> None:
    events = [{"label": "a: 1", "cost": 1.0}] * 20 + [{"label": "b", "sensitivity": 1.0, "scale": 0.1}]
    assert spent_by(events) == [("a", 20, 1.0), ("b", 1, 0.5)]


def test_a_place_that_can_not_be_written_is_one_line(result) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(dc.InputError, match="can't write"):
        write(result, "/nonexistent/report.html")


@pytest.mark.skipif(
    shutil.which("chromium") is None, reason="no chromium on this machine (apt install chromium)"
)
def test_a_real_browser_draws_it(result, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    page = tmp_path / "report.html"
    result.report(str(page))
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
    ]
    command = ["chromium", *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]
    dom = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    assert dom.count('class="node"') == 5
    assert f">{len(result.graph.skeleton)} edges" in dom or f"{len(result.graph.skeleton)} edges" in dom
    assert 'id="epsilon">1<' in dom
