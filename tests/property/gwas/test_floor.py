"""What one person can move the copies of the rarest allele, on the shipped path: genotypes -> counts -> noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpcausal.gwas.cohort import GenotypeCounts
from dpcausal.gwas.screen import Screen
from dpcausal.gwas.statistics import least_minor_count, least_minor_sensitivity

CASES, CONTROLS = 2, 2


def rarest(genotypes: np.ndarray) -> int:
    """From copies of allele 1 (people x SNPs, cases first), through the counts that are shipped."""
    parts = [
        (part == copies).sum(axis=0) for part in (genotypes[:CASES], genotypes[CASES:]) for copies in (2, 1)
    ]
    table = np.stack(parts, 1).astype(np.int32)
    counts = GenotypeCounts(table, CASES, len(genotypes) - CASES, [], np.arange(len(table)))
    return least_minor_count(*counts.alleles(), 2 * len(genotypes))


def largest_move(alleles: int) -> int:
    """Over every study of 4 people and 2 SNPs, and every other pair of genotypes of one person."""
    people = CASES + CONTROLS
    value = {g: rarest(np.array(g).reshape(people, 2)) for g in product((0, 1, 2), repeat=2 * people)}
    largest = 0
    for g, before in value.items():
        for person in range(people):
            for other in product((0, 1, 2), repeat=2):
                if max(abs(other[s] - g[2 * person + s]) for s in (0, 1)) <= alleles:
                    changed = (*g[: 2 * person], *other, *g[2 * person + 2 :])
                    largest = max(largest, abs(value[changed] - before))
    return largest


@pytest.mark.parametrize(("unit", "alleles"), [("person", 2), ("allele", 1)])
def test_every_study_of_four_people(unit: str, alleles: int) -> None:
    """Attained and never exceeded: a bound 30% smaller would be."""
    bound = least_minor_sensitivity(person=unit == "person")
    largest = largest_move(alleles)
    assert largest <= bound
    assert largest > 0.7 * bound
    plan = Screen(
        snps=2, cases=CASES, controls=CONTROLS, epsilon=1.0, level=0.5, freq_share=0.25, unit=unit, max_hits=1
    )  # type: ignore[arg-type]
    assert plan.floor.on.exact
    assert Fraction(largest) / Fraction(plan.floor.steps[1]) <= Fraction(1, 4)


def test_climbing_in_large_studies_finds_no_more() -> None:
    """The person who carries the rarest allele at every SNP is the one to remove."""
    generator = np.random.default_rng(2)
    found = 0
    for _ in range(200):
        people, snps = int(generator.integers(3, 40)), int(generator.integers(1, 30))
        genotypes = generator.binomial(2, generator.beta(0.4, 0.4, snps), (people, snps))
        person = int(generator.integers(people))
        before = rarest(genotypes)
        for target in (0, 2):
            changed = genotypes.copy()
            changed[person] = target
            found = max(found, abs(rarest(changed) - before))
    assert found == 2
