"""Docstrings for the reference: doctests become code, and a section of their own; those of estimators are made.

Docstrings here are plain text with Markdown's backticks and numpydoc sections. Taken as Markdown, ``>>>`` would be a
quotation and ``['a']`` a link; taken as numpydoc, a doctest that follows a list of parameters would be one of them. An
estimator has its docstring and its parameters only once its class is made, so that class is asked. An extension of
griffe, which reads the package for mkdocstrings.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

ESTIMATORS = "dpcausal.estimators"
DISCOVER = "dpcausal.discovery.discover"  # its help lists the methods, as they describe themselves
CI_TEST = "dpcausal.citests.ci_test"  # and that of a test all tests
LISTS = {"Parameters", "Attributes", "Returns", "Raises"}  # sections in which plain text has no place


def fenced(text: str) -> str:
    """Return the text with every doctest (up to the next blank line) in a code block.

    >>> fenced("Add.\\n\\n>>> 1 + 1\\n2\\n\\nMore.").split("\\n")
    ['Add.', '', '```pycon', '>>> 1 + 1', '2', '```', '', 'More.']
    >>> fenced("Raises\\n------\\nValueError\\n    Always.\\n\\n>>> 1").split("\\n")[5:]
    ['Examples', '--------', '```pycon', '>>> 1', '```']
    """
    lines: list[str] = []
    inside, section = False, ""
    for line in text.split("\n"):
        if lines and re.fullmatch("-{3,}", line) and len(line) == len(lines[-1]):
            section = lines[-1]
        if not inside and line.startswith(">>> "):
            if lines and lines[-1].strip() and not set(lines[-1]) <= {"-"}:
                lines.append("")
            if section in LISTS:
                section = "Examples"
                lines += [section, "-" * len(section)]
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    if inside:
        lines.append("```")
    return "\n".join(lines)


def describe_estimator(found: griffe.Class, real: type) -> None:
    """Give what griffe read of an estimator the docstring and the parameters that its class has when it is made."""
    found.docstring = griffe.Docstring(inspect.getdoc(real) or "", parent=found)
    parameters = [
        griffe.Parameter(
            one.name,
            kind=griffe.ParameterKind[one.kind.name.lower()],
            annotation=inspect.formatannotation(one.annotation).strip("'\""),
            default=None if one.default is one.empty else repr(one.default),
        )
        for one in inspect.signature(real).parameters.values()
    ]
    this = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
    found.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(this, *parameters)))


class Docstrings(griffe.Extension):
    """Applies ``fenced`` to every docstring that griffe reads, or that an estimator has."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if isinstance(obj, griffe.Class) and obj.parent and obj.parent.path == ESTIMATORS:
            describe_estimator(obj, getattr(import_module(ESTIMATORS), obj.name))
        if obj.docstring is not None and obj.path in (f"{DISCOVER}.discover", f"{CI_TEST}.ci_test"):
            module, _, name = obj.path.rpartition(".")
            obj.docstring.value = inspect.getdoc(getattr(import_module(module), name)) or ""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
