"""``CITATION.cff`` says what the software says of itself."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml

import dpcausal as dc

ROOT = Path(__file__).parents[2]


def test_the_citation_agrees_with_the_package() -> None:
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert found["cff-version"] == "1.2.0"
    assert found["version"] == dc.__version__
    assert found["license"] == project["license"]
    assert [one["name"] for one in found["authors"]] == [one["name"] for one in project["authors"]]
    assert found["keywords"] == project["keywords"]
    assert {"message", "title", "type"} <= set(found)
