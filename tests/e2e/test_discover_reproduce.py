"""``dpcausal reproduce``: finds its scripts, refuses what it does not know, and the scripts run."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath

import pytest

from dpcausal.cli import reproduce
from dpcausal.cli.app import run

ROOT = Path(__file__).resolve().parents[2]


def test_unknown_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "priv-pc-figure2"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_every_script_is_there() -> None:
    for script in reproduce.FIGURES.values():
        assert callable(reproduce.load(ROOT / "experiments" / script).main)


def test_needs_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", "priv-pc-table2"]) == 2
    assert "source checkout" in capsys.readouterr().err


def test_a_wheel_brings_the_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed as data below share/: found by the record of the distribution, wherever that is."""
    place = tmp_path / "share" / "dpcausal" / "experiments"
    place.mkdir(parents=True)
    (place / "papers.toml").touch()

    class Recorded(PurePosixPath):
        def locate(self) -> Path:
            return tmp_path / self

    monkeypatch.setattr(reproduce, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    monkeypatch.chdir(tmp_path)
    recorded = [Recorded("dpcausal/__init__.py"), Recorded("share/dpcausal/experiments/papers.toml")]
    monkeypatch.setattr(reproduce.metadata, "files", lambda name: recorded)
    assert reproduce.experiments() == place.resolve()


def test_every_script_is_in_the_wheel() -> None:
    """pyproject.toml names the folders of the scripts one by one."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    taken = {path.relative_to(ROOT) for globs in data.values() for glob in globs for path in ROOT.glob(glob)}
    there = {path.relative_to(ROOT) for path in (ROOT / "experiments").rglob("*.py")}
    assert there <= taken
    assert all(
        str(Path(target).relative_to("share/dpcausal")) == str(Path(glob).parent)
        for target, globs in data.items()
        for glob in globs
    )


def test_the_list_has_paper_item_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(reproduce.FIGURES)
    for line, (name, about) in zip(lines[1:], reproduce.ABOUT.items(), strict=True):
        assert line.split()[0] == name
        assert all(word in line for word in (about.paper, about.item, about.quick))


def test_figures_are_made(tmp_path: Path) -> None:
    """The parts of figure 1 and of the comparison on one network, two budgets and one seed."""
    figure = reproduce.load(ROOT / "experiments" / reproduce.FIGURES["priv-pc-figure1"])
    comparison = reproduce.load(ROOT / "experiments" / reproduce.FIGURES["curate-comparison"])
    points = [
        figure.run("cancer", driver, epsilon, 1, 5000) for driver in figure.DRIVERS for epsilon in (1.0, 30.0)
    ]
    figure.draw(points, [], "skeleton", tmp_path / "f.png")
    figure.save(tmp_path / "f.csv", points)
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    assert len((tmp_path / "f.csv").read_text().splitlines()) == 9
    assert all(0 <= p.skeleton <= 1 for p in points)
    counts = figure.counts("cancer", 0, 5000)
    for label in figure.STYLES:
        found = figure.as_published(label, "cancer", 0, 1.0)
        assert found.claimed > 0
        assert found.skeleton.columns == tuple(counts.schema)
    every = [p for one in figure.STYLES for p in figure.published_points("cancer", 1, one, True)]
    assert [row[-1].count("/") for row in figure.rankings(every, figure.PAIRS)] == [2] * len(figure.PAIRS)
    assert len(comparison.published_points("cancer", 1)) == 2 * len(comparison.EPSILONS)
