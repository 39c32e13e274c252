"""``dpcausal effect``: three lines, JSON, files, a graph, and bad input in one line with nothing charged."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.present.effect import number
from dpcausal.present.statement import rows_differ

SCHEMA = """\
[columns.x]
type = "categorical"
levels = ["no", "yes"]
[columns.y]
type = "categorical"
levels = ["no", "yes"]
[columns.z]
type = "categorical"
levels = ["a", "b", "c"]
[columns.one]
type = "categorical"
levels = ["only"]
[columns.age]
type = "numeric"
lower = 0
upper = 100
bins = [40, 60]
"""
BASE = ["effect", "t.csv", "--schema", "s.toml", "--treatment", "x", "--outcome", "y"]


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file and a schema in the current directory: x raises the risk of y by 0.3 at every level of z."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    z = rng.integers(0, 3, 2_000)
    x = rng.random(2_000) < 0.3 + 0.2 * z
    y = rng.random(2_000) < 0.1 + 0.2 * z + 0.3 * x
    age = rng.uniform(20, 90, 2_000)
    lines = [
        f"{'yes' if a else 'no'},{'yes' if b else 'no'},{'abc'[c]},only,{d:.1f}"
        for a, b, c, d in zip(x, y, z, age, strict=True)
    ]
    Path("t.csv").write_text("x,y,z,one,age\n" + "\n".join(lines) + "\n")
    Path("s.toml").write_text(SCHEMA)


def answered() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What ``--out out`` wrote: the answer, and its notes by kind."""
    answer = json.loads(Path("out/answer.json").read_text())
    return answer, {note["kind"]: note for note in answer["facts"]["notes"]}


def test_four_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*BASE, "--adjust", "z,age", "--epsilon", "1", "--out", "out"]) == 0
    answer, rests, rows, cost, written = capsys.readouterr().out.splitlines()
    found, notes = answered()
    assert (found["estimand"], found["event"], found["compare"]) == ("risk difference", "yes", ["no", "yes"])
    assert notes["binned"]["columns"] == ["age"]
    shown = (found["estimate"], *found["interval"])
    assert all(number(value) in answer for value in shown)
    assert all(part in answer for part in ("y = yes", "z, age", "95%"))
    assert rests.startswith("Causal if z, age ")
    assert rows == rows_differ("interval")
    assert written.endswith(" out")
    assert cost.startswith("Privacy: epsilon 1, delta 0, ")
    assert " Ledger: none" in cost


def test_json_and_files_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*BASE, "--adjust", "z", "--adjust", "age", "--epsilon", "1", "--json", "--out", "out"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == json.loads(Path("out/answer.json").read_text())
    assert said["privacy"] == json.loads(Path("out/privacy.json").read_text())
    assert said["adjust"] == ["z", "age"]
    assert said["interval"][0] <= said["estimate"] <= said["interval"][1]


def test_a_graph_file_says_what_to_hold_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    graph = dc.Graph(["x", "y", "z"], directed=[("z", "x"), ("z", "y"), ("x", "y")])
    Path("graph.json").write_text(graph.to_json())
    assert run([*BASE, "--graph", "graph.json", "--epsilon", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["adjust"] == ["z"]
    back = [*BASE[:4], "--treatment", "y", "--outcome", "x", "--graph", "graph.json", "--epsilon", "1"]
    assert run(back) == 2
    said = capsys.readouterr().err
    assert 'from "y" to "x"' in said
    assert 'from "x" to "y"' in said  # where the arrows lead


def test_a_graph_that_contradicts_itself_is_refused_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    graph = dc.Graph(["x", "y", "z"], directed=[("z", "x"), ("z", "y"), ("y", "x")])
    written = json.loads(graph.to_json())
    Path("graph.json").write_text(json.dumps(written | {"conflicts": [["x", "y"]], "open": [["age", "x"]]}))
    assert run([*BASE, "--graph", "graph.json", "--epsilon", "1"]) == 2
    assert 'no node "age"' in capsys.readouterr().err
    Path("graph.json").write_text(json.dumps(written | {"conflicts": [["x", "y"]]}))
    assert run([*BASE, "--graph", "graph.json", "--epsilon", "1"]) == 2
    assert "direction of x - y" in capsys.readouterr().err
    assert run([*BASE, "--graph", "graph.json", "--epsilon", "1", "--anyway", "--out", "out"]) == 0
    first, *listed = capsys.readouterr().out.splitlines()[:3]
    found, notes = answered()
    assert first == found["answer"]
    assert [one["adjust"] for one in found["possible"]] == [["z"], None]
    assert [line[:2] for line in listed] == ["- ", "- "]
    assert notes["contradicted"] == {"kind": "contradicted", "pairs": [["x", "y"]], "own": True}
    assert notes["several"] == {"kind": "several", "count": 2, "no_effect": True}


def test_without_privacy_nobody_speaks_of_noise(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("t.csv").read_text().splitlines()
    kept = [line for line in text if not (line.startswith("yes") and ",c," in line)]  # nobody treated in c
    Path("t.csv").write_text("\n".join(kept) + "\n")
    assert run([*BASE, "--adjust", "z", "--no-privacy", "--out", "out"]) == 0
    _, _, left, every, _, cost, _ = said = capsys.readouterr().out.splitlines()
    found, notes = answered()
    assert found["left_out"] == [["c"]]
    assert not notes["left-out"]["noise"]
    assert left.endswith(". Left out: z c.")
    assert all(number(end) in every for end in found["everyone"])
    assert "nois" not in " ".join(said[:-2])
    assert cost.startswith("NOT PRIVATE")


def test_the_forecast_costs_nothing_and_the_refusal_names_an_epsilon_that_passes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = "sqlite:///budget.db"
    assert run(["ledger", "create", "--ledger", url, "--dataset", "d", "--epsilon", "5"]) == 0
    charged = ["--ledger", url, "--dataset", "d"]
    asked = [*BASE[:-1], "age", "--adjust", "z"]
    capsys.readouterr()
    assert run([*asked, "--epsilon", "0.01", "--forecast", *charged]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Forecast ")
    assert all(part in said for part in ("z held fixed", "mean difference", "(50)", "(now 0 to 100)"))
    assert run([*asked, "--epsilon", "0.01", *charged]) == 2
    refused = capsys.readouterr().err
    assert "between 0 and 100" in refused
    enough = refused.split("What would help, each by itself: --epsilon ")[1].split()[0].rstrip(",;")
    assert run(["ledger", "create", "--ledger", url, "--dataset", "poor", "--epsilon", "0.02"]) == 0
    capsys.readouterr()
    for more in (["--forecast"], []):  # no more is proposed than the ledger has
        code = run([*asked, "--epsilon", "0.01", *more, "--ledger", url, "--dataset", "poor"])
        words = "".join(capsys.readouterr())
        assert code == (0 if more else 2)
        assert f"--epsilon {enough}" not in words
        assert f"(epsilon {enough} " in words
        assert "0.02 left)" in words
    assert run([*asked, "--epsilon", "0.01", "--forecast", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["enough"] == float(enough)
    assert run([*asked, "--epsilon", enough, *charged]) == 0
    assert "Ledger: d, entry 3;" in capsys.readouterr().out  # after the two accounts


def test_a_forecast_needs_no_file_where_the_number_of_rows_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    data, *about = BASE[1:]
    asked = ["effect", *about[:-1], "age", "--adjust", "z"]
    assert run([*asked, "--epsilon", "0.5", "--forecast", "--rows", "3000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    schema = dc.Schema.from_toml("s.toml")
    assert found == dc.forecast_effect(schema, "x", "age", adjust=["z"], rows=3_000, epsilon=0.5).to_dict()
    for wrong, words in (
        (["--epsilon", "0.5", "--forecast"], "--rows N"),
        ([data, "--epsilon", "0.5", "--forecast", "--rows", "300"], "not both"),
        (["--epsilon", "0.5", "--rows", "300"], "--rows goes with --forecast"),
    ):
        assert run([*asked, *wrong]) == 2
        said = capsys.readouterr()
        assert words in said.err
        assert (said.out, said.err.count("\n")) == ("", 1)


BAD = [
    (["--outcome", "x"], "both treatment and outcome"),
    (["--outcome", "one"], 'the outcome "one" has one level'),
    (["--treatment", "one"], 'the treatment "one" has one level'),
    (["--treatment", "z"], "3 levels without an order"),
    (["--adjust", "agee"], 'did you mean "age"'),
    (["--adjust", "x"], "can't adjust for"),
    (["--adjust", " , "], "--adjust none holds nothing fixed"),
    (["--estimand", "hazard ratio"], "--time T --event STATUS --horizon H"),
    (["--epsilon", "0"], "epsilon must be a finite number above zero"),
    (["--epsilon", "1e-9"], "epsilon must lie within"),
    (["--epsilon", "1e9"], "epsilon must lie within"),
    (["--epsilon", "0.0005"], "this can say nothing, so nothing was charged"),
    (["--delta", "1"], "delta must be zero or more and below 1"),
    (["--level", "0.05"], "confidence of the interval"),
    (["--estimand", "risk-diference"], "did you mean"),
    (["--compare", "no"], "two different levels"),
    (["--event", "perhaps"], "no level 'perhaps'"),
    (["--no-privacy"], "either --epsilon or --no-privacy"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_is_one_line_and_nothing_is_charged(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "sqlite:///budget.db"
    assert run(["ledger", "create", "--ledger", url, "--dataset", "d", "--epsilon", "5"]) == 0
    given = dict(zip(BASE[4::2], BASE[5::2], strict=True)) | {"--epsilon": "1"}
    flags = words if len(words) == 1 else []
    given |= {} if flags else {words[0]: words[1]}
    options = [part for pair in given.items() for part in pair]
    capsys.readouterr()
    assert run([*BASE[:4], *options, *flags, "--ledger", url, "--dataset", "d"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert said in shown.err
    assert run(["ledger", "log", "--ledger", url, "--json"]) == 0
    assert "effect" not in capsys.readouterr().out


def test_where_a_stratum_has_no_exposed_the_effect_is_that_among_the_exposed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = Path("t.csv").read_text().splitlines()
    kept = [line for line in text if not (line.startswith("yes") and ",c," in line)]  # nobody treated in c
    Path("t.csv").write_text("\n".join(kept) + "\n")
    with dc.testing.seeded(1):
        assert run([*BASE, "--adjust", "z", "--epsilon", "3", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["population"] == "exposed"
    assert said["left_out"] == []
    assert said["interval"][0] < 0.3 < said["interval"][1]


def test_a_ledger_is_charged_once_and_refuses_what_it_does_not_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = "sqlite:///budget.db"
    assert run(["ledger", "create", "--ledger", url, "--dataset", "d", "--epsilon", "1.5"]) == 0
    words = [*BASE, "--adjust", "z", "--epsilon", "1", "--ledger", url, "--dataset", "d"]
    assert run(words) == 0
    assert " Ledger: d, entry 2;" in capsys.readouterr().out
    (account,) = dc.Ledger.open(url).show("d")
    assert (account.left_epsilon, account.left_delta) == (0.5, 0.0)
    assert run(words) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "left 0.5" in shown.err


@pytest.mark.parametrize(
    ("more", "delta"),
    [
        ([], "0"),
        (["--method", "regression"], "0"),
        (["--epsilon", "0.05", "--anyway"], "0.01"),
        (["--epsilon", "0.05", "--anyway", "--method", "regression"], "0.01"),
    ],
    ids=["Laplace", "regression, Laplace", "Gaussian", "regression, Gaussian"],
)
def test_delta_is_charged_where_it_is_used_and_told_as_charged(
    more: list[str], delta: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pure mechanism charges no delta, whatever was allowed."""
    url = "sqlite:///budget.db"
    total = ["--epsilon", "5", "--delta", "0.1"]
    assert run(["ledger", "create", "--ledger", url, "--dataset", "d", *total]) == 0
    asked = "0.01" if "--anyway" in more else "1e-6"
    words = [*BASE, "--adjust", "z", "--delta", asked, "--ledger", url, "--dataset", "d"]
    assert run([*words, *([] if "--epsilon" in more else ["--epsilon", "1"]), *more]) == 0
    said = capsys.readouterr().out
    cost = next(line for line in said.splitlines() if line.startswith("Privacy:"))
    promised, charged = cost.split(" Ledger: ")
    unused = "" if float(delta) else " (none was needed)"
    assert f", delta {delta}{unused}, for" in promised
    assert "charged" not in charged  # what was promised, no more
    spent = [float(entry.delta) for entry in dc.Ledger.open(url).log("d")][1:]
    assert spent == [float(delta)]


def test_nothing_is_held_fixed_by_saying_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*BASE, "--adjust", "none", "--no-privacy", "--out", "out"]) == 0
    answer, notes = answered()
    assert (answer["adjust"], "unadjusted" in notes) == ([], True)
    found = [
        "discover",
        "t.csv",
        "--schema",
        "s.toml",
        "--epsilon",
        "2",
        "--columns",
        "x,y,age",
        "--out",
        "first",
    ]
    assert run([*found, "--forbidden", "x--y", "--confidence", "0"]) == 0
    capsys.readouterr()
    free = ["effect", "--release", "first", "--treatment", "x", "--outcome", "y"]
    assert run(free) == 2
    assert "--adjust none for nothing" in capsys.readouterr().err
    assert run([*free, "--adjust", "none", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["outcome"], answer["event"], answer["adjust"]) == ("y", "yes", [])
    free[-1] = "age"
    assert run([*free, "--adjust", "none", "--event", "60 or more", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["event"] == ">= 60"
    assert run([*free, "--adjust", "none"]) == 2
    assert '--event ">= 60"' in capsys.readouterr().err
    assert run([*free, "--adjust", "none", "--event", ">= 50"]) == 2
    assert " 40, 60;" in capsys.readouterr().err  # the declared cuts


def test_the_share_that_discover_keeps_is_used_where_the_graph_has_no_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["discover", "t.csv", "--schema", "s.toml", "--epsilon", "4", "--columns", "x,y,z", "--json"]
    words += ["--forbidden", "x--y", "--forbidden", "x--z", "--out", "first"]
    effect = ["--effect", "x,y"]
    assert run([*words, *effect]) == 0
    lost = json.loads(capsys.readouterr().out)["effects"][0]
    assert lost["estimate"] is None
    assert "--adjust A,B" in lost["why"]
    assert run([*words, *effect, "--adjust", "z", "--anyway"]) == 0
    printed = json.loads(capsys.readouterr().out)
    (found,) = printed["effects"]
    assert found["adjust"] == ["z"]
    assert found["interval"][0] < found["estimate"] < found["interval"][1]
    assert printed["privacy"]["epsilon"] == 4.0  # one total for both
    page = html.unescape(Path("first/report.html").read_text())
    assert "result.effect('x', 'y', adjust=['z'])" in page
    for wrong in (["--adjust", "z"], [*effect, "--adjust", "x"], [*effect, "--adjust", "zz"]):
        assert run([*words, *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_number_by_a_cut(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*BASE[:-1], "age", "--event", ">=50", "--adjust", "z", "--epsilon", "3"]
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["event"], found["adjust"]) == (">= 50", ["z"])
    assert run([*words, "--forecast"]) == 0
    assert capsys.readouterr().out.startswith("Forecast ")


def test_the_command_line_is_answered_in_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["effect", "t.csv", "--schema", "s.toml", "--epsilon", "1", "--treatment"]
    assert run([*words, "z", "--outcome", "y"]) == 2
    assert '--compare "a,b"' in capsys.readouterr().err
    assert run([*words, "x", "--outcome", "z"]) == 2
    assert '--event "c"' in capsys.readouterr().err
