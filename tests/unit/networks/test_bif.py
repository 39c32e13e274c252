from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal.core.errors import InputError
from dpcausal.graphs import Graph
from dpcausal.networks import Network, Variable, load, names, read_bif
from dpcausal.networks.bif import format_bif, parse_bif, write_bif

DOG = Path(__file__).parents[2] / "data" / "networks" / "dog.bif"

GOOD = """network unknown {
}
variable a {
  type discrete [ 2 ] { x, y };
}
variable b {
  type discrete [ 3 ] { -1, <2.5, "all others" };
}
probability ( a ) {
  table 0.25, 0.75;
}
probability ( b | a ) {
  (x) 0.5, 0.25, 0.25;
  (y) 1e-1, .2, 7.0E-01;
}
"""


def test_old_style_file_has_the_published_numbers() -> None:
    dog = read_bif(DOG)
    assert dog.name == "Dog Problem"
    assert dog["light-on"].table.tolist() == [[0.6, 0.4], [0.05, 0.95]]
    assert dog["dog-out"].parents == ("bowel-problem", "family-out")
    assert dog["dog-out"].table[:, :, 0].tolist() == [[0.99, 0.97], [0.9, 0.3]]
    assert dog.joint(["dog-out"])[0] == pytest.approx(
        0.01 * (0.15 * 0.99 + 0.85 * 0.97) + 0.99 * (0.15 * 0.9 + 0.85 * 0.3)
    )


def test_bnlearn_style_with_odd_levels_and_scientific_notation() -> None:
    network = parse_bif(GOOD)
    assert network["b"].levels == ("-1", "<2.5", "all others")
    assert network["b"].table.tolist() == [[0.5, 0.25, 0.25], pytest.approx([0.1, 0.2, 0.7])]
    assert network.dag == Graph(["a", "b"], directed=[("a", "b")])


def test_default_fills_rows_that_are_not_listed() -> None:
    text = GOOD.replace("(y) 1e-1, .2, 7.0E-01", "default 0.2, 0.2, 0.6")
    assert parse_bif(text)["b"].table.tolist() == [[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]


def test_blocks_may_come_in_any_order() -> None:
    cut = GOOD.index("probability ( a )")
    assert parse_bif(GOOD[cut:] + GOOD[:cut]) == parse_bif(GOOD)


def test_rows_near_one_are_divided_by_their_sum() -> None:
    table = parse_bif(GOOD.replace("0.25, 0.75", "0.333, 0.666"))["a"].table
    assert table.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert table.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("table 0.25, 0.75", "table 0.25, 0.85", 10, "sum 1, not 1.1"),
        ("table 0.25, 0.75", "table -0.25, 1.25", 10, "must be probabilities"),
        ("table 0.25, 0.75", "table nan, 1", 10, "must be probabilities"),
        ("table 0.25, 0.75", "table 1.0", 10, "expected 2 numbers, not 1"),
        ("table 0.25, 0.75", "table 0.25, many", 10, "expected a number, not 'many'"),
        ("table 0.25, 0.75", "tabel 0.25, 0.75", 10, "expected table, default"),
        ("table 0.25, 0.75;", "table 0.25, 0.75; table 0.25, 0.75;", 10, "given twice"),
        ("(y) 1e-1", "(z) 1e-1", 14, '"a" has no level "z"'),
        ("(y) 1e-1", "(x) 1e-1", 14, "two rows for the same levels"),
        ("(y) 1e-1", "(y, y) 1e-1", 14, "expected 1 levels, not 2"),
        ("  (y) 1e-1, .2, 7.0E-01;\n", "", 12, "no row for (y) and no default"),
        ("(y) 1e-1, .2", "(y) 0.5, .2", 14, "sum 1, not 1.4"),
        ("b | a", "b | aa", 12, 'no variable "aa" (did you mean "a"?)'),
        ("b | a", "b | b", 12, "each once"),
        ("probability ( b | a )", "probability ( a )", 12, "each once"),
        ("[ 3 ]", "[ 4 ]", 7, "says [4] and lists 3"),
        ("{ x, y }", "{ x, x }", 4, "a level twice"),
        ("type discrete [ 2 ] { x, y };", "", 3, "has no type"),
        ("type discrete [ 2 ]", "type continuous [ 2 ]", 4, "expected 'discrete'"),
        ("variable b", "variable a", 6, "given twice"),
        ("variable b", "varible b", 6, "expected network, variable or probability, not 'varible'"),
        ('"all others"', '"all others', 7, "quote is not closed"),
        ("variable b", 'variable "b\\n"', 12, 'no variable "b"'),
        ("7.0E-01;\n}", "7.0E-01;", 12, "no '}' after this"),
        ("variable b {", "variable {", 6, "expected a name"),
    ],
)
def test_malformed_text_is_one_error_with_source_and_line(
    old: str, new: str, line: int, message: str
) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(InputError) as caught:
        parse_bif(GOOD.replace(old, new), "some.bif")
    assert str(caught.value).startswith(f"some.bif, line {line}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cycle_empty_text_and_missing_block() -> None:
    cycle = GOOD.replace("( a ) {\n  table 0.25, 0.75;", "( a | b ) {\n  default 0.25, 0.75;")
    with pytest.raises(InputError, match=r'some\.bif: "b" and "a" .*cycle'):
        parse_bif(cycle, "some.bif")
    with pytest.raises(InputError, match="no variables"):
        parse_bif("")
    with pytest.raises(InputError, match='"b" has no probability'):
        parse_bif(GOOD[: GOOD.index("probability ( b")])


def test_every_prefix_of_a_file_reads_or_is_an_input_error() -> None:
    complete = 0
    for end in range(len(GOOD) + 1):
        try:
            parse_bif(GOOD[:end])
            complete += 1
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
    assert complete == 2  # with and without the last line end


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.bif"
    binary.write_bytes(b"\xff\xfe\xff")
    torn = tmp_path / "torn.bif.gz"
    torn.write_bytes(gzip.compress(GOOD.encode())[:-12])
    for path in (tmp_path / "none.bif", tmp_path, binary, torn):
        with pytest.raises(InputError, match=path.name):
            read_bif(path)


def test_name_comes_from_the_file_where_the_text_has_none(tmp_path: Path) -> None:
    path = tmp_path / "small.bif.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert read_bif(path).name == "small"


@pytest.mark.parametrize("name", names())
def test_embedded_networks_survive_a_round_trip(name: str, tmp_path: Path) -> None:
    network = load(name)
    write_bif(network, tmp_path / "out.bif")
    back = read_bif(tmp_path / "out.bif")
    assert (back.name, back.dag) == (network.name, network.dag)
    for variable in network:
        assert back[variable.name].levels == variable.levels
        np.testing.assert_allclose(back[variable.name].table, variable.table, rtol=0, atol=1e-15)


NAMES = st.one_of(
    st.text(
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"),
        min_size=1,
        max_size=5,
    ),
    st.text('/*"\\ \n\r\t,;{}()[]|-.<>_a1', min_size=1, max_size=5),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(NAMES, unique=True, min_size=1, max_size=3), st.lists(NAMES, unique=True, min_size=1, max_size=4)
)
def test_any_names_survive_a_round_trip(variables: list[str], levels: list[str]) -> None:
    rng = np.random.default_rng(len(levels))
    made = []
    for i, name in enumerate(variables):
        table = rng.dirichlet(np.ones(len(levels)), size=(len(levels),) * i)
        made.append(Variable(name, levels, variables[:i], table))
    network = Network(variables[0], made)
    back = parse_bif(format_bif(network))
    assert (back.name, back.dag, back.dag.nodes) == (network.name, network.dag, network.dag.nodes)
    for variable in network:
        assert back[variable.name].levels == variable.levels
        assert back[variable.name].parents == variable.parents
        np.testing.assert_allclose(back[variable.name].table, variable.table, rtol=0, atol=1e-15)
