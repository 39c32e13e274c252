"""Release hygiene that can be seen without building: ``tools/wheel_smoke.sh`` builds, installs and tries the wheel."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import dpcausal

ROOT = Path(__file__).parents[2]


def test_the_version_is_written_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "dpcausal._version.__version__"}


def test_the_version_is_one_that_can_be_tagged_and_is_the_changelogs_newest() -> None:
    """What an index would sort as a release. The wheel's own metadata is compared where it is built."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", dpcausal.__version__)
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert newest is not None
    assert newest[1] == dpcausal.__version__


def test_the_classifiers_say_no_more_than_is_tried() -> None:
    """The only Python that the tests run on, on Linux, and no claim of stability before 1.0."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = project["classifiers"]
    assert next(one for one in named if "Development Status" in one).split()[3] in {"3", "4"}
    versions = [
        one.rsplit(" ", 1)[1] for one in named if one.startswith("Programming Language :: Python :: 3.")
    ]
    assert versions == [project["requires-python"].removeprefix(">=")]


def test_every_file_that_is_read_at_run_time_goes_into_the_wheel() -> None:
    """Whatever is no Python file in the package matches a pattern of the package data."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["dpcausal"]
    package = ROOT / "src" / "dpcausal"
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    found = {p for p in package.rglob("*") if p.is_file() and p.suffix not in {".py", ".pyc", ".nbi", ".nbc"}}
    assert found - packed == set()


def test_ci_builds_the_wheel_and_insists_on_a_browser_and_r() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "make demo test test-engines wheel" in script
    assert "DPCAUSAL_TEST_BROWSER=1" in script
    assert "DPCAUSAL_TEST_R=1" in script
