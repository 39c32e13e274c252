"""Release hygiene that can be seen without building: ``tools/wheel_smoke.sh`` builds, installs and tries the wheel."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

import dpcausal

ROOT = Path(__file__).parents[2]


def test_the_version_is_written_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "dpcausal._version.__version__"}
    assert version("dpcausal") == dpcausal.__version__


def test_every_file_that_is_read_at_run_time_goes_into_the_wheel() -> None:
    """Whatever is no Python file in the package matches a pattern of the package data."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["dpcausal"]
    package = ROOT / "src" / "dpcausal"
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    found = {p for p in package.rglob("*") if p.is_file() and p.suffix not in {".py", ".pyc", ".nbi", ".nbc"}}
    assert found - packed == set()


def test_ci_builds_the_wheel_and_insists_on_a_browser() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "make test test-engines wheel" in script
    assert "DPCAUSAL_TEST_BROWSER=1" in script
