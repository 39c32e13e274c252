"""Results in a notebook: one drawing, what it cost, names escaped."""

from __future__ import annotations

import re
from dataclasses import replace

import dpcausal as dc
from dpcausal.discovery.result import DiscoveryResult


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
