from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from dpcausal.core.errors import InputError, SchemaError
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.schema import Schema

PROMISED = """
[columns.smoke]
type = "categorical"
levels = ["no", "yes"]      # public
other = "no"
[columns.age]
type = "numeric"
lower = 0
upper = 110
bins = [18, 40, 65]
"""


def test_the_promised_schema_file_reads_as_declared(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_bytes(b"\xef\xbb\xbf" + PROMISED.encode())
    expected = Schema(smoke=Categorical(["no", "yes"]), age=Numeric(0, 110, [18, 40, 65]))
    assert Schema.from_toml(path) == expected
    expected.write(tmp_path / "again.toml")
    assert Schema.from_toml(str(tmp_path / "again.toml")) == expected


def test_a_schema_is_an_ordered_immutable_mapping() -> None:
    schema = Schema({"a b": Numeric(0, 1)}, c=Categorical([1, 2]))
    assert list(schema) == ["a b", "c"]
    assert "c" in schema
    assert len(schema) == 2
    assert schema != Schema([("c", Categorical([1, 2])), ("a b", Numeric(0, 1))])
    with pytest.raises(AttributeError):
        schema.other = 1  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(schema)) == schema  # noqa: S301
    assert copy.deepcopy(schema) == schema
    assert hash(copy.copy(schema)) == hash(schema)


def test_select_keeps_the_order_asked_for() -> None:
    schema = Schema(a=Numeric(0, 1), b=Numeric(0, 2), c=Numeric(0, 3))
    assert list(schema.select(["c", "a"])) == ["c", "a"]
    with pytest.raises(SchemaError, match=r'no columns "bb" .did you mean "b".., "cc"'):
        schema.select(["bb", "cc"])
    with pytest.raises(SchemaError, match=r'no column "bb" in the schema .did you mean "b"'):
        schema.select(["bb"])


def test_a_schema_refuses_what_is_no_column() -> None:
    with pytest.raises(SchemaError, match="one column"):
        Schema()
    with pytest.raises(SchemaError, match='"a" is declared twice'):
        Schema([("a", Numeric(0, 1)), ("a", Numeric(0, 1))])
    with pytest.raises(SchemaError, match=r'"a" .*Categorical or Numeric'):
        Schema(a=["no", "yes"])  # type: ignore[arg-type]
    for name in ("", 3, "\udfff"):
        with pytest.raises(SchemaError, match="must be text"):
            Schema({name: Numeric(0, 1)})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            '[columns.a]\ntype = "numeric"\nlower = 1\nuper = 2',
            4,
            'unknown key "uper" (did you mean "upper"?)',
        ),
        (
            '[columns.a]\ntype = "categorical"\nlevels = ["x"]\nlower = 0',
            4,
            'column "a" is categorical: "lower" belongs to numeric columns; leave it out, or declare',
        ),
        (
            '[columns.a]\ntype = "numeric"\nlevels = ["x"]',
            3,
            'column "a" is numeric: "levels" belongs to categorical columns; leave it out (a numeric one needs lower',
        ),
        ('[columns.a]\ntype = "numeric"\nlower = 1', 1, "has no upper"),
        ('[columns.a]\nlevels = ["x"]', 1, "has no type"),
        (
            '[columns.a]\n\ntype = "categoric"\n',
            3,
            "unknown type 'categoric' (did you mean \"categorical\"?)",
        ),
        ("[columns.a]\ntype = 3\n", 2, "unknown type 3"),
        ('[columns."a b"]\ntype = "categorical"\nlevels = "no"', 3, 'column "a b": levels must be a list'),
        ('[columns.a]\ntype = "categorical"\nlevels = [1, "1"]', 3, "print the same"),
        ('[columns.a]\ntype = "categorical"\nlevels = []', 3, "empty"),
        ('[columns.a]\ntype = "categorical"\nlevels = [1979-05-27]', 3, "must be text"),
        ('[columns.a]\ntype = "categorical"\nlevels = ["x"]\nother = "y"', 4, "not a level"),
        ('[columns.a]\ntype = "numeric"\nlower = 3\nupper = 2', 3, "must be below"),
        ('[columns.a]\ntype = "numeric"\nlower = true\nupper = 2', 3, "lower must be a number, not True"),
        ('[columns.a]\ntype = "numeric"\nlower = nan\nupper = 2', 3, "finite"),
        ('[columns.a]\ntype = "numeric"\nlower = 0\nupper = 2\nbins = ["1"]', 5, "must be a number"),
        (
            '[columns.a]\ntype = "numeric"\n[columns.b]\n\n[columns.a]',
            5,
            '"a" is declared twice (first on line 1)',
        ),
        ("[column.a]", 1, 'unknown entry "column" (did you mean "columns"?)'),
        ("columns = 3", 1, "columns must be tables [columns.NAME], not 3"),
        ("columns.a = 3", 1, 'column "a" must be a table'),
        ("", None, "no columns are declared"),
        ("[columns.a]\ntype = \n", 2, "not valid TOML"),
        ("[columns.a]\nx = 1\nx = 2\n", 3, "a key is given twice"),
        ("x = " + "[" * 5000, 1, "not valid TOML: nested too deeply"),
        ("x = " + "9" * 5000, 1, "a number with too many digits"),
    ],
)
def test_a_fault_in_a_schema_file_is_one_line_that_says_where(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(path)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert message.startswith(f"{path}:{line}: " if line else f"{path}: ")


def test_a_schema_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nope.toml"):
        Schema.from_toml(tmp_path / "nope.toml")
    with pytest.raises(InputError, match="is a directory"):
        Schema.from_toml(tmp_path)
    with pytest.raises(InputError, match="cannot write schema"):
        Schema(a=Numeric(0, 1)).write(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9")
    with pytest.raises(SchemaError, match="not UTF-8"):
        Schema.from_toml(tmp_path / "latin.toml")


def test_what_is_written_is_what_the_interface_shows() -> None:
    text = Schema({"age (years)": Numeric(0, 110), "s": Categorical([True, 2, "x"], ordered=True)}).to_toml()
    assert text == (
        '[columns."age (years)"]\ntype = "numeric"\nlower = 0\nupper = 110\nbins = [27.5, 55, 82.5]\nother = 0\n\n'
        '[columns.s]\ntype = "categorical"\nlevels = [true, 2, "x"]\nordered = true\nother = true\n'
    )


def test_a_decimal_comma_is_quoted() -> None:
    text = '[columns.a]\ntype = "numeric"\nlower = 0,5  # half\nupper = 3\n'
    with pytest.raises(SchemaError, match=r"schema:3: '0,5'"):
        Schema.from_toml_string(text)
