"""Every cell of the cheat sheet runs: Python in one folder, commands in another, each in the order of the page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from dpcausal.cli.app import run
from dpcausal.networks import clinic

pytestmark = pytest.mark.long_file

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cheat_sheet.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and line.count("|") == 4 and not line.startswith(("|---", "| to |"))
]


def code(cell: str) -> str:
    """What a cell has between backticks, where that is all."""
    return cell[1:-1] if re.fullmatch("`[^`]+`", cell) else ""


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The files of ``make demo``, with fewer rows."""
    table = clinic.patients(5000, seed=1)
    pa.csv.write_csv(pa.table(table), tmp_path / "patients.csv")
    pa.parquet.write_table(pa.table(table), tmp_path / "patients.parquet")
    (tmp_path / "schema.toml").write_text((ROOT / "demo" / "schema.toml").read_text())
    monkeypatch.chdir(tmp_path)
    return table


@pytest.mark.filterwarnings("ignore::UserWarning")  # the same question again, and a draft
def test_the_python_of_every_row_runs(rows: dict[str, Any]) -> None:
    (begin,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict[str, Any] = {"dict_of_arrays": rows}
    cells = [code(python) for _, python, _ in ROWS]
    assert all(cells)
    for text in (begin, *cells):
        exec(compile(text, "cheat_sheet.md", "exec"), names)  # noqa: S102
    result = names["result"]
    pair, arrow = sorted(result.graph.skeleton, key=sorted)[0], sorted(result.direction)[0]
    assert 0 <= result.confidence[pair] <= 1
    assert 0 <= result.direction[arrow] <= 1


def test_the_command_of_every_row_runs(rows: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    (begin,) = re.findall(r"```bash\n(.*?)```", PAGE, flags=re.DOTALL)
    said = dict(re.findall(r'^(\w)="(.*)"$', begin, flags=re.MULTILINE))
    commands = [code(command) for _, _, command in ROWS]
    ran = 0
    for command in filter(None, commands):
        for name, words in said.items():
            command = command.replace(f"${name}", words)
        words = shlex.split(command)
        match words[0]:
            case "dpcausal":
                ran += 1
                target = words[words.index(">") + 1] if ">" in words else None
                assert run(words[1 : words.index(">") if target else None]) == 0, command
                if target:
                    Path(target).write_text(capsys.readouterr().out)
            case "ls" | "cat":
                assert [name for name in words[1:] if not Path(name).is_file()] == [], command
            case other:
                assert other == "--schema"
    assert ran > 18


def test_it_is_one_page() -> None:
    assert len(PAGE.splitlines()) < 80
    assert len(ROWS) > 25
