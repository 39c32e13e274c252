"""The neighbours on which ``dpcausal audit`` runs public calls are as near to the charge as they were found to be."""

from __future__ import annotations

import json

import pytest
import worst

from dpcausal.audit.calls import CALLS

STORED = json.loads(worst.FILE.read_text())
NAMED = [(name, relation) for name in STORED for relation in STORED[name]]
FAR = {
    "ci-test:crt:rank": "a rank seldom uses up its charge: RANKED in test_wiring.py",
    "ci-test:chi2": "of one part: the score of one value has moved by its whole, which is half of what two may",
    "ci-test:g": "the same",
    "ci-test:kendall:numbers": "a part of the charge pays for the strata, and no row uses up both",
    "ci-test:spearman:numbers": "the same",
    "discover:priv-pc": "chosen for exact answers that differ, and few pairs of theirs do",
}


def test_all_calls_have_neighbours() -> None:
    assert [(name, relation) for name, call in CALLS.items() for relation in call.relations] == NAMED


@pytest.mark.parametrize(("name", "relation"), NAMED)
def test_stored_neighbours_come_near_the_charge(name: str, relation: str) -> None:
    kept = STORED[name][relation]
    star, seed = worst.stored_star(kept)
    ((share, *_),) = worst.pairs(CALLS[name], star, relation, seed)
    assert share == pytest.approx(kept["share"], abs=1e-3)
    assert share >= (0.4 if name in FAR else 0.6)
