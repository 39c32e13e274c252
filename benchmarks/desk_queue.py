"""A desk under load: many requests queued at once, drained by worker processes while people look at its pages.

    python benchmarks/desk_queue.py                              SQLite
    .ci/run .venv/bin/python benchmarks/desk_queue.py            SQLite and PostgreSQL
    options: --requests 1000 --workers 2 --rows 20000 --engines sqlite,postgresql

``dpcausal serve`` and ``dpcausal work`` run as a custodian starts them. Twenty analysts ask over HTTP for tests of
made-up patients, approved by rule, before the first worker starts. Then, until the queue is empty, each role opens its
pages again and again, and the processor time that the server used for each is read from the system.

Checked at the end: all requests are done, each was charged once, and the chain holds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from dpcausal.desk.config import read_config
from dpcausal.desk.demo import write_demo
from dpcausal.desk.questions import ENDS
from dpcausal.desk.store import Desk

sys.path.insert(0, str(Path(__file__).parent))
from ledger_fire import fresh_database, print_table

ANALYSTS = 20
COMMAND = [sys.executable, "-c", "import sys; from dpcausal.cli.start import main; sys.exit(main())"]
SETTINGS = """
ledger = "env:DESK_QUEUE_LEDGER"
tick = 5
requests_per_minute = 100000
[datasets.clinic]
source = "patients.csv"
schema = "schema.toml"
rows = {rows}
epsilon = 10.0
approvals = 0
[[persons]]
name = "carol"
role = "custodian"
[[persons]]
name = "dora"
role = "auditor"
"""


def write_desk(folder: Path, rows: int) -> Path:
    """Write data, schema and settings; return the file of the settings."""
    write_demo(folder, 0, rows)
    people = "".join(f'[[persons]]\nname = "a{k}"\nrole = "analyst"\n' for k in range(ANALYSTS))
    file = folder / "desk.toml"
    file.write_text(SETTINGS.format(rows=rows) + people, encoding="utf-8")
    return file


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Run ``dpcausal`` with these words until the end of the block."""
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def used(pid: int) -> float:
    """Return the processor time of a process so far, in milliseconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look(server: int, browsers: dict[str, httpx.Client], one: str, times: dict[str, list[float]]) -> None:
    """Open each page of each role once."""
    for role, browser in browsers.items():
        paths = ["/", "/data/clinic", f"/requests/{one}"]
        for path in paths if role == "analyst" else [*paths, "/ledger", "/people"]:
            before = used(server)
            answer = browser.get(path)
            if answer.status_code != 200:
                raise SystemExit(f"{path} for the {role}: {answer.status_code}")
            times[f"{role} {path.replace(one, 'ID')}"].append(used(server) - before)


def drain(folder: Path, requests: int, workers: int, rows: int) -> dict[str, Any]:
    """Queue the requests, drain them, and return what was measured."""
    file = write_desk(folder, rows)
    times: dict[str, list[float]] = defaultdict(list)
    with running("serve", "--config", str(file), "--port", "0", "--json") as server:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        desk = Desk.open(read_config(file))
        names = [name for name, _ in desk.subjects["clinic"].columns()]
        questions = itertools.cycle(itertools.combinations(names, 2))
        begin, before = time.monotonic(), used(server.pid)
        asked = []
        for k in range(ANALYSTS):
            bearer = {"Authorization": f"Bearer {desk.issue(f'a{k}', 'token')}"}
            with httpx.Client(base_url=url, headers=bearer, trust_env=False, timeout=120) as client:
                for x, y in itertools.islice(questions, requests // ANALYSTS):
                    question = {"x": x, "y": y, "epsilon": 0.005, "anyway": True}
                    body = {"command": "ci_test", "arguments": question, "purpose": "a load test"}
                    asked.append(client.post("/api/datasets/clinic/requests", json=body).json()["id"])
        asking = time.monotonic() - begin, used(server.pid) - before
        people = {"analyst": "a0", "custodian": "carol", "auditor": "dora"}
        browsers = {
            role: httpx.Client(
                base_url=url, cookies={"desk": desk.issue(name, "session")}, trust_env=False, timeout=120
            )
            for role, name in people.items()
        }
        look(server.pid, browsers, asked[0], defaultdict(list))  # templates are read once
        begin, spent = time.monotonic(), os.times()
        working = [
            subprocess.Popen([*COMMAND, "work", "--config", str(file), "--until-empty"])
            for _ in range(workers)
        ]
        while any(one.poll() is None for one in working):
            look(server.pid, browsers, asked[0], times)
            time.sleep(1.0)
        drained, after = time.monotonic() - begin, os.times()
    states = Counter(desk.request(one).state for one in asked)
    cpu = after.children_user + after.children_system - spent.children_user - spent.children_system
    longest = {page: max(each) for page, each in times.items()}
    worst = max(longest, key=lambda page: longest[page])
    return {
        "requests": requests,
        "workers": workers,
        "rows": rows,
        "done": states["done"],
        "not ended": sum(count for state, count in states.items() if state not in ENDS),
        "charges": desk.ledger.show("clinic")[0].releases,
        "chain holds": desk.ledger.verify().ok,
        "seconds to ask": round(asking[0], 1),
        "CPU ms of the server per question": round(asking[1] / requests, 1),
        "seconds to drain": round(drained, 1),
        "CPU ms of the workers per request": round(1000 * cpu / requests, 1),
        "pages opened meanwhile": sum(map(len, times.values())),
        "CPU ms of a page, median": statistics.median(itertools.chain(*times.values())),
        "CPU ms of a page, longest": longest[worst],
        "longest for": worst,
        "load of the machine": round(os.getloadavg()[1], 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="A desk under load")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--engines", default="sqlite,postgresql")
    options = parser.parse_args()
    sizes = options.requests, options.workers, options.rows
    results: dict[str, dict[str, Any]] = {}
    if "sqlite" in options.engines:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["DESK_QUEUE_LEDGER"] = "sqlite:///desk.db"
            results["sqlite"] = drain(Path(folder), *sizes)
    server = os.environ.get("DPCAUSAL_TEST_POSTGRES")
    if server and "postgresql" in options.engines:
        with fresh_database(server) as url, tempfile.TemporaryDirectory() as folder:
            os.environ["DESK_QUEUE_LEDGER"] = url.replace("postgresql+psycopg://", "postgresql://")
            results["postgresql"] = drain(Path(folder), *sizes)
    print_table(results)
    good = all(
        one["done"] == one["charges"] == one["requests"]
        and one["chain holds"]
        and one["CPU ms of a page, longest"] < 200
        for one in results.values()
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
