"""The room of words and pictures as rooms below see it: by the type of what is shown."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot

import dpcausal as dc
from dpcausal.core.display import display
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result import replaced as replace
from dpcausal.gwas.screen import screen
from dpcausal.gwas.simulate import Simulation
from dpcausal.present import citest, graph_words, gwas, planning, statement


def test_summaries_are_those_of_each_type(result: DiscoveryResult) -> None:
    answer = dc.ci_test(dc.networks.load("cancer").sample(500, seed=1), "Smoker", "Cancer", epsilon=1.0)
    yes_no = dc.Categorical(["no", "yes"])
    plan = dc.plan(dc.Schema(a=yes_no, b=yes_no), rows=1000, epsilon=1.0)
    found = screen(Simulation(people=200, snps=5, causal=1, seed=2).counts(), 1.0)
    assert result.summary() == str(result) == graph_words.discovery_text(result)
    assert result.summary(full=True) == graph_words.full_text(result)
    assert result.privacy.summary() == statement.summary(result.privacy)
    assert answer.summary() == str(answer) == citest.answer_text(answer)
    assert answer.summary(full=True) == citest.answer_text(answer, full=True)
    assert plan.summary(100) == planning.plan_text(plan, 100)
    assert found.summary() == gwas.summary(found)
    assert result.to_dict()["missing_edges"] == graph_words.absent_means(result)
    for shown in (result, result.privacy, answer, plan):
        assert shown._repr_html_() == display().html(shown)


def test_what_was_shown_once_is_shown_again_without_computing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Effects and what a plan finds are values of the result, which words only read."""
    result = dc.discover(dc.networks.load("cancer").sample(20_000, seed=1), epsilon=2.0, delta=1e-6)
    first = Path(result.report(tmp_path / "first.html")).read_text(), result.summary(full=True)
    assert result.detectable.keys() >= result.not_shown
    assert all(result.edge_effect(a, b) is not None for a, b, _ in result.shown.edges())

    def computed(*_: object, **__: object) -> None:
        raise AssertionError("words were computed")

    monkeypatch.setattr("dpcausal.discovery.result.effect_after", computed)
    again = Path(result.report(tmp_path / "again.html")).read_text(), result.summary(full=True)
    assert again == first


def test_words_of_results_import_nothing_that_computes() -> None:
    """Words of plans still reckon a little; what is said of results and files is read off them alone."""
    home, still = Path(graph_words.__file__).parent, {"planning.py", "plots.py"}
    computing = re.compile(
        r"dpcausal\.(effects\.(effect|answer)|planning\.(forecast|measurement)) import (.*)"
    )
    found = {
        (file.name, name)
        for file in home.glob("*.py")
        if file.name not in still
        for *_, names in computing.findall(file.read_text())
        for name in names.split(", ")
    }
    assert not found


def test_an_edge_without_an_answer_carries_why(result: DiscoveryResult) -> None:
    a, b, _ = next(result.shown.edges())
    assert isinstance(result.edge_effect(a, b), dc.EffectResult)
    torn = replace(result, conflicts=result.conflicts | {frozenset((a, b))})
    assert any(isinstance(torn.edge_effect(*ends), dc.InputError) for ends in ((a, b), (b, a)))
    assert replace(result, tables=None).edge_effect(a, b) is None


def test_reports_are_pages_and_pictures(result: DiscoveryResult, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert result.report(page) == str(page)
    assert page.read_text().startswith("<!doctype html>")


def test_what_has_no_words_or_picture_is_refused() -> None:
    for ask in (display().summary, display().html, lambda value: display().plot(value, None)):
        with pytest.raises(TypeError, match="of int"):
            ask(1)
    with pytest.raises(TypeError, match="of int"):
        display().report(1, "x")
    pyplot.close("all")
