"""The demonstration as a person starts it: one command, then Python, the command line and a browser's requests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

import dpcausal as dc
from dpcausal.cli.app import run

pytestmark = pytest.mark.long_file

PYTHON = [sys.executable, "-c", "import sys; from dpcausal.cli.start import main; sys.exit(main())"]


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "desk_ask.md"
THERE = {  # what the guide asks, at the demonstration
    "desk.example.org": "127.0.0.1",
    "cohort": "clinic",
    "smoke": "smoking",
    "bronc": "heart_disease",
    "Sys.sleep(5)": "Sys.sleep(0.5)",
}
CHECKS = """
stopifnot(now$state == "done", answer$x == "smoking", is.logical(answer$independent), answer$privacy$epsilon == 0.1)
cat("all of it ran")
"""


def has_httr2() -> bool:
    """Whether R can load httr2 and jsonlite."""
    asked = ["Rscript", "-e", "library(httr2); library(jsonlite)"]
    return shutil.which("Rscript") is not None and not subprocess.run(asked, capture_output=True).returncode


@pytest.fixture(scope="module")
def demo():
    """The line that ``serve --demo --json`` prints when it is ready."""
    process = subprocess.Popen([*PYTHON, "serve", "--demo", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
def command(demo, monkeypatch, capsys):
    """Run a command with an analyst's token; return exit code, output and errors."""
    monkeypatch.setenv("DPCAUSAL_TOKEN", demo["analysts"][0])

    def call(*words):
        code = run([*words, "--desk", demo["url"], "--dataset", demo["dataset"]])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_python_gets_the_same_objects(demo):
    desk = dc.remote(demo["url"], token=demo["analysts"][0])
    cohort = desk[demo["dataset"]]
    before = cohort.left
    test = cohort.ci_test("smoking", "heart_disease", ["age"], epsilon=0.2, purpose="does it?", timeout=200)
    assert isinstance(test, dc.CITestResult)
    assert test.privacy.private
    assert test.privacy.epsilon == 0.2
    effect = cohort.effect(
        "smoking", "heart_disease", epsilon=0.2, purpose="how much?", timeout=200, anyway=True
    )
    assert isinstance(effect, dc.EffectResult)
    assert before[0] - cohort.left[0] == pytest.approx(0.4)
    assert isinstance(cohort.plan(0.5, 1e-6), dc.Plan)
    assert cohort.dummy(50).schema == cohort.schema
    other = dc.remote(demo["url"], token=demo["analysts"][1])
    assert other.requests() == []
    assert other[demo["dataset"]].left == before
    mine = desk.requests()[0]
    with pytest.raises(dc.InputError):
        other.request(mine.id).view()
    assert mine.result().to_json() == effect.to_json()
    with pytest.raises(dc.BudgetError):
        cohort.discover(epsilon=3.0, purpose="more than one question may cost")
    with pytest.raises(dc.InputError):
        dc.remote(demo["url"], token="x" * 43)


def test_approval_by_a_person(demo):
    cohort = dc.remote(demo["url"], token=demo["analysts"][1])[demo["dataset"]]
    asked = cohort.ask("ci_test", {"x": "smoking", "y": "diabetes", "epsilon": 1.5}, "a large one")
    assert asked.state == "waiting"
    bearer = {"Authorization": f"Bearer {demo['custodian']}"}
    with httpx.Client(base_url=demo["url"], headers=bearer, trust_env=False) as custodian:
        decision = {"verdict": "approve", "reason": "fits"}
        assert custodian.post(f"/api/requests/{asked.id}/decision", json=decision).status_code == 200
        assert asked.wait(200).privacy.epsilon == 1.5
        entries = custodian.get("/api/ledger").json()
    assert entries["ok"]
    assert entries["entries"][-1]["note"]["purpose"] == "a large one"


def test_commands(command, tmp_path):
    out = tmp_path / "graph"
    asked = [
        "discover",
        "--epsilon",
        "0.5",
        "--delta",
        "1e-6",
        "--purpose",
        "a graph",
        "--out",
        str(out),
        "--json",
    ]
    code, text, errors = command(*asked)
    assert code == 0
    assert "Ctrl-C ends the wait, not the question: http://" in errors
    assert json.loads(text)["privacy"]["epsilon"] <= 0.5
    assert {"graph.json", "privacy.json", "report.html", "release.json"} <= {
        path.name for path in out.iterdir()
    }
    assert dc.load_release(out).discover().graph is not None
    code, text, errors = command(
        "test", "--x", "sex", "--y", "bmi", "--epsilon", "0.1", "--purpose", "p", "--json"
    )
    assert (code, json.loads(text)["x"]) == (0, "sex")
    code, text, _ = command(
        "effect", "--treatment", "smoking", "--outcome", "diabetes", "--epsilon", "0.2", "--purpose", "p",
        "--json",
    )  # fmt: skip
    assert (code, json.loads(text)["treatment"]) == (0, "smoking")
    code, text, _ = command("plan", "--epsilon", "0.5", "--delta", "1e-6", "--json")
    assert (code, json.loads(text)["rows"]) == (0, 20000)
    for words, expected in (
        (["test", "--x", "sex", "--y", "bmi", "--epsilon", "0.1"], 2),  # no purpose
        (["test", "--x", "sex", "--y", "bmi", "--epsilon", "1.9", "--delta", "1e-4", "--purpose", "p"], 3),
        (["test", "--x", "nobody", "--y", "bmi", "--epsilon", "0.1", "--purpose", "p"], 2),
        (["test", "--x", "sex", "--y", "bmi", "--no-privacy", "--purpose", "p"], 2),
    ):
        code, text, errors = command(*words)
        assert (code, text, errors.count("\n")) == (expected, "", 1)


def test_a_browser_without_script(demo):
    """Sign in, forecast, ask, wait, read: forms and links alone."""
    with httpx.Client(base_url=demo["url"], follow_redirects=True, trust_env=False) as browser:
        home = browser.post("/sign-in", data={"token": demo["analysts"][1]})
        assert home.status_code == 200
        assert browser.cookies.jar._cookies["127.0.0.1"]["/"]["desk"].has_nonstandard_attr("HttpOnly")
        page = browser.get(f"/data/{demo['dataset']}").text
        secret = re.search(r'name="form" value="([^"]+)"', page)[1]
        fields = {
            "form": secret,
            "command": "ci_test",
            "x": "sex",
            "y": "bmi",
            "epsilon": "0.1",
            "purpose": "<b>why",
        }
        forecast = browser.post(f"/data/{demo['dataset']}/ask", data={**fields, "action": "forecast"})
        assert "Forecast for sex and bmi" in forecast.text
        asked = browser.post(f"/data/{demo['dataset']}/ask", data={**fields, "action": "ask"})
        assert "<b>why" not in asked.text
        assert "&lt;b&gt;why" in asked.text
        for _ in range(200):
            text = browser.get(asked.url.path).text
            if "state done" in text:
                break
            time.sleep(0.5)
        assert "Privacy: epsilon 0.1" in text


@pytest.mark.skipif(
    not has_httr2() and not os.environ.get("DPCAUSAL_TEST_R"),
    reason="no R with httr2 and jsonlite on this machine (.ci/run installs them)",
)
def test_the_guide_for_r(demo, tmp_path):
    """The guide's lines for R, run as they are printed but for the names of this desk."""
    assert has_httr2(), "DPCAUSAL_TEST_R is set but there is no R with httr2 and jsonlite"
    printed = "\n".join(re.findall(r"^```r\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S))
    for old, new in THERE.items():
        assert old in printed
        printed = printed.replace(old, new)
    script = tmp_path / "ask.R"
    script.write_text(printed.replace("https://127.0.0.1", demo["url"]) + CHECKS, encoding="utf-8")
    environment = {**os.environ, "DPCAUSAL_TOKEN": demo["analysts"][1], "no_proxy": "127.0.0.1"}
    ran = subprocess.run(
        ["Rscript", str(script)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert ran.stdout.endswith("all of it ran"), ran.stderr
