"""Genotypes at a desk: a screening is rehearsed on zeros, charged and run; nobody can ask for a weaker promise."""

from __future__ import annotations

import pytest
from tests.unit.desk.conftest import PEOPLE, at, person

import dpcausal as dc
from dpcausal.desk.config import parse_config
from dpcausal.desk.store import Desk
from dpcausal.desk.wire import from_wire, to_wire
from dpcausal.desk.worker import RESULT, run_job, warm_up

STUDY = dc.gwas.Simulation(people=4000, snps=200, causal=2, odds_ratio=2.5, seed=3)
DATA = {
    "source": "study",
    "snps": 200,
    "cases": 2000,
    "controls": 2000,
    "epsilon": 100.0,
    "approvals": 0,
}


@pytest.fixture
def make(tmp_path):
    STUDY.write(tmp_path / "study")

    def desk(**rules: object) -> Desk:
        people = [{"name": name, "role": role} for name, role in PEOPLE.items()]
        plain = {"ledger": "sqlite:///desk.db", "persons": people, "datasets": {"genes": {**DATA, **rules}}}
        return Desk.open(parse_config(plain, tmp_path), create=True)

    return desk


def ask(desk: Desk, **arguments: object):
    return desk.ask(person("anna"), "genes", "gwas", {"epsilon": 40.0, **arguments}, purpose="which SNPs")


@pytest.mark.parametrize("method", ["svt", "em"])
def test_a_screening_is_charged_and_its_result_comes_back_as_it_was(make, method):
    desk = make()
    asked = ask(desk, method=method, level=1e-4)
    entry = desk.ledger.log("genes")[-1]
    assert (entry.epsilon, entry.person, entry.purpose) == ("40.0", "anna", "which SNPs")
    assert desk.ledger.show("genes")[0].neighbours == "fixed-labels"
    job = desk.claim()
    with dc.testing.seeded(5):
        run_job(desk, job)
    files = at(desk, desk.request(asked.id).visible).files(desk.request(asked.id))
    found = from_wire(files[RESULT].decode())
    assert {hit.variant.name for hit in found.rejected} == {"snp51", "snp151"}
    assert files["hits.tsv"].decode() == found.to_tsv()
    assert files["answer.json"].decode() == found.to_json()
    assert found.privacy.epsilon <= 40.0
    assert desk.ledger.log("genes")[-1] == entry


def test_what_a_person_is_promised_is_not_the_analyst_s_to_choose(make):
    desk = make()
    for name, value in (("unit", "allele"), ("counts", "study"), ("neighbours", "replace-one"), ("x", "a")):
        with pytest.raises(dc.InputError, match=f"takes no '{name}'"):
            ask(desk, **{name: value})
    for command in ("discover", "effect", "ci_test"):
        with pytest.raises(dc.InputError, match="answers gwas"):
            desk.rehearse(person("anna"), "genes", command, {"epsilon": 0.1})


def test_a_rehearsal_reads_no_genotype_and_a_forecast_follows_from_public_numbers(make, tmp_path):
    desk = make()
    (tmp_path / "study.bed").unlink()
    warm_up(desk)
    _, cost = desk.rehearse(person("anna"), "genes", "gwas", {"epsilon": 40.0})
    _, more = desk.rehearse(person("anna"), "genes", "gwas", {"epsilon": 4.0})
    assert (cost["epsilon"], cost["delta"], cost["neighbours"]) == (40.0, 0.0, "fixed-labels")
    need = [float(one["forecast"].split("chi-squared of ")[1].split()[0]) for one in (cost, more)]
    assert need[0] < need[1]


def test_other_public_numbers_than_declared_end_the_job_before_its_noise(make):
    desk = make(cases=1999)
    ask(desk)
    job = desk.claim()
    with pytest.raises(dc.InputError, match="declared with 200 SNPs, 1999 cases"):
        run_job(desk, job)
    assert desk.request(job.id).state == "running"


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"schema": "schema.toml"}, "schema is for tables"),
        ({"rows": 10}, "rows is for tables"),
        ({"unit": "pid"}, "unit is for tables"),
        ({"cases": 0}, "cases and controls"),
        ({"commands": ["discover"]}, "commands are gwas"),
        ({"missing": "reference"}, "allele"),
        ({"snps": 0}, "schema is missing"),
    ],
)
def test_a_study_that_can_t_be_registered_is_refused_in_one_line(tmp_path, more, line):
    plain = {"ledger": "sqlite:///desk.db", "datasets": {"genes": {**DATA, **more}}}
    with pytest.raises(dc.InputError, match=line):
        parse_config(plain, tmp_path)


def test_counts_do_not_leave():
    with pytest.raises(dc.InputError, match="does not leave"):
        to_wire(STUDY.counts())
