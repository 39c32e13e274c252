"""``registry.yaml``: a privacy statement in the fields of OpenDP's registry of deployments.

What the statement says is filled in; what only the publisher knows (who, what for, where, when) is left empty, with a
comment ``fill in``. The registry's fields are those of its schema of July 2026 (``deployments-schema.yaml``): all that
it requires are here, and no others. It knows no product type "graph": ``Summary statistics`` comes nearest.

The file is written without a library: every text is a JSON string, which YAML reads as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcausal.core.neighbours import Neighbours

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

VARIANTS = {"pure": "Pure DP", "approximate": "Approximate DP", "zCDP": "Zero-concentrated DP"}
ADJACENT = {
    Neighbours.REPLACE_ONE: "Two tables with the same number of rows that differ in one row are adjacent; the number "
    "of rows is public.",
    Neighbours.ADD_REMOVE: "Two tables are adjacent where one has one row more than the other; the number of rows is "
    "protected.",
    Neighbours.FIXED_LABELS: "Two tables with the same labels that differ otherwise in one row are adjacent; labels "
    "are public.",
}
FILL_IN = "fill in"
UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029]")  # line ends and controls in YAML, though not in JSON


class Blank(str):
    """A text that the publisher has to replace."""

    __slots__ = ()


def registry_yaml(result: DiscoveryResult) -> str:
    """Return the record of a discovery, a draft, as YAML."""
    statement = result.privacy
    told = statement.to_dict()
    head = ["# A draft for OpenDP's registry of differential privacy deployments, made from privacy.json."]
    head += [f'# Lines with "{FILL_IN}" hold what this software can\'t know; look at the others, too.']
    if not statement.private:
        head.append(
            f"# NOT PRIVATE: {' '.join((statement.why_not_private or '').split())} Do not register it."
        )
    return "\n".join([*head, *_lines(_record(result, told))]) + "\n"


def _record(result: DiscoveryResult, told: Mapping[str, Any]) -> dict[str, Any]:
    statement, graph = result.privacy, result.graph
    kind = "partial ancestral graph" if graph.kind == "pag" else "partly directed graph"
    loss: dict[str, Any] = {
        "privacy_unit": told["unit"],
        "privacy_unit_details": ADJACENT[statement.neighbours],
    }
    if statement.epsilon is not None:
        loss["privacy_parameters"] = _parameters(told)
    variant = {"variant_name": VARIANTS.get(str(told["definition"]), "Custom")} if statement.private else {}
    return {
        "url_slug": Blank("fill-in"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": Blank(""),
                "data_curators": [Blank("")],
                "intended_use": Blank(""),
                "data_product_type": "Summary statistics",
                "data_product_region": Blank(""),
                "description": f"A causal graph ({kind}) over {len(graph.nodes)} columns: {', '.join(graph.nodes)}.",
                "publication_date": Blank("1900-01-01"),
                "data_product_sector": Blank(""),
            },
            "dp_variant": {
                **variant,
                "data_domain": "Tables with the declared columns and levels; a value outside is mapped or clamped.",
                "unprotected_quantities": _listed(told["public"]),
            },
            "privacy_loss": loss,
            "deployment_model": {
                "model_name": "Central",
                "actors": Blank(""),
                "release_type": Blank("One release"),
                "data_source_type": Blank("Static"),
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "The graph, its directions and its words are computed from the noisy values alone.",
                "composition": str(told["composition"]),
            },
            "implementation": {
                # whether levels and bounds were declared or read from the rows is for the publisher to say
                "preprocessing_and_hyperparameter_tuning": Blank(""),
                "mechanisms": _mechanisms(told),
                "justification": Blank(""),
            },
            "administrative": {"sources": Blank(""), "notes": Blank(""), "registry_authors": [Blank("")]},
        },
    }


def _parameters(told: Mapping[str, Any]) -> dict[str, float]:
    """Epsilon, with delta where there is one, and rho where the promise is made in it."""
    found = {"epsilon": float(told["epsilon"])}
    if told["delta"]:
        found["delta"] = float(told["delta"])
    if "rho" in told["parameters"]:
        found["rho"] = float(told["parameters"]["rho"])
    return found


def _mechanisms(told: Mapping[str, Any]) -> str:
    counted: dict[str, int] = {}
    for event in told["events"]:
        counted[event["kind"]] = counted.get(event["kind"], 0) + 1
    used = [f"{kind} ({many} time{'' if many == 1 else 's'})" for kind, many in counted.items()]
    software = ", ".join(f"{name} {version}" for name, version in told["software"].items())
    return _listed(
        [
            f"Mechanisms: {', '.join(used) or 'none'}.",
            f"Noise: {told['noise']}.",
            *told["limits"],
            f"Software: {software}.",
        ]
    )


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _lines(value: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Mappings as YAML, two blanks a level.

    >>> _lines({"a": {"b": 1.0, "c": [Blank("")]}})
    ['a:', '  b: 1.0', '  c:', '    - ""  # fill in']
    """
    found, blank = [], "  " * depth
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            found += [f"{blank}{key}:", *_lines(inner, depth + 1)]
        elif isinstance(inner, list):
            found += [f"{blank}{key}:", *(f"{blank}  - {_text(one)}" for one in inner)]
        else:
            found.append(f"{blank}{key}: {_text(inner)}")
    return found


def _text(value: Any) -> str:
    text = UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    return text + (f"  # {FILL_IN}" if isinstance(value, Blank) else "")
