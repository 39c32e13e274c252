"""Long files first: with two workers, one that starts last would keep the other waiting."""

from __future__ import annotations

import pytest

LONG_FILES = (
    "tests/unit/test_estimators.py",
    "tests/unit/test_contributing.py",
    "tests/net/test_wiring.py",
    "tests/net/test_non_interference.py",
    "tests/e2e/test_docs.py",
    "tests/e2e/test_help.py",
    "tests/e2e/test_interrupt.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the tests of these files to the front; the order within a file stays."""
    place = {name: i for i, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))
