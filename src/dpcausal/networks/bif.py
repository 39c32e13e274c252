r"""Bayesian networks in .bif files (the Interchange Format, as JavaBayes and bnlearn write it): read and written.

    network NAME { property ...; }
    variable smoke { type discrete [ 2 ] { yes, no }; property ...; }
    probability ( lung | smoke ) { (yes) 0.1, 0.9; default 0.01, 0.99; }
    probability ( smoke ) { table 0.5, 0.5; }

A name is any run of characters without blanks, quotes and ``, ; { } ( ) [ ] |``, or any text in double
quotes on one line (with ``\"``, ``\\``, ``\n`` and ``\r`` inside). Commas count as blanks and ``|`` may be
missing, as in JavaBayes. Comments are ``//`` and ``/* */``. In ``table`` the variable's own level changes
slowest and the last parent's fastest. Rows that are not listed take ``default``; without one they are an
error. Rows that sum to within 0.01 of 1 are divided by their sum (published tables are rounded); further off is an
error.

The text is cut in one pass by one regular expression, which is what makes files of megabytes quick to read;
line numbers are worked out only when an error needs one.

Reference: Cozman (1998), "The Interchange Format for Bayesian Networks", version 0.15.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from itertools import product
from math import prod
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.networks.network import SUM_TOLERANCE, Network, Variable

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
        """Raise ``InputError`` with the line of the last token, or of token ``at``."""
        position = self.at - 1 if at is None else at
        line = self.text.count("\n") + 1
        words = (found for found in _WORD.finditer(self.text) if found[1])
        for i, found in enumerate(words):
            if i >= position:
                line = self.text.count("\n", 0, found.start()) + 1
                break
        shown = message.replace("\n", "\\n").replace("\r", "\\r")
        raise InputError(f"{self.source}, line {line}: {shown}") from None

    def finished(self) -> bool:
        """Return whether all tokens are consumed."""
        return self.at >= len(self.words)

    def take(self) -> str:
        """Consume the next token and return it."""
        if self.finished():
            self.fail("the text ends too early", len(self.words))
        self.at += 1
        return self.words[self.at - 1]

    def expect(self, word: str) -> None:
        """Consume the next token; raise ``InputError`` unless it is ``word``."""
        found = self.take()
        if found != word:
            self.fail(f"expected {word!r}, not {found!r}")

    def name(self) -> str:
        """Consume a name, quoted or not, and return it."""
        return self.unquoted(self.take(), self.at - 1)

    def unquoted(self, word: str, at: int) -> str:
        """Return the name in the token at position ``at``, without quotes."""
        if word == '"':
            self.fail("a quote is not closed", at)
        if word in _PUNCTUATION:
            self.fail(f"expected a name, not {word!r}", at)
        if word[0] != '"':
            return word
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), word[1:-1])

    def until(self, end: str) -> list[str]:
        """Consume all tokens up to the next ``end``, included; return those before it."""
        start = self.at
        try:
            stop = self.words.index(end, start)
        except ValueError:
            self.fail(f"no {end!r} after this", start - 1)
        self.at = stop + 1
        return self.words[start:stop]

    def numbers(self) -> list[float]:
        """Consume the numbers up to the next semicolon and return them."""
        start = self.at
        found = []
        for i, word in enumerate(self.until(";")):
            try:
                found.append(float(word))
            except ValueError:
                self.fail(f"expected a number, not {word!r}", start + i)
        return found


MOST_CELLS = 1 << 27


def read_bif(path: str | os.PathLike[str]) -> Network:
    """Return the network in a .bif or .bif.gz file.

    **Cost** is linear in the size of the file and the tables.

    Parameters
    ----------
    path : path
        The file. The network is named as in it, or after it where that says "unknown".

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If anything is malformed, with the file and the line: an unknown parent or level, a missing or doubled row or
        block, a row with the wrong number of entries or the wrong sum; for a cycle, with the file.

    Examples
    --------
    >>> import tempfile
    >>> from dpcausal.networks import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bif(load("cancer"), f"{folder}/cancer.bif")
    ...     read_bif(f"{folder}/cancer.bif")
    Network(cancer, 5 variables, 4 arrows)
    """
    file = Path(path)
    try:
        raw = file.read_bytes()
        text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file}: not UTF-8 text") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"can't read {file}: {error}") from None
    network = parse_bif(text, str(file))
    return network if network.name != "unknown" else Network(file.name.split(".")[0], network)


def parse_bif(text: str, source: str = "text") -> Network:
    """Return the network in a .bif text; ``source`` is what errors call it.

    >>> parse_bif("network n {} variable a { type discrete [2] { x, y }; } probability (a) { table .2 .8; }")
    Network(n, 1 variables, 0 arrows)
    """
    return _Reader(Tokens(text, source)).network()


class _Reader:
    """Parses blocks; tables are resolved last, since they may precede the variables they name."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.levels: dict[str, dict[str, int]] = {}
        self.variables: dict[str, Variable] = {}

    def network(self) -> Network:
        """Read all blocks of the file and return the network."""
        name = "unknown"
        tables: list[int] = []
        while not self.tokens.finished():
            word = self.tokens.take()
            if word == "network":
                head = self.tokens.until("{")
                name = self.tokens.unquoted(head[0], self.tokens.at - 1) if head else name
                self.tokens.until("}")
            elif word == "variable":
                self.variable()
            elif word == "probability":
                tables.append(self.tokens.at)
                self.tokens.until("}")
            else:
                self.tokens.fail(f"expected network, variable or probability, not {word!r}")
        for self.tokens.at in tables:
            self.probability()
        source = self.tokens.source
        for variable in self.levels:
            if variable not in self.variables:
                raise InputError(f'{source}: variable "{variable}" has no probability block')
        if not self.levels:
            raise InputError(f"{source}: no variables in it")
        try:
            return Network(name, [self.variables[variable] for variable in self.levels])
        except InputError as error:
            raise InputError(f"{source}: {error}") from None

    def variable(self) -> None:
        """Read a block that declares a variable."""
        tokens = self.tokens
        name, at = tokens.name(), tokens.at - 1
        if name in self.levels:
            tokens.fail(f'variable "{name}" given twice')
        tokens.expect("{")
        while (word := tokens.take()) != "}":
            if word == "property":
                tokens.until(";")
            elif word == "type":
                self.levels[name] = self.type_of(name)
            else:
                tokens.fail(f"expected type or property, not {word!r}")
        if name not in self.levels:
            tokens.fail(f'variable "{name}" has no type', at)

    def type_of(self, name: str) -> dict[str, int]:
        """Read the levels of a variable; return the place of each level."""
        tokens = self.tokens
        tokens.expect("discrete")
        tokens.expect("[")
        count, at = tokens.take(), tokens.at
        tokens.expect("]")
        tokens.expect("{")
        start = tokens.at
        found = [tokens.unquoted(word, start + i) for i, word in enumerate(tokens.until("}"))]
        if count != str(len(found)):
            tokens.fail(f'variable "{name}" says [{count}] and lists {len(found)} levels', at)
        levels = {level: i for i, level in enumerate(found)}
        if len(levels) < len(found) or not found:
            tokens.fail(f'variable "{name}" has {"a level twice" if found else "no levels"}', at)
        tokens.expect(";")
        return levels

    def probability(self) -> None:
        """Read a block with the table of a variable."""
        tokens = self.tokens
        tokens.expect("(")
        at = tokens.at
        words = [(word, at + i) for i, word in enumerate(tokens.until(")")) if word != "|"]
        names = [tokens.unquoted(word, i) for word, i in words]
        for name in names:
            if name not in self.levels:
                tokens.fail(f'no variable "{name}"{did_you_mean(name, self.levels)}', at)
        if not names or len(set(names)) < len(names) or names[0] in self.variables:
            tokens.fail("a probability block needs a variable and its parents, each once", at)
        tokens.expect("{")
        table = self.table(names[0], names[1:], at)
        try:
            self.variables[names[0]] = Variable(names[0], list(self.levels[names[0]]), names[1:], table)
        except InputError as error:
            tokens.fail(str(error), at)

    def table(self, name: str, parents: list[str], at: int) -> NDArray[np.float64]:
        """Return the rows up to the closing brace, as an array with the variable's own axis last."""
        tokens = self.tokens
        size = len(self.levels[name])
        shape = tuple(len(self.levels[parent]) for parent in parents)
        if prod(shape) * size > MOST_CELLS:
            tokens.fail(f'the table of "{name}" has more than {MOST_CELLS:,} cells', at)
        rows: dict[int, list[float]] = {}
        places: dict[int, int] = {}
        default: list[float] | None = None
        default_at = at
        while (word := tokens.take()) != "}":
            start = tokens.at
            if word == "property":
                tokens.until(";")
            elif word == "table":
                if rows:
                    tokens.fail(f'the table of "{name}" is given twice')
                columns = np.reshape(self.entries(prod(shape) * size), (size, -1)).T.tolist()
                rows = dict(enumerate(columns))
                places = dict.fromkeys(rows, start)
            elif word == "default":
                default, default_at = self.entries(size), start
            elif word == "(":
                row = self.row_number(parents)
                if row in rows:
                    tokens.fail(f'the table of "{name}" has two rows for the same levels', start)
                rows[row], places[row] = self.entries(size), start
            else:
                tokens.fail(f'expected table, default, "(" or "}}", not {word!r}')
        if default is None and len(rows) < prod(shape):
            missing = next(row for row in range(prod(shape)) if row not in rows)
            levels = zip(parents, np.unravel_index(missing, shape), strict=True)
            shown = ", ".join(list(self.levels[parent])[i] for parent, i in levels)
            tokens.fail(f'the table of "{name}" has no row for ({shown}) and no default', at)
        table = np.array([rows.get(row, default) for row in range(prod(shape))])
        total = table.sum(axis=1)
        wrong = ~((np.abs(total - 1) <= SUM_TOLERANCE) & (table >= 0).all(axis=1))
        if wrong.any():
            row = int(np.argmax(wrong))
            place = places.get(row, default_at)
            tokens.fail(f"a row must be probabilities with sum 1, not {total[row]:g}", place)
        return table.reshape(*shape, size)

    def entries(self, count: int) -> list[float]:
        """Consume ``count`` numbers and return them."""
        start = self.tokens.at
        found = self.tokens.numbers()
        if len(found) != count:
            self.tokens.fail(f"expected {count} numbers, not {len(found)}", start)
        return found

    def row_number(self, parents: list[str]) -> int:
        """Return the table row that parent levels select: mixed radix, last parent fastest."""
        tokens = self.tokens
        start = tokens.at
        words = tokens.until(")")
        if len(words) != len(parents):
            tokens.fail(f"expected {len(parents)} levels, not {len(words)}", start)
        row = 0
        for i, (word, parent) in enumerate(zip(words, parents, strict=True)):
            known = self.levels[parent]
            number = known.get(word)
            if number is None:
                level = tokens.unquoted(word, start + i)
                number = known.get(level)
                if number is None:
                    tokens.fail(f'"{parent}" has no level "{level}"{did_you_mean(level, known)}', start + i)
            row = row * len(known) + number
        return row


_PLAIN = re.compile(r"[^\W]([^\s,;{}()\[\]|\"\\/])*")


def write_bif(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network to a .bif file.

    Parameters
    ----------
    network : Network
        What to write.
    path : path
        Where to.

    Returns
    -------
    None

    Raises
    ------
    InputError
        If the file can't be written.

    Examples
    --------
    >>> import tempfile
    >>> from dpcausal.networks import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bif(load("cancer"), f"{folder}/cancer.bif")
    """
    try:
        Path(path).write_text(format_bif(network), encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {path}: {error}") from None


def format_bif(network: Network) -> str:
    """Return the .bif text of a network: probabilities with all their digits, a row per configuration of parents.

    Names with blanks or punctuation are quoted. Whether levels are ordered has no place in the format and is lost.

    >>> from dpcausal.networks import load
    >>> print(format_bif(load("asia")).split("probability")[-1], end="")
     ( dysp | bronc, either ) {
      (yes, yes) 0.9, 0.1;
      (yes, no) 0.8, 0.2;
      (no, yes) 0.7, 0.3;
      (no, no) 0.1, 0.9;
    }
    """
    lines = [f"network {_name(network.name)} {{", "}"]
    for variable in network:
        levels = ", ".join(map(_name, variable.levels))
        lines += [
            f"variable {_name(variable.name)} {{",
            f"  type discrete [ {variable.size} ] {{ {levels} }};",
            "}",
        ]
    for variable in network:
        given = f" | {', '.join(map(_name, variable.parents))}" if variable.parents else ""
        lines += [f"probability ( {_name(variable.name)}{given} ) {{", *_rows(network, variable), "}"]
    return "\n".join(lines) + "\n"


def _rows(network: Network, variable: Variable) -> list[str]:
    """Return the lines of a variable's table."""
    rows = variable.table.reshape(-1, variable.size).tolist()
    if not variable.parents:
        return [f"  table {', '.join(map(repr, rows[0]))};"]
    settings = product(*(network[parent].levels for parent in variable.parents))
    return [
        f"  ({', '.join(map(_name, levels))}) {', '.join(map(repr, row))};"
        for levels, row in zip(settings, rows, strict=True)
    ]


def _name(name: str) -> str:
    """Return a name for a .bif file, in quotes where it needs them."""
    if _PLAIN.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
