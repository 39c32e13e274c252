"""``label``: what a column is called for people. Names stay what everything goes by."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.core.errors import SchemaError
from dpcausal.present.page import render

TEXT = """\
[columns.smoke]
type = "categorical"
label = "Has ever smoked <daily>"
levels = ["no", "yes"]
other = "no"

[columns.bp]
type = "numeric"
label = "Systolic blood pressure"
lower = 50
upper = 250
bins = [100, 150, 200]
other = 50
"""


def test_a_label_is_read_and_written_again() -> None:
    schema = dc.Schema.from_toml_string(TEXT)
    assert schema.labels == {"smoke": "Has ever smoked <daily>", "bp": "Systolic blood pressure"}
    assert schema.to_toml() == TEXT
    assert schema.select(["bp"]).labels == {"bp": "Systolic blood pressure"}
    assert schema.with_bins("bp", [120]).labels == schema.labels


def test_a_label_is_no_part_of_what_a_column_is() -> None:
    assert dc.Numeric(0, 1, label="a") == dc.Numeric(0, 1)
    assert hash(dc.Categorical([0, 1], label="a")) == hash(dc.Categorical([0, 1]))
    assert "label" not in repr(dc.Numeric(0, 1, label="a"))


@pytest.mark.parametrize("label", ["3", '"two\\nlines"', '"' + "x" * 201 + '"', "true"])
def test_a_label_is_one_line_of_text(label: str) -> None:
    text = TEXT.replace('"Systolic blood pressure"', label)
    with pytest.raises(SchemaError, match=r'^schema:9: column "bp": label .* 200') as error:
        dc.Schema.from_toml_string(text)
    assert "\n" not in str(error.value)


def test_the_check_and_the_report_show_labels(tmp_path: Path) -> None:
    schema = dc.Schema.from_toml_string(TEXT)
    rows = {"smoke": ["no", "yes"] * 500, "bp": [60.0, 190.0] * 500}
    assert "bp (Systolic blood pressure)" in str(dc.check(rows, schema))
    result = dc.discover(dc.read(rows, schema), epsilon=2.0, method="measured")
    assert result.labels == schema.labels
    assert result.to_dict()["labels"] == schema.labels
    page = render(result)
    assert "<tr><td>smoke</td><td>Has ever smoked &lt;daily&gt;</td></tr>" in page
    assert result.release is not None
    again = dc.load_release(result.release.save(tmp_path / "release.json")).discover()
    assert again.labels == schema.labels
    plain = dc.discover(dc.networks.load("cancer").sample(2000, seed=1), epsilon=2.0)
    assert 'id="labels"' not in render(plain)
