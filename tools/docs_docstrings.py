"""Docstrings for the reference: doctests become code.

Docstrings here are plain text with Markdown's backticks. Taken as Markdown, ``>>>`` would be a quotation and ``['a']``
a link. An extension of griffe, which reads the package for mkdocstrings.
"""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """The text with every doctest (up to the next blank line) in a code block.

    >>> fenced("Add.\\n\\n>>> 1 + 1\\n2\\n\\nMore.").split("\\n")
    ['Add.', '', '```pycon', '>>> 1 + 1', '2', '```', '', 'More.']
    """
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        if not inside and line.startswith(">>> "):
            if lines and lines[-1].strip():
                lines.append("")
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
