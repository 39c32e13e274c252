"""Docstrings for the reference: doctests become code, and a section of their own.

Docstrings here are plain text with Markdown's backticks and numpydoc sections. Taken as Markdown, ``>>>`` would be a
quotation and ``['a']`` a link; taken as numpydoc, a doctest that follows a list of parameters would be one of them. An
extension of griffe, which reads the package for mkdocstrings.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

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


class Docstrings(griffe.Extension):
    """Applies ``fenced`` to every docstring that griffe reads."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
