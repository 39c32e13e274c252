"""Codes as groups: who is together, which links are drawn, and that nothing overlaps."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.data.codes import CodeTable
from dpcausal.present.clusters import GAP, MOST, PER_CODE, groups, in_rows, left_out
from dpcausal.present.figures import figure_svg


def random_links(codes: int, number: int, seed: int) -> tuple[list[str], dict[frozenset[str], float]]:
    rng = np.random.default_rng(seed)
    names = [f"c{j:03}" for j in range(codes)]
    pairs = list(combinations(names, 2))
    chosen = rng.choice(len(pairs), number, replace=False)
    return names, {frozenset(pairs[k]): float(rng.uniform(0.03, 0.6)) for k in chosen}


@pytest.mark.parametrize(("codes", "number"), [(20, 10), (60, 62), (60, 600), (300, 306)])
def test_every_linked_code_is_in_one_group_that_can_be_read(codes: int, number: int) -> None:
    names, links = random_links(codes, number, 3)
    found = groups(names, links)
    listed = [name for group in found for name in group.codes]
    assert len(listed) == len(set(listed))
    assert set(listed) == {name for pair in links for name in pair}
    assert [len(group.codes) for group in found] == sorted(
        (len(group.codes) for group in found), reverse=True
    )
    for group in found:
        assert 1 <= len(group.codes) <= MOST
        assert len(group.drawn) <= max(PER_CODE * len(group.codes), len(group.codes) - 1)
    left = left_out(found, links)
    drawn = sum(len(group.drawn) for group in found)
    assert drawn + left.within + len(left.between) == number


def test_clusters_that_few_links_join_are_groups() -> None:
    rng = np.random.default_rng(2)
    names = [f"{part}{j}" for part in "abc" for j in range(8)]
    links = {
        frozenset(pair): 0.4
        for pair in combinations(names, 2)
        if pair[0][0] == pair[1][0] and rng.random() < 0.7
    }
    links |= {frozenset(("a0", "b0")): 0.1, frozenset(("b1", "c0")): 0.1}
    found = groups(names, links)
    assert [{name[0] for name in group.codes} for group in found] == [{"a"}, {"b"}, {"c"}]
    assert {*left_out(found, links).between} == {frozenset(("a0", "b0")), frozenset(("b1", "c0"))}


def test_drawings_stand_beside_each_other() -> None:
    rng = np.random.default_rng(4)
    sizes = [(float(rng.uniform(80, 500)), float(rng.uniform(60, 400))) for _ in range(40)]
    boxes = [(x, y, x + wide, y + high) for (x, y), (wide, high) in zip(in_rows(sizes), sizes, strict=True)]
    for a, b in combinations(boxes, 2):
        beside = a[2] + GAP <= b[0] + 1e-9 or b[2] + GAP <= a[0] + 1e-9
        assert beside or a[3] + GAP <= b[1] + 1e-9 or b[3] + GAP <= a[1] + 1e-9


@pytest.fixture(scope="module")
def result() -> dc.DiscoveryResult:
    rng = np.random.default_rng(1)
    ones = rng.random((20_000, 70)) < 0.05
    for k in range(6):
        ones[:, 2 * k + 1] = np.where(rng.random(20_000) < 0.5, ones[:, 2 * k], ones[:, 2 * k + 1])
    names = [f"c{j:02}" for j in range(70)]
    schema = dc.Schema(dict.fromkeys(names, dc.Categorical(["no", "yes"])))
    columns = {name: np.ascontiguousarray(ones[:, j]).astype(np.uint8) for j, name in enumerate(names)}
    data = CodeTable(schema, len(ones), columns, {}, None, tuple(names))
    with dc.testing.seeded(5):
        return dc.discover(data, epsilon=2.0, delta=1e-6, confidence=3)


def test_the_picture_has_every_link_with_its_strength(result: dc.DiscoveryResult) -> None:
    text = figure_svg(result)
    for pair, link in result.strength.items():
        a, b = sorted(pair)
        assert re.search(f'data-upper="({a}|{b})" data-lower="({a}|{b})"', text)
        assert f"{link.w:.2f}".removeprefix("0") in text
    assert "open" not in re.findall(r'class="edge ([a-z ]+)"', text)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_page_on_codes_has_the_picture_and_no_open_pairs(
    result: dc.DiscoveryResult, tmp_path: Path
) -> None:
    text = Path(result.report(tmp_path / "page.html")).read_text()
    assert 'class="panel"' in text
    assert 'class="edge open"' not in text
    assert "Cohen's w" in text or "Cohen&#39;s w" in text
