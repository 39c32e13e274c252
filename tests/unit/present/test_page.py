"""The report as text; ``tests/e2e/test_browser.py`` looks at it in a browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.cli.options import origin_of
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.redact import ledger_name
from dpcausal.core.statement import Limit, LimitKind, PrivacyStatement, weak_limits
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.search import Note, NoteKind, OpenReason, unanswered
from dpcausal.planning.designs import reach
from dpcausal.present.discovery import missing_words, reach_words
from dpcausal.present.files import file_texts
from dpcausal.present.origin import Origin
from dpcausal.present.page import open_questions, render, write
from dpcausal.present.statement import FIELDS, HEADINGS, limit_words
from dpcausal.privacy.events import GaussianEvent


class Resources(HTMLParser):
    """Every address a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for key, value in attrs if key in ("src", "href") and tag != "a"]


def test_page_is_self_contained_and_complete(result: DiscoveryResult, tmp_path: Path) -> None:
    page = render(result)
    resources = Resources()
    resources.feed(page)
    assert resources.found == []
    assert not re.search(r"url\((?!#)|@import|//[a-z]+\.", page)
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


def test_arrows_are_not_called_causes(result: DiscoveryResult) -> None:
    page = render(result)
    assert result.graph.directed
    assert not re.search(r"<td>causes</td>|cause to effect|title>\w+ causes", page)
    assert "<td>→</td>" in page
    assert "only if no common cause was left out" in " ".join(page.split())


def test_how_to_reproduce_names_what_is_known(result: DiscoveryResult) -> None:
    page = render(result)
    assert "patients.csv" not in page
    assert 'id="command"' not in page
    assert "result = dc.discover(data, epsilon=1, delta=0, method=" in page
    known = Origin("mine.csv", "mine.toml", ["dpcausal", "discover", "mine.csv"], {"epsilon": 1.0})
    page = unescape(render(result, origin=known))
    assert '<pre id="command">dpcausal discover mine.csv</pre>' in page
    assert "data = dc.read('mine.csv', dc.Schema.from_toml('mine.toml'))" in page
    assert f"result = dc.discover(data, epsilon=1, method='{result.method}')" in page


def test_what_was_not_asked_points_to_its_reason(result: DiscoveryResult) -> None:
    pair = next(iter(result.graph.skeleton))
    kept = replace(result, given_up_to={pair: 0}, notes=(), complete=True, asked={0: 10, 1: 3})
    assert "given more columns would have been noise" in open_questions(kept)[2]
    told = replace(kept, notes=(unanswered(Counter({OpenReason.NOISE: 3})),))
    assert "for the reasons below" in open_questions(told)[2]


def test_what_could_not_be_asked_is_said(result: DiscoveryResult) -> None:
    left = replace(result, given_up_to={frozenset(("Cancer", "Xray")): 1}, complete=False)
    page = render(left)
    assert "Found, as far as could be asked: Cancer - Xray given up to 1 column." in page
    assert "the budget was spent" in page


def test_open_pairs_are_listed_and_hidden_in_the_drawing(result: DiscoveryResult) -> None:
    graph = dc.Graph(["a", "b", "c<"], directed=[("a", "b")])
    bare = replace(
        result, graph=graph, open=frozenset(), given_up_to={}, conflicts=frozenset(), confidence=None
    )
    page = render(bare)
    assert 'id="show-open"' not in page
    assert 'class="edge open"' not in page
    left = replace(bare, open=frozenset([frozenset(("a", "c<"))]))
    page = render(left)
    assert '<input id="show-open" type="checkbox"> Show 1 open pair</label>' in page
    assert '<ul id="open-list">\n<li>a ? c&lt;</li>' in page
    assert page.count('class="edge open"') == 2  # the line and its key
    assert '<span class="key of-open" hidden>' in page
    assert 'class="show-open"' not in page
    assert "1 edge found among 3 columns, 1 pair absent, 1 pair open" in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    shown = render(left, open=True)
    assert '<input id="show-open" type="checkbox" checked>' in shown
    assert 'class="show-open"' in shown
    assert '<span class="key of-open">' in shown


def test_a_place_that_can_not_be_written_is_one_line(result: DiscoveryResult) -> None:
    with pytest.raises(dc.InputError, match="can't write"):
        write(result, "/nonexistent/report.html")


def test_that_everything_was_tested_is_said_only_where_so(result: DiscoveryResult) -> None:
    chain = dc.Graph(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    note = Note(NoteKind.NO_DELTA, times=3.0)
    plain = {"open": frozenset(), "given_up_to": {}, "complete": True, "notes": (note,)}
    done = replace(result, graph=chain, asked={0: 3, 1: 2}, **plain)
    everything = "Every set of columns that PC asks about was asked about each edge found."
    assert open_questions(done) == [
        missing_words(done),
        reach_words(done.reach),
        everything,
        "Without a delta the noise in a table of two columns is 3 times larger: add delta=1e-6 (it must lie below one "
        "over the number of rows).",
    ]
    left = replace(done, asked={0: 3}, given_up_to={frozenset("ab"): 0, frozenset("bc"): 0})
    assert open_questions(left)[2] == (
        "Found, as far as could be asked: a - b, b - c given up to 0 columns. Larger sets were not asked about; one of "
        "them might take the edge away."
    )
    required = Knowledge.of(["a", "b", "c"], required=[{"a", "b"}, {"b", "c"}])
    assert everything not in open_questions(replace(done, known=required))


def test_a_search_held_to_small_sets_says_so() -> None:
    """Without a limit nothing is left to ask; with none but marginal questions a chain keeps a false edge."""
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    whole = dc.discover(data, epsilon=None, method="pc")
    assert not whole.given_up_to
    held = dc.discover(data, epsilon=None, method="pc", max_order=0)
    assert set(held.given_up_to.values()) == {0}
    assert held.complete
    assert "given up to 0 columns. Larger sets were not asked about" in open_questions(held)[1]


def test_a_page_without_privacy_speaks_of_no_budget() -> None:
    data = dc.networks.load("cancer").sample(1000, seed=1)
    page = " ".join(render(dc.discover(data, epsilon=None, method="pc")).split())
    cards = page[page.index('<div class="cards">') : page.index("<figure>")]
    assert cards.count('class="card"') == 1
    assert "too weak for this many rows, and extra" in page
    assert "for this budget" not in page
    assert "the same call gives the same graph" in page
    assert "Noise is drawn fresh" not in page


def test_what_must_be_known_first_stands_above_the_graph(result: DiscoveryResult) -> None:
    page = render(result)
    assert result.conflicts == frozenset()
    assert not re.search('id="(conflicts|draft|weak)', page)
    draft = Limit(LimitKind.DRAFT_SCHEMA)
    limits = (*result.privacy.limits, draft, *weak_limits(12.0, 0.1, 50))
    odd = replace(
        result,
        conflicts=frozenset([frozenset(("Cancer", "Xray"))]),
        privacy=replace(result.privacy, limits=limits),
    )
    page = unescape(render(odd))
    above = page[: page.index('<div class="cards">')]
    assert (
        'id="conflicts">Answers contradict each other: do not rely on the direction of Cancer - Xray.'
        in above
    )
    assert page.count('class="edge conflict"') == 1  # the key; no other drawing marks one
    assert len(re.findall(r'class="edge (?:arrow|plain) conflict\b', page)) == 1
    assert f'<p class="stamp" id="draft">{limit_words(draft)}</p>' in above
    assert above.count("Weak promise: ") == 2
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert "Answers contradict each other" in unescape(odd._repr_html_())


def test_every_field_and_heading_has_a_line(result: DiscoveryResult) -> None:
    named = {item.name for item in fields(PrivacyStatement)} - {"not_private", "stated"}
    assert set(FIELDS) == named | {"why_not_private", "facts"}
    assert set(FIELDS) == set(PrivacyStatement.none(released=[]).to_dict())
    page = unescape(render(result))
    for words in (
        *HEADINGS.values(),
        *(means for name, means in FIELDS.items() if name != "why_not_private"),
    ):
        assert f"<small>{words}</small>" in page
    table = page[
        page.index('<table id="events">') : page.index("</table>", page.index('<table id="events">'))
    ]
    assert "sensitivity" not in table  # in steps of a grid: for privacy.json


def test_charges_are_counted_alike(result: DiscoveryResult) -> None:
    """Console, report and statement: one number, called noisy steps in all of them, never "times"."""
    data = dc.networks.load("cancer").sample(2000, seed=1)
    for found in (result, dc.discover(data, epsilon=1.0, delta=1e-6, method="tests")):
        many = len(found.privacy.to_dict()["events"])
        words = "one noisy step" if many == 1 else f"{many} noisy steps"
        page = render(found)
        assert f"<summary>{words[0].upper()}{words[1:]}, one by one</summary>" in page
        assert f"answered by {words} (" in page
        assert f"Cost: {words}, {'together ' * (many > 1)}not more than this epsilon" in found.summary()
        assert not re.search(r"[Cc]harged \w+ times", found.summary() + page)


LOGINS = [
    "postgresql://ada:s3cret@host/db",
    "postgresql://ada:s3cret@host:5432/db?sslmode=require",
    "postgresql+psycopg://ada:s3c/s3cret@host/db",
    "postgresql://ada:x@s3cret@host/db",
    "postgresql://ada:x?s3cret@host/db",
    "postgresql://ada:s3cret?x@host/db",
    "postgresql://ada:s3cret#x@host/db",
    "postgresql://host/db?user=ada&password=s3cret",
    "postgresql://host/db?password=x@s3cret",
    "postgresql://ada@host/db?password=s3cret",
    "postgres://ada:s3cret@/db?host=/var/run",
]


@pytest.mark.parametrize("url", LOGINS)
def test_no_login_of_a_ledger_is_shown(result: DiscoveryResult, url: str) -> None:
    """Neither as the command line cleans it, nor where an Origin is made with the address as it was given."""
    command = ["dpcausal", "discover", "p.csv", "--ledger", url]
    page = unescape(
        render(result, origin=Origin("p.csv", "s.toml", command, {"epsilon": 1.0, "ledger": url}))
    )
    made = origin_of(Path("p.csv"), Path("s.toml"), Path("out"), {"epsilon": 1.0, "ledger": url}, {})
    for shown in (page, ledger_name(url), repr(made)):
        assert "s3cret" not in shown
        assert "ada" not in shown.replace("adaptive", "")
    assert "ledger='postgres" in page
    assert ledger_name(ledger_name(url)) == ledger_name(url)


@pytest.mark.parametrize(
    "text", ["ada:s3cret@host/db", "host=h password=s3cret", "postgresql:/ada:s3cret://h", "x?s3cret"]
)
def test_of_what_is_no_address_nothing_is_shown(text: str) -> None:
    assert ledger_name(text) == ledger_name("...") == "..."


def test_the_key_lists_what_is_drawn_and_nothing_else(result: DiscoveryResult) -> None:
    def shown(found: DiscoveryResult) -> str:
        page = render(found)
        return page[page.index("<figcaption>") : page.index("</figcaption>")]

    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    bare = replace(
        result, graph=graph, open=frozenset(), given_up_to={}, conflicts=frozenset(), confidence=None
    )
    assert shown(bare).count('class="key"') == 2
    assert "open:" not in shown(bare)
    arrows = replace(bare, graph=dc.Graph(["a", "b"], directed=[("a", "b")]))
    assert "direction not decided" not in shown(arrows)
    left = replace(bare, open=frozenset([frozenset("ac")]))
    assert "open: could not be decided; there may be an edge or not" in shown(left)
    odd = replace(bare, conflicts=frozenset([frozenset("ab")]), settled=False)
    assert "no graph has all these directions" in shown(odd)
    assert "in every graph nearest to the answers" in shown(replace(odd, settled=True))


def test_the_width_of_a_line_shows_confidence(result: DiscoveryResult) -> None:
    graph = dc.Graph(list("abcd"), directed=[("a", "b")], undirected=[("b", "c"), ("c", "d")])
    parts = dict(zip(map(frozenset, ("ab", "bc", "cd")), (0.8, 0.79, 0.35), strict=True))
    found = replace(
        result,
        graph=graph,
        open=frozenset(),
        given_up_to={},
        conflicts=frozenset(),
        confidence=parts,
        repeats=20,
    )
    page = unescape(render(found))
    drawing = page[page.index("<svg") : page.index("</svg>")]
    assert re.findall(r'class="edge \w+ (\w+)"', drawing) == ["sure", "weaker", "hint"]
    for words in ("found again in 80% of repeats or more", "in 50% to 80%", "below 50%: a hint"):
        assert words in page
    assert "<small>of 20 repeats</small>" in page
    assert "treat the edge as a hint" in page
    assert "edge found again in 35% of 20 repeats" in page
    assert ".edge.hint .line" in found._repr_html_().replace("#dpcausal-", " ")


def test_a_missing_edge_heads_the_remarks(result: DiscoveryResult) -> None:
    page = unescape(render(result))
    remarks = page[page.index('<ul id="open">') :]
    assert remarks.startswith(f'<ul id="open">\n<li>{missing_words(result)}</li>')
    assert "Everything that was needed" not in page
    assert "may still depend on each other through others" in page


def test_a_column_of_costs_that_no_step_has_is_left_out(
    result: DiscoveryResult, statement_of: Callable[..., PrivacyStatement]
) -> None:
    gauss = GaussianEvent(label="g", neighbours=Neighbours.REPLACE_ONE, sensitivity=1.0, sigma=2.0)
    page = render(replace(result, privacy=statement_of([gauss], "zCDP")))
    table = page[page.index('<table id="events">') : page.index("</details>")]
    assert HEADINGS["epsilon"] not in table
    assert HEADINGS["rho"] in table
    assert "2 times what one row can change (standard deviation)" in table


def test_graph_json_in_the_page_is_the_file(result: DiscoveryResult) -> None:
    known = Origin("mine.csv", "mine.toml", ["dpcausal", "discover", "mine.csv"], {"epsilon": 1.0})
    (found,) = re.findall(r'<pre id="graph-json">(.*?)</pre>', render(result, origin=known), flags=re.DOTALL)
    assert json.loads(unescape(found)) == json.loads(file_texts(result)["graph.json"])


def test_delta_is_told_in_the_same_words_everywhere() -> None:
    data = dc.networks.load("cancer").sample(2000, seed=1)
    found = dc.discover(data, epsilon=1.0, delta=1e-6, method="svt-pc")
    assert "<span>delta: the promise may fail with at most this probability</span>" in render(found)
    assert "the promise may fail with a probability of at most delta" in found.summary()


def test_what_the_budget_could_show_is_told_where_it_is_public() -> None:
    """The numbers are those of a plan."""
    data = dc.networks.load("cancer").sample(2000, seed=1)
    found = dc.discover(data, epsilon=1.0, delta=1e-6, method="measured")
    planned = dc.plan(data.schema, rows=2000, epsilon=1.0, delta=1e-6).orders
    assert found.reach is not None
    assert found.reach.pair == planned[0].smallest
    assert found.reach.triple == planned[1].smallest
    told = reach_words(found.reach)
    assert f"of middling size, w = {planned[0].smallest:.2g} (in" in told
    assert f"given one more column, w = {planned[1].smallest:.2g} (" in told
    assert told in unescape(render(found))
    least = dc.discover(data, epsilon=1e-6, delta=1e-9, method="measured", anyway=True).reach
    assert least is not None
    assert (least.pair, least.triple) == (None, None)
    assert "nothing, however strong" in reach_words(least)
    for silent in (
        dc.discover(data, epsilon=1.0, neighbours="add-remove", method="measured"),  # rows are protected
        dc.discover(data, epsilon=None, method="pc"),
        dc.discover(data, epsilon=1.0, method="svt-pc"),
    ):
        assert silent.reach is None
        assert "What this budget could show" not in render(silent)
    assert (
        reach((256, 256, 256), 2000, 1.0, 1e-6, Neighbours.REPLACE_ONE, 0.05) is None
    )  # too many cells in passing
    assert reach_words(None) == ""
