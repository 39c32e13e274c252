"""A draft of a schema and the check of one, as a person reads them: see ``test_golden.py``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpcausal.data.check import check
from dpcausal.data.draft import draft
from dpcausal.data.schema import Schema
from dpcausal.present.schema import draft_toml

ROWS = "smoke,age,dose,lung,name,a,a\n" + "".join(
    f"{smoke},{40 + i % 30},{dose},{i % 3},P{i},1,1\n"
    for i, (smoke, dose) in enumerate(
        [("yes", "1.5"), ("Yes", "999"), ("no", ""), ("Y", "<5"), ("", "7")] * 12
    )
)
DECLARED = """
[columns.smoke]
type = "categorical"
levels = ["no", "yes", "sometimes"]
other = "no"  # the first level: choose
aliases = { Y = "yes" }
[columns.age]
type = "numeric"
lower = 45
upper = 65
[columns.dose]
type = "numeric"
lower = 0
upper = 10
bins = [5]
missing = [999]
[columns.lung]
type = "categorical"
levels = ["0", "1", "unknown"]
ordered = true
"""


@pytest.mark.parametrize("what", ["draft", "check"])
def test_golden_schema(what: str, golden: Callable[[str, str], None], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(ROWS + "no,50\nno,50,1,1,X,1,1,more\n")
    if what == "draft":
        golden("schema_draft", draft_toml(draft(path)))
    else:
        golden("schema_check", str(check(path, Schema.from_toml_string(DECLARED))))
