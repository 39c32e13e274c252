"""``measured`` merges the levels of a column by what was released of it, never by its counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.spelling import for_everyone
from dpcausal.discovery.effect_after import ReleasedTables
from dpcausal.discovery.measured import measure
from dpcausal.discovery.search import MergedLevels

SCHEMA = dc.Schema({name: dc.Categorical([f"{name}{i}" for i in range(20)]) for name in "klmo"})
CODES = {name: np.random.default_rng(ord(name)).integers(0, 20, 300) for name in SCHEMA}


def test_levels_are_merged_by_released_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = [np.bincount(codes, minlength=20).tolist() for codes in CODES.values()]
    seen: list[list[float]] = []
    asked: list[int] = []
    real = measure.merged_levels

    def spied(counts: list[float], most: int, *, ordered: bool, apart: int | None) -> tuple[int, ...]:
        seen.append([float(one) for one in counts])
        asked.append(most)
        assert apart is None
        return real(counts, most, ordered=ordered)

    regrouped: list[list[float]] = []

    def no_others(counts: np.ndarray, *others: object) -> np.ndarray:
        regrouped.append(counts.tolist())
        return np.ones(measure.GROUPINGS)

    monkeypatch.setattr(measure, "merged_levels", spied)
    monkeypatch.setattr(measure, "retained_by_other_groups", no_others)
    columns = {name: [SCHEMA[name].levels[i] for i in codes] for name, codes in CODES.items()}
    with dc.testing.seeded(1):
        found = dc.discover(
            dc.read(columns, SCHEMA), method="measured", epsilon=4.0, delta=1e-6, anyway=True, confidence=0
        )
    assert regrouped == seen  # released counts, too
    groups = {
        name: real(counts, most, ordered=False)
        for name, counts, most in zip(SCHEMA, seen, asked, strict=True)
    }
    assert found.release is not None
    again = found.release.discover()  # as its file says
    for result in (found, again):
        (note,) = [note for note in result.notes if isinstance(note, MergedLevels)]
        assert dict(note.groups) == groups
        told = [line for line in result.summary(full=True).splitlines() if line.startswith("Levels merged, ")]
        assert len(told) == 1
        for name in SCHEMA:
            first = ", ".join(
                level for level, group in zip(SCHEMA[name].levels, groups[name], strict=True) if not group
            )
            assert f"{name} to {max(groups[name]) + 1} groups ({first} | " in told[0]
            assert f"{name} to {max(groups[name]) + 1} groups ({first[:20]}" in result.summary()
    with pytest.raises(
        dc.InputError, match=r"levels of k \(k[^)]* \| .*\), l \(.*\) were merged because of the noise"
    ):
        found.effect("k", "l", adjust=[], compare=["k0", "k1"], event="l0")
    with pytest.raises(dc.InputError, match="or declare fewer levels for your next graph"):
        found.effect("k", "l", adjust=[], compare=["k0", "k1"], event="l0")
    with for_everyone(), pytest.raises(dc.InputError) as caught:  # a page: one short sentence under each edge
        found.effect("k", "l", adjust=[], compare=["k0", "k1"], event="l0")
    assert str(caught.value) == "levels of k, l were merged because of the noise"
    written = json.loads(found.release.to_json())["values"]
    assert {name: tuple(which) for name, which in written["groups"].items()} == groups
    assert len(seen) == len(exact)  # every column had too many
    for released, counts in zip(seen, exact, strict=True):
        assert released != counts
        assert np.corrcoef(released, counts)[0, 1] < 0.9999


def test_absent_needs_what_merged_levels_keep_of_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven independent columns, their three levels merged to two groups, which keep .75 of a trend each.

    A link of w = .2 of the groups would be found, what they keep of one between levels would not: open, not absent.
    """
    names = [f"v{i:02}" for i in range(11)]
    schema = dc.Schema({name: dc.Categorical(["low", "some", "high"], ordered=True) for name in names})
    rng = np.random.default_rng(5)
    data = dc.Dataset(schema, 1000, {name: rng.integers(0, 3, 1000) for name in names})

    def absent() -> int:
        with dc.testing.seeded(1):
            found = dc.discover(
                data,
                method="measured",
                epsilon=1.0,
                delta=1e-6,
                neighbours="add-remove",
                confidence=0,
                anyway=True,
            )
        assert any(isinstance(note, MergedLevels) for note in found.notes)
        assert found.release is not None
        assert found.release.discover(confidence=0).open == found.open
        return 55 - len(found.open) - len(found.graph.skeleton)

    few = absent()
    monkeypatch.setattr(measure, "retained_by_groups", lambda *_, **__: 1.0)
    assert few < 5
    assert absent() > 20 + few


def test_missing_values_are_never_merged_with_known_ones() -> None:
    rng = np.random.default_rng(5)
    rows = 600
    schema = dc.Schema(
        {
            "cd4": dc.Numeric(0, 1000, [200, 350, 500], missing_level=True),
            "smokes": dc.Categorical(["never", "ever", "unknown"]),
            "arm": dc.Categorical(["a", "b", "c", "d", "missing"]),
            **{f"other{i}": dc.Categorical([0, 1]) for i in range(9)},
        }
    )
    codes = {name: rng.integers(0, column.size, rows).astype(np.uint8) for name, column in schema.items()}
    with dc.testing.seeded(3):
        found = dc.discover(
            dc.Dataset(schema, rows, codes),
            method="measured",
            epsilon=0.4,
            delta=1e-6,
            anyway=True,
            confidence=0,
        )
    (note,) = [note for note in found.notes if isinstance(note, MergedLevels)]
    groups = {name: list(which) for name, which in note.groups}
    assert sorted(groups) == ["arm", "cd4"]  # two known levels of smokes are not too many
    planned = dict(zip(schema, dc.plan(schema, rows, 0.4, 1e-6).measurement.sizes, strict=True))
    for name, place in (("cd4", 4), ("arm", 4)):
        missing = groups[name][place]
        assert groups[name].count(missing) == 1
        assert 3 <= len(set(groups[name])) == planned[name] < schema[name].size


def arms(levels: int) -> dc.Schema:
    """Nine columns of two levels, and an arm of so many."""
    arm = dc.Categorical([f"arm number {i}" for i in range(levels)])
    return dc.Schema({**{f"c{i}": dc.Categorical(["no", "yes"]) for i in range(9)}, "arm": arm})


def test_an_effect_refused_for_merged_levels_is_given_with_fewer() -> None:
    """What the refusal proposes helps: with as many levels as the plan says are kept, the effect is free."""

    def compared(levels: int) -> dc.EffectResult:
        schema, rng = arms(levels), np.random.default_rng(6)
        codes = {name: rng.integers(0, schema[name].size, 4000).astype(np.uint8) for name in schema}
        found = dc.discover(dc.Dataset(schema, 4000, codes), epsilon=1.0, delta=1e-6, confidence=0)
        return found.effect("arm", "c0", adjust=[], compare=["arm number 0", "arm number 1"], free=True)

    with pytest.raises(
        dc.InputError, match=r"levels of arm \(to \d groups\) were merged because of the noise"
    ):
        compared(20)
    kept = max(dc.plan(arms(20), 4000, 1.0, 1e-6).measurement.sizes)
    assert 2 < kept < 20
    assert f"to at most {kept} groups" in dc.plan(arms(20), 4000, 1.0, 1e-6).summary(1000)
    assert compared(kept).interval is not None


def test_merged_groups_answer_what_does_not_look_within_them() -> None:
    """An event, two levels or a column held fixed that groups can tell; else how to ask about groups."""
    rng, rows = np.random.default_rng(8), 1000
    schema = dc.Schema(
        {
            "drug": dc.Categorical(["no", "yes"]),
            "cells": dc.Numeric(0, 900, [200, 350, 500]),
            "age": dc.Numeric(0, 110, [30, 50, 65]),
            **{f"c{i}": dc.Categorical([0, 1]) for i in range(9)},
        }
    )
    codes = {name: rng.integers(0, column.size, rows).astype(np.uint8) for name, column in schema.items()}
    with dc.testing.seeded(2):
        found = dc.discover(
            dc.Dataset(schema, rows, codes),
            method="measured",
            epsilon=1.0,
            delta=1e-6,
            anyway=True,
            confidence=0,
        )
    assert isinstance(found.tables, ReleasedTables)
    assert found.tables.groups["cells"] == found.tables.groups["age"] == (0, 0, 1, 1)
    assert found.release is not None
    for source in (found, found.release):
        answer = source.effect("drug", "cells", adjust=[], event=">= 350", anyway=True)
        assert answer.event == ">= 350"
        named = source.effect("drug", "cells", adjust=[], event="350 or more", anyway=True)
        assert (answer.estimate, answer.interval) == (named.estimate, named.interval)
        below = source.effect("drug", "cells", adjust=[], event="< 350", anyway=True)
        assert below.estimate == pytest.approx(-answer.estimate)
        two = source.effect(
            "age", "cells", adjust=[], compare=("below 50", "50 or more"), event="< 350", anyway=True
        )
        assert two.compare == ("below 50", "50 or more")
        with pytest.raises(
            dc.InputError, match=r"levels of cells .* ask about groups \(event='350 or more'\), or m"
        ):
            source.effect("drug", "cells", adjust=[], event=">= 200", anyway=True)
        with pytest.raises(
            dc.InputError, match=r"of age .* ask about groups \(compare=\('below 50', '50 or more'\)\)"
        ):
            source.effect("age", "cells", adjust=[], event="< 350", anyway=True)
        with pytest.raises(
            dc.InputError, match="released tables do not hold age, drug, cells together: measure"
        ):
            source.effect("drug", "cells", adjust=["age"], event="< 350", anyway=True)
    counts, *_ = found.tables.table(("drug", "cells"))
    shares = counts[:, 1] / counts.sum(axis=1)
    answer = found.effect("drug", "cells", adjust=[], event=">= 350", anyway=True)
    assert answer.estimate == pytest.approx(shares[1] - shares[0], abs=1e-6)


def test_how_often_edges_are_found_again_survives_the_file(tmp_path: Path) -> None:
    """Other groups of levels and the rounds of measurement are in the release: ``again`` says the same per cents."""
    rng = np.random.default_rng(3)
    first = rng.integers(0, 20, 3000)
    codes = {"k": first, "l": np.where(rng.random(3000) < 0.4, first, rng.integers(0, 20, 3000))}
    codes |= {name: rng.integers(0, 20, 3000) for name in "mo"}
    data = dc.read({name: [SCHEMA[name].levels[i] for i in codes[name]] for name in SCHEMA}, SCHEMA)
    with dc.testing.seeded(2):
        found = dc.discover(data, method="measured", epsilon=1.0, delta=1e-6, anyway=True)
    assert found.release is not None
    values = found.release.values
    assert isinstance(values, measure.Measurements)
    assert values.regrouped
    assert min(kept.min() for kept in values.regrouped.values()) < 1.0
    again = dc.load_release(found.release.save(tmp_path / "release.json")).discover()
    assert found.confidence
    assert again.confidence == found.confidence
