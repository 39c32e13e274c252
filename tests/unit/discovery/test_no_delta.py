"""A budget without delta that costs much noise is told, from public numbers, before anything is charged."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.core.errors import BudgetError
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.discover import NoDelta
from dpcausal.discovery.search import NoteKind
from dpcausal.planning.measurement import NOTABLE_GAIN, noise_without_delta, plan_for
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.ledger import Ledger

MANY = dc.Schema({f"c{i}": dc.Categorical(["a", "b", "c", "d"]) for i in range(12)})
FEW = MANY.select(["c0", "c1", "c2"])
REPLACE = Neighbours.REPLACE_ONE


def rows(schema: dc.Schema, n: int = 3000) -> dict[str, list[str]]:
    rng = np.random.default_rng(1)
    return {name: rng.choice(list("abcd"), n).tolist() for name in schema}


def test_the_ratio_is_that_of_the_driver_s_own_noise() -> None:
    sizes = [4] * 9
    noise = [plan_for(sizes, 1.0, rho, REPLACE).pair_variance for rho in (0.0, Filter(1.0, 1e-6).rho)]
    assert noise_without_delta(sizes, 1.0, REPLACE) == pytest.approx(math.sqrt(noise[0] / noise[1]))
    assert noise_without_delta(sizes, 1.0, REPLACE) > NOTABLE_GAIN
    assert noise_without_delta([4, 1, 1], 1.0, REPLACE) == 1.0
    for epsilon in (1e-9, 1e-6, 1e3, 1e6):
        assert math.isfinite(noise_without_delta(sizes, epsilon, REPLACE))


def test_it_warns_where_tables_are_many_and_only_there() -> None:
    many, few = (dc.read(rows(schema), schema) for schema in (MANY, FEW))
    with pytest.warns(NoDelta, match=r"times larger: add delta=1e-6"):
        found = dc.discover(many, epsilon=1.0, method="measured", max_order=0)
    assert any(note.is_a(NoteKind.NO_DELTA) for note in found.notes)
    assert "Without a delta the noise" in found.summary(full=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not any(note.is_a(NoteKind.NO_DELTA) for note in dc.discover(few, epsilon=1.0).notes)
        dc.discover(many, epsilon=1.0, delta=1e-6, max_order=0)
        dc.discover(many, epsilon=1.0, method="priv-pc", max_order=0)


def test_it_comes_before_the_charge(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'l.db'}"
    ledger = Ledger.open(url, create=True)
    ledger.create("cohort", 0.5, 0.0)
    many = dc.read(rows(MANY), MANY)
    with pytest.warns(NoDelta), pytest.raises(BudgetError):
        dc.discover(many, epsilon=1.0, ledger=url, dataset="cohort")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NoDelta):
            dc.discover(many, epsilon=0.5, ledger=url, dataset="cohort")
    assert ledger.show()[0].releases == 0


def test_the_command_says_it_once_and_not_beside_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    MANY.write("s.toml")
    cells = rows(MANY)
    text = [",".join(cells), *(",".join(row) for row in zip(*cells.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(text) + "\n")
    asked = ["discover", "t.csv", "--schema", "s.toml", "--epsilon", "1", "--out", "out", "--max-order", "0"]
    assert run(asked) == 0
    said = capsys.readouterr().err
    assert said.startswith("dpcausal: without a delta the noise in a table of two columns is ")
    assert said.count("without a delta") == 1
    assert "add --delta 1e-6" in said
    assert run([*asked, "--delta", "1e-6"]) == 0
    assert "without a delta" not in capsys.readouterr().err
    (tmp_path / "t.csv").unlink()
    assert run(asked) == 2
    assert capsys.readouterr().err.count("\n") == 1  # an error is one line
