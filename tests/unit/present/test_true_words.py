"""Words that must be true wherever a result is shown: noise was seeded, what add-remove leaves open, fixed labels."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dpcausal as dc
from dpcausal.adapters.oracle import PrivateOracle
from dpcausal.core.statement import NOT_EMPTY, LabelsKnown
from dpcausal.present.files import file_texts
from dpcausal.present.statement import fact_words

WHY = "made under dpcausal.testing.seeded: the noise was predictable"


@pytest.fixture(scope="module")
def data() -> dc.Dataset:
    return dc.networks.load("cancer").sample(2000, seed=1)


def learned(data: dc.Dataset, *, seeded: bool) -> dc.DiscoveryResult:
    if not seeded:
        return dc.discover(data, epsilon=4.0, method="tests", max_order=0)
    with dc.testing.seeded(3):
        return dc.discover(data, epsilon=4.0, method="tests", max_order=0)


def test_files_of_a_seeded_run_say_that_it_is_not_private(data: dc.Dataset) -> None:
    texts = file_texts(learned(data, seeded=True))
    told = json.loads(texts["graph.json"])
    assert told["private"] is False
    assert told["why_not_private"] == WHY
    assert texts["graph.dot"].splitlines()[0] == f"// NOT PRIVATE: {WHY}"
    assert f'label="NOT PRIVATE: {WHY}"' in texts["graph.dot"]
    keys = {key.get("id"): key.get("attr.name") for key in ElementTree.fromstring(texts["graph.graphml"])}
    body = ElementTree.fromstring(texts["graph.graphml"]).find("{*}graph")
    assert body is not None
    found = {keys[data_.get("key")]: data_.text for data_ in body.findall("{*}data")}
    assert found == {"private": "false", "why_not_private": WHY}


def test_files_of_a_private_run_say_that_it_is(data: dc.Dataset) -> None:
    result = learned(data, seeded=False)
    texts = file_texts(result)
    told = json.loads(texts["graph.json"])
    assert told["private"] is True
    assert "why_not_private" not in told
    assert "NOT PRIVATE" not in texts["graph.dot"]
    assert "why_not_private" not in texts["graph.graphml"]
    for text, read in (
        (texts["graph.graphml"], dc.Graph.from_graphml),
        (texts["graph.json"], dc.Graph.from_json),
    ):
        assert read(text) == result.graph


def test_stamped_files_are_still_read(data: dc.Dataset) -> None:
    result = learned(data, seeded=True)
    texts = file_texts(result)
    assert dc.Graph.from_graphml(texts["graph.graphml"]) == result.graph
    assert dc.Graph.from_json(texts["graph.json"]) == result.graph


def test_both_reprs_say_it(data: dc.Dataset) -> None:
    assert "private=False" in repr(learned(data, seeded=True))
    assert "private" not in repr(learned(data, seeded=False))
    with dc.testing.seeded(3):
        seeded = dc.ci_test(data, "Smoker", "Cancer", epsilon=1.0)
    assert "private=False" in repr(seeded)
    assert "private" not in repr(dc.ci_test(data, "Smoker", "Cancer", epsilon=1.0))
    assert "private=False" in repr(dc.ci_test(data, "Smoker", "Cancer", epsilon=None))
    assert "private=False" in repr(dc.discover(data, epsilon=None, method="pc"))


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_under_add_remove_it_is_public_that_there_are_rows(data: dc.Dataset, neighbours: str) -> None:
    """``dc.read`` refuses an empty source, so whether there is a row at all is not protected."""
    oracle = PrivateOracle(data, epsilon=1.0, each=0.5, neighbours=neighbours)
    oracle.ask("Smoker", "Cancer")
    statements = [
        dc.ci_test(data, "Smoker", "Cancer", epsilon=1.0, neighbours=neighbours).privacy,
        dc.discover(data, epsilon=1.0, method="tests", max_order=0, neighbours=neighbours).privacy,
        oracle.privacy,
    ]
    for statement in statements:
        assert (NOT_EMPTY in statement.public) == (neighbours == "add-remove")
        assert (fact_words(NOT_EMPTY) in statement.summary()) == (neighbours == "add-remove")


NUMBERS = dc.Schema({name: dc.Numeric(0, 1, bins=[0.5]) for name in "xyz"})
ROWS = {name: [0.1, 0.5, 0.9, 0.3] * 10 for name in "xyz"}
SEARCHES = {
    "svt-pc": True,
    "priv-pc": True,
    "curate": True,
    "tests": True,
    "moments": True,
    "measured": False,
}
TESTED: dict[tuple[str, str], bool] = {
    ("kendall", ""): True,
    ("kendall", "table"): False,
    ("gcm", "bins"): True,
    ("gcm", "parts"): False,
    ("measured", ""): False,
}


def most_rows(statement: dc.PrivacyStatement) -> list[str]:
    return [line for line in statement.to_dict()["public"] if "at most 2,147,483,647 rows" in line]


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize("method", SEARCHES)
def test_a_search_under_add_remove_names_its_limit_of_rows(method: str, neighbours: str) -> None:
    """More rows are refused, so that there are not more is not protected (``test_limits.py`` counts who refuses)."""
    found = dc.discover(
        dc.read(ROWS, NUMBERS), epsilon=1.0, method=method, max_order=0, neighbours=neighbours, anyway=True
    )
    assert bool(most_rows(found.privacy)) == (SEARCHES[method] and neighbours == "add-remove")


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("method", "word"), TESTED)
def test_a_test_under_add_remove_names_its_limit_of_rows(method: str, word: str, neighbours: str) -> None:
    options = {"gcm": {"variant": word}, "kendall": {"on": word}}.get(method, {}) if word else {}
    data = dc.read(ROWS, NUMBERS)
    found = dc.ci_test(
        data, "x", "y", ["z"], epsilon=1.0, method=method, neighbours=neighbours, anyway=True, **options
    )
    assert bool(most_rows(found.privacy)) == (TESTED[method, word] and neighbours == "add-remove")


def test_levels_alone_have_no_limit_of_rows(data: dc.Dataset) -> None:
    for method in ("kendall", "chi2"):
        answer = dc.ci_test(data, "Smoker", "Cancer", epsilon=1.0, method=method, neighbours="add-remove")
        assert not most_rows(answer.privacy)
    for search in ("tests", "svt-pc"):
        found = dc.discover(data, epsilon=1.0, method=search, max_order=0, neighbours="add-remove")
        assert not most_rows(found.privacy)


@pytest.mark.parametrize("declared", [False, True])
def test_line_breaks_inside_quotes_are_named_where_they_are_declared(declared: bool, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("a,b\n" + '"no",yes\nyes,no\n' * 50)
    schema = dc.Schema(a=dc.Categorical(["no", "yes"]), b=dc.Categorical(["no", "yes"]))
    data = dc.read(file, schema.with_quoted_newlines(declared))
    oracle = PrivateOracle(data, epsilon=1.0, each=0.5)
    oracle.ask("a", "b")
    statements = [
        dc.ci_test(data, "a", "b", epsilon=1.0).privacy,
        dc.discover(data, epsilon=1.0, method="tests", anyway=True).privacy,
        oracle.privacy,
    ]
    for statement in statements:
        told = [line for line in statement.to_dict()["public"] if "quoted_newlines = true" in line]
        assert bool(told) == declared
        assert dc.PrivacyStatement.from_json(statement.to_json()) == statement


@pytest.mark.parametrize("neighbours", ["replace-one", "fixed-labels"])
def test_unit_circle_says_that_labels_are_public(data: dc.Dataset, neighbours: str) -> None:
    answer = dc.ci_test(
        data, "Smoker", "Cancer", epsilon=1.0, method="unit-circle", neighbours=neighbours, labels="Cancer"
    )
    assert LabelsKnown("Cancer") in answer.privacy.public
    assert answer.privacy.to_dict()["neighbours"] == "fixed-labels"
