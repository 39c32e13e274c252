"""The report as text; ``tests/e2e/test_browser.py`` looks at it in a browser."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from datetime import date
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dpcausal as dc
import dpcausal.present.page
from dpcausal.cli.discover import origin_of
from dpcausal.cli.options import Charge, Printing
from dpcausal.cli.rows import Here, Rows
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.redact import ledger_name, shown_words
from dpcausal.core.statement import MissingAs, PersonRows, PrivacyStatement, UncheckedDraft, weak_limits
from dpcausal.discovery.evidence import Evidence, largest_pvalues
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result import replaced as replace
from dpcausal.discovery.search import MergedLevels, OpenReason, unanswered
from dpcausal.present.figures import DASHES, WIDTHS, Picture, heading, keys
from dpcausal.present.files import file_texts
from dpcausal.present.graph_words import (
    absent_means,
    again_line,
    arrows_mean,
    declared_words,
    fits_words,
    found_words,
    merged_line,
    missed_words,
    open_line,
    target_words,
)
from dpcausal.present.origin import Origin, python_text
from dpcausal.present.page import arrow_sentence, banners, open_questions, render, write
from dpcausal.present.paper import conclusion, directions, evidence, methods_paragraph
from dpcausal.present.statement import (
    DEFINITIONS,
    HEADINGS,
    fact_words,
    missing_as_words,
    privacy_line,
    promise,
    size_words,
)
from dpcausal.present.tables import (
    HINTS_MEAN,
    EdgeNotes,
    edge_rows,
    given_words,
    share_words,
)
from dpcausal.privacy.events import GaussianEvent


class Resources(HTMLParser):
    """Every address a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for key, value in attrs if key in ("src", "href") and tag != "a"]


def numbers(text: str) -> list[int]:
    """The whole numbers in a text."""
    return [int(found) for found in re.findall(r"\d+", text)]


def stored(page: str) -> dict[str, str]:
    """The files that the page can save."""
    (found,) = re.findall(r'id="files">(.*?)</script>', page, flags=re.DOTALL)
    files: dict[str, str] = json.loads(found)
    return files


def test_page_is_self_contained_and_complete(result: DiscoveryResult, tmp_path: Path) -> None:
    page = render(result)
    resources = Resources()
    resources.feed(page)
    assert resources.found == []
    without_namespace = page.replace("http://www.w3.org/2000/svg", "")  # a name, which nothing fetches
    assert not re.search(r"url\((?!#)|@import|//[a-z]+\.", without_namespace)
    assert "NOT PRIVATE" not in page
    assert json.loads(stored(page)["privacy.json"])["epsilon"] == 1.0
    assert Path(result.report(str(tmp_path / "report.html"))).read_text() == page


def test_persons_are_not_called_rows(result: DiscoveryResult) -> None:
    persons = replace(result, privacy=dataclasses.replace(result.privacy, unit=PersonRows()))
    for one, word in ((result, "rows"), (persons, "persons")):
        page = render(one)
        assert f"<dt>{word.capitalize()}</dt><dd>{result.rows:,}</dd>" in page
        assert f"({result.rows:,} {word}" in page  # of the paragraph for a paper


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
    assert arrow_sentence(arrow) in page
    assert all(word in arrow_sentence(arrow) for word in ("sufficiency", "faithfulness"))


def test_how_to_reproduce_names_what_is_known(result: DiscoveryResult) -> None:
    page = render(result)
    assert "patients.csv" not in page
    assert 'id="command"' not in page
    assert "result = dc.discover(data, epsilon=1, delta=0, method=" in page
    known = Origin("mine.csv", ["dpcausal", "discover", "mine.csv"], "data = mine")
    page = unescape(render(result, origin=known))
    assert '<pre id="command">dpcausal discover mine.csv</pre>' in page
    assert '<pre id="reproduce">data = mine</pre>' in page


def test_what_was_not_asked_points_to_its_reason(result: DiscoveryResult) -> None:
    pair = next(iter(result.graph.skeleton))
    kept = replace(result, given_up_to={pair: 0}, notes=(), complete=True, asked={0: 10, 1: 3})
    noted = replace(kept, notes=(unanswered(Counter({OpenReason.NOISE: 3})),))
    bare = replace(kept, asked={0: 10})
    reasons = [open_questions(one)[0] for one in (kept, noted, bare)]
    assert ["noise" in reason for reason in reasons] == [True, False, False]
    assert ["reasons below" in reason for reason in reasons] == [False, True, False]


def test_what_could_not_be_asked_is_said(result: DiscoveryResult) -> None:
    left = replace(result, given_up_to={frozenset(("Cancer", "Xray")): 1}, complete=False)
    page = render(left)
    assert open_questions(left)[0] in page
    assert len(open_questions(left)) == len(open_questions(replace(left, complete=True))) + 1


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
    assert '<tr data-state="open"><td>a, c&lt;</td>' in page
    assert page.count('class="edge open"') == 2  # the line and its key
    assert '<span class="key of-open" hidden>' in page
    assert 'class="show-open"' not in page
    assert f"{found_words(left)}." in page
    assert numbers(found_words(left)) == [1, 3, 1, 1]  # edges, columns, absent, open
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    shown = render(left, open=True)
    assert '<input id="show-open" type="checkbox" checked>' in shown
    assert 'class="show-open"' in shown
    assert '<span class="key of-open">' in shown


def test_a_place_that_can_not_be_written_is_one_line(result: DiscoveryResult) -> None:
    with pytest.raises(dc.InputError, match="can't write"):
        write(result, "/nonexistent/report.html")


def test_a_search_held_to_small_sets_says_so() -> None:
    """Without a limit nothing is left to ask; with none but marginal questions a chain keeps a false edge."""
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    whole = dc.discover(data, epsilon=None, method="pc")
    assert not whole.given_up_to
    held = dc.discover(data, epsilon=None, method="pc", max_order=0)
    assert set(held.given_up_to.values()) == {0}
    assert held.complete
    assert given_words(0) in render(held)
    assert "not asked for" in open_questions(held)[0]


def test_a_page_without_privacy_speaks_of_no_budget() -> None:
    data = dc.networks.load("cancer").sample(1000, seed=1)
    page = " ".join(render(dc.discover(data, epsilon=None, method="pc")).split())
    about = page[page.index('<dl class="about"') : page.index("</dl>")]
    assert '<dt>Privacy</dt><dd id="epsilon">none</dd>' in about
    assert "delta" not in about
    assert "with this many rows" in page
    assert "at this budget" not in page
    assert "gives the same graph" in page
    assert "drawn fresh" not in page


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
    (torn,) = (line for kind, line in banners(odd) if kind == "conflicts")
    assert f'id="conflicts">{torn}' in above
    assert "Cancer - Xray" in torn
    assert page.count('class="edge conflict"') == 1  # the key; no other drawing marks one
    assert len(re.findall(r'class="edge plain conflict\b', page)) == 1
    assert f'<p class="stamp" id="draft">{fact_words(draft)}</p>' in above
    assert above.count("Weak promise: ") == 2
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert torn in unescape(odd._repr_html_())


def test_the_statement_is_told_in_words_and_not_as_code(result: DiscoveryResult) -> None:
    ledger = {"dataset": "cohort", "entry": 3, "left": {"epsilon": 0.5, "delta": 0.0}}
    page = unescape(render(replace(result, privacy=replace(result.privacy, ledger=ledger))))
    table = page[page.index('<table id="statement">') : page.index("How to cite")]
    assert "dataset cohort; entry 3; left epsilon 0.5, delta 0" in table
    assert not re.search(r"[{}]|'\\w+'", table)


def test_every_field_and_heading_has_a_line(result: DiscoveryResult) -> None:
    page = unescape(render(result))
    for words in HEADINGS.values():
        assert f"<small>{words}</small>" in page
    table = page[page.index('<table id="statement">') :]
    left_out = {"not_private", "stated", "events", "format", "parameters"}
    for item in {field.name for field in fields(PrivacyStatement)} - left_out:
        assert f'<th scope="row">{item}</th>' in table
    events = page[page.index('<table id="events">') :]
    assert "sensitivity" not in events[: events.index("</table>")]  # in steps of a grid: for privacy.json


def test_charges_are_counted_alike(result: DiscoveryResult) -> None:
    """Console, report and statement: one number, called noisy steps in all of them, never "times"."""
    data = dc.networks.load("cancer").sample(2000, seed=1)
    for found in (result, dc.discover(data, epsilon=1.0, delta=1e-6, method="tests")):
        many = len(found.privacy.to_dict()["events"])
        words = "one noisy step" if many == 1 else f"{many} noisy steps"
        page = render(found)
        assert f"Cost: {words}, " in found.summary(full=True)
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
    python = python_text("dc.discover", [], {"epsilon": 1.0, "ledger": url})
    page = unescape(render(result, origin=Origin("p.csv", command, python)))
    place = Here(Rows(data=Path("p.csv"), schema=Path("s.toml")), Charge(), Printing())
    made = origin_of(place, {"epsilon": 1.0, "ledger": url}, {})
    joined = shlex.join(shown_words(["discover", f"--ledger={url}"]))
    for shown in (page, ledger_name(url), made.python, joined):
        assert "s3cret" not in shown
        assert "ada" not in shown.replace("adaptive", "")
    assert "ledger='postgres" in page
    assert ledger_name(ledger_name(url)) == ledger_name(url)


@pytest.mark.parametrize(("data", "table"), [("p.csv", None), ("clinic.duckdb", "visits")])
def test_rows_of_a_person_are_repeated_as_they_were_asked(data: str, table: str | None) -> None:
    """A report is written once a graph is paid for: no option may stop it."""
    schema = Path("s.toml")
    rows = Rows(data=Path(data), table=table, schema=schema, unit="pid", rows_per_unit=2, order_by="last")
    made = origin_of(Here(rows, Charge(), Printing(), columns=["a", "b"]), {"epsilon": 1.0}, {})
    assert "schema = dc.Schema.from_toml('s.toml').select(['a', 'b'])" in made.python.splitlines()
    (opened,) = (line for line in made.python.splitlines() if line.startswith("data = "))
    assert opened.startswith("data = dc.connect(" if table else "data = dc.read(")
    assert opened.endswith("unit='pid', rows_per_unit=2, order_by='last')")


@pytest.mark.parametrize(
    "text", ["ada:s3cret@host/db", "host=h password=s3cret", "postgresql:/ada:s3cret://h", "x?s3cret"]
)
def test_of_what_is_no_address_nothing_is_shown(text: str) -> None:
    assert ledger_name(text) == ledger_name("...") == "..."


def test_the_key_lists_what_is_drawn_and_nothing_else(result: DiscoveryResult) -> None:
    def shown(found: DiscoveryResult) -> list[str]:
        page = render(found)
        caption = unescape(page[page.index("<figcaption>") : page.index("</figcaption>")])
        drawn = Picture.of(found, open=False).keys(open=True)
        assert all(key.words in caption for key in drawn)
        assert caption.count('class="key') == len(drawn)
        return [key.kind for key in drawn]

    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    bare = replace(
        result, graph=graph, open=frozenset(), given_up_to={}, conflicts=frozenset(), confidence=None
    )
    assert shown(bare) == ["arrow", "plain"]
    assert shown(replace(bare, graph=dc.Graph(["a", "b"], directed=[("a", "b")]))) == ["arrow"]
    assert shown(replace(bare, open=frozenset([frozenset("ac")]))) == ["arrow", "plain", "open"]
    both = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("c", "b")])
    odd = replace(bare, graph=both, conflicts=frozenset([frozenset("ab")]), settled=False)
    assert shown(odd) == shown(replace(odd, settled=True)) == ["arrow", "conflict"]
    assert len({fits_words(one) for one in (bare, odd, replace(odd, settled=True))}) == 3
    alone = replace(odd, graph=dc.Graph(["a", "b"], directed=[("a", "b")]))
    assert shown(alone) == ["conflict"]  # no other arrow is drawn


def test_the_width_of_a_line_shows_confidence(result: DiscoveryResult) -> None:
    graph = dc.Graph(list("abcd"), directed=[("a", "b")], undirected=[("b", "c"), ("c", "d")])
    parts = dict(zip(map(frozenset, ("ab", "bc", "cd")), (0.95, 0.94, 0.35), strict=True))
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
    for part in parts.values():
        assert f'data-name="found again">{share_words(part)}</td>' in page
    assert again_line(found) in page
    assert found_words(found) in page
    assert numbers(found_words(found)) == [2, 1, 4, 3, 0]  # the hint apart
    assert HINTS_MEAN in page
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
    assert conclusion(found)[0].startswith(found_words(found))
    assert numbers(found_words(found)) == [1, 3, 1, 1]  # no edge
    assert HINTS_MEAN in conclusion(found)[1]
    assert "<summary>All 3 pairs: " in unescape(render(found))


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
    assert numbers(conclusion(plain)[0])[:2] == [2, 1]  # edges, and the hint
    assert numbers(directions(plain)) == [1, 1]  # decided, not decided
    only = dict.fromkeys((frozenset("ab"), frozenset("bc"), frozenset("cd")), 0.3)
    assert directions(replace(plain, confidence=only)) == ""
    sure = dict.fromkeys(only, 0.9)
    assert numbers(directions(replace(plain, confidence=sure))) == [2, 1]


def test_every_pair_is_in_one_table_with_what_would_be_found(result: DiscoveryResult) -> None:
    page = unescape(render(result))
    table = page[page.index('<table id="pairs">') :]
    table = table[: table.index("</table>")]
    rows = re.findall(r'<tr data-state="(.*?)"><td>(.*?)</td>.*?<td class="number">(.*?)</td>', table)
    assert len(rows) == len(result.absent | result.open | result.graph.skeleton) > 0
    absent = [(pair, least) for state, pair, least in rows if state == "absent"]
    assert len(absent) == len(result.absent)
    for pair, least in absent:
        assert least == f"{result.detectable[frozenset(pair.split(', '))]:.2g}"
    full = result.summary(full=True)
    assert all(f"{pair.replace(', ', ' - ')} (" in full for pair, _ in absent)
    assert absent_means(result) in page
    assert "depend on each other through others" in page


def test_no_p_value_is_shown_as_nothing(result: DiscoveryResult) -> None:
    pair = next(iter(result.absent))
    tiny = render(replace(result, evidence={pair: Evidence((), pvalue=0.0)}))
    assert '<td class="number">&lt; 1e-300</td>' in tiny
    assert largest_pvalues([(pair, (), 0.0)], {})[pair].pvalue == 1e-300


def test_a_column_of_costs_that_no_step_has_is_left_out(
    result: DiscoveryResult, statement_of: Callable[..., PrivacyStatement]
) -> None:
    gauss = GaussianEvent(label="g", neighbours=Neighbours.REPLACE_ONE, sensitivity=1.0, sigma=2.0)
    page = render(replace(result, privacy=statement_of([gauss], "zCDP")))
    table = page[page.index('<table id="events">') :]
    table = table[: table.index("</table>")]
    assert HEADINGS["epsilon"] not in table
    assert HEADINGS["rho"] in table
    assert size_words(gauss.to_dict()) in table


def test_graph_json_in_the_page_is_the_file(result: DiscoveryResult) -> None:
    known = Origin("mine.csv", ["dpcausal", "discover", "mine.csv"], "data = mine")
    found = stored(render(result, origin=known))["graph.json"]
    assert json.loads(found) == json.loads(file_texts(result)["graph.json"])


def test_delta_is_told_in_the_same_words_everywhere() -> None:
    data = dc.networks.load("cancer").sample(2000, seed=1)
    found = dc.discover(data, epsilon=1.0, delta=1e-6, method="svt-pc")
    assert "probability of at most 1e-06 (delta)" in render(found)
    assert privacy_line(found.privacy) in found.summary()
    assert DEFINITIONS[found.privacy.definition] in found.summary(full=True)


def test_the_page_opens_with_what_it_is_about(result: DiscoveryResult) -> None:
    """Data set, rows where they are public, date and method, then the conclusion in two sentences, then the graph."""
    known = Origin("mine.csv", ["dpcausal", "discover", "mine.csv"], "data = mine")
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
    assert len(conclusion(result)) <= 4
    order = ['id="about"', 'id="conclusion"', 'id="promise"', "<figure>", 'id="edges"', 'id="methods"']
    order += ['id="spending"', 'id="full-statement"']
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    for part in ("all-pairs", "budget", "full-statement"):
        assert f'<details class="fold" id="{part}">' in page  # folded


def test_the_promise_of_the_page(result: DiscoveryResult) -> None:
    charged = replace(result.privacy, ledger={"dataset": "cohort", "entry": 3})
    limits = (*result.privacy.limits, *weak_limits(12.0, 0.0, 50))
    weak = replace(result.privacy, epsilon=12.0, limits=limits)
    assert " 2.72 times " in promise(result.privacy)[0]
    assert "(epsilon 1)" in promise(result.privacy)[0]
    assert "entry 3" in promise(charged)[-1]
    assert "protects weakly" in promise(weak)[1]
    assert "no privacy guarantee" in promise(PrivacyStatement.none(released=[]))[0]


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
    assert declared_words(known) in methods_paragraph(replace(result, known=known))
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert "not private" in methods_paragraph(exact)
    assert "epsilon" not in methods_paragraph(exact)


def test_the_methods_paragraph_is_true_of_this_very_graph(result: DiscoveryResult) -> None:
    told = methods_paragraph(result)
    assert (
        "beforehand" not in told
    )  # nobody can know: a draft was read from rows, and its mark is easily removed
    assert "from the schema" in told
    assert "unchecked draft" not in told
    assert "(its entry `other`)." in told  # no column declares anything for missing values
    columns = [("sex", "f", False, False), ("dose", 1.5, True, True), ("smoke", "unknown", False, False)]
    own = methods_paragraph(replace(result, privacy=replace(result.privacy, public=(MissingAs(columns),))))
    assert f": {missing_as_words(columns[1:])}, " in own
    assert "`other`" in own
    alone = replace(result, graph=dc.Graph(list("abc")), asked={0: 3})
    assert methods_paragraph(alone).startswith("We screened ")
    held = replace(alone, asked={0: 3, 1: 1})
    assert methods_paragraph(held).startswith("We learned a causal graph")
    for one in (alone, held):
        assert " 3 columns " in methods_paragraph(one)
    draft = replace(result.privacy, limits=(*result.privacy.limits, UncheckedDraft()))
    assert "unchecked draft" in methods_paragraph(replace(result, privacy=draft))
    torn = replace(
        result,
        graph=dc.Graph(list("abc"), directed=[("a", "b"), ("c", "b")]),
        conflicts=frozenset([frozenset("ab")]),
        settled=True,
        open=frozenset([frozenset("ac")]),
        given_up_to={},
        separating={},
        notes=(MergedLevels((("a", 3),), ()),),
        detectable={frozenset("ac"): 0.2},
    )
    told = methods_paragraph(torn)
    assert "1 of 2 edges the test results contradicted" in told
    assert arrows_mean(torn) in told
    assert merged_line(torn) in told
    assert "equivalence class" not in told
    bare = replace(torn, conflicts=frozenset(), open=frozenset(), notes=())
    assert arrows_mean(bare) in methods_paragraph(bare)
    assert [("best" in arrows_mean(one), "open pairs" in arrows_mean(one)) for one in (torn, bare)] == [
        (True, True),
        (False, False),
    ]
    assert missed_words(bare) in methods_paragraph(bare)
    assert "w = 0.2 (weak)" in missed_words(bare)


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
    assert arrows_mean(torn) in page
    assert "no graph fits" in arrows_mean(torn)
    assert "in every graph" not in page
    assert "contradicted each other" in page
    for whole in (replace(torn, settled=True), replace(torn, conflicts=frozenset())):
        page = unescape(render(whole))
        assert "no graph fits" not in page
        assert "in every graph" in arrows_mean(whole)
        assert arrows_mean(whole) in page


def test_an_edge_opens_for_its_evidence(result: DiscoveryResult) -> None:
    page = unescape(render(result))
    rows = re.findall(r'<details class="evidence"><summary>(.*?)</summary>(.*?)</details>', page)
    lines = {tuple(evidence(result, row)) for row in edge_rows(result)}
    assert len(result.graph.skeleton) >= len(rows) > 0
    for remark, shown in rows:
        assert remark
        assert any(all(f"<p>{line}</p>" in shown for line in expected) for expected in lines)


def test_a_target_has_a_page_of_its_own() -> None:
    data = dc.networks.load("asia").sample(20_000, seed=1)
    found = dc.discover(data, epsilon=1.0, delta=1e-6, target="bronc")
    page = unescape(render(found))
    assert f"<h1>{heading(found, '')}</h1>" in page
    assert "bronc" in heading(found, "")
    assert conclusion(found)[0].startswith(target_words(found, "bronc"))
    rows = re.findall(r"<td>(\w+), (\w+)</td><td>(\w+)</td>", page[page.index('<table id="pairs">') :])
    assert {a if b == "bronc" else b for a, b, _ in rows} == set(data.schema) - {"bronc"}
    for a, b, state in rows:
        hint = frozenset((a, b)) in found.hints
        assert state == ("hint" if hint else found.state(a, b))
    drawing = page[page.index('<svg id="graph"') : page.index("</svg>")]
    near = {name for pair in (*found.graph.skeleton, *found.open) if "bronc" in pair for name in pair} | {
        "bronc"
    }
    assert set(re.findall(r'data-name="([^"]+)"', drawing)) == near
    assert str(found).startswith(target_words(found, "bronc"))


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
        confidence={frozenset("ab"): 0.99, frozenset("bc"): 0.6, frozenset("cd"): 0.2},
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
    assert stored(render(odd))["plain"] == text
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
    assert ": c, d, e, lone0" in " ".join(ElementTree.fromstring(lone).itertext())
    assert "could be decided" not in lone
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
    assert f"{open_line(left)} result.plot(open=True)" in shown
    assert "edge open" not in shown
