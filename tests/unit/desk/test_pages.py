"""The pages of the desk in a real Chromium: no violation that axe-core finds, in any role, at the width of a phone.

Skipped where there is no Chromium, or no axe-core (``npm install axe-core``, and DPCAUSAL_TEST_AXE names its
``axe.min.js``); ``.ci/run`` has both.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from dpcausal.desk import server, store
from dpcausal.desk.server import create_app
from dpcausal.desk.worker import work

from .conftest import ask, person

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
TIME = ["--virtual-time-budget=120000", "--timeout=120000"]
AXE = os.environ.get("DPCAUSAL_TEST_AXE")
STYLE = (Path(server.__file__).parent / "static" / "desk.css").read_text(encoding="utf-8")
WIDTHS = 1200, 360  # of a screen and of a phone; axe-core looks at the latter

pytestmark = [
    pytest.mark.long_file,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(
        not AXE, reason="no axe-core: DPCAUSAL_TEST_AXE is not set (.ci/run brings it with npm)"
    ),
]

PROBE = """
const seen = {}, wait = frame => new Promise(done => { frame.onload = done; });
(async () => {
  for (const [name, text] of Object.entries(pages)) {
    const frame = document.createElement("iframe");
    frame.height = 900; frame.srcdoc = text;
    const ready = wait(frame), overflow = [];
    document.body.append(frame);
    await ready;
    for (const width of widths) {
      frame.width = width;
      overflow.push(frame.contentDocument.documentElement.scrollWidth - frame.contentWindow.innerWidth);
    }
    const found = await frame.contentWindow.axe.run(frame.contentDocument, { resultTypes: ["violations"] });
    const told = one => `${one.id}: ${one.nodes.map(node => node.html).join(" ").slice(0, 300)}`;
    seen[name] = { violations: found.violations.map(told), passes: found.passes.length, overflow };
    frame.remove();
  }
  const out = document.createElement("pre");
  out.id = "probe";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
})();
"""


def every_page(desk) -> dict[str, str]:
    """Return the text of each page of each role, with requests in every state."""
    waiting, refused, done = ask(desk, epsilon=0.2), ask(desk, epsilon=0.2), ask(desk, epsilon=0.05)
    desk.decide(person("carol"), refused.id, "refuse", "not in the protocol")
    work(desk, until_empty=True)
    desk.run(lambda connection: desk._change(connection, done.id, visible=0.0))
    working = ask(desk, epsilon=0.05)
    requests = {"waiting": waiting, "refused": refused, "done": done, "working": working}
    shared = {"home": "/", "data": "/data/cohort", "token": "/token"}
    shared |= {name: f"/requests/{one.id}" for name, one in requests.items()}
    pages = {}
    with TestClient(create_app(desk)) as browser:
        pages["sign in"] = browser.get("/sign-in").text
        for name, role in (("anna", "analyst"), ("carol", "custodian"), ("dora", "auditor")):
            browser.cookies.set("desk", desk.issue(name, "session"))
            for what, path in (
                shared if role == "analyst" else shared | {"ledger": "/ledger", "people": "/people"}
            ).items():
                answer = browser.get(path)
                assert answer.status_code == 200
                pages[f"{role}: {what}"] = answer.text
            if role == "analyst":
                secret = desk.who(browser.cookies["desk"], "session").form
                asked = {"form": secret, "command": "ci_test", "x": "Smoker", "y": "Cancer", "purpose": "p"}
                forecast = {**asked, "epsilon": "0.1"}
                pages["analyst: forecast"] = browser.post("/data/cohort/ask", data=forecast).text
                pages["analyst: mistake"] = browser.post(
                    "/data/cohort/ask", data={**asked, "epsilon": "x"}
                ).text
        pages["not found"] = browser.get("/data/nothing").text
    return pages


def test_axe_finds_no_violation(make_desk, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PAGE", 1)  # so that lists have links to more
    pages = every_page(make_desk(approvals=1, approve_up_to=0.1, epsilon=2.0))
    axe = Path(AXE).read_text(encoding="utf-8")
    inside = f"<style>{STYLE}</style><script>{axe}</script>"
    for name, text in pages.items():
        bare = re.sub(r"<(script|link rel=\"stylesheet\")[^>]*>(</script>)?", "", text)
        pages[name] = bare.replace("</head>", f"{inside}</head>")
    given = json.dumps(pages).replace("</", "<\\/")
    harness = tmp_path / "harness.html"
    harness.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Harness</title><body><script>'
        f"const pages = {given}, widths = {list(WIDTHS)};{PROBE}</script></body></html>",
        encoding="utf-8",
    )
    asked = [CHROMIUM, *FLAGS, *TIME, "--dump-dom", harness.as_uri()]
    dumped = subprocess.run(asked, capture_output=True, text=True, timeout=300, check=True).stdout
    seen = json.loads(unescape(re.search(r'<pre id="probe">(.*?)</pre>', dumped, re.DOTALL)[1]))
    assert set(seen) == set(pages)
    assert min(one["passes"] for one in seen.values()) > 5
    assert {name: one["violations"] for name, one in seen.items() if one["violations"]} == {}
    assert {name: one["overflow"] for name, one in seen.items() if max(one["overflow"]) > 0} == {}
