"""Every test can fail by itself: it asserts something, or calls something in the tests that does.

An error inside the package also fails a test, but a test that relies on that says nothing about what it expects.
``BY_ERROR`` lists the few where "does not raise" is the whole claim, each with the reason. What a run leaves out is
said in one line.
"""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
EXPECTING = {"raises", "warns", "fail", "deprecated_call"}  # of pytest
BY_ERROR: dict[str, str] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache  # like what follows: a helper is asked about once for every file that sees it
def within(node: ast.AST) -> tuple[ast.AST, ...]:
    """The node and all nodes below it."""
    return tuple(ast.walk(node))


@cache
def functions(tree: ast.AST) -> tuple[Function, ...]:
    """All functions, however deep."""
    return tuple(node for node in within(tree) if isinstance(node, Function))


@cache
def called(function: Function) -> set[str]:
    """The last part of the name of everything that it calls or hands on."""
    found = set()
    for node in within(function):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


@cache
def demands(function: Function) -> bool:
    """Whether it has an assertion of its own that depends on something, or raises (as a helper may)."""
    for node in within(function):
        if isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant):
            return True
        if isinstance(node, ast.Raise) and not function.name.startswith("test_"):
            return True
    names = called(function)
    return bool(names & EXPECTING) or any(name.startswith("assert_") for name in names)


def imports(tree: ast.AST) -> set[str]:
    """The last part of the name of everything that is imported."""
    return {
        name.split(".")[-1]
        for node in within(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }


def seen_from(path: Path, trees: dict[Path, ast.Module]) -> set[Path]:
    """The file, ``conftest.py`` above it, and the files of tests that it imports."""
    found = {path} | {folder / "conftest.py" for folder in path.parents}
    imported = imports(trees[path])
    return {one for one in trees if one in found or (one.stem in imported and one.parent == path.parent)}


def silent(root: Path = TESTS) -> list[str]:
    """The tests that demand nothing, neither by themselves nor through a helper that they can see."""
    trees = {path: ast.parse(path.read_text()) for path in sorted(root.rglob("*.py"))}
    found = []
    for path in trees:
        own = [one for other in seen_from(path, trees) for one in functions(trees[other])]
        helpers = [one for one in own if not one.name.startswith("test_")]
        telling = {one.name for one in helpers if demands(one)}
        while more := {one.name for one in helpers if one.name not in telling and called(one) & telling}:
            telling |= more
        tests = [one for one in functions(trees[path]) if one.name.startswith("test_")]
        quiet = [one for one in tests if not demands(one) and not (called(one) | parameters(one)) & telling]
        found += [f"{path.relative_to(root)}::{test.name}" for test in quiet if path.name.startswith("test_")]
    return found


def parameters(function: Function) -> set[str]:
    """Names of parameters: fixtures, of a test."""
    return {one.arg for one in function.args.args}


def test_every_test_demands_something() -> None:
    assert set(silent()) == set(BY_ERROR)


def test_a_silent_test_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "def check(x): assert x\n\n"
        "def through(x): check(x)\n\n"
        "def test_loud(): assert 1 + 1 == 2\n\n"
        "def test_by_helper(): through(3)\n\n"
        "def test_constant(): assert True\n\n"
        "def test_silent(): print(1)\n"
    )
    assert silent(tmp_path) == ["test_a.py::test_constant", "test_a.py::test_silent"]


def test_what_is_left_out_is_said_in_one_line() -> None:
    spec = importlib.util.spec_from_file_location("top", TESTS / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    top = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(top)
    reasons = ["no PostgreSQL server: DPCAUSAL_TEST_POSTGRES is not set", "postgres is left out", "no plink2"]
    assert top.left_out(reasons) == "left out: 2 without a PostgreSQL server, 1 without plink (3 in all)"
    assert top.left_out(["it is Tuesday"]).endswith("1 for other reasons (pytest -rs says which) (1 in all)")
