from __future__ import annotations

import pytest

from dpcausal.core.errors import InputError
from dpcausal.graphs import Graph, d_separated, reachable

# asia: asia -> tub -> either <- lung <- smoke -> bronc -> dysp <- either -> xray
ASIA = Graph(
    ["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"],
    directed=[
        ("asia", "tub"),
        ("smoke", "lung"),
        ("smoke", "bronc"),
        ("tub", "either"),
        ("lung", "either"),
        ("either", "xray"),
        ("either", "dysp"),
        ("bronc", "dysp"),
    ],
)


@pytest.mark.parametrize(
    ("x", "y", "given", "separated"),
    [
        ("tub", "lung", [], True),
        ("tub", "lung", ["either"], False),
        ("tub", "lung", ["xray"], False),
        ("tub", "lung", ["dysp"], False),
        ("tub", "lung", ["bronc"], True),
        ("xray", "dysp", ["bronc"], False),
        ("xray", "dysp", ["either"], True),
        ("xray", "bronc", [], False),
        ("xray", "bronc", ["smoke"], True),
        ("xray", "bronc", ["smoke", "dysp"], False),
        ("lung", "bronc", ["smoke"], True),
        ("lung", "bronc", ["smoke", "dysp"], False),
        ("asia", "smoke", ["xray"], False),
        ("asia", "smoke", ["xray", "tub"], True),
    ],
)
def test_asia(x: str, y: str, given: list[str], separated: bool) -> None:
    assert d_separated(ASIA, x, y, given) is separated
    assert d_separated(ASIA, y, x, given) is separated
    assert (y in reachable(ASIA, x, given)) is not separated


def test_sets_are_separated_when_every_pair_is() -> None:
    assert d_separated(ASIA, ["asia", "tub"], ["smoke", "bronc"])
    assert not d_separated(ASIA, ["asia", "tub"], ["smoke", "xray"])


@pytest.mark.parametrize(
    ("x", "y", "given"),
    [("tub", "tub", []), ("tub", "lung", ["tub"]), ("tub", "lung", ["lung"]), ("nope", "tub", [])],
)
def test_overlap_and_unknown_names_are_refused(x: str, y: str, given: list[str]) -> None:
    with pytest.raises(InputError):
        d_separated(ASIA, x, y, given)
    with pytest.raises(InputError):
        d_separated(ASIA, y, x, given)


def test_only_a_dag_has_d_separation() -> None:
    with pytest.raises(InputError, match="needs a DAG"):
        d_separated(Graph(["a", "b"], undirected=[("a", "b")]), "a", "b")
