from __future__ import annotations

import string

import numpy as np
import pytest

import dpcausal
from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical
from dpcausal.graphs import Graph
from dpcausal.networks import Network, Variable, load, names
from dpcausal.networks.network import BLOCK, _cumulative, _draw


@pytest.mark.parametrize("name", names())
def test_tables_of_embedded_networks_sum_to_one(name: str) -> None:
    for variable in load(name):
        np.testing.assert_allclose(variable.table.sum(axis=-1), 1, rtol=0, atol=1e-15)
        assert variable.table.min() >= 0


def test_published_numbers() -> None:
    asia, sachs, survey = load("asia"), load("sachs"), load("survey")
    assert asia["smoke"].table.tolist() == [0.5, 0.5]
    assert asia["lung"].table.tolist() == [[0.1, 0.9], [0.01, 0.99]]
    assert asia["dysp"].parents == ("bronc", "either")
    assert asia["dysp"].table[:, :, 0].tolist() == [[0.9, 0.8], [0.7, 0.1]]
    assert load("earthquake")["Alarm"].table[:, :, 0].tolist() == [[0.95, 0.94], [0.29, 0.001]]
    assert load("cancer")["Cancer"].table[:, :, 0].tolist() == [[0.03, 0.001], [0.05, 0.02]]
    assert survey["E"].table[1, 1].tolist() == pytest.approx([0.7, 0.3])  # adult, F
    assert survey["T"].table[0, 1].tolist() == pytest.approx([0.58, 0.24, 0.18])  # emp, big
    assert sachs["PKC"].table.tolist() == pytest.approx([0.42313152, 0.48163920, 0.09522928])
    assert sachs["Mek"].parents == ("PKA", "PKC", "Raf")
    assert sachs["Mek"].table[0, 0, 2].tolist() == pytest.approx([0.262181426, 0.001450275, 0.736368299])
    assert sachs["Mek"].table[2, 0, 0].tolist() == pytest.approx(
        [9.977281e-01, 2.244485e-03, 2.737176e-05], rel=1e-6
    )


def test_published_margins_of_asia() -> None:
    # Lauritzen and Spiegelhalter (1988), before any evidence.
    expected = {"tub": 0.0104, "lung": 0.055, "bronc": 0.45, "either": 0.0648, "xray": 0.1103, "dysp": 0.4360}
    for name, probability in expected.items():
        assert load("asia").joint([name])[0] == pytest.approx(probability, abs=5e-5)


@pytest.mark.parametrize("name", names())
def test_joint_agrees_with_the_product_of_all_tables(name: str) -> None:
    network = load(name)
    letter = dict(zip(network.dag.nodes, string.ascii_letters, strict=False))
    inputs = ",".join("".join(letter[n] for n in (*v.parents, v.name)) for v in network)
    full = np.einsum(f"{inputs}->{''.join(letter.values())}", *[v.table for v in network], optimize=True)
    nodes = network.dag.nodes
    assert full.sum() == pytest.approx(1)
    for columns in [(nodes[0],), (nodes[-1], nodes[0]), (nodes[2], nodes[4], nodes[1]), ()]:
        others = tuple(i for i, n in enumerate(nodes) if n not in columns)
        left = [n for n in nodes if n in columns]
        expected = full.sum(axis=others).transpose([left.index(n) for n in columns])
        np.testing.assert_allclose(network.joint(columns), expected, rtol=0, atol=1e-13)


def test_joint_refuses_unknown_doubled_and_too_large() -> None:
    with pytest.raises(InputError, match=r'no variable "smok".*"smoke"'):
        load("asia").joint(["smok"])
    with pytest.raises(InputError, match="given twice"):
        load("asia").joint(["smoke", "smoke"])
    wide = Network("wide", [Variable(f"v{i}", ["a", "b"], [], [0.5, 0.5]) for i in range(30)])
    with pytest.raises(InputError, match="cells"):
        wide.joint([f"v{i}" for i in range(30)])


CPDAGS = {
    "asia": Graph(
        ["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"],
        directed=[
            ("tub", "either"),
            ("lung", "either"),
            ("either", "xray"),
            ("either", "dysp"),
            ("bronc", "dysp"),
        ],
        undirected=[("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc")],
    ),
    "cancer": Graph(
        ["Pollution", "Smoker", "Cancer", "Xray", "Dyspnoea"],
        directed=[("Pollution", "Cancer"), ("Smoker", "Cancer"), ("Cancer", "Xray"), ("Cancer", "Dyspnoea")],
    ),
    "earthquake": Graph(
        ["Burglary", "Earthquake", "Alarm", "JohnCalls", "MaryCalls"],
        directed=[
            ("Burglary", "Alarm"),
            ("Earthquake", "Alarm"),
            ("Alarm", "JohnCalls"),
            ("Alarm", "MaryCalls"),
        ],
    ),
    "survey": Graph(
        ["A", "S", "E", "O", "R", "T"],
        directed=[("A", "E"), ("S", "E"), ("E", "O"), ("E", "R"), ("O", "T"), ("R", "T")],
    ),
    # Every two parents of a node are adjacent: no v-structure, so nothing is decided.
    "sachs": Graph(
        ["Akt", "Erk", "Jnk", "Mek", "P38", "PIP2", "PIP3", "PKA", "PKC", "Plcg", "Raf"],
        undirected=[
            *[("PKC", other) for other in ("PKA", "Raf", "Mek", "Jnk", "P38")],
            *[("PKA", other) for other in ("Raf", "Mek", "Erk", "Akt", "Jnk", "P38")],
            *[
                ("Raf", "Mek"),
                ("Mek", "Erk"),
                ("Erk", "Akt"),
                ("Plcg", "PIP3"),
                ("Plcg", "PIP2"),
                ("PIP3", "PIP2"),
            ],
        ],
    ),
}


@pytest.mark.parametrize("name", names())
def test_cpdags_worked_out_by_hand(name: str) -> None:
    assert load(name).cpdag == CPDAGS[name]
    assert load(name).dag.is_dag()


def test_unknown_name_is_a_clear_error() -> None:
    with pytest.raises(InputError, match=r'no network "asai" \(did you mean "asia"\?\)'):
        load("asai")


def test_package_exports_the_room() -> None:
    assert dpcausal.networks.load("asia") is load("asia")


def test_schema_declares_levels_and_order() -> None:
    schema = load("survey").schema
    assert list(schema) == ["A", "S", "E", "O", "R", "T"]
    assert schema["A"] == Categorical(["young", "adult", "old"], ordered=True)
    assert schema["T"] == Categorical(["car", "train", "other"])


def test_same_seed_same_rows_other_seed_other_rows() -> None:
    asia = load("asia")
    first, again, other = (asia.sample(BLOCK + 100, seed) for seed in (7, 7, 8))
    for name in asia.dag.nodes:
        np.testing.assert_array_equal(first.codes[name], again.codes[name])
    assert any((first.codes[name] != other.codes[name]).any() for name in asia.dag.nodes)
    fresh = asia.sample(BLOCK + 100, np.random.default_rng(7))
    np.testing.assert_array_equal(fresh.codes["dysp"], first.codes["dysp"])


@pytest.mark.parametrize("n", [0, 1, BLOCK, BLOCK + 1])
def test_sizes_and_types_of_a_sample(n: int) -> None:
    data = load("sachs").sample(n, seed=1)
    assert data.n == n
    assert data.columns == load("sachs").dag.nodes
    assert {codes.dtype for codes in data.codes.values()} == {np.dtype(np.uint8)}
    assert all(codes.max(initial=0) <= 2 for codes in data.codes.values())


def test_many_levels_take_two_bytes_and_all_are_reached() -> None:
    levels = [str(i) for i in range(300)]
    network = Network("wide", [Variable("v", levels, [], np.full(300, 1 / 300))])
    codes = network.sample(20_000, seed=3).codes["v"]
    assert codes.dtype == np.uint16
    # A level is missed with probability (1 - 1/300)^20000 < 1e-28.
    assert set(codes.tolist()) == set(range(300))


@pytest.mark.parametrize(
    ("n", "seed"), [(-1, 1), (1.5, 1), ("10", 1), (True, 1), (10, -1), (10, None), (10, "x")]
)
def test_bad_n_or_seed(n: int, seed: int) -> None:
    with pytest.raises(InputError, match="whole number"):
        load("asia").sample(n, seed)


def test_levels_of_probability_zero_are_never_drawn() -> None:
    rng = np.random.default_rng(1)
    extremes = np.array([0.0, np.nextafter(1, 0), 0.5])
    for _ in range(300):
        size = int(rng.integers(1, 9))
        table = rng.dirichlet(np.full(size, 0.3)) * (rng.random(size) < 0.6)
        if table.sum() == 0:
            table[rng.integers(size)] = 1.0
        variable = Variable("v", [str(i) for i in range(size)], [], table / table.sum())
        drawn = _draw(_cumulative(variable), np.zeros(1, dtype=np.intp), extremes)
        assert (variable.table[drawn] > 0).all()


def test_one_level_only() -> None:
    data = Network("one", [Variable("v", ["a"], [], [1.0])]).sample(10, seed=1)
    assert data.codes["v"].tolist() == [0] * 10


@pytest.mark.parametrize(
    ("levels", "parents", "table", "message"),
    [
        (["a", "b"], [], [0.5, 0.6], "sums to 1.1"),
        (["a", "b"], [], [-0.5, 1.5], "no probability"),
        (["a", "b"], [], [float("nan"), 1.0], "no probability"),
        (["a", "b"], [], [1.0], "does not fit"),
        (["a", "b"], ["p"], [0.5, 0.5], "does not fit"),
        (["a", "b"], [], [[0.5], [0.2, 0.3]], "not an array"),
        (["a", "a"], [], [0.5, 0.5], "a level given twice"),
        (["a", "b"], ["p", "p"], [[[0.5, 0.5]]], "a parent given twice"),
        ([], [], [], "does not fit"),
    ],
)
def test_bad_variables(levels: list[str], parents: list[str], table: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Variable("v", levels, parents, table)


def test_bad_networks() -> None:
    root = Variable("a", ["x", "y"], [], [0.5, 0.5])
    child = Variable("b", ["x", "y"], ["a"], [[0.5, 0.5]] * 2)
    with pytest.raises(InputError, match='"a" given twice'):
        Network("n", [root, root])
    with pytest.raises(InputError, match='parent "a" of "b" is no variable'):
        Network("n", [child])
    with pytest.raises(InputError, match=r"need \(2, 2\)"):
        Network("n", [root, Variable("b", ["x", "y"], ["a"], [[0.5, 0.5]] * 3)])
    with pytest.raises(InputError, match=r'"b" and "a" .*cycle'):
        Network("n", [Variable("a", ["x", "y"], ["b"], [[0.5, 0.5]] * 2), child])
    ring = [Variable(name, ["x"], [parent], [[1.0]]) for name, parent in ("ab", "bc", "ca")]
    with pytest.raises(InputError, match="cycle"):
        Network("n", ring)


def test_equality_and_immutability() -> None:
    a, same, other = (Variable("a", ["x", "y"], [], table) for table in ([0.5, 0.5], [0.5, 0.5], [0.4, 0.6]))
    assert a == same
    assert hash(a) == hash(same)
    assert a != other
    assert Network("n", [a]) == Network("n", [same])
    assert Network("n", [a]) != Network("n", [other])
    with pytest.raises(ValueError, match="read-only"):
        a.table[0] = 1.0
    with pytest.raises(AttributeError):
        a.name = "b"  # type: ignore[misc]
