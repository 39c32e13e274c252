from __future__ import annotations

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal.core.errors import SchemaError
from dpcausal.data.columns import Categorical, Column, Numeric, canonical_value
from dpcausal.data.file_format import FileFormat
from dpcausal.data.schema import Schema

characters = st.characters(exclude_categories=["Cs"])
levels = st.text(characters, max_size=8) | st.integers(-(2**63), 2**64 - 1) | st.booleans()


@st.composite
def columns(draw: st.DrawFn) -> Column:
    if draw(st.booleans()):
        chosen = draw(st.lists(levels, min_size=1, max_size=6, unique_by=str))
        taken = {canonical_value(str(level)) for level in chosen}
        spare = draw(st.lists(levels, max_size=4, unique_by=lambda level: canonical_value(str(level))))
        free = [level for level in spare if canonical_value(str(level)) not in taken]
        cut = draw(st.integers(0, len(free)))
        aliases = {str(level): draw(st.sampled_from(chosen)) for level in free[:cut] if str(level)}
        other = draw(st.sampled_from(chosen))
        return Categorical(chosen, draw(st.booleans()), other, aliases, free[cut:])
    finite = st.floats(-1e100, 1e100).map(lambda x: x + 0.0)
    edges = sorted(draw(st.sets(finite, min_size=2, max_size=6)))
    return Numeric(
        edges[0],
        edges[-1],
        edges[1:-1],
        draw(st.sampled_from(edges)),
        draw(st.lists(finite, max_size=3)),
        scale=draw(st.sampled_from(["linear", "log"] if edges[0] >= 0 else ["linear"])),
        missing_level=draw(st.booleans()),
    )


@st.composite
def formats(draw: st.DrawFn) -> FileFormat:
    decimal = draw(st.sampled_from([".", ","]))
    return FileFormat(
        draw(st.sampled_from([None, "utf-8", "latin-1", "cp850"])),
        draw(st.sampled_from([None, ",", ";", "\t", "|"])),
        decimal,
        draw(st.sampled_from([mark for mark in ("", ".", ",", " ", "'") if mark != decimal])),
        draw(st.booleans()),
        draw(st.none() | st.text(characters, min_size=1, max_size=9)),
    )


schemas = st.builds(
    lambda columns, format_: Schema(columns).with_format(**format_.declared()),
    st.dictionaries(st.text(characters, min_size=1, max_size=12), columns(), min_size=1, max_size=4),
    formats(),
)


@settings(max_examples=200, deadline=None)
@given(schemas)
def test_a_schema_survives_toml(schema: Schema) -> None:
    again = Schema.from_toml_string(schema.to_toml())
    assert again == schema
    assert list(again) == list(schema)
    assert again.to_toml() == schema.to_toml()
    assert hash(again) == hash(schema)
    assert pickle.loads(pickle.dumps(schema)) == schema  # noqa: S301


@settings(max_examples=200, deadline=None)
@given(st.text(characters, max_size=60) | schemas.map(lambda schema: schema.to_toml()[:-3]))
def test_any_text_is_a_schema_or_one_clear_error(text: str) -> None:
    fault: SchemaError | None = None
    try:
        assert len(Schema.from_toml_string(text)) >= 1
    except SchemaError as error:
        fault = error
    assert fault is None or (str(fault).startswith("schema") and fault.__cause__ is None)
