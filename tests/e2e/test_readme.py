"""What the README shows is what a user gets."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from dpcausal.cli.app import run

README_PATH = Path(__file__).parents[2] / "README.md"
README = README_PATH.read_text()


def patients(folder: Path, rows: int = 20_000) -> None:
    """A synthetic patients.csv and the README's own schema.toml."""
    (schema,) = re.findall(r"```toml\n(.*?)```", README, flags=re.DOTALL)
    (folder / "schema.toml").write_text(schema)
    rng = np.random.default_rng(5)
    smoke = rng.random(rows) < 0.5
    bronc = rng.random(rows) < np.where(smoke, 0.6, 0.3)
    words = np.array(["no", "yes"])
    table = pa.table(
        {
            "smoke": words[smoke.astype(int)],
            "bronc": words[bronc.astype(int)],
            "age": rng.normal(55, 20, rows).round(1),
        }
    )
    pa.csv.write_csv(table, folder / "patients.csv")


def without_pvalue(text: str) -> str:
    return re.sub(r"\d+% more", "...% more", re.sub(r"p = [-+.e\d]+", "p = ...", text))


def test_the_shown_output_is_the_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    patients(tmp_path)
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"<!-- example:begin -->\n(.*?)<!-- example:end -->", README, flags=re.DOTALL)
    first, *shown = [line[4:] for line in example.splitlines()]
    assert first.startswith("$ dpcausal ")
    assert run(shlex.split(first)[2:]) == 0
    assert without_pvalue(capsys.readouterr().out).splitlines() == [without_pvalue(line) for line in shown]


def test_the_python_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    patients(tmp_path, rows=2000)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102
    said = capsys.readouterr().out
    assert "epsilon 0.5" in said
    assert "frozenset" not in said
    assert said.endswith(f"{names['result'].graph}\n")  # type: ignore[attr-defined]


def test_the_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    patients(tmp_path, rows=2000)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    dpcausal (.*)$", README, flags=re.MULTILINE)
    asked = [command.split()[0] for command in commands]
    assert asked == ["schema", "schema", "plan", "ledger", "discover", "test", "ledger"]
    for command in commands:
        words = shlex.split(command)
        assert run(words[: words.index(">")] if ">" in words else words) == 0, command
    said = capsys.readouterr().out
    assert "[columns.smoke]" in said
    assert "cohort" in said
    assert "<svg" in (tmp_path / "out" / "report.html").read_text()
    assert (tmp_path / "out" / "privacy.json").exists()


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 10
    assert [link for link in links if not (README_PATH.parent / link).exists()] == []
