"""A session given its relation by name does what it does given the value itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import Question, TestSettings
from dpcausal.citests.rank import KendallTest
from dpcausal.citests.session import Session
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours

SCHEMA = dc.Schema(x=dc.Categorical([0, 1], ordered=True), y=dc.Categorical([0, 1], ordered=True))
BOTH = [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE]


def data(n: int) -> dc.Dataset:
    codes = np.arange(n, dtype=np.int64) % 2
    return dc.Dataset(SCHEMA, n, {"x": codes.astype(np.uint8), "y": codes.astype(np.uint8)})


class Watched(KendallTest):
    """Keeps what it is asked under."""

    def private(self, question: Question, blocks: Any, settings: TestSettings, budget: Any) -> Any:
        object.__setattr__(self, "seen", settings)
        return super().private(question, blocks, settings, budget)


@pytest.mark.parametrize("relation", BOTH)
def test_the_name_of_a_relation_is_the_relation(relation: Neighbours) -> None:
    """As a text, add-remove handed the number of rows to the test."""
    seen = []
    for given in (relation, relation.value):
        method = Watched()
        budget = dc.Budget(1.0, neighbours=given)
        session = Session(data(40), method, level=0.05, epsilon=1.0, neighbours=given, budget=budget)
        session.ask("x", "y")
        seen.append(method.seen)  # type: ignore[attr-defined]
    assert seen[0] == seen[1]
    assert type(seen[1].neighbours) is Neighbours
    assert (seen[1].n is None) == (relation is Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("relation", BOTH)
def test_settings_take_the_name_too(relation: Neighbours) -> None:
    settings = TestSettings(1.0, 0.0, 0.05, relation.value, 10)  # type: ignore[arg-type]
    assert settings.neighbours is relation


def test_an_unknown_relation_is_one_line() -> None:
    with pytest.raises(InputError, match="neighbours must be"):
        Session(data(4), KendallTest(), level=0.05, epsilon=1.0, neighbours="add-one", budget=dc.Budget(1.0))
