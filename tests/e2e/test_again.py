"""``dpcausal again`` and ``effect --release``: from what was released, free, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpcausal.cli.app import run

SCHEMA = "".join(
    f'[columns.{name}]\ntype = "categorical"\nlevels = ["no", "yes"]\n' for name in ("smoke", "tar", "cough")
)
LEDGER = ["--ledger", "sqlite:///budget.db", "--dataset", "study"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A discovery in ``out`` that took the whole ledger: smoke -> tar -> cough."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(1)
    smoke = rng.random(4_000) < 0.4
    tar = rng.random(4_000) < 0.1 + 0.7 * smoke
    cough = rng.random(4_000) < 0.2 + 0.5 * tar
    lines = [",".join("yes" if one else "no" for one in row) for row in zip(smoke, tar, cough, strict=True)]
    (folder / "t.csv").write_text("smoke,tar,cough\n" + "\n".join(lines) + "\n")
    (folder / "s.toml").write_text(SCHEMA)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(["ledger", "create", *LEDGER, "--epsilon", "5", "--delta", "0"]) == 0
        asked = ["--schema", "s.toml", "--epsilon", "5", "--confidence", "5", "--out", "out", *LEDGER]
        assert run(["discover", "t.csv", *asked]) == 0
    (folder / "t.csv").unlink()  # no row is needed any more
    (folder / "budget.db").unlink()
    return folder


@pytest.fixture(autouse=True)
def here(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study)


def test_tiers_give_arrows_and_the_statement_says_what_it_cost(capsys: pytest.CaptureFixture[str]) -> None:
    plain = json.loads(Path("out/graph.json").read_text())
    assert plain["directed"] == []
    assert run(["again", "out", "--tiers", "smoke;tar;cough", "--out", "tiers"]) == 0
    told = capsys.readouterr().out
    identity = json.loads(Path("out/release.json").read_text())["id"]
    assert f"Computed from release.json (id {identity}): no row was read" in told
    graph = json.loads(Path("tiers/graph.json").read_text())
    assert graph["directed"] == [["smoke", "tar"], ["tar", "cough"]]
    before, after = (json.loads(Path(name, "privacy.json").read_text()) for name in ("out", "tiers"))
    assert {**after, "released": None, "facts": None} == {**before, "released": None, "facts": None}
    assert after["released"] == [*before["released"], after["released"][-1]]
    assert identity in after["released"][-1]
    page, first = Path("tiers/report.html").read_text(), Path("out/report.html").read_text()
    assert "dpcausal again out --tiers &#39;smoke;tar;cough&#39;" in page
    assert ("costs again" in page, "costs again" in first) == (False, True)
    assert run(["again", "tiers", "--forget", "--out", "forgotten"]) == 0
    same = ("directed", "undirected", "open", "notes")
    forgotten = json.loads(Path("forgotten/graph.json").read_text())
    assert [forgotten[name] for name in same] == [plain[name] for name in same]


def test_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["again", "out/release.json", "--required", "smoke:tar", "--json", "--out", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["declared"] == {"required": ["smoke -> tar"]}


def test_a_free_effect(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["again", "out", "--tiers", "smoke;tar;cough", "--out", "ordered"]) == 0
    capsys.readouterr()
    asked = ["effect", "--release", "ordered", "--treatment", "smoke", "--outcome", "tar"]
    assert run([*asked, "--json", "--out", "effect"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["interval"][0] < 0.7 < found["interval"][1]
    assert found["privacy"]["epsilon"] == 5.0
    assert json.loads(Path("effect/answer.json").read_text()) == found


def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cut").mkdir()
    Path("cut/release.json").write_text(Path("out/release.json").read_text()[:-300])
    effect = ["effect", "--treatment", "smoke", "--outcome", "tar"]
    for words, what in [
        (["again", "cut", "--out", "x"], "damaged"),
        (["again", "nowhere", "--out", "x"], "can't read"),
        (["again", "tiers.toml", "--out", "x"], "can't read"),
        (["again", "out", "--tiers", "smok", "--out", "x"], 'did you mean "smoke"'),
        (["again", "out", "--confidence", "-1", "--out", "x"], "confidence"),
        ([*effect, "--release", "cut"], "damaged"),
        ([*effect, "--release", "out", "--epsilon", "1"], "leave out --epsilon"),
        ([*effect, "--epsilon", "1"], "--schema"),
    ]:
        assert run(words) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert what in error
    assert not Path("x").exists()


def test_an_answer_is_broken_between_words_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["again", "out", "--confidence", "0", "--out", "wide"]) == 0
    whole = capsys.readouterr().out.replace("wide", "slim")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    assert run(["again", "out", "--confidence", "0", "--out", "slim"]) == 0
    slim = capsys.readouterr().out
    assert all(len(line) <= 50 for line in slim.splitlines() if not line.startswith(" "))
    assert slim.split() == whole.split()


def test_without_out_the_words_are_printed_free_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    there = sorted(map(str, Path().rglob("*")))
    assert run(["again", "out", "--full"]) == 0
    said = capsys.readouterr().out
    assert "EDGES" in said
    assert said.endswith("Nothing was written (--out DIR writes the files).\n")
    assert sorted(map(str, Path().rglob("*"))) == there
    assert run(["again", "out", "--out", "words"]) == 0
    assert capsys.readouterr().out.endswith(" dpcausal again words --full\n")
    assert run(["again", "out", "--full", "--out", "words"]) == 0
    assert "again words --full" not in capsys.readouterr().out
