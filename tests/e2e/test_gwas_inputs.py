"""``dpcausal gwas`` with every way to bring counts, frequencies and filters; and every bad file is one line."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpcausal.cli.app import run
from dpcausal.gwas.cohort import Cohort

PEOPLE, SNPS, CAUSAL = 3000, 60, ["snp16", "snp46"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("study") / "s"
    options = [
        "--people",
        str(PEOPLE),
        "--snps",
        str(SNPS),
        "--causal",
        "2",
        "--odds-ratio",
        "3",
        "--seed",
        "4",
    ]
    assert run(["gwas-simulate", str(prefix), *options]) == 0
    return prefix


@pytest.fixture
def gwas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Run with a large epsilon and return the JSON object."""

    def call(*words: object) -> dict[str, Any]:
        capsys.readouterr()
        options = ["--epsilon", "60", "--max-hits", "4", "--out", str(tmp_path / "out"), "--json"]
        assert run(["gwas", *map(str, words), *options]) == 0, capsys.readouterr().err
        told: dict[str, Any] = json.loads(capsys.readouterr().out)
        return told

    return call


def found(told: dict[str, Any]) -> list[str]:
    return [row["SNP"] for row in told["hits"]]


def public(told: dict[str, Any]) -> str:
    return " ".join(told["privacy"]["public"])


# --- Counts made elsewhere ---


def tables(study: Path, folder: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """The study's counts as two .model files and two .gcount files for each group, in plink's layout."""
    counts = Cohort.open(study).count()
    names = "#CHROM\tID\tREF\tALT\tHOM_REF_CT\tHET_REF_ALT_CTS\tTWO_ALT_GENO_CTS\tHAP_REF_CT\tHAP_ALT_CTS\tMISSING_CT"
    paths: tuple[list[Path], list[Path], list[Path]] = ([], [], [])
    for part, rows in enumerate((range(SNPS // 2), range(SNPS // 2, SNPS))):
        model = [" CHR  SNP  A1  A2  TEST  AFF  UNAFF  CHISQ  DF  P"]
        groups: tuple[list[str], list[str]] = ([names], [names])
        for i in rows:
            v, table = counts.variant(i), counts.genotypes()[i].tolist()
            words = ["/".join(map(str, row)) for row in table]
            model.append(f"{v.chromosome}  {v.name}  A  G  GENO  {words[0]}  {words[1]}  NA  NA  NA")
            model.append(f"{v.chromosome}  {v.name}  A  G  TREND  1/2  3/4  NA  NA  NA")
            for lines, (hom1, het, hom2) in zip(groups, table, strict=True):
                lines.append(f"{v.chromosome}\t{v.name}\tG\tA\t{hom2}\t{het}\t{hom1}\t0\t0\t0")
        for found_paths, lines, end in zip(
            paths, (model, *groups), ("model", "a.gcount", "b.gcount"), strict=True
        ):
            found_paths.append(folder / f"{part}.{end}")
            found_paths[-1].write_text("\n".join(lines) + "\n")
    return paths


def test_tables_of_counts_by_shard(study: Path, tmp_path: Path, gwas: Callable[..., dict[str, Any]]) -> None:
    models, cases, controls = tables(study, tmp_path)
    sizes = ("--cases", PEOPLE // 2, "--controls", PEOPLE // 2)
    by_model = gwas("--model", models[0], "--model", models[1], *sizes)
    shards: list[object] = []
    for a, b in zip(cases, controls, strict=True):
        shards += ["--case-counts", a, "--control-counts", b]
    by_gcount = gwas(*shards, *sizes)
    assert found(by_model) == found(by_gcount) == CAUSAL
    assert by_model["snps"] == by_gcount["snps"] == SNPS
    assert (
        by_model["hits"][0]["A1"] == by_gcount["hits"][0]["A1"] == "NA"
    )  # which allele is first may follow rows
    assert f"N1 = {PEOPLE // 2} cases" in public(by_gcount)
    assert found(gwas("--model", models[1], *sizes)) == CAUSAL[1:]


@pytest.mark.skipif(shutil.which("plink1.9") is None, reason="no plink1.9")
def test_a_real_model_file(study: Path, tmp_path: Path, gwas: Callable[..., dict[str, Any]]) -> None:
    base = [
        "plink1.9",
        "--bfile",
        str(study),
        "--allow-no-sex",
        "--keep-allele-order",
        "--out",
        str(tmp_path / "p"),
    ]
    subprocess.run([*base, "--model"], check=True, capture_output=True)
    subprocess.run([*base, "--freq"], check=True, capture_output=True)
    told = gwas("--model", tmp_path / "p.model", "--cases", PEOPLE // 2, "--controls", PEOPLE // 2)
    assert found(told) == CAUSAL
    assert found(gwas(study, "--freq", tmp_path / "p.frq")) == CAUSAL


@pytest.mark.skipif(shutil.which("plink2") is None, reason="no plink2")
def test_real_gcount_files(study: Path, tmp_path: Path, gwas: Callable[..., dict[str, Any]]) -> None:
    words: list[object] = ["--cases", PEOPLE // 2, "--controls", PEOPLE // 2]
    for group, option in (("case", "--case-counts"), ("control", "--control-counts")):
        out = tmp_path / group
        keep = ["--keep-if", f"PHENO1=={group}", "--out", str(out)]
        subprocess.run(
            ["plink2", "--bfile", str(study), "--geno-counts", *keep], check=True, capture_output=True
        )
        words += [option, f"{out}.gcount"]
    subprocess.run(
        ["plink2", "--bfile", str(study), "--freq", "--out", str(out)], check=True, capture_output=True
    )
    assert found(gwas(*words)) == CAUSAL
    assert found(gwas(study, "--freq", f"{out}.afreq")) == CAUSAL


# --- What is known about frequencies ---


def test_public_frequencies(study: Path, tmp_path: Path, gwas: Callable[..., dict[str, Any]]) -> None:
    for name, head in (
        ("x.frq", "CHR SNP A1 A2 MAF NCHROBS"),
        ("x.afreq", "#CHROM ID ALT REF ALT_FREQS OBS_CT"),
    ):
        lines = [head, *(f"1 snp{i} A G 0.25 100" for i in range(1, SNPS + 1))]
        (tmp_path / name).write_text("\n".join(lines))
        told = gwas(study, "--freq", tmp_path / name)
        assert found(told) == CAUSAL
        assert "reference panel" in public(told)


@pytest.mark.parametrize("method", ["svt", "em"])
def test_budgeted_frequencies(study: Path, method: str, gwas: Callable[..., dict[str, Any]]) -> None:
    told = gwas(study, "--freq", "budget", "--freq-share", 0.1, "--method", method)
    assert set(CAUSAL) == {row["SNP"] for row in told["hits"] if row["DECISION"] == "reject"}
    assert told["privacy"]["events"][0]["label"] == "gwas: rarest allele"
    assert 59.99 < told["privacy"]["epsilon"] <= 60
    assert "0.1 of epsilon" in public(told)


# --- Filters ---


def test_filters(study: Path, tmp_path: Path, gwas: Callable[..., dict[str, Any]]) -> None:
    chromosome = next(
        line.split()[0]
        for line in Path(f"{study}.bim").read_text().splitlines()
        if line.split()[1] == CAUSAL[0]
    )
    told = gwas(study, "--chr", chromosome)
    assert found(told) == CAUSAL[:1]
    assert told["snps"] == 3  # 60 SNPs on 22 chromosomes, three each
    assert gwas(study, "--chr", chromosome, "--chr", "20" if chromosome != "20" else "19")["snps"] > 3
    (tmp_path / "names").write_text("snp1\nsnp46 with words behind\nunknown\n")
    told = gwas(study, "--extract", tmp_path / "names")
    assert (found(told), told["snps"]) == (CAUSAL[1:], 2)
    assert "the list of 2 SNPs" in public(told)
    (tmp_path / "people").write_text("".join(f"f{i} p{i}\n" for i in range(1, 2001)))
    told = gwas(study, "--keep", tmp_path / "people")
    fam = [line.split() for line in Path(f"{study}.fam").read_text().splitlines()[:2000]]
    cases = sum(words[5] == "2" for words in fam)
    assert found(told) == CAUSAL
    assert f"N1 = {cases} cases and N0 = {2000 - cases} controls" in public(told)


def test_phenotypes_from_a_file(study: Path, tmp_path: Path, gwas: Callable[..., dict[str, Any]]) -> None:
    fam = [line.split() for line in Path(f"{study}.fam").read_text().splitlines()]
    lines = ["FID IID other case", *(f"{w[0]} {w[1]} 0 {int(w[5]) - 1}" for w in fam)]
    (tmp_path / "pheno").write_text("\n".join(lines))
    told = gwas(study, "--pheno", tmp_path / "pheno", "--mpheno", 2, "--1")
    assert found(told) == CAUSAL


@pytest.mark.parametrize("word", ["ill", "3.7"])
def test_a_phenotype_that_is_no_code_is_no_error(
    study: Path, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One person is in neither group, and a line says so: who is in which group is public."""
    for end in (".bed", ".bim", ".fam"):
        body = Path(f"{study}{end}").read_bytes()
        if end == ".fam":
            first, rest = body.split(b"\n", 1)
            people = body.count(b"\n")
            body = first.rsplit(b" ", 1)[0] + b" " + word.encode() + b"\n" + rest
        (tmp_path / f"t{end}").write_bytes(body)
    assert run(["gwas", str(tmp_path / "t"), "--epsilon", "3", "--out", str(tmp_path / "out"), "--json"]) == 0
    seen = capsys.readouterr()
    assert f"t.fam: 1 of {people:,} people are in neither group" in seen.err
    groups = [fact for fact in json.loads(seen.out)["privacy"]["facts"]["public"] if fact["kind"] == "groups"]
    assert groups[0]["cases"] + groups[0]["controls"] == people - 1


def test_answers_end_early(study: Path, gwas: Callable[..., dict[str, Any]]) -> None:
    told = gwas(study, "--max-answers", 20)
    assert (found(told), told["asked"]) == (CAUSAL[:1], 20)


# --- Bad files ---


def last_word(word: bytes) -> Callable[[bytes], bytes]:
    """Every line's last word replaced."""
    return lambda b: b"".join(line.rsplit(b" ", 1)[0] + b" " + word + b"\n" for line in b.splitlines())


BAD: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "truncated .bed": (".bed", lambda b: b[:-1], "truncated"),
    "wrong magic bytes": (".bed", lambda b: b"PK" + b[2:], "not a PLINK 1 .bed file"),
    "individual-major .bed": (".bed", lambda b: b[:2] + b"\0" + b[3:], "person by person"),
    ".bim with fewer SNPs": (".bim", lambda b: b.split(b"\n", 1)[1], "does not belong to its .bim and .fam"),
    ".fam with more people": (".fam", lambda b: b + 4 * b"f p 0 0 1 1\n", "does not belong to its .bim and .fam"),
    "one class": (".fam", last_word(b"1"), "one class only (controls)"),
    "non-numeric phenotype": (".fam", last_word(b"ill"), "no person with a phenotype"),
    "quantitative phenotype": (".fam", last_word(b"3.7"), "only case/control phenotypes"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line_and_nothing_is_charged(
    study: Path, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end, change, told = BAD[name]
    for each in (".bed", ".bim", ".fam"):
        body = Path(f"{study}{each}").read_bytes()
        (tmp_path / f"t{each}").write_bytes(change(body) if each == end else body)
    refused(["gwas", str(tmp_path / "t")], told, tmp_path, capsys)


@pytest.mark.parametrize("filter_", ["--chr", "--extract"])
def test_no_snp_left(study: Path, filter_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none").write_text("rs1\n")
    value = "77" if filter_ == "--chr" else str(tmp_path / "none")
    refused(["gwas", str(study), filter_, value], "no SNP of s.bim is left", tmp_path, capsys)


USAGE = {
    "budget and maf": (["--freq", "budget", "--maf", "0.1"], "leave out maf"),
    "share": (["--freq", "budget", "--freq-share", "0"], "--freq-share must lie within 0 and 1"),
    "no panel": (["--freq", "nowhere.frq"], "can't read nowhere.frq"),
    "answers": (["--max-answers", "3", "--max-hits", "4"], "fewer answers than hits"),
    "answers of em": (["--max-answers", "30", "--method", "em"], "is for svt"),
    "prefix and tables": (["--model", "x.model"], "give a PREFIX, or tables"),
    "no keep file": (["--keep", "nowhere"], "can't read nowhere"),
    "no pheno column": (["--pheno", "FAM", "--mpheno", "9"], "no phenotype column 9"),
}


@pytest.mark.parametrize("name", USAGE)
def test_bad_usage(study: Path, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, told = USAGE[name]
    refused(
        ["gwas", str(study), *(f"{study}.fam" if w == "FAM" else w for w in words)], told, tmp_path, capsys
    )


def refused(words: list[str], told: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, one line that says ``told``, nothing on standard output, no file, nothing charged."""
    url, out = f"sqlite:///{folder}/ledger.db", folder / "out"
    account = ["--ledger", url, "--dataset", "d"]
    assert run(["ledger", "create", *account, "--epsilon", "5", "--neighbours", "fixed-labels"]) == 0
    capsys.readouterr()
    assert run([*words, "--epsilon", "1", "--out", str(out), "--json", *account]) == 2
    seen = capsys.readouterr()
    assert told in seen.err
    assert seen.err.count("\n") == 1
    assert seen.out == ""
    assert not list(out.glob("*"))
    assert run(["ledger", "show", *account, "--json"]) == 0
    (kept,) = json.loads(capsys.readouterr().out)["datasets"]
    assert (kept["spent_epsilon"], kept["releases"]) == (0.0, 0)
