"""``dpcausal discover`` as a user runs it: files, JSON, ledger, exit codes, one clear line on bad input."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.present.graph_words import PAIRS_SHOWN
from dpcausal.privacy.ledger import Ledger

pytestmark = pytest.mark.usefixtures("few_repeats")

ROWS = 20_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The cancer network as a CSV file and its schema."""
    folder = tmp_path_factory.mktemp("cancer")
    data = dc.networks.load("cancer").sample(ROWS, seed=3)
    columns = [[data.schema[name].levels[code] for code in data.codes[name]] for name in data.columns]  # type: ignore[union-attr]
    with (folder / "data.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data.columns)
        writer.writerows(zip(*columns, strict=True))
    lines = []
    for name in data.columns:
        levels = ", ".join(f'"{level}"' for level in data.schema[name].levels)  # type: ignore[union-attr]
        lines.append(f'[columns.{name}]\ntype = "categorical"\nlevels = [{levels}]\n')
    (folder / "schema.toml").write_text("\n".join(lines))
    return str(folder / "data.csv"), str(folder / "schema.toml")


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["discover", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("method", ["priv-pc", "svt-pc", "em-pc", "curate"])
def test_writes_graph_and_statement(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    data, schema = files
    out = tmp_path / "new" / "graph"
    code, said, _ = call(
        capsys,
        data,
        "--schema",
        schema,
        "--epsilon",
        "20",
        "--delta",
        "1e-6",
        "--method",
        method,
        "--out",
        str(out),
    )
    assert code == 0
    assert "Privacy: epsilon 20" in said
    for name in ("graph.json", "graph.dot", "graph.graphml", "privacy.json"):
        assert (out / name).stat().st_size > 0
    graph = dc.Graph.from_json((out / "graph.json").read_text())
    assert set(graph.nodes) == set(dc.networks.load("cancer").schema)
    statement = json.loads((out / "privacy.json").read_text())
    assert next(iter(statement)) == "private"
    assert statement["private"] is True
    assert (statement["epsilon"], statement["delta"], statement["neighbours"]) == (20.0, 1e-6, "replace-one")
    assert statement["events"]


def test_an_earlier_release_is_kept_whole(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was paid for: a second run in the same directory writes over none of its files, and says where they are."""
    data, schema = files
    written: list[dict[str, bytes]] = []
    (tmp_path / "notes.txt").write_text("mine")
    for epsilon in ("1", "2", "3"):
        code, said, _ = call(capsys, data, "--schema", schema, "--epsilon", epsilon, "--out", str(tmp_path))
        assert code == 0
        last = said.splitlines()[-1]
        assert last.endswith(
            str(tmp_path / f"earlier-{len(written)}")
            if written
            else f"Written to {tmp_path} (report.html); more, free: dpcausal again {tmp_path} --full"
        )
        written.append({path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()})
    for number, release in enumerate(written[:2], 1):
        kept = {path.name: path.read_bytes() for path in (tmp_path / f"earlier-{number}").iterdir()}
        assert kept | {"notes.txt": b"mine"} == release
        assert json.loads(kept["privacy.json"])["asked"]["epsilon"] == float(number)
    assert json.loads((tmp_path / "privacy.json").read_text())["asked"]["epsilon"] == 3.0
    code, said, err = call(
        capsys, data, "--schema", schema, "--epsilon", "1", "--out", str(tmp_path), "--json"
    )
    assert code == 0
    assert json.loads(said)
    assert "earlier-3" in err


def unmovable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """As on a disk where one file may not be renamed."""
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name == name:
            raise PermissionError(1, "Operation not permitted")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_release_that_is_paid_for_is_not_lost_where_the_earlier_one_can_not_be_moved(
    files: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
) -> None:
    """It goes beside the earlier one, which stays whole; one line says so, and a script sees that it failed.

    Another line says that the same was asked before.
    """
    data, schema = files
    url = f"sqlite:///{tmp_path}/ledger.db"
    assert run(["ledger", "create", "--ledger", url, "--dataset", "d", "--epsilon", "9"]) == 0
    out = tmp_path / "out"
    asked = [data, "--schema", schema, "--ledger", url, "--dataset", "d", "--out", str(out), *more]
    assert call(capsys, *asked, "--epsilon", "1")[0] == 0
    earlier = {path.name: path.read_bytes() for path in out.iterdir()}
    unmovable(monkeypatch, "graph.graphml")  # the fourth: others have been moved by then
    code, said, error = call(capsys, *asked, "--epsilon", "2")
    before, failed = error.splitlines()
    assert code == 2
    assert "asked this before" in before
    assert "can't move the earlier release" in failed
    assert f"the new release, paid for, is in {out / 'new-1'}" in error
    assert json.loads(said)["privacy"] if more else f"Written to {out / 'new-1'}" in said
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == earlier
    assert sorted(path.name for path in (out / "new-1").iterdir()) == sorted(earlier)
    statement = json.loads((out / "new-1" / "privacy.json").read_text())
    assert statement["asked"]["epsilon"] == 2.0
    assert not (out / "earlier-1").exists()
    assert Ledger.open(url).show("d")[0].spent_epsilon == 3.0


def test_a_release_that_can_not_be_written_is_still_shown(
    files: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*_: object, **__: object) -> None:
        raise dc.InputError("can't write report.html: No space left on device")

    monkeypatch.setattr("dpcausal.present.page.write", full)
    data, schema = files
    code, said, error = call(capsys, data, "--schema", schema, "--epsilon", "1", "--out", str(tmp_path))
    assert (code, error) == (2, "dpcausal: can't write report.html: No space left on device\n")
    assert " open (method measured" in said
    assert "Privacy: epsilon 1" in said
    assert "Written to" not in said


def test_a_refused_run_leaves_no_directory(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = files
    asked = [data, "--schema", schema, "--epsilon", "1", "--ledger", f"sqlite:///{tmp_path}/none.db"]
    assert call(capsys, *asked, "--dataset", "d", "--out", str(tmp_path / "a" / "b"))[0] != 0
    assert not (tmp_path / "a").exists()
    (tmp_path / "mine").mkdir()
    assert call(capsys, *asked, "--dataset", "d", "--out", str(tmp_path / "mine"))[0] != 0
    assert (tmp_path / "mine").is_dir()


def test_json_and_nothing_else(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = files
    options = [
        "--epsilon",
        "5",
        "--neighbours",
        "add-remove",
        "--level",
        "0.01",
        "--max-order",
        "1",
        "--json",
    ]
    code, said, _ = call(capsys, data, "--schema", schema, "--out", str(tmp_path), *options)
    found = json.loads(said)
    assert code == 0
    assert found["privacy"]["neighbours"] == "add-remove"
    assert found["privacy"]["epsilon"] == 5.0
    assert found["level"] == 0.01
    assert set(found["asked"]) <= {"0", "1"}


def test_background_knowledge(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = files
    options = ["--epsilon", "1", "--required", "Smoker:Xray", "--forbidden", "Cancer--Dyspnoea"]
    options += ["--tiers", "Pollution,Smoker; Cancer; Xray,Dyspnoea", "--json"]
    code, said, told = call(capsys, data, "--schema", schema, "--out", str(tmp_path), *options)
    assert code == 0
    assert "order of time" not in told
    graph = dc.Graph.from_json(json.dumps(json.loads(said)["graph"]))
    assert ("Smoker", "Xray") in graph.directed
    assert frozenset(("Cancer", "Dyspnoea")) not in graph.skeleton
    early = {"Pollution", "Smoker"}
    assert not [arrow for arrow in graph.directed if arrow[1] in early and arrow[0] not in early]


def test_without_privacy_it_says_so(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = files
    code, said, _ = call(capsys, data, "--schema", schema, "--method", "pc", "--out", str(tmp_path))
    assert code == 0
    assert "NOT PRIVATE" in said
    assert json.loads((tmp_path / "privacy.json").read_text())["private"] is False


def test_the_ledger_is_charged_once_and_then_refuses(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = files
    url = f"sqlite:///{tmp_path}/ledger.db"
    assert run(["ledger", "create", "--ledger", url, "--dataset", "d", "--epsilon", "1.5"]) == 0
    arguments = [data, "--schema", schema, "--epsilon", "1", "--ledger", url, "--dataset", "d"]
    assert call(capsys, *arguments, "--out", str(tmp_path / "a"))[0] == 0
    code, _, err = call(capsys, *arguments, "--out", str(tmp_path / "b"))
    assert code == 3
    assert err.count("\n") == 1
    assert "does not allow" in err
    assert not (tmp_path / "b" / "graph.json").exists()
    (account,) = Ledger.open(url).show("d")
    assert (account.releases, account.spent_epsilon) == (1, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--epsilon 0.5 is a start"),
        (["--epsilon", "0"], "epsilon"),
        (["--epsilon", "nan"], "epsilon"),
        (["--epsilon", "1", "--delta", "1"], "delta"),
        (["--epsilon", "1", "--method", "privpc"], "did you mean"),
        (["--epsilon", "1", "--method", "pc"], "not private"),
        (["--epsilon", "1", "--required", "Smoker"], "--required takes a:b"),
        (["--epsilon", "1", "--required", "Smoker:Smoke"], 'did you mean "Smoker"'),
        (["--epsilon", "1", "--required", "Smoker:Cancer", "--forbidden", "Smoker--Cancer"], "both required"),
        (["--epsilon", "1", "--tiers", "Smoker;Nobody"], "Nobody"),
        (["--epsilon", "1", "--level", "7"], "level"),
        (["--epsilon", "1", "--max-order", "-1"], "max_order"),
        (["--epsilon", "1", "--ledger", "sqlite:///x.db"], "data set"),
        (["--epsilon", "1", "--neighbours", "friends"], "friends"),
    ],
)
def test_bad_input_is_one_line(
    files: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    data, schema = files
    code, said, err = call(capsys, data, "--schema", schema, "--out", str(tmp_path), *options)
    assert (code, said) == (2, "")
    assert message in err
    assert [line for line in err.splitlines() if line.startswith("dpcausal: ")] == err.splitlines()[-1:]
    assert not (tmp_path / "graph.json").exists()


def test_a_directory_that_is_a_file(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = files
    (tmp_path / "out").write_text("here already")
    code, _, err = call(capsys, data, "--schema", schema, "--epsilon", "1", "--out", str(tmp_path / "out"))
    assert code == 2
    assert "can't write to the directory" in err


def test_the_report_names_the_command_that_was_given(
    files: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Taken from the page, the command and the Python call both run; folders and passwords are not in it."""
    monkeypatch.chdir(tmp_path)
    for source in files:
        shutil.copy(source, tmp_path / Path(source).name.replace("data", "my data"))
    ledger = f"sqlite:///{tmp_path}/budget.db"
    assert run(["ledger", "create", "--ledger", ledger, "--dataset", "d", "--epsilon", "9"]) == 0
    capsys.readouterr()  # a weak promise
    options = [
        "--epsilon",
        "1.5",
        "--max-order",
        "1",
        "--tiers",
        "Smoker,Pollution;Cancer",
        "--level",
        "0.01",
    ]
    options += ["--required", "Smoker:Cancer", "--forbidden", "Xray--Pollution", "--confidence", "2"]
    asked = [str(tmp_path / "my data.csv"), "--schema", "schema.toml", *options, "--out", "out"]
    code, _, error = call(capsys, *asked, "--ledger", ledger, "--dataset", "d")
    assert (code, error) == (0, "")
    page = (tmp_path / "out" / "report.html").read_text()
    (command,) = (unescape(text) for text in re.findall(r'<pre id="command">(.*?)</pre>', page))
    assert str(tmp_path) not in page
    ledger_words = ["--ledger", "sqlite:///budget.db", "--dataset", "d"]
    expected = ["dpcausal", "discover", "my data.csv", "--schema", "schema.toml", *options, *ledger_words]
    words = shlex.split(command)
    assert sorted(words) == sorted([*expected, "--out", "out"])
    assert run(words[1:]) == 0
    (python,) = (unescape(text) for text in re.findall(r'<pre id="reproduce">(.*?)</pre>', page, re.DOTALL))
    made: dict[str, Any] = {}
    exec(compile(python, "report", "exec"), made)  # noqa: S102
    assert made["result"].privacy.asked == {"epsilon": 1.5, "delta": 0.0}
    assert Ledger.open(ledger).show("d")[0].spent_epsilon == 4.5


def test_repeats_can_be_asked_for_whichever_method_auto_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "n.csv").write_text("a,b\n" + "1,2\n3,4\n" * 2_000)
    (tmp_path / "n.toml").write_text(
        "".join(f'[columns.{name}]\ntype = "numeric"\nlower = 0\nupper = 9\n' for name in "ab")
    )
    asked = [
        str(tmp_path / "n.csv"),
        "--schema",
        str(tmp_path / "n.toml"),
        "--confidence",
        "5",
        "--json",
    ]
    for epsilon, method in (("0.1", "measured"), ("9", "moments")):
        code, said, _ = call(
            capsys, *asked, "--epsilon", epsilon, "--anyway", "--out", str(tmp_path / method)
        )
        assert code == 0
        assert json.loads(said)["method"] == method
        assert "5 repeats" in (tmp_path / method / "report.html").read_text()


def test_open_pairs_are_listed_and_drawn_only_where_asked_for(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Noise hides everything: of ten pairs five and more are open but for a chance below 1e-4, in every file alike."""
    data, schema = files
    asked = [data, "--schema", schema, "--epsilon", "1e-4", "--method", "moments", "--anyway"]
    for more in ([], ["--show-open"]):
        out = tmp_path / ("shown" if more else "hidden")
        code, said, _ = call(capsys, *asked, *more, "--out", str(out))
        assert code == 0
        found = json.loads((out / "graph.json").read_text())
        left = found["open"]
        assert len(left) >= 5
        assert found["facts"]["pairs"]["open"] == len(left)
        counts = f", {len(left)} pair{'s' * (len(left) != 1)} open (method moments)."
        assert counts in said.splitlines()[0]
        assert said.count(" ? ") == (len(left) if more else min(len(left), PAIRS_SHOWN))
        assert (out / "graph.dot").read_text().count("state=open") == (len(left) if more else 0)
        assert (out / "graph.graphml").read_text().count(">open<") == (2 * len(left) if more else 0)
        assert dc.Graph.from_graphml((out / "graph.graphml").read_text()).skeleton.isdisjoint(
            map(frozenset, left)
        )
        page = (out / "report.html").read_text()
        assert ('type="checkbox" checked' in page) == bool(more and left)
        assert ('type="checkbox"' in page) == bool(left)
