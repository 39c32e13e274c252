"""The room of words and pictures as rooms below see it: by the type of what is shown."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot

import dpcausal as dc
from dpcausal.core.display import display
from dpcausal.discovery.result import DiscoveryResult
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
    assert answer.summary(full=True) == citest.full_text(answer)
    assert plan.summary(100) == planning.plan_text(plan, 100)
    assert found.summary() == gwas.summary(found)
    assert result.to_dict()["missing_edges"] == graph_words.missing_words(result)
    for shown in (result, result.privacy, answer, plan):
        assert shown._repr_html_() == display().html(shown)


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
