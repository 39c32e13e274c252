"""The SNPs of a .bim file, read when asked for.

On opening one pass finds the line breaks and checks the form of every line, so that 200,000 lines cost milliseconds; a
line is split when its SNP is released or a filter needs it. The list of SNPs is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.gwas.kernels.lines import find_lines

Rows = NDArray[np.int64]


class Variant(NamedTuple):
    """One SNP, with plink's names: chromosome, identifier, position, allele 1 (counted), allele 2 (reference)."""

    chromosome: str
    name: str
    position: int
    allele1: str
    allele2: str


class BimFile(Sequence[Variant]):
    """The lines of a .bim file as variants."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._bytes = path.read_bytes()
        except OSError as error:
            raise InputError(f"can't read {path.name}: {error.strerror or error}") from None
        if self._bytes and not self._bytes.endswith(b"\n"):
            self._bytes += b"\n"
        text = np.frombuffer(self._bytes, np.uint8)
        self._ends = np.empty(np.count_nonzero(text == 10), np.int64)
        plain_lines = find_lines(text, self._ends)
        if not len(self._ends):
            raise InputError(f"{path.name} is empty")
        if (
            not plain_lines
        ):  # by blanks, or something is wrong: look at each line now, not when a SNP was paid for
            for i in range(len(self._ends)):
                self._position(i, self._fields(i)[3])

    def __len__(self) -> int:
        return len(self._ends)

    def _fields(self, i: int) -> list[bytes]:
        start = int(self._ends[i - 1]) + 1 if i else 0
        fields = self._bytes[start : int(self._ends[i])].split()
        if len(fields) != 6:
            raise InputError(f"{self.path.name}, line {i + 1}: {len(fields)} columns where a .bim file has 6")
        return fields

    def __getitem__(self, index: int) -> Variant:  # type: ignore[override]
        i = range(len(self))[index]
        chromosome, name, _, position, one, two = self._fields(i)
        words = [word.decode("utf-8", "replace") for word in (chromosome, name, one, two)]
        return Variant(words[0], words[1], self._position(i, position), words[2], words[3])

    def _position(self, i: int, word: bytes) -> int:
        try:
            return int(word)
        except ValueError:
            raise InputError(f"{self.path.name}, line {i + 1}: the position is not a whole number") from None

    def select(self, chromosomes: str | None = None, extract: Path | None = None) -> Rows:
        """Lines on the given chromosomes ("1,3-5,X") and named in the ``extract`` file; an error if none is left."""
        rows = np.arange(len(self))
        if chromosomes is None and extract is None:
            return rows
        wanted = None if chromosomes is None else chromosome_set(chromosomes)
        names = None if extract is None else listed(extract)
        kept = []
        for i in range(len(self)):
            fields = self._fields(i)
            if (wanted is None or plain(fields[0]) in wanted) and (names is None or fields[1] in names):
                kept.append(i)
        if not kept:
            raise InputError(f"no SNP of {self.path.name} is left after --chr and --extract")
        return np.array(kept)


def plain(chromosome: bytes) -> bytes:
    """Without "chr", in capitals."""
    upper = chromosome.upper()
    return upper[3:] if upper.startswith(b"CHR") else upper


def chromosome_set(text: str) -> set[bytes]:
    """Chromosomes of a list with ranges.

    >>> sorted(chromosome_set("1,3-5,chrX"))
    [b'1', b'3', b'4', b'5', b'X']
    """
    found: set[bytes] = set()
    for part in text.replace(" ", ",").split(","):
        low, dash, high = part.partition("-")
        if dash and low.isdigit() and high.isdigit():
            found.update(str(c).encode() for c in range(int(low), int(high) + 1))
        elif part:
            found.add(plain(part.encode()))
    return found


def listed(path: Path) -> set[bytes]:
    """First word of every line."""
    try:
        return {line.split()[0] for line in path.read_bytes().splitlines() if line.split()}
    except OSError as error:
        raise InputError(f"can't read {path.name}: {error.strerror or error}") from None
