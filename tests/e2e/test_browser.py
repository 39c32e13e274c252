"""The report in a real Chromium: what is drawn, where, and what happens when it is pointed at, dragged and printed.

A probe script is added to a copy of the page; it acts as a reader would and leaves what it saw in the page, which
``--dump-dom`` prints. Skipped where there is no Chromium, unless DPCAUSAL_TEST_BROWSER says that there must be one
(``.ci/run`` does).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import dpcausal as dc
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result import replaced as replace
from dpcausal.networks import clinic

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
DARK = "--blink-settings=preferredColorScheme=0"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("DPCAUSAL_TEST_BROWSER"),
    reason="no Chromium on this machine (apt-get install chromium); .ci/run installs it",
)

PROBE = """
<script>
const seen = {};
const at = (x, kind, target, id = 1) => target.dispatchEvent(
  new PointerEvent(kind, { clientX: x[0], clientY: x[1], pointerId: id, bubbles: true }));
const graph = document.getElementById("graph"), edges = [...graph.querySelectorAll(".edge:not(.open)")];
graph.setPointerCapture = () => {};  // no real pointer is down
seen.resources = performance.getEntriesByType("resource").length;
seen.overflow = document.documentElement.scrollWidth - innerWidth;
seen.nodes = graph.querySelectorAll(".node").length;
seen.edges = edges.length;
seen.paper = getComputedStyle(document.body).backgroundColor;
seen.ink = getComputedStyle(document.body).color;
seen.dashes = edges.map(
  g => [g.matches(".arrow:not(.conflict)"), getComputedStyle(g.querySelector(".line")).strokeDasharray]);
seen.widths = edges.map(g => getComputedStyle(g.querySelector(".line")).strokeWidth.replace("px", ""));
const frame = graph.getBoundingClientRect();
seen.cut = [...graph.querySelectorAll(".edge:not(.open) .line, .node rect")].filter(part => {
  const b = part.getBoundingClientRect();
  return b.left < frame.left || b.right > frame.right || b.top < frame.top || b.bottom > frame.bottom;
}).length;
seen.inside = 0;
for (const g of edges) {
  const line = g.querySelector(".line"), long = line.getTotalLength();
  for (let k = 0; k <= 60; k++) {
    const p = line.getPointAtLength(long * k / 60);
    for (const r of graph.querySelectorAll(".node rect")) {
      const b = r.getBBox();
      if (p.x > b.x && p.x < b.x + b.width && p.y > b.y && p.y < b.y + b.height) seen.inside++;
    }
  }
}
seen.spilled = [...graph.querySelectorAll(".node")].filter(
  n => n.querySelector("text").getBBox().width > n.querySelector("rect").getBBox().width).length;
at([0, 0], "pointerenter", edges[0]);
seen.said = document.getElementById("said").textContent;
seen.row = document.querySelectorAll("#edges tr.lit").length;
at([0, 0], "pointerleave", edges[0]);
seen.unsaid = document.getElementById("said").textContent;
const node = [...graph.querySelectorAll(".node")].find(n => n.dataset.name === edges[0].dataset.upper);
const before = edges[0].querySelector(".line").getAttribute("d"), box = graph.getAttribute("viewBox");
at([200, 200], "pointerdown", node.querySelector("rect"));
at([260, 230], "pointermove", graph);
at([260, 230], "pointerup", graph);
seen.moved = [node.getAttribute("transform"), edges[0].querySelector(".line").getAttribute("d") !== before];
document.getElementById("nearer").click();
seen.zoomed = graph.getAttribute("viewBox") !== box;
document.getElementById("reset").click();
seen.home = graph.getAttribute("viewBox") === box && node.getAttribute("transform") === "translate(0 0)";
seen.bars = document.querySelectorAll("#spending .bar").length;
const out = document.createElement("pre");
out.id = "probe";
out.textContent = JSON.stringify(seen);
document.body.append(out);
</script>
"""


@pytest.fixture(scope="module")
def result() -> DiscoveryResult:
    return dc.discover(clinic.sample(50_000, seed=1), epsilon=1.0, delta=1e-6, level=0.01)


def browse(page: str, folder: Path, *flags: str) -> str:
    """The page after its scripts ran."""
    assert CHROMIUM, "DPCAUSAL_TEST_BROWSER is set but there is no Chromium"
    (folder / "page.html").write_text(page)
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--window-size=1100,1400", *flags]
    done = subprocess.run(
        [*command, (folder / "page.html").as_uri()], check=True, capture_output=True, text=True, timeout=120
    )
    return done.stdout


def probed(result: DiscoveryResult, folder: Path, *flags: str) -> dict[str, Any]:
    """What the probe saw."""
    page = Path(result.report(str(folder / "report.html"))).read_text()
    dom = browse(page.replace("</body>", PROBE + "</body>"), folder, "--dump-dom", *flags)
    (found,) = re.findall(r'<pre id="probe">(.*?)</pre>', dom)
    seen: dict[str, Any] = json.loads(unescape(found))
    return seen


def test_drawn_dragged_and_said(result: DiscoveryResult, tmp_path: Path) -> None:
    seen = probed(result, tmp_path)
    assert seen["resources"] == 0
    assert seen["overflow"] <= 0
    assert (seen["nodes"], seen["edges"]) == (10, len(result.graph.skeleton))
    assert seen["inside"] == 0
    assert seen["spilled"] == 0
    assert seen["cut"] == 0
    for arrow, dashes in seen["dashes"]:
        assert (dashes == "none") == arrow
    assert re.search(r"→|(are|may be) linked", seen["said"])
    assert (seen["row"], seen["unsaid"]) == (1, "")
    assert seen["moved"][0].startswith("translate(")
    assert seen["moved"][0] != "translate(0 0)"
    assert seen["moved"][1] is True
    assert seen["zoomed"] is True
    assert seen["home"] is True
    assert seen["bars"] >= 1


def test_nothing_is_cut_off_where_every_pair_has_an_edge(result: DiscoveryResult, tmp_path: Path) -> None:
    """Lines run beside the boxes there."""
    names = [f"column{i}" for i in range(8)]
    graph = dc.Graph(names, undirected=list(combinations(names, 2)))
    seen = probed(
        replace(
            result,
            graph=graph,
            open=frozenset(),
            given_up_to=dict.fromkeys(graph.skeleton, 1),
            separating={},
            conflicts=frozenset(),
            confidence=None,
        ),
        tmp_path,
    )
    assert (seen["edges"], seen["cut"]) == (28, 0)


def test_the_width_of_a_line_shows_confidence(result: DiscoveryResult, tmp_path: Path) -> None:
    graph = dc.Graph(list("abcd"), directed=[("a", "b"), ("b", "c"), ("c", "d")])
    parts = {frozenset("ab"): 0.99, frozenset("bc"): 0.6, frozenset("cd"): 0.2}
    marked = {
        "conflicts": frozenset(),
        "given_up_to": {},
        "open": frozenset(),
        "confidence": parts,
        "separating": {},
    }
    widths = [float(width) for width in probed(replace(result, graph=graph, **marked), tmp_path)["widths"]]
    assert widths[0] > 1.5 * widths[1] > 2 * widths[2]


def test_confidence_is_said_when_there_is_one(result: DiscoveryResult, tmp_path: Path) -> None:
    confident = replace(result, confidence=dict.fromkeys(result.graph.skeleton, 0.97))
    assert "edge found again: 95% or more" in probed(confident, tmp_path)["said"]


OPEN = """
<script>
const lines = [...document.querySelectorAll("#graph .edge.open")], tick = document.getElementById("show-open");
const look = () => ({
  visible: lines.filter(g => getComputedStyle(g).display !== "none").length,
  key: [...document.querySelectorAll(".of-open")].filter(k => getComputedStyle(k).display !== "none").length,
});
const seen = { lines: lines.length, before: look() };
tick.click();
seen.after = look();
const style = g => getComputedStyle(g.querySelector(".line"));
seen.heads = lines.filter(g => style(g).markerEnd !== "none" || style(g).markerStart !== "none").length;
seen.dashes = lines.map(g => style(g).strokeDasharray);
seen.widths = lines.map(g => parseFloat(style(g).strokeWidth));
const found = document.querySelector("#graph .edge:not(.open) .line");
seen.found = parseFloat(getComputedStyle(found).strokeWidth);
const frame = document.getElementById("graph").getBoundingClientRect();
seen.cut = lines.filter(g => {
  const b = g.querySelector(".line").getBoundingClientRect();
  return b.left < frame.left || b.right > frame.right || b.top < frame.top || b.bottom > frame.bottom;
}).length;
lines[0].dispatchEvent(new PointerEvent("pointerenter"));
seen.said = document.getElementById("said").textContent;
tick.click();
seen.again = look();
const out = document.createElement("pre");
out.id = "probe";
out.textContent = JSON.stringify(seen);
document.body.append(out);
</script>
"""


def test_open_pairs_are_seen_when_the_box_is_ticked(result: DiscoveryResult, tmp_path: Path) -> None:
    left = frozenset(map(frozenset, combinations(result.graph.nodes, 2))) - result.graph.skeleton
    some = replace(result, open=left, separating={}, given_up_to={}, conflicts=frozenset())
    page = Path(some.report(tmp_path / "report.html")).read_text()
    dom = browse(page.replace("</body>", OPEN + "</body>"), tmp_path, "--dump-dom")
    (found,) = re.findall(r'<pre id="probe">(.*?)</pre>', dom)
    seen = json.loads(unescape(found))
    assert seen["lines"] == len(left) > 20
    assert seen["before"] == seen["again"] == {"visible": 0, "key": 0}
    assert seen["after"] == {"visible": len(left), "key": 1}
    assert (seen["heads"], seen["cut"]) == (0, 0)
    assert "none" not in seen["dashes"]
    assert max(seen["widths"]) < min(seen["found"], 1.0)  # an edge that is a hint has 1
    assert "open, could not be decided" in seen["said"]
    assert f'data-ready="{len(result.graph.skeleton)}"' in dom


PHONE = """
<script>
const broken = [], wide = innerWidth;
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walk.nextNode());) {
  if (node.parentElement.closest("pre, script, style, svg, .fold:not([open]), .evidence > p")) continue;
  for (const word of node.textContent.matchAll(/[^\\s-]+/g)) {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) broken.push(word[0]);
  }
}
const letters = [...document.querySelectorAll("#graph .node text")].map(t => t.getBoundingClientRect().height);
const overflow = document.documentElement.scrollWidth - innerWidth;
const figure = document.querySelector(".drawn"), inner = figure.getBoundingClientRect();
document.getElementById("budget").open = true;
const past = [...document.querySelectorAll("#spending text, #events td")].filter(
  part => part.getBoundingClientRect().right > wide).length;
const fits = document.getElementById("graph").getBoundingClientRect().right <= inner.right + 1;
const hint = !document.getElementById("swipe").hidden;
const bars = Math.min(...[...document.querySelectorAll("#spending text")].map(t => t.getBoundingClientRect().height));
const seen = { broken, wide, overflow, letters: Math.min(...letters), past, fits, hint, bars };
const out = document.createElement("pre");
out.id = "probe";
out.textContent = JSON.stringify(seen);
document.body.append(out);
</script>
"""


def test_on_a_phone_no_word_is_cut_and_nothing_is_too_small(result: DiscoveryResult, tmp_path: Path) -> None:
    """Long names included; what is too wide scrolls by itself, the page does not."""
    seen = on_a_phone(named(result, "_at_first_visit"), tmp_path)
    assert seen["wide"] == 400
    assert seen["broken"] == []
    assert seen["overflow"] <= 0
    assert seen["letters"] > 10
    assert (seen["fits"], seen["hint"]) == (False, True)  # too wide to be read if it were shrunk, and says so


def test_on_a_phone_a_graph_of_usual_size_fits(result: DiscoveryResult, tmp_path: Path) -> None:
    graph = dc.Graph(
        ["age", "sex", "smoking", "bmi", "sbp", "diabetes", "statin", "ldl", "cv_event"],
        [("age", "sbp"), ("age", "statin"), ("sbp", "bmi"), ("diabetes", "bmi"), ("age", "cv_event")],
        [("diabetes", "statin"), ("statin", "ldl"), ("sex", "smoking")],
    )
    plain = {"open": frozenset(), "given_up_to": {}, "separating": {}, "conflicts": frozenset()}
    seen = on_a_phone(replace(result, graph=graph, **plain), tmp_path)
    assert (seen["fits"], seen["hint"]) == (True, False)
    assert seen["letters"] > 10
    assert seen["past"] == 0  # amounts of the bars and costs of the steps
    assert seen["bars"] > 10


def named(result: DiscoveryResult, more: str) -> DiscoveryResult:
    """The result with longer names, and a confidence for each edge."""
    named = {name: f"{name}{more}" for name in result.graph.nodes}
    graph = dc.Graph(
        named.values(),
        [(named[a], named[b]) for a, b in result.graph.directed],
        [[named[name] for name in pair] for pair in result.graph.undirected],
    )
    sure = {frozenset(named[name] for name in pair): 0.97 for pair in result.graph.skeleton}
    return replace(
        result,
        graph=graph,
        open=frozenset(),
        given_up_to={},
        separating={},
        conflicts=frozenset(),
        confidence=sure,
    )


def on_a_phone(result: DiscoveryResult, tmp_path: Path) -> dict[str, Any]:
    """What the probe saw on a screen 400 pixels wide."""
    page = Path(result.report(str(tmp_path / "report.html"))).read_text()
    frame = '<iframe id="phone" style="width: 400px; height: 3000px; border: 0" src="inner.html"></iframe>'
    (tmp_path / "inner.html").write_text(page.replace("</body>", PHONE + "</body>"))
    flags = ("--dump-dom", "--allow-file-access-from-files", "--virtual-time-budget=3000")
    take = "document.body.append(phone.contentDocument.getElementById('probe'))"
    copy_out = f"<script>onload = () => {take}</script>"
    dom = browse(f"<!doctype html><body>{frame}{copy_out}</body>", tmp_path, *flags)
    (found,) = re.findall(r'<pre id="probe">(.*?)</pre>', dom)
    seen: dict[str, Any] = json.loads(unescape(found))
    return seen


def test_a_contradicted_arrow_is_not_drawn_as_a_sure_one(result: DiscoveryResult, tmp_path: Path) -> None:
    graph = dc.Graph(list("abcd"), directed=[("a", "b")], undirected=[("b", "c"), ("c", "d")])
    marked = {"conflicts": frozenset([frozenset("ab")]), "given_up_to": {}, "open": frozenset()}
    odd = replace(result, graph=graph, separating={}, confidence=None, **marked)
    patterns = [dashes for _, dashes in probed(odd, tmp_path)["dashes"]]
    assert "none" not in patterns
    assert len(set(patterns)) == 2  # the contradicted arrow and the plain edges


FILES = """
<script>
(async () => {
  const graph = document.getElementById("graph"), seen = {};
  const png = await window.dpcausalFigure.pngUrl();
  const made = new Image();
  await new Promise(done => { made.onload = done; made.src = png; });
  seen.png = [png.slice(0, 22), made.naturalWidth, made.naturalHeight];
  const root = () => new DOMParser().parseFromString(window.dpcausalFigure.svgText(), "image/svg+xml").documentElement;
  const first = root();
  seen.error = first.querySelectorAll("parsererror").length;
  seen.size = [Number(first.getAttribute("width")), Number(first.getAttribute("height"))];
  seen.edges = first.querySelectorAll(".edge[data-upper]:not(.open)").length;
  seen.keys = first.querySelectorAll(".key").length;
  seen.shown = document.querySelectorAll("figcaption .key:not([hidden])").length;
  // the file as a browser draws it: marks and weights as on the page
  const look = (svg) => [...svg.querySelectorAll(".edge[data-upper]:not(.open)")].map(g => {
    const style = getComputedStyle(g.querySelector(".line"));
    return [style.strokeWidth, style.strokeDasharray, style.markerEnd !== "none" || style.markerStart !== "none"];
  });
  const live = look(graph);
  const copy = document.importNode(first, true);
  document.body.append(copy);
  seen.alike = JSON.stringify(live) === JSON.stringify(look(copy));
  seen.lines = live.length;
  copy.remove();
  // a box that was moved is moved in the file
  const node = graph.querySelector(".node");
  const at = (x, kind, target) => target.dispatchEvent(
    new PointerEvent(kind, { clientX: x[0], clientY: x[1], pointerId: 1, bubbles: true }));
  graph.setPointerCapture = () => {};
  at([200, 200], "pointerdown", node.querySelector("rect"));
  at([260, 230], "pointermove", graph);
  at([260, 230], "pointerup", graph);
  seen.moved = root().querySelector(".node").getAttribute("transform") === node.getAttribute("transform");
  // buttons give files
  const given = [];
  HTMLAnchorElement.prototype.click = function () { given.push([this.download, this.href.slice(0, 14)]); };
  document.getElementById("save-svg").click();
  document.getElementById("save-png").click();
  await new Promise(done => setTimeout(done, 1500));
  seen.given = given;
  // the methods paragraph is selected and copied
  let copied = "";
  document.getElementById("paper").open = true;
  document.execCommand = kind => { copied = kind + ": " + getSelection().toString(); return true; };
  document.getElementById("copy-methods").click();
  seen.copied = copied;
  seen.said = document.getElementById("copy-methods").textContent;
  document.getElementById("all-edges").open = true;
  const row = document.querySelector("#edges .evidence");
  const closed = row.getBoundingClientRect().height;
  row.querySelector("summary").click();
  seen.opened = row.open && row.getBoundingClientRect().height > closed + 20;
  seen.folded = [...document.querySelectorAll(".fold")].filter(part => part.open).length;
  const out = document.createElement("pre");
  out.id = "probe";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
})();
</script>
"""


def test_the_figure_downloads_and_the_paragraph_copies(result: DiscoveryResult, tmp_path: Path) -> None:
    """Without a network, from a page that is a file; boxes stand in the file where the reader moved them."""
    graph = dc.Graph(
        ["age", "sex", "smoking", "bmi"],
        [("age", "bmi"), ("smoking", "bmi")],
        [("sex", "smoking")],
    )
    sure = {
        frozenset(("age", "bmi")): 0.99,
        frozenset(("smoking", "bmi")): 0.6,
        frozenset(("sex", "smoking")): 0.2,
    }
    marked = {"conflicts": frozenset([frozenset(("age", "bmi"))]), "settled": True, "confidence": sure}
    odd = replace(result, graph=graph, open=frozenset(), given_up_to={}, separating={}, **marked)
    page = Path(odd.report(tmp_path / "report.html")).read_text()
    flags = ("--dump-dom", "--virtual-time-budget=9000")
    dom = browse(page.replace("</body>", FILES + "</body>"), tmp_path, *flags)
    (found,) = re.findall(r'<pre id="probe">(.*?)</pre>', dom)
    seen = json.loads(unescape(found))
    assert seen["png"][0] == "data:image/png;base64,"
    assert seen["png"][1:] == [3 * side for side in seen["size"]]
    assert (seen["error"], seen["edges"], seen["lines"]) == (0, 3, 3)
    assert seen["keys"] == seen["shown"] == 6
    assert seen["alike"] is True
    assert seen["moved"] is True
    assert seen["given"] == [["graph.svg", "data:image/svg"], ["graph.png", "data:image/png"]]
    assert seen["copied"].startswith("copy: We learned a causal graph over 4 columns")
    assert seen["said"] == "Copied"
    assert seen["opened"] is True
    assert seen["folded"] == 2  # the edges, and what was opened here


def luminance(colour: str) -> float:
    red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", colour)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_dark_theme_is_dark_and_the_light_one_light(result: DiscoveryResult, tmp_path: Path) -> None:
    for flags, is_dark in (((), False), ((DARK,), True)):
        seen = probed(result, tmp_path, *flags)
        paper, ink = luminance(seen["paper"]), luminance(seen["ink"])
        assert (paper < ink) == is_dark
        assert abs(paper - ink) > 0.6


def test_it_prints(result: DiscoveryResult, tmp_path: Path) -> None:
    page = Path(result.report(str(tmp_path / "report.html"))).read_text()
    browse(page, tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", "--no-pdf-header-footer")
    printed = (tmp_path / "page.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000


PAPER = """
<script>
for (const rule of document.styleSheets[0].cssRules) {  // the page as paper gets it
  if (!rule.media) continue;
  if (rule.media.mediaText === "print") rule.media.mediaText = "all";
  else if (/screen|dark/.test(rule.media.mediaText)) rule.media.mediaText = "not all";
}
window.dispatchEvent(new Event("beforeprint"));
const visible = query => [...document.querySelectorAll(query)].filter(part => part.getClientRects().length).length;
const seen = {
  buttons: visible("button"), conclusion: visible("#conclusion"), remarks: visible("#edges .evidence summary"),
  edges: document.querySelectorAll("#edges tr[data-from]").length,
  methods: visible("#methods"), promise: visible("#promise"),
  statement: visible("#statement"), drawing: visible("#graph .node"), key: visible("figcaption .key"),
  paper: getComputedStyle(document.body).backgroundColor, overflow: document.documentElement.scrollWidth - innerWidth,
};
const out = document.createElement("pre");
out.id = "probe";
out.textContent = JSON.stringify(seen);
document.body.append(out);
</script>
"""


def test_paper_gets_the_words_and_no_buttons(result: DiscoveryResult, tmp_path: Path) -> None:
    page = Path(result.report(str(tmp_path / "report.html"))).read_text()
    dom = browse(page.replace("</body>", PAPER + "</body>"), tmp_path, "--dump-dom", DARK)
    (found,) = re.findall(r'<pre id="probe">(.*?)</pre>', dom)
    seen = json.loads(unescape(found))
    assert seen["buttons"] == 0
    assert (seen["conclusion"], seen["methods"], seen["promise"], seen["statement"]) == (1, 1, 1, 1)
    assert seen["edges"] == len(result.graph.skeleton) >= seen["remarks"] > 0
    assert seen["drawing"] == len(result.graph.nodes)
    assert seen["key"] > 0
    assert luminance(seen["paper"]) == 1.0
    assert seen["overflow"] <= 0


def test_names_that_look_like_markup_stay_text(result: DiscoveryResult, tmp_path: Path) -> None:
    name = "</script><b id='x'>\"&"
    graph = dc.Graph([name, "b"], directed=[(name, "b")])
    seen = probed(
        replace(result, graph=graph, open=frozenset(), given_up_to={}, separating={}, conflicts=frozenset()),
        tmp_path,
    )
    assert seen["said"].startswith(f"{name} → b: ")
    assert seen["row"] == 1
