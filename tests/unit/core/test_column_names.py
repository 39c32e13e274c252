"""The name of one column stands for a list of it, and part of a schema is taken as part of a frame is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpcausal as dc

DATA = dc.networks.load("cancer").sample(500, seed=1)


def test_the_name_of_one_column_is_a_list_of_it() -> None:
    one = dc.ci_test(DATA, "Xray", "Dyspnoea", given="Cancer", epsilon=None)
    assert one.given == ("Cancer",)
    assert one.pvalue == dc.ci_test(DATA, "Xray", "Dyspnoea", given=["Cancer"], epsilon=None).pvalue
    ahead = dc.forecast_ci_test(DATA, "Xray", "Dyspnoea", "Cancer", epsilon=1.0)
    assert ahead.question.given == ("Cancer",)
    found = dc.effect(DATA, "Smoker", "Xray", adjust="Pollution", epsilon=None)
    assert found.adjust == ("Pollution",)
    assert dc.forecast_effect(DATA, "Smoker", "Xray", adjust="Pollution", epsilon=1.0).question.adjust == (
        "Pollution",
    )


@pytest.mark.parametrize("text", ["Cancer,Smoker", "cancer", ""])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(dc.InputError, match=f"given must.* {re.escape(repr(text))}"):
        dc.ci_test(DATA, "Xray", "Dyspnoea", given=text, epsilon=None)
    with pytest.raises(dc.InputError, match="adjust must"):
        dc.effect(DATA, "Smoker", "Xray", adjust=text, epsilon=None)


def test_part_of_a_schema(tmp_path: Path) -> None:
    schema = dc.Schema(age=dc.Numeric(0, 110), sex=dc.Categorical(["f", "m"]), dose=dc.Numeric(0, 9))
    assert schema[["sex", "age"]] == schema.select(["sex", "age"])
    assert schema["sex"] == schema[["sex"]]["sex"]
    with pytest.raises(dc.SchemaError, match='did you mean "sex"'):
        _ = schema[["sexx"]]
    file = tmp_path / "t.csv"
    file.write_text("age,sex,dose\n30,f,1\n40,m,2\n")
    some = dc.read(file, schema, columns=["age", "dose"])
    assert (list(some.schema), some.n) == (["age", "dose"], 2)
    assert list(dc.read(file, schema, columns="sex").schema) == ["sex"]
    with pytest.raises(dc.SchemaError, match='did you mean "dose"'):
        dc.read(file, schema, columns=["dos"])
