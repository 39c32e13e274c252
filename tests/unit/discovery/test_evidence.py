"""P-values and Bayes factors of pairs: what was released, of the question that came nearest to separating a pair."""

from __future__ import annotations

import csv
import json
import math
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.discovery.evidence import Evidence, repeats_for
from dpcausal.discovery.result import DiscoveryResult, PairState
from dpcausal.discovery.result import replaced as replace
from dpcausal.present.files import EVIDENCE_COLUMNS, pairs_csv
from dpcausal.present.page import TableOfPairs, render
from dpcausal.present.tables import pair_rows

pytestmark = pytest.mark.usefixtures("few_repeats")


@pytest.fixture(scope="module")
def data() -> dc.Dataset:
    return dc.networks.load("cancer").sample(20_000, seed=1)


def asked_again(data: dc.Dataset, result: DiscoveryResult, method: Any) -> None:
    for pair, one in result.evidence.items():
        a, b = sorted(pair)
        exact = dc.ci_test(data, a, b, one.given, epsilon=None, method=method)
        assert one.pvalue == pytest.approx(exact.pvalue, rel=1e-9)
        assert (one.pvalue > result.level) == (result.state(a, b) is PairState.ABSENT)


@pytest.mark.parametrize(
    ("test", "method"), [(None, "g"), ("g", "g"), ("kendall", "kendall"), ("auto", "auto")]
)
def test_without_privacy_they_are_those_of_the_test(data: dc.Dataset, test: str | None, method: str) -> None:
    result = dc.discover(data, epsilon=None, method="pc", **({} if test is None else {"test": test}))
    assert result.evidence.keys() == result.states.keys()
    asked_again(data, result, method)
    for pair, given in result.separating.items():
        assert result.evidence[pair].given == given


def test_private_tests_release_their_pvalues(data: dc.Dataset) -> None:
    result = dc.discover(data, epsilon=50.0, method="tests")
    assert result.evidence.keys() == result.states.keys()
    for pair, one in result.evidence.items():
        assert one.pvalue is not None
        assert (one.pvalue > result.level) == (pair in result.separating)


@pytest.mark.parametrize("method", ["svt-pc", "em-pc", "priv-pc"])
def test_methods_that_release_decisions_have_none(data: dc.Dataset, method: Any) -> None:
    result = dc.discover(data, epsilon=2.0, delta=1e-6, method=method)
    assert result.evidence == {}
    assert not set(EVIDENCE_COLUMNS) & set(next(csv.reader(StringIO(pairs_csv(result)))))
    assert not {"p", "bayes"} & {*TableOfPairs(pair_rows(result)).columns}


def test_measured_has_bayes_factors_from_the_release(tmp_path: Path) -> None:
    data = dc.networks.load("sachs").sample(
        5_000, seed=1
    )  # pairs of columns are measured, and nothing larger
    result = dc.discover(data, epsilon=2.0, delta=1e-6)
    assert result.evidence.keys() == result.states.keys()
    for pair, one in result.evidence.items():
        assert one.log10_bayes is not None
        if pair in result.graph.skeleton:
            assert one.log10_bayes > 0
    assert result.release is not None
    again = dc.load_release(result.release.save(tmp_path / "release.json")).discover()
    assert again.evidence == result.evidence  # no row was needed for it
    plain = json.loads(result.to_json())["evidence"]
    assert [sorted(one) for one in plain] == [["given", "log10_bayes", "pair", "pvalue"]] * len(plain)


def test_larger_tables_decide_by_pvalues() -> None:
    data = dc.networks.load("sachs").sample(50_000, seed=1)
    result = dc.discover(data, epsilon=20.0, delta=1e-6, confidence=0)
    for pair in result.graph.skeleton:
        one = result.evidence[pair]
        assert one.pvalue is not None
        assert one.pvalue <= result.level
    for pair in result.absent:
        one = result.evidence[pair]
        assert one.given == result.separating[pair]
        assert one.pvalue is None or one.pvalue > result.level
        assert (one.log10_bayes or 0.0) < 2.0


def test_moments_have_pvalues_from_noisy_moments() -> None:
    rng = np.random.default_rng(1)
    x, z = rng.random(5000), rng.random(5000)
    rows = {"x": x, "y": (x + 0.2 * rng.random(5000)) / 1.2, "z": z}
    data = dc.read(rows, dc.Schema(**{name: dc.Numeric(0, 1) for name in "xyz"}))
    result = dc.discover(data, epsilon=2.0, method="moments")
    edge = result.evidence[frozenset("xy")]
    assert edge.pvalue is not None
    assert edge.pvalue <= result.level
    assert edge.log10_bayes is None


def test_a_target_has_the_evidence_of_its_pairs(data: dc.Dataset) -> None:
    result = dc.discover(data, epsilon=3.0, target="Cancer")
    assert all("Cancer" in pair for pair in result.evidence)
    assert result.graph.skeleton <= result.evidence.keys() | {
        pair for pair in result.graph.skeleton if "Cancer" not in pair
    }


def test_files_and_the_report_have_them(data: dc.Dataset) -> None:
    result = dc.discover(data, epsilon=None, method="pc")
    rows = {(row["a"], row["b"]): row for row in csv.DictReader(StringIO(pairs_csv(result)))}
    for (a, b), row in rows.items():
        one = result.evidence[frozenset((a, b))]
        assert one.pvalue is not None
        assert math.isclose(float(row["p_value"]), one.pvalue, rel_tol=5e-3)
        assert row["asked_given"] == ("; ".join(one.given) or "nothing")
        loose = frozenset((a, b)) in result.nothing_held | result.none_to_hold
        assert row["held_fixed"] == ("nothing" if loose else row["asked_given"])
        assert "log10_bayes" not in row  # no pair has one
    page = render(result)
    assert "p" in TableOfPairs(pair_rows(result)).columns
    assert "not corrected for the number of questions" in page
    assert page.count("<td>found</td>") == len(result.graph.skeleton)
    assert "Bayes" not in page  # p-values decided
    weak = replace(result, confidence=dict.fromkeys(result.graph.skeleton, 0.2))
    assert render(weak).count("<td>hint</td>") == len(result.graph.skeleton)
    assert pairs_csv(weak).count(",hint,") == len(result.graph.skeleton)
    assert "bayes" in TableOfPairs(pair_rows(dc.discover(data, epsilon=3.0))).columns


def test_a_number_that_no_pair_has_gets_no_column(data: dc.Dataset) -> None:
    result = dc.discover(data, epsilon=None, method="pc")
    pairs = {pair: Evidence(one.given, None, 1.5) for pair, one in result.evidence.items()}
    text = pairs_csv(replace(result, evidence=pairs))
    assert next(csv.reader(StringIO(text)))[-3:] == ["log10_bayes", "asked_given", "note"]
    assert "p_value" not in text


def test_a_number_of_repeats_can_be_written_whatever_it_is_reckoned_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sizes of arrays are NumPy's; a result that was paid for must not end in a file that can't be written."""
    monkeypatch.setattr("dpcausal.discovery.evidence.REPEATS", 100)
    assert json.dumps(repeats_for(None, 60_000, np.int64(1_500))) == "40"  # type: ignore[arg-type]
