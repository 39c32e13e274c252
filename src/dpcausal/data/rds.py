"""Data frames of R in a file that ``saveRDS`` wrote (.rds), through the parser of rdata (``dpcausal[r]``).

Only the parser is used, which gives vectors and bytes as they stand in the file: nothing guesses a type from cells. A
factor is a column of labelled values, and so is one of haven's; logical values are true and false; ``Date`` and
``POSIXct`` are dates and times; NA is missing. A column of any other class is read as the numbers or texts it holds.

**Guarantee.** What a cell becomes depends on that cell and on the attributes of its column, and no value raises. A file
that is not one data frame is one line.

**Cost.** O(size of the file): R writes a data frame as a whole, so all of it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dpcausal.core.errors import InputError
from dpcausal.data.file_format import FileFormat, decode_bytes
from dpcausal.data.labelled import Labelled
from dpcausal.data.stat_files import as_times, missing_extra

_NA_INTEGER = -(2**31)
_DAY, _SECOND = 86_400_000, 1000


class RdsFile:
    """One data frame: ``names`` of its columns, and ``columns`` of cells."""

    def __init__(self, path: Path, declared: FileFormat) -> None:
        self._encoding = declared.encoding
        try:
            from rdata import parser  # late: an extra
        except ImportError:
            raise missing_extra(".rds", "r") from None
        try:
            frame = parser.parse_file(path).object
        except Exception:
            raise InputError(f"{path.name} is not a readable .rds file") from None
        attributes = self._attributes(frame)
        classes = self._texts(attributes.get("class"))
        if "data.frame" not in classes or "names" not in attributes:
            raise InputError(f"{path.name} does not hold a data frame: save one with saveRDS(frame, file)")
        self.names = [name or "" for name in self._texts(attributes["names"])]
        self._vectors = list(frame.value)
        self.labels: dict[str, str] = {}
        for name, vector in zip(self.names, self._vectors, strict=False):
            label = self._texts(self._attributes(_referenced(vector)).get("label"))
            if label and label[0] and label[0].strip():
                self.labels[name] = label[0].strip()

    def _texts(self, vector: Any) -> list[str | None]:
        """Return a vector of texts; empty where it is none."""
        if vector is None or vector.info.type.name != "STR":
            return []
        return [self._text(item) for item in vector.value]

    def _text(self, item: Any) -> str | None:
        value = _referenced(item).value
        return None if value is None else decode_bytes(bytes(value), self._encoding)

    def _attributes(self, item: Any) -> dict[str, Any]:
        """Return the attributes of an object by name: a list of pairs."""
        found: dict[str, Any] = {}
        pair = item.attributes
        while pair is not None and pair.info.type.name == "LIST":
            tag = _referenced(pair.tag) if pair.tag is not None else None
            if tag is not None and tag.info.type.name == "SYM":
                found[self._text(tag.value) or ""] = _referenced(pair.value[0])
            pair = pair.value[1]
        return found

    def columns(self, wanted: Sequence[str]) -> dict[str, Any]:
        """Return the wanted columns: numbers, dates, texts, or ``Labelled``."""
        return {name: self._column(name, self._vectors[self.names.index(name)]) for name in wanted}

    def _column(self, name: str, vector: Any) -> Any:
        vector = _referenced(vector)
        kind, attributes = vector.info.type.name, self._attributes(vector)
        classes = self._texts(attributes.get("class"))
        if kind == "STR":
            texts = [text or None for text in self._texts(vector)]
            labels = self._value_labels(attributes, numbers=False)
            return Labelled(texts, labels) if labels else texts
        if kind not in ("REAL", "INT", "LGL"):
            raise InputError(f'column "{name}" holds neither numbers nor texts, which can\'t be read')
        values = np.ma.filled(np.ma.asarray(vector.value, dtype=np.float64), np.nan).copy()
        if kind != "REAL":
            values[values == _NA_INTEGER] = np.nan
        if "factor" in classes:
            levels = self._texts(attributes.get("levels"))
            return Labelled(values, {float(place): level or "" for place, level in enumerate(levels, 1)})
        if "Date" in classes or "POSIXct" in classes:
            return as_times(values, _DAY if "Date" in classes else _SECOND, 0)
        if kind == "LGL":
            return pa.array(values == 1, mask=np.isnan(values))
        labels = self._value_labels(attributes, numbers=True)
        return Labelled(values, labels) if labels else pa.array(values, from_pandas=True)

    def _value_labels(self, attributes: dict[str, Any], *, numbers: bool) -> dict[Any, str]:
        """Return the labels that haven keeps in an attribute: values that have names."""
        vector = attributes.get("labels")
        if vector is None:
            return {}
        names = self._texts(self._attributes(vector).get("names"))
        if not numbers:
            values: Sequence[Any] = self._texts(vector)
        elif vector.info.type.name in ("REAL", "INT"):
            values = np.ma.filled(np.ma.asarray(vector.value, dtype=np.float64), np.nan).tolist()
        else:
            return {}
        return {value: name for value, name in zip(values, names, strict=False) if name and value is not None}


def _referenced(item: Any) -> Any:
    """Return what a reference stands for."""
    return item.referenced_object if getattr(item, "referenced_object", None) is not None else item
