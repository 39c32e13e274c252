"""``dpcausal gwas`` and ``gwas-simulate`` as a user runs them: files, exit codes, one line for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcausal.cli.app import run
from dpcausal.gwas.result import COLUMNS


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> str:
    prefix = str(tmp_path_factory.mktemp("study") / "s")
    options = ["--people", "3000", "--snps", "60", "--causal", "2", "--odds-ratio", "3", "--seed", "4"]
    assert run(["gwas-simulate", prefix, *options]) == 0
    return prefix


@pytest.mark.parametrize("method", ["svt", "em"])
def test_finds_what_was_planted(
    study: str, method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    options = ["--epsilon", "40", "--level", "0.05", "--method", method, "--max-hits", "4", "--out", str(out)]
    assert run(["gwas", study, *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    causal = {line.split()[0] for line in Path(f"{study}.causal").read_text().splitlines()[1:]}
    assert {row["SNP"] for row in told["hits"] if row["DECISION"] == "reject"} == causal
    assert told["privacy"]["private"] is True
    assert told["privacy"]["epsilon"] <= 40
    assert "person" in told["privacy"]["unit"]
    assert any("1500 cases" in line for line in told["privacy"]["public"])
    table = (out / "hits.tsv").read_text().splitlines()
    assert table[0].split("\t") == list(COLUMNS)
    assert len(table) - 1 == len(told["hits"]) == (2 if method == "svt" else 4)
    assert json.loads((out / "privacy.json").read_text()) == told["privacy"]
    assert (out / "hits.png").read_bytes()[:4] == b"\x89PNG"


def test_the_ledger_is_charged_and_refuses(
    study: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    assert (
        run(
            [
                "ledger",
                "create",
                "--ledger",
                url,
                "--dataset",
                "d",
                "--epsilon",
                "5",
                "--neighbours",
                "fixed-labels",
            ]
        )
        == 0
    )
    options = ["--out", str(tmp_path / "o"), "--ledger", url, "--dataset", "d"]
    assert run(["gwas", study, "--epsilon", "3", *options]) == 0
    assert run(["gwas", study, "--epsilon", "3", *options]) == 3
    assert "does not allow" in capsys.readouterr().err


BAD = {
    "no such study": (["nothing", "--epsilon", "1"], "no file nothing.bed"),
    "method": (["STUDY", "--epsilon", "1", "--method", "magic"], "svt or em"),
    "statistic": (["STUDY", "--epsilon", "1", "--statistic", "magic"], "distance, circle or chi2"),
    "unit": (["STUDY", "--epsilon", "1", "--unit", "town"], "person or allele"),
    "epsilon": (["STUDY", "--epsilon", "-1"], "epsilon"),
    "level": (["STUDY", "--epsilon", "1", "--level", "2"], "level"),
    "nothing left": (["STUDY", "--epsilon", "1", "--chr", "77"], "no SNP"),
    "hits": (["STUDY", "--epsilon", "1", "--max-hits", "0"], "at least one"),
    "missing rule": (["STUDY", "--epsilon", "1", "--missing", "drop"], "het, reference or allele1"),
    "neither": (["--epsilon", "1"], "PREFIX"),
    "no epsilon": (["STUDY"], "--epsilon"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(
    study: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, told = BAD[name]
    arguments = [study if word == "STUDY" else word for word in words]
    assert run(["gwas", *arguments, "--out", str(tmp_path / "o"), "--json"]) == 2
    seen = capsys.readouterr()
    assert told in seen.err
    assert seen.err.count("\n") == 1
    assert seen.out == ""


def test_simulate_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gwas-simulate", str(tmp_path / "x"), "--maf", "much"]) == 2
    assert run(["gwas-simulate", str(tmp_path / "x"), "--maf", "0.9"]) == 2
    assert run(["gwas-simulate", str(tmp_path / "no" / "x"), "--people", "10", "--snps", "5"]) == 2
    assert capsys.readouterr().err.count("\n") == 3
