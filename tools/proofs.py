"""Check that every @proved function still is what its proof file was written for.

    python tools/proofs.py check           fail on a missing, stale or orphaned proof
    python tools/proofs.py sign [NAME...]  write current hashes (after reading proof and code again)

See ``dpcausal/core/proofs.py`` for the convention.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "dpcausal"
LINE = re.compile(r"<!-- proves: (?P<name>[\w.]+) sha256:(?P<hash>[0-9a-f]*) -->")


@dataclass(frozen=True)
class Proved:
    """One decorated function or class: where it is, which proof it names, the hash of its syntax tree."""

    module: Path
    name: str
    proof: Path
    hash: str


def without_docstrings(node: ast.AST) -> None:
    """Take every docstring out, so that prose can change without touching the hash."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            match inner.body[0]:
                case ast.Expr(value=ast.Constant(value=str())):
                    inner.body = inner.body[1:] or [ast.Pass()]


def definitions_of(statements: list[ast.stmt]) -> dict[str, ast.stmt]:
    """Assignments, functions and classes by name: a proof rests on what its function uses, too."""
    found: dict[str, ast.stmt] = {}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[statement.name] = statement
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        for target in targets:
            found.update({name.id: statement for name in ast.walk(target) if isinstance(name, ast.Name)})
    return found


def names_in(node: ast.AST) -> set[str]:
    """Every plain name in a syntax tree."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def own_names_in(node: ast.AST) -> set[str]:
    """Every x of ``self.x`` and ``cls.x`` in a syntax tree."""
    return {
        inner.attr
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute)
        and isinstance(inner.value, ast.Name)
        and inner.value.id in ("self", "cls")
    }


@dataclass(frozen=True)
class Piece:
    """What a hash needs of a piece of syntax: its text, the plain names in it, and those after ``self`` and ``cls``."""

    text: str
    names: set[str]
    own_names: set[str]


Pieces = dict[ast.AST, Piece]  # of one module: many functions reach the same pieces


def piece_of(node: ast.AST, pieces: Pieces) -> Piece:
    """Return a piece, worked out once."""
    if node not in pieces:
        pieces[node] = Piece(ast.dump(node), names_in(node), own_names_in(node))
    return pieces[node]


def digest(
    node: ast.AST, known: dict[str, ast.stmt], owner: ast.ClassDef | None = None, pieces: Pieces | None = None
) -> str:
    """Hash of a function or class and of everything of its module that it reaches by name.

    That is constants, functions and whole classes. A method of ``owner`` also rests on the class's bases and fields,
    and on the methods that it reaches through ``self`` and ``cls``.
    """
    pieces = {} if pieces is None else pieces
    first = piece_of(node, pieces)
    todo, seen = [first], {first.text}

    def reach(statement: ast.AST) -> None:
        piece = piece_of(statement, pieces)
        if piece.text not in seen:
            seen.add(piece.text)
            todo.append(piece)

    members: dict[str, ast.stmt] = {}
    if owner is not None:
        members = definitions_of(owner.body)
        for base in owner.bases:
            reach(base)
        for statement in owner.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                reach(statement)
    while todo:
        current = todo.pop()
        for name in current.names & known.keys():
            reach(known[name])
        for name in current.own_names & members.keys():
            reach(members[name])
    return hashlib.sha256("\n".join([first.text, *sorted(seen - {first.text})]).encode()).hexdigest()[:16]


def proved_in(module: Path) -> list[Proved]:
    """Every function and class of ``module`` decorated with @proved("...")."""
    found: list[Proved] = []
    source = module.read_text()
    if "proved(" not in source:
        return found
    tree = ast.parse(source)
    without_docstrings(tree)
    known, pieces = definitions_of(tree.body), Pieces()

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.ClassDef):
                continue
            name = prefix + child.name
            for mark in child.decorator_list:
                if (
                    isinstance(mark, ast.Call)
                    and isinstance(mark.func, ast.Name)
                    and mark.func.id == "proved"
                ):
                    (argument,) = mark.args
                    if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                        raise SystemExit(
                            f"{module}: @proved on {name} must name its file as a literal string"
                        )
                    proof = module.parent / argument.value
                    owner = node if isinstance(node, ast.ClassDef) else None
                    found.append(Proved(module, name, proof, digest(child, known, owner, pieces)))
            visit(child, name + ".")

    visit(tree, "")
    return found


def check(source: Path = SOURCE) -> list[str]:
    """One line per missing, stale or orphaned proof below ``source``; empty when all is well."""
    faults: list[str] = []
    wanted: dict[Path, set[str]] = {}
    for module in sorted(source.rglob("*.py")):
        for item in proved_in(module):
            wanted.setdefault(item.proof, set()).add(item.name)
            if not item.proof.exists():
                faults.append(f"{item.module}: {item.name} names {item.proof.name}, which does not exist")
                continue
            signed = {m["name"]: m["hash"] for m in LINE.finditer(item.proof.read_text())}
            if item.name not in signed:
                faults.append(f"{item.proof}: no line 'proves: {item.name}'")
            elif signed[item.name] != item.hash:
                faults.append(
                    f"{item.proof}: {item.name} changed after its proof was read; read both, then sign"
                )
    for proof in sorted(source.rglob("*.proof.md")):
        names = {m["name"] for m in LINE.finditer(proof.read_text())}
        if not names:
            faults.append(f"{proof}: proves nothing (no 'proves:' line)")
        faults += [
            f"{proof}: proves {name}, which no @proved names" for name in names - wanted.get(proof, set())
        ]
    return faults


def sign(names: list[str], source: Path = SOURCE) -> int:
    """Write the current hash of each named function (all of them if none is named); how many changed."""
    changed = 0
    for module in sorted(source.rglob("*.py")):
        for item in proved_in(module):
            if (names and item.name not in names) or not item.proof.exists():
                continue
            old = item.proof.read_text()
            pattern = re.compile(rf"<!-- proves: {re.escape(item.name)} sha256:[0-9a-f]* -->")
            new = pattern.sub(f"<!-- proves: {item.name} sha256:{item.hash} -->", old)
            if new != old:
                item.proof.write_text(new)
                changed += 1
    return changed


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check"]:
            problems = check()
            print("\n".join(problems) or "proofs: all current")
            sys.exit(bool(problems))
        case ["sign", *chosen]:
            print(f"signed {sign(chosen)}")
        case _:
            sys.exit(__doc__)
