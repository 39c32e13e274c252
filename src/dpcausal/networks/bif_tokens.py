"""Words of a .bif text, read one after another, with the line to name in an error.

The text is cut in one pass by one regular expression, which is what makes files of megabytes quick to read;
line numbers are worked out only when an error needs one.
"""

from __future__ import annotations

import re
from typing import NoReturn

from dpcausal.core.errors import InputError

# A comment matches outside the group and so gives an empty word; blanks and commas match nothing.
_WORD = re.compile(r"""//[^\n]*|/\*[\s\S]*?\*/|("(?:[^"\\\n]|\\.)*"|[;{}()\[\]|]|[^\s,;{}()\[\]|"]+|")""")
_ESCAPES = {"n": "\n", "r": "\r"}
_PUNCTUATION = frozenset(';{}()[]|"')


class Tokens:
    """A position ``at`` in the list of ``words``; ``source`` is what errors call the text."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.words: list[str] = [word for word in _WORD.findall(text) if word]
        self.at = 0

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise the one ``InputError``, at the word last taken unless ``at`` says otherwise."""
        position = self.at - 1 if at is None else at
        line = self.text.count("\n") + 1
        kept = (found for found in _WORD.finditer(self.text) if found[1])
        for i, found in enumerate(kept):
            if i >= position:
                line = self.text.count("\n", 0, found.start()) + 1
                break
        shown = message.replace("\n", "\\n").replace("\r", "\\r")
        raise InputError(f"{self.source}, line {line}: {shown}") from None

    def finished(self) -> bool:
        """Whether no word is left."""
        return self.at >= len(self.words)

    def take(self) -> str:
        """The next word, as written."""
        if self.finished():
            self.fail("the text ends too early", len(self.words))
        self.at += 1
        return self.words[self.at - 1]

    def expect(self, word: str) -> None:
        """Take the next word, which must be ``word``."""
        found = self.take()
        if found != word:
            self.fail(f"expected {word!r}, not {found!r}")

    def name(self) -> str:
        """Take a name, quoted or not."""
        return self.unquoted(self.take(), self.at - 1)

    def unquoted(self, word: str, at: int) -> str:
        """The name that the word at position ``at`` stands for."""
        if word == '"':
            self.fail("a quote is not closed", at)
        if word in _PUNCTUATION:
            self.fail(f"expected a name, not {word!r}", at)
        if word[0] != '"':
            return word
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), word[1:-1])

    def until(self, end: str) -> list[str]:
        """Take all words before the next ``end``, and ``end`` itself."""
        start = self.at
        try:
            stop = self.words.index(end, start)
        except ValueError:
            self.fail(f"no {end!r} after this", start - 1)
        self.at = stop + 1
        return self.words[start:stop]

    def numbers(self) -> list[float]:
        """Take the numbers up to the next semicolon."""
        start = self.at
        words = self.until(";")
        try:
            return list(map(float, words))
        except ValueError:
            for i, word in enumerate(words):
                if not _is_number(word):
                    self.fail(f"expected a number, not {word!r}", start + i)
            raise


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
