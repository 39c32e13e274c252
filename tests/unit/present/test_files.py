"""What is written for other programs carries facts, and beside them the words that people read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import dpcausal as dc
from dpcausal.core.display import display
from dpcausal.core.statement import PrivacyStatement, UncheckedDraft
from dpcausal.discovery.result import DiscoveryResult, Verdict
from dpcausal.discovery.search import MethodReason, Note
from dpcausal.present.files import STATEMENT, file_texts

METHODS = ("measured", "priv-pc", "svt-pc", "em-pc", "curate", "tests", "moments", "pc")


def found_by(method: str) -> DiscoveryResult:
    data = dc.networks.load("cancer").sample(2000, seed=1)
    if method == "pc":
        return dc.discover(data, epsilon=None, method=method)
    return dc.discover(data, epsilon=1.0, delta=1e-6, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_writes_facts_and_words(method: str) -> None:
    result = found_by(method)
    files = file_texts(result)
    graph = json.loads(files["graph.json"])
    assert graph["method"] == method
    facts = graph["facts"]
    assert MethodReason.from_dict(facts["reason"]) == result.reason
    assert graph["why"] == display().words(MethodReason.from_dict(facts["reason"])) == result.why
    assert Verdict(facts["verdict"]) is result.verdict
    notes = tuple(map(Note.from_dict, facts["notes"]))
    assert notes == result.notes
    assert graph["notes"] == [display().words(note) for note in notes]
    assert all(graph["notes"])
    assert graph["notes"] == json.loads(result.to_json())["notes"]
    assert json.loads(result.to_json())["facts"] == facts

    statement = json.loads(files[STATEMENT])
    again = PrivacyStatement.from_json(files[STATEMENT])
    assert again == result.privacy
    assert statement["facts"] == result.privacy.facts()
    for name in ("public", "released", "limits"):
        assert statement[name] == [display().words(fact) for fact in getattr(again, name)]
        assert statement[name] or (name == "public" and not again.private)
    assert again.summary() == result.privacy.summary()


def test_each_test_of_independence_writes_facts_and_words() -> None:
    data = dc.networks.load("cancer").sample(2000, seed=1)
    for method in ("auto", "kendall", "chi2"):
        answer = dc.ci_test(data, "Smoker", "Cancer", ["Xray"], epsilon=1.0, method=method)
        told = json.loads(answer.to_json())
        assert told["facts"]["reason"] == answer.reason.to_dict()
        assert told["why"].startswith(display().words(answer.reason))
        assert told["privacy"]["facts"] == answer.privacy.facts()
        assert PrivacyStatement.from_json(json.dumps(told["privacy"])) == answer.privacy


def test_caveats_are_words_here_and_facts_in_the_statement(result: DiscoveryResult) -> None:
    draft = UncheckedDraft()
    odd = replace(result, privacy=replace(result.privacy, limits=(*result.privacy.limits, draft)))
    files = file_texts(odd)
    assert json.loads(files["graph.json"])["caveats"] == [display().words(draft)]
    assert PrivacyStatement.from_json(files[STATEMENT]).caveats == (draft,)
    assert "caveats" not in json.loads(file_texts(result)["graph.json"])


def test_a_graph_with_facts_is_read_as_the_same_graph(result: DiscoveryResult) -> None:
    assert dc.Graph.from_json(file_texts(result)["graph.json"]) == result.graph
