"""What the README and the guide to a first graph show is what a user gets."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest

from dpcausal.cli.app import run

ROOT = Path(__file__).parents[2]
README_PATH, GUIDE_PATH = ROOT / "README.md", ROOT / "docs" / "guides" / "first_graph.md"
README, GUIDE = README_PATH.read_text(), GUIDE_PATH.read_text()


def patients(folder: Path, rows: int = 20_000) -> None:
    """A synthetic patients.csv and the guide's own schema.toml."""
    (schema,) = re.findall(r"```toml\n(.*?)```", GUIDE, flags=re.DOTALL)
    (folder / "schema.toml").write_text(schema)
    runpy.run_path(str(ROOT / "demo" / "small.py"))["write_patients"](folder, rows)


def marked(name: str) -> str:
    (found,) = re.findall(rf"<!-- {name}:begin -->\n(.*?)<!-- {name}:end -->", README, flags=re.DOTALL)
    return found


def without_numbers(text: str) -> list[str]:
    """Words (the page breaks long lines), with numbers that noise moves blanked: percentages, estimates, intervals."""
    return re.sub(r"\d+%|-?\d+\.\d{2,}(e-\d+)?|\d(\.\d)?e-\d{2,}(?=, level)", "...", text).split()


def test_the_python_example_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    patients(tmp_path)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", marked("python"), flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    shown = "\n".join(line[4:] for line in marked("output").splitlines())
    assert without_numbers(capsys.readouterr().out) == without_numbers(shown)
    assert max(map(len, shown.splitlines())) <= 112
    assert "<svg" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        (README, ["schema", "plan", "ledger", "discover", "ledger"]),  # each within what the one before left
        (
            GUIDE,
            ["schema", "schema", "plan", "ledger", "discover", "again", "effect", "test", "effect", "ledger"],
        ),
    ],
)
def test_the_commands_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    page: str,
    asked: list[str],
) -> None:
    patients(tmp_path, rows=2000)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    dpcausal (.*)$", page.replace("\\\n", " "), flags=re.MULTILINE)
    assert [command.split()[0] for command in commands] == asked
    for command in commands:
        words = shlex.split(command, comments=True)
        assert run(words[: words.index(">")] if ">" in words else words) == 0, command
    said = capsys.readouterr().out
    assert "[columns.smoke]" in said
    assert "cohort" in said
    assert "<svg" in (tmp_path / "out" / "report.html").read_text()
    assert (tmp_path / "out" / "privacy.json").exists()


def test_ci_calls_what_the_page_calls() -> None:
    """From a clone, by the same names."""
    named = re.findall(r"^    make (\S+)", README, flags=re.MULTILINE)
    (called,) = re.findall(r"set -- make (.*)$", (ROOT / ".ci" / "run").read_text(), flags=re.MULTILINE)
    assert named == called.split()[: len(named)] == ["demo", "test"]


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 10
    assert [link for link in links if not (README_PATH.parent / link).exists()] == []


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 100
