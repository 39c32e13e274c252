"""dpcausal test --option and several columns, as a user would type them; refusals are one line and charge nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from dpcausal.cli.app import app

SCHEMA = """
[columns.a]
type = "numeric"
lower = -6
upper = 6
[columns.b]
type = "numeric"
lower = -6
upper = 6
[columns.y]
type = "numeric"
lower = -8
upper = 8
[columns.c]
type = "categorical"
levels = ["u", "v"]
"""


@pytest.fixture
def study(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400))
    lines = [f"{p:.3f},{q:.3f},{p + q:.3f},{'uv'[int(p > 0)]}" for p, q in zip(a, b, strict=True)]
    (tmp_path / "d.csv").write_text("a,b,y,c\n" + "\n".join(lines) + "\n")
    (tmp_path / "s.toml").write_text(SCHEMA)
    return ["test", str(tmp_path / "d.csv"), "--schema", str(tmp_path / "s.toml"), "--json"]


def answer(study: list[str], *words: str) -> dict[str, object]:
    done = CliRunner().invoke(app, [*study, *words])
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_several_columns(study: list[str]) -> None:
    found = answer(study, "--x", "a,b", "--y", "y", "--epsilon", "2", "--option", "parts=6")
    assert (found["x"], found["y"], found["method"]) == (["a", "b"], "y", "gcm")
    assert answer(study, "--x", "a", "--y", "y", "--no-privacy", "--method", "gcm")["x"] == "a"


@pytest.mark.parametrize(
    "options",
    [
        ("gcm", "variant=bins", "bins=5"),
        ("gcm", "variant=moments", "lambda_=0.5"),
        ("crt", "draw=permutation", "score=plain"),
        ("kendall", "strata=schema"),
        ("test-of-tests", "test=chi2", "parts=5"),
        ("measured", "form=pooled"),
    ],
)
def test_options_reach_the_test(study: list[str], options: tuple[str, ...]) -> None:
    words = [word for option in options[1:] for word in ("--option", option)]
    found = answer(
        study,
        "--x",
        "a",
        "--y",
        "y",
        "--given",
        "c",
        "--epsilon",
        "2",
        "--anyway",
        "--method",
        options[0],
        *words,
    )
    assert found["method"] == options[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--x", "a", "--method", "gcm", "--option", "variant=bin"], "takes parts, weighted, bins"),
        (["--x", "a", "--method", "gcm", "--option", "hits=3"], "gcm has no option 'hits'"),
        (["--x", "a", "--method", "gcm", "--option", "parts"], "NAME=VALUE"),
        (["--x", "a", "--method", "gcm", "--option", "parts=many"], "a whole number or none"),
        (["--x", "a,b", "--method", "kendall"], "takes one column as x"),
        (["--x", "a,q"], 'no column "q"'),
    ],
)
def test_refusals_are_one_line(study: list[str], words: list[str], told: str) -> None:
    from dpcausal.core.errors import InputError

    done = CliRunner().invoke(app, [*study, "--y", "y", "--epsilon", "1", *words])
    assert done.exit_code != 0
    said = str(done.exception) if isinstance(done.exception, InputError) else done.output
    assert told in said
    assert "\n" not in said.strip()
