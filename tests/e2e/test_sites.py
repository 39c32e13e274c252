"""Two hospitals follow the guide: separate folders, separate processes, and nothing but contributions travels.

Each hospital's commands run in processes of their own; whoever pools has this process, which never sees a row.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.cli.app import run

pytestmark = pytest.mark.long_file

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "sites.md"
BLOCK = re.compile(r"^```sh\n# in (\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
ROWS = {"north": 3000, "south": 2000}


def ran(folder: Path, commands: str) -> subprocess.CompletedProcess[str]:
    """Run lines of a shell in a process and a folder of its own."""
    command = f'dpcausal() {{ "{sys.executable}" -m dpcausal "$@"; }}\nset -e\n{commands}'
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ, capture_output=True, text=True, timeout=300
    )


Told = tuple[int, str]  # an exit code, and what stands on standard error
Pooler = Callable[[str], Told]


@pytest.fixture
def at_centre(hospitals: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pooler:
    """Runs a command of whoever pools, in this process."""

    def asked(line: str) -> Told:
        monkeypatch.chdir(hospitals / "centre")
        command, _, file = line.partition(" > ")
        code = run(shlex.split(command)[1:])
        printed = capsys.readouterr()
        if file:
            Path(file).write_text(printed.out)
        return code, printed.err

    return asked


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each hospital with its own rows, and one for whoever pools, with the schema alone."""
    root, network = tmp_path_factory.mktemp("sites"), dc.networks.load("asia")
    for seed, (site, rows) in enumerate(ROWS.items()):
        data = network.sample(rows, seed=seed)
        (root / site).mkdir()
        with (root / site / "data.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(data.schema)
            cells = [[column.levels[i] for i in data.codes[name]] for name, column in data.schema.items()]
            writer.writerows(zip(*cells, strict=True))
    (root / "centre").mkdir()
    (root / "centre" / "schema.toml").write_text(network.schema.to_toml())
    return root


def test_two_hospitals_follow_the_guide(hospitals: Path, at_centre: Pooler) -> None:
    centre, steps = hospitals / "centre", BLOCK.findall(GUIDE.read_text())
    assert [where for where, _ in steps] == ["centre", "north", "south", "centre", "north", "south", "centre"]
    for where, commands in steps:
        if where == "centre":
            for line in commands.splitlines():
                code, told = at_centre(line)
                assert code == 0, f"{line}\n{told}"
        else:
            found = ran(hospitals / where, commands)
            assert found.returncode == 0, f"{commands}\n{found.stderr}"
    assert {path.name for path in centre.rglob("*.csv")} == {"arcs.csv", "pairs.csv"}  # no rows
    assert not (centre / "graph" / "protocol-2.json").exists()
    report = (centre / "graph" / "report.html").read_text()
    assert all(site in report for site in ROWS)
    graph = dc.Graph.from_json((centre / "graph" / "graph.json").read_text())
    assert frozenset({"bronc", "dysp"}) in graph.skeleton
    privacy = json.loads((centre / "graph" / "privacy.json").read_text())
    assert privacy["private"]
    assert (privacy["epsilon"], privacy["delta"]) == (2.0, 1e-6)  # one charge for both rounds
    # the rest of which was spent
    again = "--protocol ../centre/first/protocol-2.json --site north --rest-of north --out more"
    ledger = "--ledger sqlite:///budget.db --dataset cohort"
    found = ran(hospitals / "north", f"dpcausal contribute data.csv {again} {ledger}")
    assert found.returncode == 3, found.stderr
    assert "was spent already" in found.stderr
    assert not (hospitals / "north" / "more").exists()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("dpcausal pool . . --out wrong", "no contribution"),
        ("dpcausal contribute data.csv --protocol schema.toml --out wrong", "no protocol"),
        ("dpcausal protocol --schema schema.toml --rows many --epsilon 1", "--rows"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    hospitals: Path, at_centre: Pooler, command: str, told: str
) -> None:
    code, said = at_centre(command)
    assert (code, len(said.splitlines())) == (2, 1), said
    assert told in said
    assert not (hospitals / "centre" / "wrong").exists()
