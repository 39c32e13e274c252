"""Files for other programs, and the draft for the registry."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

import dpcausal as dc
from dpcausal.core.display import display
from dpcausal.core.statement import PrivacyStatement, UncheckedDraft
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult, Verdict, replaced
from dpcausal.discovery.search import MethodReason, Note
from dpcausal.graphs.formats import to_arcs
from dpcausal.present.files import STATEMENT, file_texts, registry_yaml, undeclared_chances, without_hints

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


# as in deployments-schema.yaml, July 2026; required ones first
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "basic": (
        {
            "name",
            "data_curators",
            "description",
            "intended_use",
            "data_product_type",
            "data_product_region",
            "publication_date",
        },
        {"data_product_sector"},
    ),
    "dp_variant": (set(), {"variant_name", "data_domain", "unprotected_quantities"}),
    "privacy_loss": (
        set(),
        {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"},
    ),
    "deployment_model": (
        set(),
        {"model_name", "actors", "release_type", "data_source_type", "access_type"},
    ),
    "accounting": (set(), {"post_processing", "composition"}),
    "implementation": (set(), {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"}),
    "administrative": ({"registry_authors"}, {"sources", "notes"}),
}
VARIANTS = {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"}


def record(**how: Any) -> tuple[dict[str, Any], str, dc.DiscoveryResult]:
    """The record of a discovery, its text, and the result."""
    data = dc.networks.load("cancer").sample(2_000, seed=1)
    result = dc.discover(data, anyway=True, confidence=0, **how)
    text = registry_yaml(result)
    return yaml.safe_load(text), text, result


@pytest.mark.parametrize(
    "how",
    [
        {"epsilon": 1.0},
        {"epsilon": 1.0, "delta": 1e-6},
        {"epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove", "latent": True},
    ],
)
def test_fields_are_those_of_the_registry_and_agree_with_the_statement(how: dict[str, Any]) -> None:
    found, text, result = record(**how)
    told = result.privacy.to_dict()
    assert set(found) == {"url_slug", "status", "tier", "deployment"}
    assert found["status"] == "Draft"
    parts = found["deployment"]
    assert set(parts) == set(FIELDS)
    for name, (required, more) in FIELDS.items():
        assert required <= set(parts[name]) <= required | more
    loss = parts["privacy_loss"]
    assert loss["privacy_parameters"]["epsilon"] == told["epsilon"]
    assert loss["privacy_parameters"].get("delta", 0.0) == told["delta"]
    assert loss["privacy_unit"] == told["unit"]
    assert parts["dp_variant"]["variant_name"] in VARIANTS
    assert (parts["dp_variant"]["variant_name"] == "Pure DP") == (told["definition"] == "pure")
    for line in told["public"]:
        assert line in parts["dp_variant"]["unprotected_quantities"]
    assert parts["accounting"]["composition"] == told["composition"]
    for event in told["events"]:
        assert event["kind"] in parts["implementation"]["mechanisms"]
    for name in result.graph.nodes:
        assert name in parts["basic"]["description"]
    assert text.count("# fill in") >= 10


def test_what_only_the_publisher_knows_is_marked() -> None:
    _, text, _ = record(epsilon=1.0)
    for field in (
        "name",
        "intended_use",
        "data_product_region",
        "publication_date",
        "actors",
        "justification",
    ):
        told = next(line for line in text.splitlines() if line.strip().startswith(f"{field}:"))
        assert told.endswith("# fill in")
    for field in ("data_product_sector", "preprocessing_and_hyperparameter_tuning"):
        assert f'  {field}: ""  # fill in\n' in text  # nothing is claimed


def test_what_is_not_private_says_so_and_claims_no_variant() -> None:
    data = dc.networks.load("cancer").sample(2_000, seed=1)
    result = dc.discover(data, epsilon=None, method="pc")
    text = registry_yaml(result)
    found = yaml.safe_load(text)["deployment"]
    assert "# NOT PRIVATE" in text
    assert "variant_name" not in found["dp_variant"]
    assert "privacy_parameters" not in found["privacy_loss"]
    assert 'remark="NOT PRIVATE' in file_texts(result)["graph.dagitty"]


def test_odd_names_stay_yaml() -> None:
    odd = dc.Categorical(["no", "yes"])
    names = ['a: "b" # c', "d\x85e\x7f", "é\u2028🙂"]
    draw = {name: ["no", "yes"] * 50 for name in names}
    result = dc.discover(dc.read(draw, dc.Schema(dict.fromkeys(names, odd))), epsilon=None, method="pc")
    found = yaml.safe_load(registry_yaml(result))
    for name in names:
        assert name in found["deployment"]["basic"]["description"]


def test_files_for_r_are_written_with_the_others() -> None:
    _, _, result = record(epsilon=1.0)
    texts = file_texts(result)
    lines = [line for line in texts["graph.dagitty"].splitlines() if not line.startswith("remark=")]
    assert lines == without_hints(result).to_dagitty().splitlines()
    assert texts["arcs.csv"] == to_arcs(without_hints(result), undeclared_chances(result))
    assert yaml.safe_load(texts["registry.yaml"])["tier"] == 3


def test_a_declared_direction_has_no_chance_in_arcs_csv() -> None:
    _, _, result = record(epsilon=1.0)
    a, b = result.graph.nodes[:2]
    result = replaced(result, open=frozenset(), conflicts=frozenset())
    known = Knowledge.of(result.graph.nodes, tiers=[[a], [b]])
    graph = dc.Graph(result.graph.nodes, directed=[(a, b)])
    both = {(a, b): 1.0, (b, a): 0.0}
    found = replaced(result, graph=graph, known=known, direction=both, confidence={frozenset((a, b)): 0.55})
    assert file_texts(found)["arcs.csv"] == f"from,to\n{a},{b}\n"
    by_data = replaced(found, known=Knowledge())
    assert file_texts(by_data)["arcs.csv"] == f"from,to,chance\n{a},{b},1.00\n"
