"""What ``make test`` leaves to ``make test-all``, by the marks that tests carry, and what runs first.

``make test`` (``-m "not slow"``) takes one case in n of a test that is marked ``thin(n)``, no case that is marked
``covered``, an eighth of the examples of every property test, and in files that use ``few_repeats`` few repeats of a
search. A run that names files or tests, as the mutation run does, thins nothing. ``pytest --left-out tests/net`` runs
what ``make test`` leaves out of a folder, and that alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import settings

EXAMPLES = 8  # one in so many examples of a property test, but at least
LEAST_EXAMPLES = 10
FEW_REPEATS = 5  # of a search on other samples, in place of 20 to 100
THINNED = pytest.StashKey[bool]()


@pytest.fixture(scope="module")
def few_repeats(request: pytest.FixtureRequest) -> Iterator[None]:
    """Few repeats in a fast run where nobody asks for a number of them: for files whose tests do not count them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.config.stash.get(THINNED, False):
            patch.setattr("dpcausal.discovery.evidence.REPEATS", FEW_REPEATS)
            patch.setattr("dpcausal.discovery.evidence.MIN_REPEATS", FEW_REPEATS)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run take what the fast one leaves out."""
    parser.addoption("--left-out", action="store_true", help="only what make test leaves to make test-all")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Move long files to the front, so that no worker ends with one; thin a fast run of everything."""
    items.sort(key=lambda item: item.get_closest_marker("long_file") is None)
    if getattr(config.option, "left_out", False):
        fast = {id(item) for item in thinned(items)[0] if item.get_closest_marker("slow") is None}
        config.hook.pytest_deselected(
            items=[one for one in items if id(one) in fast and not many_examples(one)]
        )
        items[:] = [one for one in items if id(one) not in fast or many_examples(one)]
        return
    asked = {(config.rootpath / argument).resolve() for argument in config.args}
    everything = asked == {config.rootpath / path for path in config.getini("testpaths")}
    if not everything or config.option.markexpr != "not slow":
        return
    config.stash[THINNED] = True
    items[:], left_out = thinned(items)
    config.hook.pytest_deselected(items=left_out)
    for item in items:
        fewer_examples(getattr(item, "obj", None))


# what a machine may lack, and how reasons to skip a test name it
MAY_LACK = {
    "a PostgreSQL server": r"[Pp]ostgre",
    "Spark with Java": r"spark",
    "Chromium": r"[Cc]hromium",
    "axe-core": r"axe-core",
    "R with its packages": r"\bR\b",
    "plink": r"plink",
    "node with dagitty": r"\bnode\b",
}


def left_out(reasons: Sequence[str]) -> str:
    """Return one line for all tests that were skipped: how many for want of what, and how many for other reasons."""
    lacks = Counter(
        next((name for name, words in MAY_LACK.items() if re.search(words, reason)), "") for reason in reasons
    )
    parts = [f"{lacks[name]} without {name}" for name in MAY_LACK if lacks[name]]
    other = [f"{lacks['']} for other reasons (pytest -rs says which)"] if lacks[""] else []
    return f"left out: {', '.join([*parts, *other])} ({len(reasons)} in all)"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say in one line which tests were left out for want of what."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] if isinstance(report.longrepr, tuple) else "" for report in skipped]
    if reasons:
        terminalreporter.write_line(left_out(reasons))


def thinned(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests that a fast run takes, and those that it leaves to the long one.

    Of so many cases in a row one is taken, and the next time the one before it: of a grid of two by two two corners,
    which have both values of both terms. The first of each row would always have the same value of the last term.
    """
    seen: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        name, mark = item.nodeid.partition("[")[0], item.get_closest_marker("thin")
        share = 1 if mark is None else mark.args[0]
        row, place = divmod(seen[name], share)
        taken = (row + place) % share == 0 and item.get_closest_marker("covered") is None
        (kept if taken else left_out).append(item)
        seen[name] += 1
    return kept, left_out


def many_examples(item: pytest.Item) -> bool:
    """Return whether an item is a property test of which a fast run takes a part of the examples."""
    asked = settings_of(getattr(item, "obj", None))
    return asked is not None and asked.max_examples > LEAST_EXAMPLES


def settings_of(test: Any) -> Any:
    """Return what Hypothesis was asked of a test; None where it is no property test."""
    return getattr(getattr(test, "__func__", test), "_hypothesis_internal_use_settings", None)


def fewer_examples(test: Any) -> None:
    """Give a property test a part of its examples."""
    test = getattr(test, "__func__", test)
    asked = settings_of(test)
    if asked is not None and asked.max_examples > LEAST_EXAMPLES:
        fewer = max(LEAST_EXAMPLES, asked.max_examples // EXAMPLES)
        test._hypothesis_internal_use_settings = settings(asked, max_examples=fewer)
