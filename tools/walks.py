"""How much of the project's source one public call walks through.

    python tools/walks.py            a table of five walks, and sizes: of the source, of the help and of the report
    python tools/walks.py --files    the files of every walk, too
    python tools/walks.py --json     the same numbers as one JSON object

A walk is one call of the public interface. It runs twice: the first run imports and compiles, the second is traced.
Counted are source files below ``src/dpcausal`` in which some function was entered, those functions (comprehensions,
generator expressions and lambdas belong to the function around them) and the greatest number of project frames on the
stack at once. Code that runs while a module is imported and compiled kernels do not count.

The complexity of a function is 1 plus its decisions: branches, loops, handlers, cases, conditions of comprehensions,
and every ``and`` and ``or``. Functions inside it count with it; compiled kernels are left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import pydoc
import statistics
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dpcausal"
NETWORK, ROWS, SEED = "asia", 20_000, 1
MOST_FILES, MOST_COMPLEXITY = 40, 25  # the bars: files that ``discover`` enters, and complexity of a function
DECISIONS = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension, ast.match_case)

SCHEMA = """\
[columns.smoke]
type = "categorical"
levels = ["no", "yes"]
other = "no"
aliases = { Y = "yes" }
[columns.age]
type = "numeric"
lower = 0
upper = 110
bins = [18, 40, 65]
missing = [999]
"""
TABLE = "smoke,age\n" + "yes,70\nno,33\nY,999\n,-4\n" * 25


@dataclass
class Walk:
    """What one call entered: ``functions`` as (file, qualified name), and the deepest stack of project frames."""

    name: str
    functions: set[tuple[str, str]] = field(default_factory=set)
    depth: int = 0

    @property
    def files(self) -> list[str]:
        """Distinct source files, relative to the package."""
        return sorted({file for file, _ in self.functions})


class Tracer:
    """Notes every call of a function whose source lies below ``source``, in this thread and in new ones."""

    def __init__(self, walk: Walk, source: Path = SOURCE) -> None:
        self._walk = walk
        self._source = source
        self._known: dict[CodeType, tuple[str, str] | None] = {}
        self._frames = threading.local()

    def _place(self, code: CodeType) -> tuple[str, str] | None:
        """File and function of a code object; None for other people's code and for module level."""
        if code not in self._known:
            path = Path(code.co_filename)
            inside = path.is_relative_to(self._source) and code.co_name != "<module>"
            self._known[code] = (str(path.relative_to(self._source)), owner(code)) if inside else None
        return self._known[code]

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event not in ("call", "return"):
            return
        place = self._place(frame.f_code)
        if place is None:
            return
        # a generator that yields returns, and is called when it is resumed, so the two stay in balance
        depth = getattr(self._frames, "depth", 0) + (1 if event == "call" else -1)
        self._frames.depth = depth
        if event == "call":
            self._walk.functions.add(place)
            self._walk.depth = max(self._walk.depth, depth)

    def run(self, call: Callable[[], object]) -> None:
        """Make the call with this tracer on."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            call()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def owner(code: CodeType) -> str:
    """The named function that a code object belongs to.

    >>> owner(compile("x", "f", "eval"))
    '<module>'
    """
    name = code.co_qualname if hasattr(code, "co_qualname") else code.co_name
    for inner in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"):
        name = name.split(f".<locals>.{inner}")[0]
    return str(name)


def traced(name: str, call: Callable[[], object]) -> Walk:
    """Run ``call`` once untraced and once traced."""
    walk = Walk(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        Tracer(walk).run(call)
    return walk


def measured(folder: Path) -> tuple[list[Walk], dict[str, int]]:
    """Return the five walks, whose files are in ``folder``, and the sizes of the help and of the report."""
    import dpcausal as dc

    if not Path(dc.__file__).resolve().is_relative_to(SOURCE):
        raise SystemExit(f"dpcausal is imported from {Path(dc.__file__).parent}, not from {SOURCE}")
    data = dc.networks.load(NETWORK).sample(ROWS, seed=SEED)
    columns = list(data.schema)
    csv, toml, page = folder / "table.csv", folder / "schema.toml", folder / "report.html"
    csv.write_text(TABLE)
    toml.write_text(SCHEMA)
    budget: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    with dc.testing.seeded(SEED):  # the same noise each time, so that sizes of the report can be compared
        result = dc.discover(data, method="measured", **budget)
    calls: dict[str, Callable[[], object]] = {
        "discover(measured)": lambda: dc.discover(data, method="measured", **budget),
        "ci_test(kendall)": lambda: dc.ci_test(
            data, columns[0], columns[1], [columns[2]], method="kendall", epsilon=1.0
        ),
        "result.report": lambda: result.report(str(page)),
        "read": lambda: dc.read(str(csv), dc.Schema.from_toml(str(toml))),
        "plan": lambda: dc.plan(data.schema, ROWS, **budget),
    }
    found = [traced(name, call) for name, call in calls.items()]
    text = pydoc.plain(pydoc.render_doc(dc.discover))
    return found, {
        "lines of help(dc.discover)": text.count("\n"),
        "characters of help(dc.discover)": len(text),
        "bytes of the report": page.stat().st_size,
    }


def complexity(function: ast.AST) -> int:
    """Return 1 plus the number of decisions in a function.

    >>> complexity(ast.parse("def f(x):\\n    return [y for y in x if y and y > 1] if x else []"))
    5
    """
    nodes = list(ast.walk(function))
    conditions = sum(len(node.ifs) for node in nodes if isinstance(node, ast.comprehension))
    operators = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + sum(isinstance(node, DECISIONS) for node in nodes) + conditions + operators


def complex_functions(source: Path = SOURCE) -> dict[str, int]:
    """Return the functions above the bar, compiled kernels left out, the most complex first."""
    found = {}
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or (score := complexity(node)) <= MOST_COMPLEXITY:
                continue
            if not any("jit" in ast.unparse(decorator) for decorator in node.decorator_list):
                found[f"{path.relative_to(source)}: {node.name}"] = score
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


def source_statistics(source: Path = SOURCE) -> dict[str, Any]:
    """Number of non-empty source files, their lines, the median and the largest."""
    lines = {
        str(path.relative_to(source)): len(path.read_text().splitlines()) for path in source.rglob("*.py")
    }
    lines = {name: count for name, count in lines.items() if count}
    largest = max(lines, key=lambda name: lines[name])
    return {
        "files": len(lines),
        "lines": sum(lines.values()),
        "median": statistics.median(lines.values()),
        "largest": lines[largest],
        "largest_file": largest,
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--files", action="store_true", help="list the files of every walk")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found, texts = measured(Path(folder))
    size, above = source_statistics(), complex_functions()
    if chosen.json:
        described = {
            walk.name: {
                "files": len(walk.files),
                "functions": len(walk.functions),
                "depth": walk.depth,
                **({"paths": walk.files} if chosen.files else {}),
            }
            for walk in found
        }
        print(json.dumps({"walks": described, "source": size, "complexity": above, "texts": texts}, indent=2))
        return
    print(f"{'walk':<20}{'files':>7}{'functions':>11}{'depth':>7}")
    for walk in found:
        print(f"{walk.name:<20}{len(walk.files):>7}{len(walk.functions):>11}{walk.depth:>7}")
    if chosen.files:
        for walk in found:
            print(f"\n{walk.name}:")
            print("\n".join(f"  {file}" for file in walk.files))
    print(
        f"\nsource: {size['files']} files that are not empty, {size['lines']:,} lines; "
        f"median {size['median']:g}, largest {size['largest']} ({size['largest_file']})"
    )
    entered = len(found[0].files)
    print(
        f"{found[0].name} enters {entered} files: {'within' if entered <= MOST_FILES else 'above'} {MOST_FILES}"
    )
    print(f"functions of complexity above {MOST_COMPLEXITY}: {len(above)}")
    print("".join(f"  {score:>3}  {name}\n" for name, score in above.items()), end="")
    print("\n".join(f"{what}: {number:,}" for what, number in texts.items()))


if __name__ == "__main__":
    main()
