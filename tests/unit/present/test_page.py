"""The report as text; ``tests/e2e/test_browser.py`` looks at it in a browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import date
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dpcausal as dc
import dpcausal.present.page
from dpcausal.cli.discover import origin_of
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.redact import ledger_name
from dpcausal.core.statement import MissingAs, PrivacyStatement, UncheckedDraft, weak_limits
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.search import MergedLevels, OpenReason, WithoutDelta, unanswered
from dpcausal.planning.forecast import Reach, reach
from dpcausal.planning.measurement_plan import PublicNumbers, plan_measurement
from dpcausal.present.figures import DASHES, WIDTHS, keys
from dpcausal.present.files import Origin, file_texts
from dpcausal.present.graph_words import missing_words, reach_words
from dpcausal.present.page import open_questions, render, write
from dpcausal.present.paper import conclusion, methods_paragraph, promise_in_four
from dpcausal.present.statement import FIELDS, HEADINGS, limit_words
from dpcausal.present.tables import EdgeNotes
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
    without_namespace = page.replace("http://www.w3.org/2000/svg", "")  # a name, which nothing fetches
    assert not re.search(r"url\((?!#)|@import|//[a-z]+\.", without_namespace)
    assert "NOT PRIVATE" not in page
    (found,) = re.findall(r'<pre id="privacy-json">(.*?)</pre>', page, flags=re.DOTALL)
    assert (
        json.loads(found.replace("&#34;", '"').replace("&#39;", "'").replace("&amp;", "&"))["epsilon"] == 1.0
    )
    assert Path(result.report(str(tmp_path / "report.html"))).read_text() == page


def test_a_page_that_is_not_private_says_so_first() -> None:
    data = dc.networks.load("cancer").sample(1000, seed=1)
    page = render(dc.discover(data, epsilon=None, method="pc"))
    assert page.index("NOT PRIVATE") < page.index('id="conclusion"') < page.index("<figure>")


def test_names_from_a_schema_are_escaped() -> None:
    schema = dc.Schema({"<script>x</script>": dc.Categorical([0, 1]), "b": dc.Categorical([0, 1])})
    data = dc.read({"<script>x</script>": [0, 1] * 50, "b": [0, 1] * 50}, schema)
    assert "<script>x" not in render(dc.discover(data, epsilon=1.0))


def test_arrows_are_not_called_causes(result: DiscoveryResult) -> None:
    graph = dc.Graph(["a", "b"], directed=[("a", "b")])
    none = frozenset[frozenset[str]]()
    arrow = replace(result, graph=graph, open=none, given_up_to={}, conflicts=none, confidence=None)
    page = render(arrow)
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
    assert "with more columns held fixed would have been noise" in open_questions(kept)[1]
    told = replace(kept, notes=(unanswered(Counter({OpenReason.NOISE: 3})),))
    assert "for the reasons below" in open_questions(told)[1]


def test_what_could_not_be_asked_is_said(result: DiscoveryResult) -> None:
    left = replace(result, given_up_to={frozenset(("Cancer", "Xray")): 1}, complete=False)
    page = render(left)
    assert "Found, as far as could be tested: Cancer - Xray with up to 1 column held fixed." in page
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
    assert (
        "1 pair is directly linked, with a direction decided by the data. For 1 pair no link was shown"
        in page
    )
    assert ". 1 pair stayed open." in page
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
    note = WithoutDelta(3.0)
    plain = {"open": frozenset(), "given_up_to": {}, "complete": True, "notes": (note,)}
    done = replace(result, graph=chain, asked={0: 3, 1: 2}, held=chain.skeleton, **plain)
    everything = "About each edge found, every set of columns was held fixed that the search (PC) asks about."
    assert open_questions(done) == [
        reach_words(done.reach),
        everything,
        "Without a delta the noise in a table of two columns is 3 times larger: add delta=1e-6 (it must lie below one "
        "over the number of rows).",
    ]
    one = open_questions(replace(done, held=frozenset([frozenset("bc")])))[1]
    assert one == (
        "About a - b nothing was held fixed, for no other column seemed linked to both. "
        + everything.replace("each edge", "each other edge")
    )
    left = replace(done, asked={0: 3}, given_up_to={frozenset("ab"): 0, frozenset("bc"): 0})
    assert open_questions(left)[1] == (
        "Found, as far as could be tested: a - b, b - c with nothing held fixed. Holding more columns fixed was not "
        "asked for; it might take the edge away."
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
    assert "with nothing held fixed. Holding more columns fixed was not asked for" in open_questions(held)[0]


def test_a_page_without_privacy_speaks_of_no_budget() -> None:
    data = dc.networks.load("cancer").sample(1000, seed=1)
    page = " ".join(render(dc.discover(data, epsilon=None, method="pc")).split())
    about = page[page.index('<dl class="about"') : page.index("</dl>")]
    assert '<dt>Privacy</dt><dd id="epsilon">none</dd>' in about
    assert "delta" not in about
    assert "too weak for this many rows, and extra" in page
    assert "for this budget" not in page
    assert "the same call gives the same graph" in page
    assert "Noise is drawn fresh" not in page


def test_what_must_be_known_first_stands_above_the_graph(result: DiscoveryResult) -> None:
    page = render(result)
    assert result.conflicts == frozenset()
    assert not re.search('id="(conflicts|draft|weak)', page)
    draft = UncheckedDraft()
    limits = (*result.privacy.limits, draft, *weak_limits(12.0, 0.1, 50))
    odd = replace(
        result,
        conflicts=frozenset([frozenset(("Cancer", "Xray"))]),
        privacy=replace(result.privacy, limits=limits),
    )
    page = unescape(render(odd))
    above = page[: page.index("<figure>")]
    assert (
        'id="conflicts">Test results contradict each other, so no direction is shown at Cancer - Xray.'
        in above
    )
    assert page.count('class="edge conflict"') == 1  # the key; no other drawing marks one
    assert len(re.findall(r'class="edge plain conflict\b', page)) == 1
    assert f'<p class="stamp" id="draft">{limit_words(draft)}</p>' in above
    assert above.count("Weak promise: ") == 2
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert "Test results contradict each other" in unescape(odd._repr_html_())


def test_the_statement_is_told_in_words_and_not_as_code(result: DiscoveryResult) -> None:
    ledger = {"dataset": "cohort", "entry": 3, "left": {"epsilon": 0.5, "delta": 0.0}}
    page = unescape(render(replace(result, privacy=replace(result.privacy, ledger=ledger))))
    table = page[page.index('<table id="statement">') : page.index("The method and why it was taken")]
    assert "dataset cohort; entry 3; left epsilon 0.5, delta 0" in table
    assert not re.search(r"[{}]|'\\w+'", table)


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
        assert f"Cost: {words}, {'together ' * (many > 1)}not more than this epsilon" in found.summary(
            full=True
        )
        assert not re.search(r"[Cc]harged \w+ times", found.summary(full=True) + page)


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
    made = origin_of(
        "p.csv", None, False, Path("s.toml"), Path("out"), {"epsilon": 1.0, "ledger": url}, {}, {}, {}
    )
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
    both = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("c", "b")])
    odd = replace(bare, graph=both, conflicts=frozenset([frozenset("ab")]), settled=False)
    assert "direction as the test results say" in shown(odd)
    assert "in every graph that fits the test results best" in shown(replace(odd, settled=True))
    alone = replace(odd, graph=dc.Graph(["a", "b"], directed=[("a", "b")]))
    assert "direction contradicted: test results point both ways" in shown(alone)
    assert "as the test results say" not in shown(alone)  # no other arrow is drawn


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
    for words in ("found again in 80% or more of repeats", "in 50% to 80%", "in less than 50%: a hint"):
        assert words in page
    assert "<small>of 20 repeats</small>" in page
    assert "Below 50%: a weak hint, not a finding." in page
    assert (
        "2 pairs are directly linked, and 1 more is a weak hint (found again in less than 50% of repeats)"
        in page
    )
    assert "edge found again in less than 50% of 20 repeats" in page
    assert ".edge.hint .line" in found._repr_html_().replace("#dpcausal-", " ")


def test_one_hint_and_one_absent_pair_are_counted_as_a_person_would(result: DiscoveryResult) -> None:
    found = replace(
        result,
        graph=dc.Graph(list("abc"), undirected=[("a", "b")]),
        open=frozenset([frozenset("bc")]),
        given_up_to={},
        conflicts=frozenset(),
        known=Knowledge(),
        confidence={frozenset("ab"): 0.3},
        repeats=20,
    )
    first = conclusion(found)[0]
    assert "no pair is directly linked, but 1 is a weak hint (found again in less than 50%" in first
    page = unescape(render(found))
    assert "<summary>The absent pair</summary>" in page
    assert "1 absent pair" not in page
    assert "All 2 absent pairs" in unescape(render(replace(found, open=frozenset())))


def test_the_arrow_of_a_weak_hint_is_not_counted_as_decided(result: DiscoveryResult) -> None:
    plain = replace(
        result,
        graph=dc.Graph(list("abcd"), directed=[("a", "b"), ("c", "b")], undirected=[("c", "d")]),
        open=frozenset(),
        given_up_to={},
        conflicts=frozenset(),
        known=Knowledge(),
        confidence={frozenset("ab"): 0.9, frozenset("bc"): 0.3, frozenset("cd"): 0.9},
        repeats=20,
    )
    assert conclusion(plain)[0] == (
        "Among 4 columns, 2 pairs are directly linked, and 1 more is a weak hint (found again in less than 50% of "
        "repeats); of the links, 1 with a direction decided by the data, 1 with no direction decided."
    )
    only = {frozenset("ab"): 0.3, frozenset("bc"): 0.3, frozenset("cd"): 0.3}
    assert conclusion(replace(plain, confidence=only))[0] == (
        "Among 4 columns, no pair is directly linked, but 3 are weak hints (found again in less than 50% of repeats)."
    )
    sure = dict.fromkeys(only, 0.9)
    assert conclusion(replace(plain, confidence=sure))[0] == (
        "Among 4 columns, 3 pairs are directly linked: 2 with a direction decided by the data, 1 with no direction "
        "decided."
    )


def test_absent_pairs_stand_before_the_open_ones_with_what_would_be_found(result: DiscoveryResult) -> None:
    page = unescape(render(result))
    absent = page[page.index("<h2>Absent pairs</h2>") : page.index("<h2>Methods paragraph</h2>")]
    assert f'<p id="absent-means">{missing_words(result)}</p>' in absent
    rows = re.findall(r'<tr><td>(.*?)</td><td>(.*?)</td><td class="number">(.*?)</td></tr>', absent)
    assert len(rows) == len(result.absent) > 0
    assert result.reach is not None
    place = {name: j for j, name in enumerate(result.graph.nodes)}
    for pair, _, least in rows:
        w = result.reach.between(*(place[name] for name in pair.split(", ")))
        assert least == f"{w:.2g}"
    full = result.summary(full=True)
    assert all(f"{pair.replace(', ', ' - ')} (" in full for pair, *_ in rows)
    assert "Everything that was needed" not in page
    assert "may still depend on each other through others" in page


def test_a_column_of_costs_that_no_step_has_is_left_out(
    result: DiscoveryResult, statement_of: Callable[..., PrivacyStatement]
) -> None:
    gauss = GaussianEvent(label="g", neighbours=Neighbours.REPLACE_ONE, sensitivity=1.0, sigma=2.0)
    page = render(replace(result, privacy=statement_of([gauss], "zCDP")))
    table = page[page.index('<table id="events">') :]
    table = table[: table.index("</table>")]
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
    assert "apart from a probability of at most 1e-06 (delta)" in render(found)
    assert "<small>the promise may fail with at most this probability</small>" in render(found)
    assert "apart from a probability of 1e-06" in found.summary()
    assert "the promise may fail with a probability of at most delta" in found.summary(full=True)


def test_what_the_budget_could_show_is_told_where_it_is_public() -> None:
    """The numbers are those of a plan."""
    data = dc.networks.load("cancer").sample(2000, seed=1)
    found = dc.discover(data, epsilon=1.0, delta=1e-6, method="measured")
    planned = dc.plan(data.schema, rows=2000, epsilon=1.0, delta=1e-6).orders
    assert found.reach is not None
    assert found.reach.pair == planned[0].smallest
    assert found.reach.triple == planned[1].smallest
    told = reach_words(found.reach)
    assert (
        f"by plan: w = {planned[0].smallest:.2g} between two columns with a middling number of levels" in told
    )
    every = reach_words(Reach(0.8, 0.1, 0.2, 0.15, 0.3))
    assert (
        "w = 0.2 between those with most levels, w = 0.15 with one more column held fixed (w = 0.3) is"
        in every
    )
    assert reach_words(Reach(0.8, 0.2, 0.2, 0.2, 0.2)).count("w = ") == 1  # no number twice
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
    many = PublicNumbers.of_sizes((256,) * 3, 2000, 1.0, 1e-6, Neighbours.REPLACE_ONE)
    assert reach(plan_measurement(many), 0.05) is None  # too many cells in passing
    assert reach_words(None) == ""


def test_the_page_opens_with_what_it_is_about(result: DiscoveryResult) -> None:
    """Data set, rows where they are public, date and method, then the conclusion in two sentences, then the graph."""
    known = Origin("mine.csv", "mine.toml", ["dpcausal", "discover", "mine.csv"], {"epsilon": 1.0})
    page = unescape(render(result, origin=known))
    about = page[page.index('<dl class="about"') : page.index("</dl>")]
    today = date.today()
    for what, value in (
        ("Data set", "mine.csv"),
        ("Rows", "20,000"),
        ("Date", f"{today.day} {today:%B %Y}"),
        ("Method", result.method),
    ):
        assert f"<dt>{what}</dt><dd>{value}</dd>" in about
    assert "<h1>Causal graph: mine.csv</h1>" in page
    protected = unescape(render(replace(result, rows=None)))
    assert "<dt>Rows</dt>" not in protected
    assert "<h1>Causal graph</h1>" in protected
    (told,) = re.findall(r'id="conclusion">(.*?)</p>', page)
    assert told == " ".join(conclusion(result))
    assert len(re.findall(r"[.](?: |$)", told)) == 2
    order = ['id="about"', 'id="conclusion"', "<figure>", 'id="edges"', 'id="methods"', 'id="promise"']
    order += ['id="spending"', 'id="full-statement"']
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert '<details class="fold" id="full-statement">' in page  # folded


def test_the_promise_is_four_sentences(result: DiscoveryResult) -> None:
    charged = replace(result.privacy, ledger={"dataset": "cohort", "entry": 3})
    limits = (*result.privacy.limits, *weak_limits(12.0, 0.0, 50))
    weak = replace(result.privacy, epsilon=12.0, limits=limits)
    for statement in (result.privacy, charged, weak, PrivacyStatement.none(released=[])):
        lines = promise_in_four(statement)
        assert len(lines) == 4
        assert all(line.endswith(".") and ". " not in line for line in lines)
    assert "2.72 times as likely, or as unlikely (epsilon 1)" in promise_in_four(result.privacy)[0]
    assert "entry 3" in promise_in_four(charged)[3]
    assert "weak promise" in promise_in_four(weak)[1]
    assert "no privacy guarantee" in promise_in_four(PrivacyStatement.none(released=[]))[0]


def test_the_methods_paragraph_is_ready_to_paste(result: DiscoveryResult) -> None:
    told = methods_paragraph(result, "cohort")
    for words in (
        "data set cohort (20,000 rows)",
        f"method {result.method} (",
        "epsilon = 1",
        "delta = 0",
        "one row",
    ):
        assert words in told
    page = unescape(render(replace(result, privacy=replace(result.privacy, ledger={"dataset": "cohort"}))))
    assert f'<p id="methods">{told}</p>' in page
    assert 'id="copy-methods"' in page
    known = Knowledge.of(list(result.graph.nodes), tiers=[["Smoker"], ["Cancer"]])
    assert "The order of time was declared: Smoker, then Cancer." in methods_paragraph(
        replace(result, known=known)
    )
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert "not private: no noise was added" in methods_paragraph(exact)


def test_the_methods_paragraph_is_true_of_this_very_graph(result: DiscoveryResult) -> None:
    told = methods_paragraph(result)
    assert (
        "beforehand" not in told
    )  # nobody can know: a draft was read from rows, and its mark is easily removed
    assert "taken from the schema, which counts as public knowledge" in told
    assert "unchecked draft" not in told
    first = "Missing values, and values that the schema does not list, took the value that it names for them"
    assert f"{first} (its entry `other`)." in told  # no column declares anything for missing values
    columns = [("sex", "f", False, False), ("dose", 1.5, True, True), ("smoke", "unknown", False, False)]
    own = replace(result.privacy, public=(MissingAs(columns),))
    assert (
        f"{first}: dose 1.5 and in tables a bin of its own, smoke unknown, and in other columns its entry `other`."
        in methods_paragraph(replace(result, privacy=own))
    )
    alone = replace(result, graph=dc.Graph(list("abc")), asked={0: 3})
    assert methods_paragraph(alone).startswith(
        "We screened pairs of columns for dependence, nothing held fixed, among 3 columns"
    )
    held = replace(alone, asked={0: 3, 1: 1})
    assert methods_paragraph(held).startswith("We learned a causal graph over 3 columns")
    draft = replace(result.privacy, limits=(*result.privacy.limits, UncheckedDraft()))
    assert "That schema was an unchecked draft" in methods_paragraph(replace(result, privacy=draft))
    torn = replace(
        result,
        graph=dc.Graph(list("abc"), directed=[("a", "b"), ("c", "b")]),
        conflicts=frozenset([frozenset("ab")]),
        settled=True,
        open=frozenset([frozenset("ac")]),
        given_up_to={},
        separating={},
        notes=(MergedLevels((("a", 3),), ()),),
        reach=Reach(0.8, 0.2, 0.2, None, None),
    )
    told = methods_paragraph(torn)
    assert "For 1 of 2 edges the test results contradicted each other about the direction" in told
    assert (
        "all graphs that fit the test results best agree on it, whether open pairs are edges or not" in told
    )
    assert "Levels merged, because of the noise: to 3 groups a." in told
    assert "equivalence class" not in told
    bare = replace(torn, conflicts=frozenset(), open=frozenset(), notes=())
    assert "all graphs that fit the test results agree on it, assuming" in methods_paragraph(bare)
    assert "one of w = 0.2 (a weak link) is found in 80% of cases at best" in methods_paragraph(bare)


def test_no_page_contradicts_itself(result: DiscoveryResult) -> None:
    """Where no graph has all the directions, no arrow is said to have the same one in every graph."""
    graph = dc.Graph(list("abc"), directed=[("a", "b"), ("c", "b")])
    bare = {
        "graph": graph,
        "open": frozenset(),
        "given_up_to": {},
        "separating": {},
        "confidence": None,
        "notes": (),
    }
    torn = replace(result, conflicts=frozenset([frozenset("ab")]), settled=False, **bare)
    page = unescape(render(torn))
    assert "so no graph fits all of them" in page
    assert "same direction in every graph" not in page
    assert "in every graph that fits" not in page
    assert "the test results contradicted each other about the direction, so none is shown" in page
    for whole in (replace(torn, settled=True), replace(torn, conflicts=frozenset())):
        page = unescape(render(whole))
        assert "no graph fits all" not in page
        assert "same direction in every graph" in page


def test_an_edge_opens_for_its_evidence(result: DiscoveryResult) -> None:
    page = unescape(render(result))
    rows = re.findall(r'<details class="evidence"><summary>(.*?)</summary>(.*?)</details>', page)
    assert len(rows) == len(result.graph.skeleton) > 0
    for remark, told in rows:
        assert remark
        assert told.count("<p>") >= 2
        weak = "A weak hint, not a finding" in told  # noise may leave one
        assert weak or "The two depend on each other" in told or "The two go together" in told


def test_a_target_has_a_page_of_its_own() -> None:
    data = dc.networks.load("asia").sample(20_000, seed=1)
    found = dc.discover(data, epsilon=1.0, delta=1e-6, target="bronc")
    page = unescape(render(found))
    assert "<h1>What is linked to bronc</h1>" in page
    assert "bronc is directly linked to " in conclusion(found)[0]
    table = page[page.index('<table id="target">') :]
    table = table[: table.index("</table>")]
    for name in data.schema:
        if name != "bronc":
            state = {"found": "linked", "absent": "no direct link shown"}.get(
                found.state(name, "bronc"), "open"
            )
            state = "weak hint" if frozenset((name, "bronc")) in found.hints else state
            assert f"<td>{name}</td><td>{state}</td>" in table
    drawing = page[page.index('<svg id="graph"') : page.index("</svg>")]
    near = {name for pair in (*found.graph.skeleton, *found.open) if "bronc" in pair for name in pair} | {
        "bronc"
    }
    assert set(re.findall(r'data-name="([^"]+)"', drawing)) == near
    assert "Directly linked to bronc" in str(found)


def test_the_figure_is_the_same_in_file_page_and_plot(result: DiscoveryResult) -> None:
    """One table of marks, weights and legend: what is published is what was looked at."""
    graph = dc.Graph(list("abcde"), directed=[("a", "b"), ("c", "b")], undirected=[("c", "d")])
    odd = replace(
        result,
        graph=graph,
        open=frozenset([frozenset("de")]),
        given_up_to={},
        separating={},
        conflicts=frozenset([frozenset("ab")]),
        settled=True,
        confidence={frozenset("ab"): 0.9, frozenset("bc"): 0.6, frozenset("cd"): 0.2},
    )
    text = file_texts(odd)["graph.svg"]
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    kinds = [g.get("class") for g in root.iter(f"{space}g") if g.get("data-upper")]
    assert kinds == ["edge plain conflict sure", "edge arrow weaker", "edge plain hint"]
    told = [
        " ".join(t.text or "" for t in g.iter(f"{space}text"))
        for g in root.iter(f"{space}g")
        if g.get("class") == "key"
    ]
    listed = keys(odd, EdgeNotes.of(odd))
    assert told == [key.words for key in listed if key.kind != "open"]
    assert [key.words for key in listed][-1] in " ".join(
        ElementTree.fromstring(file_texts(odd, open=True)["graph.svg"]).itertext()
    )
    page = unescape(render(odd))
    caption = page[page.index("<figcaption>") : page.index("</figcaption>")]
    assert all(key.words in caption for key in listed)
    (stored,) = re.findall(r'id="figure-file">(.*?)</script>', page, flags=re.DOTALL)
    assert json.loads(stored)["plain"] == text
    style = (Path(dpcausal.present.page.__file__).parent / "templates" / "style.css").read_text()
    for kind, wide in WIDTHS.items():
        rule = f".edge.{kind} .line" if kind else ".edge path"
        assert re.search(
            rf"{re.escape(rule)} {{[^}}]*stroke-width: {wide:g}".replace("0.", "0?[.]"), style
        ), kind
    for kind, dashes in DASHES.items():
        if dashes:
            assert re.search(
                rf"[.]edge[.]{kind} [.]line {{[^}}]*stroke-dasharray: {' '.join(f'{d:g}' for d in dashes)};",
                style,
            )
    assert "NOT PRIVATE" not in text
    titles = [t.text for t in root.iter(f"{space}text") if t.get("class") == "title"]
    assert titles == ["Causal graph: n = 20,000"]
    named = ElementTree.fromstring(file_texts(odd, data="patients.csv")["graph.svg"])
    assert "Causal graph: patients.csv, n = 20,000" in list(named.itertext())
    assert "n = " not in file_texts(replace(odd, rows=None))["graph.svg"]  # it may be protected
    assert WIDTHS["sure"] >= 2 * WIDTHS["weaker"] >= 4 * WIDTHS["hint"]
    many = replace(odd, graph=dc.Graph([*"abcde", *(f"lone{i}" for i in range(20))], directed=[("a", "b")]))
    lone = file_texts(many)["graph.svg"]
    assert "Not drawn: no edge found: c, d, e, lone0" in lone
    assert "nothing could be decided about" not in lone
    assert lone.count('class="node"') == 2
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert "NOT PRIVATE" in file_texts(exact)["graph.svg"]


def test_a_notebook_shows_graph_and_cost_and_escapes_names(result: DiscoveryResult) -> None:
    shown = result._repr_html_()
    assert shown.count("<svg") == 1
    assert shown.count('class="node"') == 5
    assert "epsilon 1" in shown
    assert "<script" not in shown
    odd = replace(
        result, graph=dc.Graph(["<b>", "c"], directed=[("<b>", "c")]), open=frozenset(), given_up_to={}
    )
    assert "<b>" not in odd._repr_html_()
    assert "&lt;b&gt; → c" in odd._repr_html_()


def test_two_drawings_on_one_page_do_not_share_ids(result: DiscoveryResult) -> None:
    other = replace(
        result, graph=dc.Graph(["a", "b"], directed=[("a", "b")]), open=frozenset(), given_up_to={}
    )
    ids = [re.findall(r' id="([^"]+)"', found._repr_html_()) for found in (result, other)]
    assert not set(ids[0]) & set(ids[1])


def test_statements_and_tests_have_html_too(result: DiscoveryResult) -> None:
    assert "border-left" in result.privacy._repr_html_()
    data = dc.networks.load("cancer").sample(1000, seed=1)
    assert "Smoker and Cancer" in dc.ci_test(data, "Smoker", "Cancer", epsilon=1.0)._repr_html_()


def test_open_pairs_are_told_and_not_drawn(result: DiscoveryResult) -> None:
    names = list(result.graph.nodes)
    left = replace(result, graph=dc.Graph(names), open=frozenset([frozenset(names[:2])]), given_up_to={})
    shown = left._repr_html_()
    assert f"{names[0]} ? {names[1]}. result.plot(open=True) draws them." in shown
    assert "edge open" not in shown
