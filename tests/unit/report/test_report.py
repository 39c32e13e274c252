"""The report: the drawing in words, and the page as text; ``tests/e2e/test_browser.py`` looks at it in a browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import fields, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from dpcausal.discovery.measured_silence import NOISE
from dpcausal.discovery.measured_silence import words as silence_words
from dpcausal.report.fields import FIELDS, HEADINGS
from dpcausal.report.reach import reach_words

import dpcausal as dc
from dpcausal.cli.options import origin_of
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.redact import ledger_name
from dpcausal.core.statement import PrivacyStatement, weak_promise
from dpcausal.data.read import DRAFT_LIMIT
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.present.discovery import missing_words
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.files import file_texts
from dpcausal.present.origin import Origin
from dpcausal.present.page import open_questions, promise, render, write
from dpcausal.present.spending import Step, chart, rows, steps, unit_words
from dpcausal.present.svg import svg
from dpcausal.privacy.events import ApproximateEvent, Event, GaussianEvent, PureEvent


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


def test_drawing_has_every_node_and_edge_in_words() -> None:
    graph = dc.Graph(["a<b", "c", "d"], directed=[("a<b", "c")], undirected=[("c", "d")])
    drawing = svg(graph, EdgeNotes(untested=[frozenset(("c", "d"))]))
    assert "a&lt;b → c in every graph that fits the answers, if no common cause is hidden" in drawing
    assert "direction not decided by the data; not fully tested" in drawing
    assert drawing.count('class="node"') == 3
    assert drawing.count('class="line"') == 2
    assert drawing.count("marker-end") == 1
    assert "found again" not in drawing


def test_hovering_tells_the_confidence_apart_from_the_direction() -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    drawing = svg(graph, EdgeNotes(confidence={frozenset(("a", "b")): 0.987}))
    assert (
        "<title>a → b in every graph that fits the answers, if no common cause is hidden; edge found again in 99% of "
        "repeats (says nothing about its direction)</title>"
    ) in drawing
    assert drawing.count("found again") == 2  # the title and the label of one edge, not of the other
    assert "confidence" not in drawing


def test_an_arrow_laid_upward_keeps_its_head() -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("c", "a")])
    drawing = svg(graph)
    assert drawing.count("marker-end") == 2
    assert drawing.count("marker-start") == 1


def test_page_is_self_contained_and_complete(result, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
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


def test_arrows_are_not_called_causes(result) -> None:  # type: ignore[no-untyped-def]
    page = render(result)
    assert result.graph.directed
    assert not re.search(r"<td>causes</td>|cause to effect|title>\w+ causes", page)
    assert "<td>→</td>" in page
    assert "only if no common cause was left out" in " ".join(page.split())


def test_how_to_reproduce_names_what_is_known(result) -> None:  # type: ignore[no-untyped-def]
    page = render(result)
    assert "patients.csv" not in page
    assert 'id="command"' not in page
    assert "result = dc.discover(data, epsilon=1, delta=0, method=" in page
    known = Origin("mine.csv", "mine.toml", ["dpcausal", "discover", "mine.csv"], {"epsilon": 1.0})
    page = unescape(render(result, origin=known))
    assert '<pre id="command">dpcausal discover mine.csv</pre>' in page
    assert "data = dc.read('mine.csv', dc.Schema.from_toml('mine.toml'))" in page
    assert f"result = dc.discover(data, epsilon=1, method='{result.method}')" in page


def test_an_open_question_points_to_its_reason(result) -> None:  # type: ignore[no-untyped-def]
    pair = next(iter(result.graph.skeleton))
    kept = replace(result, untested=frozenset([pair]), notes=())
    assert "its answer would have been noise" in open_questions(kept)[2]
    told = replace(kept, notes=("3 questions could not be answered, so their edges stay: 3 ...",))
    assert "the reasons are counted below" in open_questions(told)[2]


def statement(events: list[Event], definition: str = "pure") -> PrivacyStatement:
    return PrivacyStatement(
        private=True,
        definition=definition,
        epsilon=1.0,
        delta=0.0,
        neighbours=Neighbours.REPLACE_ONE,
        composition="",
        noise="",
        events=tuple(event.to_dict() for event in events),
    )


def pure(label: str, cost: float) -> PureEvent:
    return PureEvent(label=label, neighbours=Neighbours.REPLACE_ONE, mechanism="m", cost=cost)


def test_steps_sum_events_by_label_in_the_order_charged() -> None:
    events: list[Event] = [pure("b", 0.25), *(pure(f"a: {i}", 0.03125) for i in range(20))]
    assert steps(statement(events)) == [Step("b", 1, 0.25, "epsilon"), Step("a", 20, 0.625, "epsilon")]
    assert [step.label for step in steps(statement(events[:3]))] == ["b", "a: 0", "a: 1"]


def test_bars_never_sum_to_more_than_was_promised() -> None:
    """Small charges that fit by rho alone: sums of their epsilon are no cost of this release."""
    many: list[Event] = [pure("a", 0.125)] * 20  # 2.5 in epsilon, of 1; 20/128 in rho
    assert steps(statement(many, "approximate")) == [Step("a", 20, 20 / 128, "rho")]


def test_steps_have_the_unit_that_every_event_has() -> None:
    one = Neighbours.REPLACE_ONE
    gauss = GaussianEvent(label="g", neighbours=one, sensitivity=1.0, sigma=2.0)
    both = steps(statement([pure("p", 0.5), gauss], "zCDP"))
    assert [(step.unit, step.cost) for step in both] == [("rho", 0.125), ("rho", 0.125)]
    odd = ApproximateEvent(label="o", neighbours=one, mechanism="m", cost=0.1, slack=1e-6)
    assert {step.unit for step in steps(statement([gauss, odd]))} == {"events"}
    assert 'class="bar"' in chart(both)
    assert chart([]) == ""


def test_the_promise_has_the_factor_and_the_exception() -> None:
    told = " ".join(promise(statement([pure("p", 1.0)])))
    assert "a factor of at most 2.72" in told
    assert "except with probability" not in told
    assert "No ledger was charged" in told
    assert "no privacy guarantee" in promise(PrivacyStatement.none(released=["a graph"]))[0]


def test_what_could_not_be_tested_is_said(result) -> None:  # type: ignore[no-untyped-def]
    open_result = replace(result, untested=frozenset([frozenset(("Cancer", "Xray"))]), complete=False)
    page = render(open_result)
    assert "Cancer and Xray: kept as an edge because a question about it stayed open" in page
    assert "the budget was spent" in page


def test_a_place_that_can_not_be_written_is_one_line(result) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(dc.InputError, match="can't write"):
        write(result, "/nonexistent/report.html")


def test_a_notebook_shows_graph_and_cost_and_escapes_names(result) -> None:  # type: ignore[no-untyped-def]
    shown = result._repr_html_()
    assert shown.count("<svg") == 1
    assert shown.count('class="node"') == 5
    assert "epsilon 1" in shown
    assert "<script" not in shown
    odd = replace(result, graph=dc.Graph(["<b>", "c"], directed=[("<b>", "c")]), untested=frozenset())
    assert "<b>" not in odd._repr_html_()
    assert "&lt;b&gt; → c" in odd._repr_html_()


def test_two_drawings_on_one_page_do_not_share_ids(result) -> None:  # type: ignore[no-untyped-def]
    other = replace(result, graph=dc.Graph(["a", "b"], directed=[("a", "b")]), untested=frozenset())
    ids = [re.findall(r' id="([^"]+)"', found._repr_html_()) for found in (result, other)]
    assert not set(ids[0]) & set(ids[1])


def test_statements_and_tests_have_html_too(result) -> None:  # type: ignore[no-untyped-def]
    assert "border-left" in result.privacy._repr_html_()
    data = dc.networks.load("cancer").sample(1000, seed=1)
    assert "Smoker and Cancer" in dc.ci_test(data, "Smoker", "Cancer", epsilon=1.0)._repr_html_()


def test_bars_have_shares_and_rho_is_explained() -> None:
    parts = [Step("one", 1, 0.125, "rho"), Step("two", 3, 0.375, "rho")]
    drawing = chart(parts)
    assert ">rho 0.125 (25%)</text>" in drawing
    assert "<title>two (3 times): rho 0.375 (75%)</title>" in drawing
    assert unit_words(parts).startswith(
        "rho: another unit of cost, in which many small costs come to less; it ends as epsilon"
    )
    assert "rho" not in unit_words([Step("one", 1, 1.0, "epsilon")])
    assert "%" not in chart([Step("one", 2, 2.0, "events")])
    assert unit_words([Step("one", 1, 1.0, "events")]) == unit_words([]) == ""
    assert unit_words([Step("one", 2, 2.0, "events")]) == "A bar sums the steps of one kind."
    assert "(" not in chart([Step("free", 1, 0.0, "rho")])


def test_a_cost_that_an_event_has_not_is_an_empty_cell() -> None:
    gauss = GaussianEvent(label="g", neighbours=Neighbours.REPLACE_ONE, sensitivity=1.0, sigma=2.0)
    (row,) = rows(statement([gauss], "zCDP").events)
    assert (row["epsilon"], row["rho"]) == ("", "0.125")


def test_someone_with_more_rows_is_told() -> None:
    told = " ".join(promise(statement([pure("p", 1.0)])))
    assert "Someone with k rows in the table is protected k times less (k times epsilon): put one row" in told
    also = replace(statement([pure("p", 1.0)]), delta=1e-6)
    assert "(k times epsilon, and a larger delta)" in " ".join(promise(also))


def test_that_everything_was_tested_is_said_only_where_so(result) -> None:  # type: ignore[no-untyped-def]
    chain = dc.Graph(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    done = replace(
        result, graph=chain, asked={0: 3, 1: 2}, untested=frozenset(), complete=True, notes=("a remark",)
    )
    assert open_questions(done) == [
        missing_words(done),
        reach_words(done),
        "No edge shown stands for lack of a test.",
        "A remark.",
    ]
    pair = frozenset("ab")
    for left in (replace(done, untested=frozenset([pair])), replace(done, complete=False)):
        assert not any("for lack of a test" in line for line in open_questions(left))
    held = replace(done, asked={0: 3})
    assert open_questions(held)[2].startswith(
        "Every edge shown was tested given up to 0 columns; larger sets were not"
    )
    later = Knowledge.of(["a", "b", "c"], tiers=[["a", "b"], ["c"]], required=[{"b", "c"}])
    assert open_questions(replace(held, known=later))[2] == "No edge shown stands for lack of a test."


def test_a_search_held_to_small_sets_says_so() -> None:
    """Without a limit nothing is left to ask; with none but marginal questions a chain keeps a false edge."""
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    whole = dc.discover(data, epsilon=None, method="pc")
    assert open_questions(whole)[1] == "No edge shown stands for lack of a test."
    held = dc.discover(data, epsilon=None, method="pc", max_order=0)
    assert open_questions(held)[1].startswith(
        "Every edge shown was tested given up to 0 columns; larger sets were not"
    )


def test_a_page_without_privacy_speaks_of_no_budget() -> None:
    data = dc.networks.load("cancer").sample(1000, seed=1)
    page = " ".join(render(dc.discover(data, epsilon=None, method="pc")).split())
    cards = page[page.index('<div class="cards">') : page.index("<figure>")]
    assert cards.count('class="card"') == 1
    assert "too weak for this many rows, and extra" in page
    assert "for this budget" not in page
    assert "the same call gives the same graph" in page
    assert "Noise is drawn fresh" not in page


def test_what_must_be_known_first_stands_above_the_graph(result) -> None:  # type: ignore[no-untyped-def]
    page = render(result)
    assert result.conflicts == frozenset()
    assert not re.search('id="(conflicts|draft|weak)', page)
    limits = (*result.privacy.limits, DRAFT_LIMIT, *weak_promise(12.0, 0.1, 50))
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
    assert len(re.findall(r'class="edge (?:arrow|plain) conflict"', page)) == 1
    assert f'<p class="stamp" id="draft">{DRAFT_LIMIT}</p>' in above
    assert above.count("Weak promise: ") == 2
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert "Answers contradict each other" in unescape(odd._repr_html_())


def test_every_field_and_heading_has_a_line(result) -> None:  # type: ignore[no-untyped-def]
    assert set(FIELDS) == {item.name for item in fields(PrivacyStatement)}
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


def test_charges_are_counted_alike(result) -> None:  # type: ignore[no-untyped-def]
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
def test_no_login_of_a_ledger_is_shown(result, url: str) -> None:  # type: ignore[no-untyped-def]
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


def test_the_key_lists_what_is_drawn_and_nothing_else(result) -> None:  # type: ignore[no-untyped-def]
    def shown(found) -> str:  # type: ignore[no-untyped-def]
        page = render(found)
        return page[page.index("<figcaption>") : page.index("</figcaption>")]

    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    bare = replace(result, graph=graph, untested=frozenset(), conflicts=frozenset(), confidence=None)
    assert shown(bare).count('class="key"') == 2
    assert "not fully tested" not in shown(bare)
    arrows = replace(bare, graph=dc.Graph(["a", "b"], directed=[("a", "b")]))
    assert "direction not decided" not in shown(arrows)
    left = replace(bare, untested=frozenset([frozenset("ab")]))
    assert "kept without a full test, direction not known" in shown(left)
    assert "same direction" not in shown(left)
    assert "kept, not fully tested" in shown(replace(left, answered=left.untested))
    odd = replace(bare, conflicts=frozenset([frozenset("ab")]), method="tests")
    assert "no graph has all these directions" in shown(odd)


def test_the_width_of_a_line_shows_confidence(result) -> None:  # type: ignore[no-untyped-def]
    graph = dc.Graph(list("abcd"), directed=[("a", "b")], undirected=[("b", "c"), ("c", "d")])
    parts = dict(zip(map(frozenset, ("ab", "bc", "cd")), (0.8, 0.79, 0.35), strict=True))
    found = replace(
        result, graph=graph, untested=frozenset(), conflicts=frozenset(), confidence=parts, repeats=20
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


def test_a_missing_edge_heads_the_remarks(result) -> None:  # type: ignore[no-untyped-def]
    page = unescape(render(result))
    remarks = page[page.index('<ul id="open">') :]
    assert remarks.startswith(f'<ul id="open">\n<li>{missing_words(result)}</li>')
    assert "Everything that was needed" not in page
    assert "may still depend on each other through others" in page


def test_questions_without_an_answer_do_not_claim_edges(result) -> None:  # type: ignore[no-untyped-def]
    """Pairs that another question separated: their edges do not stay."""
    told = silence_words(Counter({NOISE: 2}))
    assert told.startswith("2 questions could not be answered (such an edge stays, unless another question")
    assert silence_words(Counter({NOISE: 1})).startswith(
        "1 question could not be answered (such an edge stays"
    )


def test_a_column_of_costs_that_no_step_has_is_left_out(result) -> None:  # type: ignore[no-untyped-def]
    gauss = GaussianEvent(label="g", neighbours=Neighbours.REPLACE_ONE, sensitivity=1.0, sigma=2.0)
    page = render(replace(result, privacy=statement([gauss], "zCDP")))
    table = page[page.index('<table id="events">') : page.index("</details>")]
    assert HEADINGS["epsilon"] not in table
    assert HEADINGS["rho"] in table
    assert "2 times what one row can change (standard deviation)" in table


def test_graph_json_in_the_page_is_the_file(result) -> None:  # type: ignore[no-untyped-def]
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
    assert f"of middling size, w = {planned[0].smallest:.2g} (in" in reach_words(found)
    assert f"given one more column, w = {planned[1].smallest:.2g} (" in reach_words(found)
    assert reach_words(found) in unescape(render(found))
    assert "nothing, however strong" in reach_words(
        dc.discover(data, epsilon=1e-6, delta=1e-9, method="measured")
    )
    for silent in (
        dc.discover(data, epsilon=1.0, neighbours="add-remove", method="measured"),  # rows are protected
        dc.discover(data, epsilon=None, method="pc"),
        dc.discover(data, epsilon=1.0, method="svt-pc"),
        replace(found, sizes=(256, 256, 256)),  # too many cells for a plan in passing
    ):
        assert reach_words(silent) == ""
