"""The catalogue of errors, warnings and remarks, collected from the code when the documentation is built.

    python tools/docs_errors.py          # print the page
    python tools/docs_errors.py check    # is there something to do for every class, kind and room?

Classes of errors and warnings are found by importing the package, messages by reading its syntax trees, and remarks by
the families of facts, each with its example of ``tests/data/golden/facts.txt``. What to do is written here: a class, a
kind or a room without it fails the check, which a test runs.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dpcausal"
EXAMPLES = ROOT / "tests" / "data" / "golden" / "facts.txt"

INTRO = """# Errors and warnings, and what to do

An error is one line that says what is wrong and, mostly, what to write instead. It never holds a value of a row. At
the command line the exit code is 2 (bad input) or 3 (the budget does not allow it). Nothing was charged unless the line
says so. In Python catch `dc.InputError`, `dc.BudgetError` or the classes below them.

This page is made from the code when the documentation is built (`tools/docs_errors.py`). To find a message, search for
its first words; `…` stands for a name or a number.

"""

TO_DO = {  # of errors and warnings
    "InputError": "Change the argument, option or file that the line names.",
    "SchemaError": "Change the schema at the column that the line names: `dpcausal schema DATA --check SCHEMA`.",
    "DeclarationError": "Change the entry of the column that the line names, such as `bins`.",
    "EngineError": "Look at the engine (is it up, may you read the table?), then ask again. A release that was charged "
    "stays charged.",
    "TableChanged": "Stop writing to the table, or give a snapshot of it.",
    "NoWorkers": "Start the workers of the cluster, or read a file instead.",
    "UnderpoweredError": "Ask about fewer columns, merge levels, or spend more; `--anyway` pays all the same.",
    "HiddenCausePossible": "Name what to hold fixed yourself (`adjust=`), or give no causal answer.",
    "LedgerError": "Check the address; if `ledger verify` fails, call whoever keeps the ledger and release nothing.",
    "BudgetError": "Ask for what is left, or read an earlier release again, which is free (`dpcausal again`). A larger "
    "total is the decision of whoever is answerable for the data.",
    "HaltedError": "A mechanism was asked after its last answer: begin a new one, which is charged.",
    "BeforeCharge": "Read it before you pay: at the command line it comes before the charge.",
    "SecondBudget": "Use the ledger that was charged first. The costs of two for the same rows add up.",
    "AskedBefore": "Read the earlier answer, which is free.",
    "SearchAgain": "Search the earlier release instead, which is free (`dpcausal again DIR`).",
    "OtherRows": "Other people: give them a data set of their own. Some of the same: do not choose them by value.",
    "NoDelta": "Add `--delta 1e-6`, below one over the number of rows.",
    "ColumnsIgnored": "Nothing, if they were left out on purpose; else declare them.",
    "DecimalNotDeclared": 'Declare `decimal = ","` or `"."`.',
    "UnitNotDeclared": "Name the column as the unit (`--unit`), or ignore it where each person has one row.",
    "DeskError": "Read the line: it says what the desk did not accept.",
    "NotAllowed": "Ask whoever runs the desk for the right, or use your own token.",
    "NotFound": "Check the name; what is not yours is not shown.",
    "Conflict": "Reload the page: the request has moved on.",
    "DeclaredOtherwise": "Restart `serve` and `work` with the same settings, and ask again; the charge stays.",
    "DraftSchema": "Check every line against a code book, then remove `draft = true`.",
    "AdjustsForDescendant": "Leave the column out of `adjust`, unless the graph is wrong there.",
    "LeavesBackDoorOpen": "Add the columns that the line names to `adjust`.",
    "PhenotypesIgnored": "Check the coding of the phenotype: 1 is a control, 2 a case.",
    "WeakPromise": "Choose a smaller total. Above epsilon 3 something else must protect people.",
}

ROOMS = {  # a heading for the messages of a room, and what to do
    "core": ("Arguments", "Write the value as the line says; names of columns are those of the schema."),
    "data": (
        "Schema and files",
        "Change the declaration, or how the file is read (`encoding`, `sheet`, `decimal`).",
    ),
    "counts": (
        "Rows on an engine",
        "Check the address, the table and your rights; only named tables are read.",
    ),
    "privacy": ("Budget, ledger and mechanisms", "Ask for what is left; keep one ledger and do not edit it."),
    "stats": ("Statistics", "These reach you through a test: choose another one, or other options."),
    "regression": ("Regression", "These reach you through `gcm`: choose other options."),
    "citests": ("Tests", 'Choose a test that suits the columns: `method="auto"` does.'),
    "graphs": ("Graphs", "Correct the graph that you gave, or what you declared."),
    "planning": ("Plans", "A plan is free: change rows, epsilon or columns and ask again."),
    "effects": ("Effects", "Change treatment, outcome or what is held fixed; the forecast is free."),
    "discovery": ("Discovery", "Change the method, its options or what is declared; a plan is free."),
    "gwas": ("GWAS", "Check the three PLINK files and the options; nothing was charged."),
    "sites": ("Several sites", "Use the same protocol everywhere, and each folder as it was released."),
    "desk": ("The desk", "Read the line; nothing that failed before the draw is charged twice."),
    "adapters": ("Other packages", "Use a loop that asks only questions that the oracle answers."),
    "models": ("Models for crt", "Give a model of the column that does not come from these rows."),
    "estimators": ("Estimators", "Call `fit` first, or pass the parameters that `discover` takes."),
    "audit": ("Audits", "Name a method that can be audited, and enough trials."),
    "networks": ("Networks", "Name a network that comes with the package, or a well-formed .bif file."),
    "present": ("Reports and plots", "Give a result of this package, and a folder that can be written to."),
    "cli": ("Command line", "`dpcausal COMMAND --help` has every option with an example."),
    "testing": ("Testing", "Seeds are for tests: nothing made under them is private."),
}

REMARKS: dict[str, dict[str, str]] = {  # family -> kind -> what to do; "" where it only explains
    "Limit": {
        "weak-epsilon": "Spend less, or say who may see the result and why that is allowed.",
        "weak-delta": "Choose a delta well below one over the number of rows.",
        "draft-schema": "Check every line, then remove `draft = true`.",
        "no-privacy": "Treat the answer as you treat the rows.",
        "budget-ended": "Spend more, or ask about fewer columns.",
        "engine": "Make sure that whoever operates the engine may see the rows.",
        "one-unit": "Where a person has several rows, divide the budget by their number.",
        "this-release-only": "Keep one ledger.",
        "sites-trusted": "Agree beforehand on who contributes, and how.",
        "timing": "Do not let others measure how long a run takes.",
        **dict.fromkeys(("stated", "rounding", "exact-sums"), ""),
    },
    "Note": {
        "one-level": "Leave the column out.",
        "chosen-pairs": "Ask about fewer columns, or spend more.",
        "merged-levels": "Merge levels yourself in the schema, where you know which belong together.",
        "unanswered": "Read the reasons: each names what would help.",
        "no-delta": "Add a delta of 1e-6.",
        "conflicts": "Declare what you know (`tiers`); it is free to search again.",
        "equal-widths": "Use `moments` or `tests`, or give bins that follow the law of the column.",
        "held-coarsely": "Read the edge as a hint, or declare finer bins.",
        "explained-by-bins": "Declare finer bins, at the price of more noise.",
        "shared-missing": "Look at why values are missing together before you read the edge.",
        "hidden-causes": "Read circles as not decided.",
        "as-printed": "Use it to compare with a paper, never on people's data.",
        "follow-up-columns": "Ask for an effect with `dc.Survival` instead of reading these edges.",
        "sites-differ": "Look at these pairs site by site.",
        **dict.fromkeys(("codes", "sites"), ""),
        **dict.fromkeys(
            (
                "joint-table",
                "components",
                "whole-graphs",
                "target",
                "tests",
                "classical",
                "classical-moments",
            ),
            "",
        ),
        **dict.fromkeys(("moments", "threshold", "choices", "test-costs"), ""),
    },
    "EffectNote": {
        "followed-up": "",
        "unadjusted": "Hold common causes fixed, unless treatment was randomised.",
        "hint-itself": "Do not rest on this effect alone.",
        "open-itself": "Spend more, or ask about fewer columns.",
        "no-path": "Do not read it as no effect.",
        "open-pairs": "Estimate it with and without the column.",
        "binned": "Declare finer bins, or use regression.",
        "linear": "Use bins where the dependence is not linear.",
        "by-groups": "Merge levels yourself in the schema.",
        "outcome-bins": "Read rows (`dc.read`) instead of counts.",
        "missing-left-out": "Ask why values are missing.",
        "missing-counts": "Declare a level for missing values.",
        "missing-held": "Ask why values are missing.",
        "pooled": "Declare coarser bins.",
        "left-out": "Declare coarser bins, or hold fewer columns fixed.",
        "nothing-known": "Spend more, or declare coarser bins.",
        "noise-rules": "Declare tighter bounds, or ask for a yes/no event.",
        "wide": "Ask for a yes/no event, or spend more.",
        "descendant": "Leave the column out of `adjust`.",
        "later": "Leave the column out of `adjust`.",
        "back-door": "Add the column to `adjust`.",
        "contradicted": "Declare the directions that you know.",
        "outcome-earlier": "Exchange treatment and outcome, or correct the tiers.",
        "several": "Declare directions; report the range, not a mean.",
        "same-tables": "Keep a share for effects (`--reserve`) where that matters.",
        "same-moments": "Keep a share for effects (`--reserve`) where that matters.",
        **dict.fromkeys(
            (
                "hidden-causes",
                "graph-checks",
                "from-graph",
                "scored",
                "treatment-bins",
                "numbers",
                "everyone",
            ),
            "",
        ),
        **dict.fromkeys(("lopsided", "fresh-noise", "reserved"), ""),
    },
}
TITLES = {
    "Limit": "What limits a promise",
    "Note": "What is said of a graph",
    "EffectNote": "What is said of an effect",
}


def load() -> None:
    """Import every module of the package, so that all classes are known."""
    import dpcausal

    for module in pkgutil.walk_packages(dpcausal.__path__, "dpcausal."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def below(base: type[Any]) -> list[type[Any]]:
    """Return the classes of the package that derive from ``base``, each after its parent."""
    found = [one for one in base.__subclasses__() if one.__module__.startswith("dpcausal.")]
    every: list[type[Any]] = [inner for one in found for inner in (one, *below(one))]
    return list(dict.fromkeys(every))


def template(node: ast.expr) -> str:
    """Return a message as it stands in the code, with an ellipsis for what is filled in; empty where it is no text.

    >>> template(ast.parse('f"no column {name!r} in {where}"', mode="eval").body)
    'no column … in …'
    """
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(template(part) or "…" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{template(left) or '…'}{template(right) or '…'}"
        case ast.Call(func=ast.Name(id="spelled"), args=[shell, *_]):
            return template(shell)
    return ""


def messages(names: set[str]) -> dict[str, dict[str, str]]:
    """Return room -> message -> class of the error, for every call of one of these classes."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names):
                continue
            texts = (re.sub("…+", "…", " ".join(template(argument).split())) for argument in node.args)
            longest = max(texts, key=len, default="")
            if len(re.findall(r"[a-z]+", longest)) > 1:
                found.setdefault(room, {})[longest] = node.func.id
    return found


def examples() -> list[tuple[str, str]]:
    """Return (fact, sentence) of every example that a golden file keeps."""
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    return [(fact, words.strip()) for fact, words in zip(lines[::2], lines[1::2], strict=True)]


def example(kind: str, fact: Any) -> str:
    """Return the first sentence that was kept for a kind of fact."""
    named = f"{fact.named_by}={kind!r}" if fact.named_by else ""
    wanted = [f"{one.name}=" for one in fields(fact)]
    for shown, words in examples():
        if shown.startswith(f"{fact.__name__}(") and named in shown and all(one in shown for one in wanted):
            return re.sub(r"((?:[^,;:]+, ){3})(?:[^,;:.]+, )+[^,;:.]+ and \d+ more", r"\1…", words)
    return ""


def families() -> dict[str, dict[str, Any]]:
    """Return family -> kind -> class, of the families whose facts warn."""
    from dpcausal.core.statement import Limit
    from dpcausal.discovery.search import Note
    from dpcausal.effects.result import EffectNote

    every: tuple[Any, ...] = (Limit, Note, EffectNote)
    return {
        one.__name__: {kind: fact for kind, fact in one.kinds.items() if not fact.__subclasses__()}
        for one in every
    }


def lacking() -> list[str]:
    """Return what has nothing to do beside it, or is described here and gone from the code."""
    from dpcausal.core.errors import DpcausalError

    load()
    classes = {one.__name__ for base in (DpcausalError, UserWarning) for one in below(base)}
    faults = [f"class {name}" for name in sorted(classes ^ TO_DO.keys())]
    faults += [f"room {room}" for room in sorted(messages(classes).keys() - ROOMS.keys())]
    for family, kinds in families().items():
        faults += [f"{family} {kind}" for kind in sorted(kinds.keys() ^ REMARKS[family].keys())]
    return faults


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Return a message as code, whatever marks it holds.

    >>> code("remove `draft`")
    '`` remove `draft` ``'
    """
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def class_rows(base: type) -> Iterator[str]:
    """Yield a row for each class of errors or warnings: name, what it means, what to do."""
    for one in below(base):
        means = (one.__doc__ or "").split("\n\n")[0].replace("``", "`")
        yield f"| `{one.__name__}` | {cell(means)} | {cell(TO_DO.get(one.__name__, ''))} |"


def error_page() -> str:
    """Return the page."""
    from dpcausal.core.errors import DpcausalError

    load()
    head = ["| class | means | what to do |", "|---|---|---|"]
    lines = [INTRO, "## Errors", "", *head, *class_rows(DpcausalError), ""]
    lines += ["## Warnings", "", *head, *class_rows(UserWarning), ""]
    for family, kinds in families().items():
        lines += [f"## {TITLES[family]}", "", "| for example | what to do |", "|---|---|"]
        asked = {kind: fact for kind, fact in kinds.items() if REMARKS[family].get(kind)}
        lines += [
            f"| {cell(example(kind, fact))} | {cell(REMARKS[family][kind])} |" for kind, fact in asked.items()
        ]
        lines.append("")
    found = messages({one.__name__ for one in below(DpcausalError)})
    lines += ["## Every message", ""]
    for room, (title, to_do) in ROOMS.items():
        if room in found:
            lines += [f"### {title}", "", to_do, ""]
            lines += [
                f"- {code(text)}"
                for text in sorted(found[room], key=lambda text: text.strip("…:,\"' ").casefold())
            ]
            lines.append("")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print or check; return the exit code."""
    if arguments == ["check"]:
        faults = lacking()
        print(*faults or ["every error, warning and remark says what to do"], sep="\n")
        return int(bool(faults))
    print(error_page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
