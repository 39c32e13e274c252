"""What was declared beforehand is told again in the user's terms."""

from __future__ import annotations

import dpcausal as dc
from dpcausal.discovery.knowledge import Knowledge, declared
from dpcausal.present.graph_words import declared_words

NAMES = ["a", "b", "c", "d", "e"]


def test_nothing_declared_is_nothing_said() -> None:
    assert declared(Knowledge.of(NAMES)) == {}
    assert declared_words(Knowledge.of(NAMES)) == ""


def test_every_kind_is_told() -> None:
    known = Knowledge.of(
        NAMES,
        required=[("c", "d"), {"a", "e"}],
        forbidden=[{"b", "e"}, ("d", "e")],
        tiers=[["a", "b"], ["c"]],
    )
    assert declared(known) == {
        "tiers": [["a", "b"], ["c"]],
        "required": ["a - e", "c -> d"],
        "forbidden": ["b - e", "d -> e"],
    }
    words = declared_words(known)
    assert all(
        part in words for part in ("a, b, then c;", "required a - e, c -> d;", "forbidden b - e, d -> e.")
    )


def test_what_was_told_gives_the_same_knowledge_again() -> None:
    known = Knowledge.of(
        NAMES, required=[("b", "a"), {"c", "d"}], forbidden=[("a", "e"), ("e", "a")], tiers=[["c"], ["d"]]
    )
    told = declared(known)

    def edges(texts: list[str]) -> list[tuple[str, ...] | frozenset[str]]:
        return [tuple(text.split(" -> ")) if "->" in text else frozenset(text.split(" - ")) for text in texts]

    again = Knowledge.of(NAMES, edges(told["required"]), edges(told["forbidden"]), told["tiers"])
    assert again == known


def test_a_result_carries_it() -> None:
    data = dc.networks.load("cancer").sample(500, seed=1)
    result = dc.discover(data, epsilon=1.0, tiers=[["Smoker"], ["Cancer"]])
    assert result.to_dict()["declared"] == {"tiers": [["Smoker"], ["Cancer"]]}
    assert ("Smoker", "Cancer") in result.known.arrows
    assert declared_words(result.known) in result.summary(full=True)
    bare = dc.discover(data, epsilon=1.0)
    assert "Declared" not in bare.summary(full=True)
