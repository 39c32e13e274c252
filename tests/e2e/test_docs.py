"""What the documentation shows is what a reader gets: its commands and Python sessions are run.

- ``pycon`` blocks are doctests, one session a page.
- ``console`` blocks hold ``$ dpcausal ...`` lines with what they print. Noise makes digits differ, so shown and real
  lines are compared with every number, edge and verdict blotted out; a line ``...`` stands for any lines.
- They run beside ``patients.csv`` and ``schema.toml`` as ``make demo`` leaves them; a ``toml`` block that begins with
  ``# file: NAME`` is written to NAME first.
"""

from __future__ import annotations

import doctest
import io
import re
import shlex
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from dpcausal.cli.app import run
from dpcausal.networks import clinic

pytestmark = pytest.mark.long_file

DOCS = Path(__file__).parents[2] / "docs"
FENCED = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
BY_NOISE = re.compile(
    r"\s+\S+ (->|-) \S+(  .*)?|\s+\S+ \(no edge found\)|\s+no edge found: .*|(->|-): .*|"
    r"Test results contradict .*|"
    r"Only tested with .*|Absent( is no| pairs|:) .*|\d+ (of the )?questions? .*|"
    r"\s+edge( .*)?|\s+\((no edge found:|nothing could be decided) .*|Open: .*|Direction contradicted: .*|"
    r"Levels merged, .*|(Found again|Perhaps|Less than half).*"
)
TREND = re.compile(
    r"; \S+ (rises|falls) as \S+ rises|; (higher \S+|later levels of \S+|\S+ = \S+) (is|are) associated with "
    r"(\w+ levels of \S+|\w+ [^\s.=]+|\S+ = [^\s.]+)( \(in the order declared\))?"
)  # said where the verdict is "dependent"
DEEPER = re.compile(
    r"; \d+ larger tables \(given \d+ columns\), [^;]*? in every cell"
)  # how many orders, noise decides
HINTS = re.compile(r" and \d+ weak hints?(?= found)")  # of a headline: chance makes them
VERDICT = re.compile("no evidence against independence|dependent")
NUMBER = re.compile(r"[-+]?\b\d[\d.,]*(?:e[-+]?\d+)?\b|\b[0-9a-f]{8,64}\b")


def blocks(page: Path, kind: str) -> list[str]:
    """The fenced blocks of one kind."""
    return [text for name, text in FENCED.findall(page.read_text(encoding="utf-8")) if name == kind]


def pages_with(kind: str) -> list[str]:
    """Pages that hold such a block."""
    return [str(page.relative_to(DOCS)) for page in sorted(DOCS.rglob("*.md")) if blocks(page, kind)]


def blotted(line: str) -> str:
    """Numbers, hashes and verdicts blotted out, spaces and rules evened; empty for an edge that noise may change."""
    if BY_NOISE.fullmatch(line) or line.startswith("Power: "):  # said where a test does not reject
        return ""
    line = VERDICT.sub("?", HINTS.sub("", TREND.sub("", DEEPER.sub("", line))))
    line = re.sub(r"(\d+ (?:edge|pair))s?\b", r"\1", line)  # one or several
    return " ".join(re.sub("─+", "─", NUMBER.sub("#", line)).split())


def matches(shown: list[str], real: list[str]) -> bool:
    """Whether the real lines have the shape of the shown ones."""
    wanted = "".join(
        ".*?" if line == "..." else re.escape(line + "\n") for line in map(blotted, shown) if line
    )
    return (
        re.fullmatch(wanted, "".join(line + "\n" for line in map(blotted, real) if line), re.DOTALL)
        is not None
    )


def sessions(block: str) -> list[tuple[str, list[str]]]:
    """(command, shown lines) of a console block; a command may go on after a backslash."""
    found: list[tuple[str, list[str]]] = []
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


@cache
def patients(rows: int) -> bytes:
    """The file of patients, made once for all pages."""
    made = io.BytesIO()
    pa.csv.write_csv(pa.table(clinic.patients(rows, seed=1)), made)
    return made.getvalue()


def as_after_the_demo(folder: Path, rows: int = 50_000) -> None:
    """``patients.csv`` and ``schema.toml`` as ``make demo`` leaves them."""
    (folder / "patients.csv").write_bytes(patients(rows))
    (folder / "schema.toml").write_text((DOCS.parent / "demo" / "schema.toml").read_text())


def test_shapes_are_told_apart() -> None:
    assert matches(["p = 0.12, 3 rows", "..."], ["p = 1e-9, 20 rows", "x", "y"])
    assert not matches(["p = 0.12, 3 rows"], ["p = 0.12, 3 columns"])
    assert matches(
        ["1 edges", "  a -> b", "x: dependent"], ["0 edges", "x: no evidence against independence"]
    )
    assert matches(["3 edges found among 4 columns"], ["2 edges and 1 weak hint found among 4 columns"])
    assert not matches(["a", "b"], ["a"])


def test_there_is_something_to_check() -> None:
    assert "tutorial.md" in pages_with("console")
    assert len(pages_with("pycon")) > 5


@pytest.mark.parametrize("name", pages_with("pycon"))
def test_python_sessions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n\n".join(blocks(DOCS / name, "pycon"))
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    said: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
        test, out=said.append
    )
    assert tried
    assert not failed, "".join(said)


def test_the_picture_of_the_tutorial_shows_the_edges_that_it_lists() -> None:
    """``out/graph.svg`` of the command on the page, kept as figures/tutorial_graph.svg."""
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    assert "](figures/tutorial_graph.svg)" in text
    every = [session for block in blocks(DOCS / "tutorial.md", "console") for session in sessions(block)]
    (listed,) = [shown for command, shown in every if command.startswith("dpcausal discover")]
    edges = [re.match(r"\s+(\S+) (->|-) (\S+)", line) for line in listed]
    wanted = {edge.groups() for edge in edges if edge}
    picture = (DOCS / "figures" / "tutorial_graph.svg").read_text(encoding="utf-8")
    drawn = re.findall(r'<g class="edge (arrow|plain)[^>]*aria-label="(\w+) (?:→|and) (\w+)', picture)
    assert len(wanted) == 10
    assert {(a, "->" if kind == "arrow" else "-", b) for kind, a, b in drawn} == wanted


def test_the_first_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_after_the_demo(tmp_path, rows=2000)
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(DOCS / "index.md", "python")
    exec(compile(code, "index.md", "exec"), {})  # noqa: S102
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("name", pages_with("console"))
def test_commands(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    as_after_the_demo(tmp_path)
    for text in blocks(DOCS / name, "toml"):
        first = re.match(r"# file: (\S+)\n", text)
        if first:
            (tmp_path / first[1]).write_text(text)
    for block in blocks(DOCS / name, "console"):
        for command, shown in sessions(block):
            code = 0
            if shown and (last := re.fullmatch(r"\[exit code (\d)\]", shown[-1])):
                code, shown = int(last[1]), shown[:-1]
            words = shlex.split(command)
            target = words[words.index(">") + 1] if ">" in words else None
            words = words[: words.index(">")] if target else words
            if words[0] != "dpcausal":
                continue  # make, head, ...: shown for orientation
            assert run(words[1:]) == code, command
            said = capsys.readouterr()
            if target:
                (tmp_path / target).write_text(said.out)
            else:
                real = (said.out + said.err).splitlines()
                assert matches(shown, real), f"{command}\nprinted\n{said.out}{said.err}"
