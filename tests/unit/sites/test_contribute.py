"""A site charges first, releases what the protocol names and nothing else, and its folder is refused once changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.discovery.measured import method
from dpcausal.sites.contribute import load_contribution

Given = Callable[..., list[dc.Contribution]]
Sites = Callable[..., dc.Dataset]


def test_it_costs_what_the_protocol_asks(contribute: Given) -> None:
    one = contribute()[0]
    assert (one.privacy.asked["epsilon"], one.privacy.asked["delta"]) == (2.0, 1e-6)
    assert one.privacy.epsilon is not None
    assert one.privacy.epsilon <= 2.0
    assert {event["label"] for event in one.privacy.events} == {"single columns", "pairs of columns"}
    sets = list(one.values.components.values)
    assert sorted(map(len, sets)) == [0] + [1] * 6 + [2] * 15


def test_only_the_pairs_of_the_second_round_are_measured(contribute: Given, site: Sites) -> None:
    first = contribute(rounds=2, delta=0.0)
    second = first[0].protocol.for_promising([("a", "b"), ("c", "f")], ["east"])
    with dc.testing.seeded(2):
        found = dc.contribute(site(0), second, "east", rest_of=first[0])
    assert [one for one in found.values.components.values if len(one) == 2] == [(0, 1), (2, 5)]
    # the same budget for 2 pairs as for 15
    assert found.values.rounds[0].variance < first[0].values.rounds[0].variance
    with pytest.raises(dc.InputError, match="no site 'west' took part"):
        dc.contribute(site(0), second, "west")


def test_a_ledger_is_charged_first(site: Sites, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    ledger = dc.Ledger.open(url, create=True)
    ledger.create("cohort", 1.0, 1e-6)
    protocol = dc.protocol(site(0).schema, [2000], 1.0, 1e-6)
    count = {"ledger": url, "dataset": "cohort"}
    dc.contribute(site(0), protocol, "east", **count)  # type: ignore[arg-type]
    (note,) = [json.loads(entry.note) for entry in ledger.log("cohort")][1:]
    assert (note["command"], note["protocol"]) == ("contribute", protocol.id)
    with pytest.raises(dc.BudgetError):
        dc.contribute(site(0), protocol, "east", **count)  # type: ignore[arg-type]


def test_its_folder_gives_it_back(contribute: Given, tmp_path: Path) -> None:
    one = contribute()[0]
    again = load_contribution(one.save(tmp_path / "east"))
    assert (again.id, again.site, again.protocol) == (one.id, "east", one.protocol)
    assert again.privacy == one.privacy
    with pytest.raises(dc.InputError, match="paid for"):
        one.save(tmp_path / "east")
    assert dc.load_release(tmp_path / "east").discover(confidence=0).graph.nodes == tuple("abcdef")


def test_whatever_is_changed_in_a_folder_is_seen(contribute: Given, tmp_path: Path) -> None:
    east, north = contribute()[:2]
    east.save(tmp_path / "east")
    north.save(tmp_path / "north")

    def changed(name: str, file: str, change: Callable[[str], str]) -> Path:
        folder = tmp_path / name
        shutil.copytree(tmp_path / "east", folder)
        before = (folder / file).read_text()
        (folder / file).write_text(change(before))
        assert (folder / file).read_text() != before
        return folder

    def other_site(text: str) -> str:
        return text.replace('"site": "east"', '"site": "west"')

    def less(text: str) -> str:
        return text.replace('"epsilon": 2.0', '"epsilon": 0.1')

    folders = [
        changed("renamed", "contribution.json", other_site),
        changed("cheaper", "privacy.json", less),
        changed("cheaper inside", "release.json", less),
        changed("other tables", "release.json", lambda _: (tmp_path / "north" / "release.json").read_text()),
        changed("other protocol", "contribution.json", lambda text: text.replace('"level": 0.05', '"level": 0.2')),
        changed("cell", "release.json", lambda text: text.replace('"variance": ', '"variance": 1', 1)),
    ]  # fmt: skip
    for folder in folders:
        with pytest.raises(dc.InputError):
            load_contribution(folder)
    with pytest.raises(dc.InputError, match="no contribution"):
        load_contribution(tmp_path)
    for file in ("release.json", "privacy.json"):
        folder = changed(f"without {file}", file, lambda text: text + " ")
        (folder / file).unlink()
        with pytest.raises(dc.InputError, match=f"no contribution: it has no {file}"):
            load_contribution(folder)


@pytest.mark.parametrize("name", ["", " ", "a,b", "a/b", "a\nb", "x" * 61, 3])
def test_names_of_sites(name: object, site: Sites) -> None:
    protocol = dc.protocol(site(0).schema, [2000], 1.0)
    with pytest.raises(dc.InputError):
        dc.contribute(site(0), protocol, name)  # type: ignore[arg-type]


def test_what_a_site_measures_is_not_searched(site: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is for whoever pools, and takes most of the time; searching later changes nothing that was released."""
    protocol = dc.protocol(site(0).schema, [2000], 2.0, 1e-6)

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("searched")

    with monkeypatch.context() as patch, dc.testing.seeded(7):
        patch.setattr(method, "search_measured", refused)
        found = dc.contribute(site(0), protocol, "east")
    with dc.testing.seeded(7):
        plan = protocol.plan_for(site(0).schema, 2000)
        searched = dc.discover(site(0), plan=plan, anyway=True, confidence=0)
    assert searched.release is not None
    assert found.release.id == searched.release.id
    assert found.release.discover(confidence=0).graph == searched.graph
