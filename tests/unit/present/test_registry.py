"""``registry.yaml``: the fields of OpenDP's registry, filled in where the statement knows, and marked where not."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import dpcausal as dc
from dpcausal.graphs.r_formats import to_arcs
from dpcausal.present.files import file_texts, without_hints
from dpcausal.present.registry import registry_yaml

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
    assert texts["arcs.csv"] == to_arcs(without_hints(result))
    assert yaml.safe_load(texts["registry.yaml"])["tier"] == 3
