"""The house keeps its rooms: what import-linter can't see (attributes of numpy, calls that draw randomness)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import networkx
import pytest

import dpcausal

ROOT = Path(dpcausal.__file__).parent

# name as written in code -> where it may stand (prefixes of paths below src/dpcausal)
ROOMS = {
    "numpy.random": ("core/entropy.py", "networks/", "testing.py", "gwas/simulate.py"),
    "random": (),
    "secrets": ("privacy/ledger/", "desk/store.py"),  # jitter between retries, and tokens: not noise
    "os.urandom": ("core/entropy.py", "core/process.py"),
    "opendp": (),  # an oracle in tests and benchmarks
    "dp_accounting": (),  # an oracle in tests
    "sqlalchemy": ("privacy/ledger/", "desk/"),
    "sqlite3": ("privacy/ledger/",),
    "psycopg": ("privacy/ledger/",),
    "duckdb": ("counts/duckdb_table.py", "counts/stream.py", "counts/connect.py"),
    "ibis": (
        "counts/connect.py",
        "counts/connect_codes.py",
        "counts/engine.py",
        "counts/expressions.py",
        "counts/feature_queries.py",
        "counts/person_rows.py",
    ),
    "jinja2": ("present/files.py", "desk/pages.py"),
    "fastapi": ("desk/", "cli/serve.py"),
    "uvicorn": ("cli/serve.py",),
    "httpx": ("desk/client.py",),
    "alembic": ("desk/", "cli/serve.py"),
    "joserfc": ("desk/identity.py", "cli/serve.py"),
    "matplotlib": ("present/plots.py",),
    "rich": ("core/progress.py", "present/text.py"),
    "typer": ("cli/",),
    "pyspark": ("counts/connect.py",),
    "pandas": ("adapters/pgmpy.py",),
    "pgmpy": ("adapters/pgmpy.py",),
    "causallearn": ("adapters/causal_learn.py",),
    "polars": (),
    "pyreadstat": ("data/stat_files.py",),
    "rdata": ("data/stat_files.py",),
    "openpyxl": (),
    "diffprivlib": (),
}
ABOVE = ("cli/", "desk/", "present/")  # the rooms where words and pictures are made


@cache
def trees() -> dict[str, ast.Module]:
    """Every file below src/dpcausal by its path there, read and parsed once."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))
    }


def names_in(tree: ast.AST) -> set[str]:
    """Every dotted name used or imported, with ``np`` spelled out."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and (name := dotted(node)):
            found.add(re.sub(r"^np\.", "numpy.", name))
    return found


def dotted(node: ast.expr) -> str:
    """A name with its attributes; empty where they hang on anything but a name.

    >>> dotted(ast.parse("a.b.c").body[0].value), dotted(ast.parse("f().b").body[0].value)
    ('a.b.c', '')
    """
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute() if before := dotted(node.value):
            return f"{before}.{node.attr}"
    return ""


@cache
def names() -> dict[str, set[str]]:
    """What each file uses, by its path."""
    return {place: names_in(tree) for place, tree in trees().items()}


def module_name(place: str) -> str:
    """The dotted name of a file.

    >>> module_name("core/errors.py"), module_name("privacy/ledger/__init__.py"), module_name("__init__.py")
    ('dpcausal.core.errors', 'dpcausal.privacy.ledger', 'dpcausal')
    """
    return ".".join(["dpcausal", *place.removesuffix(".py").split("/")]).removesuffix(".__init__")


def imports_of(tree: ast.AST, modules: set[str]) -> set[str]:
    """Which of ``modules`` a file imports: at its top, in a function, or for types only."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= whole & modules
            found |= {node.module} if whole - modules else set()
    return found & modules


def import_graph(sources: dict[str, ast.Module]) -> networkx.DiGraph:
    """An edge from every file to each file that it imports."""
    modules = {module_name(place) for place in sources}
    graph = networkx.DiGraph()
    graph.add_nodes_from(modules)
    for place, tree in sources.items():
        graph.add_edges_from((module_name(place), other) for other in imports_of(tree, modules))
    return graph


def cycles(graph: networkx.DiGraph) -> list[list[str]]:
    """Files that import each other, directly or through others; a file that imports itself."""
    tied = [sorted(part) for part in networkx.strongly_connected_components(graph) if len(part) > 1]
    return sorted([*tied, *([name] for name in networkx.nodes_with_selfloops(graph))])


def uses(name: str, used: str) -> bool:
    return used == name or used.startswith(name + ".")


def late_imports(tree: ast.AST) -> list[int]:
    """Lines that import by a name made at run time: neither a reader nor a linter sees what."""
    lines = []
    for node in ast.walk(tree):
        called = getattr(node, "id", None) or getattr(node, "attr", None)
        taken = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        if {called, *taken} & {"import_module", "__import__"}:
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize("name", ROOMS)
def test_stays_in_its_room(name: str) -> None:
    strays = [
        f"{place}: {used}"
        for place, all_used in names().items()
        if not place.startswith(ROOMS[name])
        for used in all_used
        if uses(name, used)
    ]
    assert strays == []


def test_every_room_is_there() -> None:
    """A place in the table where no file stands would let the next one in unseen."""
    places = {place for rooms in ROOMS.values() for place in rooms}
    assert [place for place in places if not any(file.startswith(place) for file in trees())] == []


def test_the_room_check_sees_a_stray() -> None:
    tree = ast.parse("import numpy as np\nrng = np.random.default_rng(0)\nfrom os import urandom\n")
    found = names_in(tree)
    assert any(uses("numpy.random", used) for used in found)
    assert any(uses("os.urandom", used) for used in found)


def test_no_import_is_hidden() -> None:
    """Only the package itself loads by name, so that ``import dpcausal`` stays fast."""
    found = {place: late_imports(tree) for place, tree in trees().items()}
    assert {place for place, lines in found.items() if lines} == {"__init__.py"}


def test_the_check_for_hidden_imports_sees_them() -> None:
    for code in (
        "from importlib import import_module as load",
        "import importlib\nimportlib.import_module('dpcausal')",
        "__import__('dpcausal')",
        "import builtins\nbuiltins.__import__('dpcausal')",
    ):
        assert late_imports(ast.parse(code)), code
    assert late_imports(ast.parse("import importlib.util\nfrom importlib import metadata")) == []


def test_no_file_imports_itself_through_others() -> None:
    """Imports in functions and for types count: they hide a cycle and do not undo it."""
    assert cycles(import_graph(trees())) == []


def test_the_check_for_cycles_sees_one() -> None:
    sources = {
        "core/a.py": "def late():\n    from dpcausal.core.b import x",
        "core/b.py": "from dpcausal.core import c",
        "core/c.py": "if TYPE_CHECKING:\n    import dpcausal.core.a",
        "core/d.py": "from dpcausal.core import a, b\nfrom dpcausal.core import d",
        "core/__init__.py": "",
    }
    found = cycles(import_graph({place: ast.parse(code) for place, code in sources.items()}))
    assert found == [["dpcausal.core.a", "dpcausal.core.b", "dpcausal.core.c"], ["dpcausal.core.d"]]


def test_nothing_below_imports_words_and_pictures() -> None:
    """Rooms below reach them through ``core.display`` alone; ``__main__`` starts the command."""
    graph = import_graph(trees())
    top = {module_name(place) for place in trees() if place.startswith(ABOVE)}
    below = {module_name(place) for place in trees() if not place.startswith((*ABOVE, "__main__.py"))}
    assert top
    assert {"dpcausal.core.display", "dpcausal"} <= below
    offered = [("dpcausal", "dpcausal.desk.client")]  # named for type checkers, loaded when first used
    assert sorted(edge for edge in graph.edges if edge[0] in below and edge[1] in top) == offered
    present = {name for name in top if name.startswith("dpcausal.present")}
    cli = top - present
    assert sorted(edge for edge in graph.edges if edge[0] in present and edge[1] in cli) == []


def test_exports_are_what_is_named() -> None:
    assert sorted(dpcausal.__all__) == sorted(set(dpcausal._HOMES) | {"__version__"})
    for name in dpcausal.__all__:
        assert getattr(dpcausal, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = dpcausal.no_such_name


def test_import_is_light() -> None:
    """``import dpcausal`` loads none of the heavy libraries."""
    heavy = ("numba", "scipy", "opendp", "dp_accounting", "pyarrow", "duckdb", "matplotlib", "sqlalchemy")
    code = f"import dpcausal, sys; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "[]"


def test_no_registry_and_no_machine_path() -> None:
    forbidden = re.compile(r"https?://[^ ]*(/simple|\.whl|\.tar\.gz)|(^|[^a-z])/(wor[k]|farm)/|find-links")
    top = subprocess.run(
        ["git", "rev-parse", "--show-toplevel"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    repository = Path(top.stdout.strip())
    tracked = subprocess.run(["git", "ls-files"], cwd=repository, check=True, capture_output=True, text=True)
    strays = []
    for name in tracked.stdout.splitlines():
        path = repository / name
        if path.suffix in {".py", ".toml", ".txt", ".md", ".json", ".yml", ""} and path.is_file():
            lines = path.read_text(errors="replace").splitlines()
            strays += [f"{name}:{i}" for i, line in enumerate(lines, 1) if forbidden.search(line)]
    assert [s for s in strays if not s.startswith("tests/unit/test_architecture.py")] == []
