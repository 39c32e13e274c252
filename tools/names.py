"""Draw functions of the source, for a fresh reader who judges whether their names and docstrings are clear.

    python tools/names.py --seed 1 --count 60

Printed of each are its module, its qualified name, its signature and its docstring: all that the reader may see. Drawn
are functions and methods below ``src/dpcausal``, each with the same chance; dunders, overloads and functions inside
functions are left out. The draw orders them by a hash of the seed and the name, so that a change of one function leaves
the others of the draw in place.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dpcausal"
SHOWN = ("property", "cached_property", "classmethod", "staticmethod", "contextmanager")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    """Yield the functions and methods of a module's body with their qualified names."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node.body, f"{prefix}.{node.name}")
        elif isinstance(node, Function):
            dunder = node.name.startswith("__") and node.name.endswith("__")
            if not dunder and not any("overload" in ast.unparse(mark) for mark in node.decorator_list):
                yield f"{prefix}.{node.name}", node


def printed(name: str, function: Function) -> str:
    """Return the qualified name, the signature and the docstring of a function as text."""
    marks = [ast.unparse(mark) for mark in function.decorator_list]
    head = "".join(f"@{mark}\n" for mark in marks if mark.split(".")[-1] in SHOWN)
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    signature = f"def {function.name}({ast.unparse(function.args)}){result}:"
    return f"{name}\n{head}{signature}\n{ast.get_docstring(function) or '(no docstring)'}"


def draw(seed: int, count: int, source: Path = SOURCE) -> list[str]:
    """Return the printed text of ``count`` functions, the same for the same seed and the same names."""
    found: dict[str, Function] = {}
    for path in sorted(source.rglob("*.py")):
        module = ".".join(path.relative_to(source.parent).with_suffix("").parts)
        found.update(functions(ast.parse(path.read_text()).body, module))
    order = sorted(found, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return [printed(name, found[name]) for name in order[:count]]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Draw functions, to be judged by name and docstring alone.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=60)
    chosen = parser.parse_args()
    for number, text in enumerate(draw(chosen.seed, chosen.count), start=1):
        print(f"{number}. {text}\n")


if __name__ == "__main__":
    main()
