"""A name that a result does not have is answered by the name that it has."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import fields
from typing import Any, cast

import pytest

import dpcausal as dc
from dpcausal.citests.result import CITestResult
from dpcausal.core.errors import OtherNames
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.effects.result import EffectResult
from dpcausal.gwas.cohort import Variant
from dpcausal.gwas.result import Hit

RESULTS: list[type[OtherNames]] = [CITestResult, DiscoveryResult, EffectResult, Hit]


@pytest.fixture(scope="module")
def data() -> dc.Dataset:
    return dc.networks.load("cancer").sample(20_000, seed=1)


@pytest.mark.parametrize("kind", RESULTS)
def test_what_is_proposed_exists_and_hides_nothing(kind: type[OtherNames]) -> None:
    has = set(dir(kind)) | {field.name for field in fields(cast("Any", kind))}
    for name, instead in kind._other_names.items():
        assert name not in has
        proposed = re.findall(r"\b(?:result|hit)\.(\w+)", instead)
        assert proposed, f"{name}: {instead} names nothing"
        assert set(proposed) <= has


@pytest.mark.parametrize("name", ["p", "p_value", "pval"])
def test_a_test_says_how_its_p_value_is_called(data: dc.Dataset, name: str) -> None:
    found: Any = dc.ci_test(data, "Cancer", "Xray", epsilon=1.0)
    with pytest.raises(AttributeError) as error:
        getattr(found, name)
    assert str(error.value) == f"'CITestResult' object has no attribute '{name}': write result.pvalue"
    assert not hasattr(found, name)
    assert getattr(found, "anything", None) is None


def test_other_results_have_hints_too(data: dc.Dataset) -> None:
    graph: Any = dc.discover(data, epsilon=1.0)
    with pytest.raises(AttributeError, match=r"'sepsets'.* result\.separating$"):
        _ = graph.sepsets
    factors = "this method has Bayes factors, no p-values: write result.evidence, by pairs$"
    with pytest.raises(AttributeError, match=f"no attribute 'p_values': {factors}"):
        _ = graph.p_values
    plain: Any = dc.discover(data, epsilon=None, method="pc")
    with pytest.raises(AttributeError, match=r"'p_values'.* result\.evidence"):
        _ = plain.p_values
    decisions: Any = dc.discover(data, epsilon=1.0, method="svt-pc", max_order=0)
    assert not decisions.evidence
    with pytest.raises(AttributeError, match="released decisions"):
        _ = decisions.pvalues
    assert pickle.loads(pickle.dumps(graph)).graph == graph.graph  # noqa: S301
    effect: Any = dc.effect(data, "Cancer", "Xray", adjust=[], epsilon=1.0)
    with pytest.raises(AttributeError, match=r"'ci'.* result\.interval$"):
        _ = effect.ci
    hit: Any = Hit(Variant("1", "rs1", 5, "A", "C"), None, 0.01, rejected=True)
    with pytest.raises(AttributeError, match=r"'p'.* hit\.pvalue$"):
        _ = hit.p


def test_a_name_that_nobody_thought_of_is_left_to_python(data: dc.Dataset) -> None:
    found: Any = dc.ci_test(data, "Cancer", "Xray", epsilon=1.0)
    with pytest.raises(AttributeError) as error:
        _ = found.pvalu
    assert str(error.value) == "'CITestResult' object has no attribute 'pvalu'"
    assert (error.value.name, error.value.obj) == ("pvalu", found)  # from which Python proposes pvalue


def test_results_are_copied_and_pickled_as_before(data: dc.Dataset) -> None:
    found = dc.ci_test(data, "Cancer", "Xray", epsilon=1.0)
    assert copy.deepcopy(found) == found
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301
