"""Columns with value labels, as Stata, SPSS and R keep them: 1 stands for "male", 2 for "female".

The labels belong to the file's own code book, which is metadata and public. A cell that has a label means the level
that the label spells. Where the schema declares no such level, the cell means the level that its value is: so levels
may be declared as labels or as codes, whichever is easier to read. A column that is declared numeric has its values;
labels do not count there. Without a declaration, for a draft, cells are labels where all of them have one.

**Guarantee.** What a cell becomes depends on that cell, the labels and the declaration. No value raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpcausal.data import spelling
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.objects import ObjectPrinter


@dataclass(frozen=True)
class Labelled:
    """Cells, and labels for some of their values.

    Parameters
    ----------
    values : array of float64, or sequence of str or None
        Numbers, NaN where they are missing, or texts.
    labels : mapping
        The label of a value.
    """

    values: NDArray[np.float64] | Sequence[str | None]
    labels: Mapping[Any, str]

    def array(self, printer: ObjectPrinter) -> pa.Array:
        """Return the cells as the declaration of their column needs them.

        >>> sex = Labelled(np.array([1.0, 2.0, 9.0, np.nan]), {1.0: "male", 2.0: "female"})
        >>> [sex.array(ObjectPrinter(Categorical(levels))).to_pylist() for levels in (["female", "male"], [1, 2])]
        [[b'male', b'female', b'9.0', None], [b'1', b'2', b'9.0', None]]
        """
        if isinstance(printer.column, Numeric) or (printer.column is None and not self._all_labelled()):
            return (
                pa.array(self.values) if isinstance(self.values, np.ndarray) else printer.array(self.values)
            )
        texts = spelling.text_codes(printer.column) if isinstance(printer.column, Categorical) else None
        if isinstance(self.values, np.ndarray):
            different, places = np.unique(self.values, return_inverse=True)
            cells: Sequence[Any] = [None if value != value else value for value in different.tolist()]
        else:
            table: dict[str | None, int] = {}
            places = np.array([table.setdefault(value, len(table)) for value in self.values], dtype=np.int64)
            cells = list(table)
        printed = printer.array([self._meant(cell, texts) for cell in cells] + [None])
        return pa.DictionaryArray.from_arrays(places.astype(np.int32), printed)

    def _all_labelled(self) -> bool:
        if isinstance(self.values, np.ndarray):
            different: set[Any] = set(np.unique(self.values[~np.isnan(self.values)]).tolist())
        else:
            different = set(self.values) - {None}
        return different <= set(self.labels)

    def codes(self) -> dict[str, str]:
        """Return the value of every label, printed, with its label: whole numbers without a point.

        >>> Labelled(np.array([1.0]), {1.0: "male", 2.0: "female", 9.5: " "}).codes()
        {'1': 'male', '2': 'female'}
        """
        printed = {
            str(int(value) if isinstance(value, float) and value.is_integer() else value): label.strip()
            for value, label in sorted(self.labels.items())
        }
        return {text: label for text, label in printed.items() if text and label}

    def _meant(self, cell: Any, texts: Mapping[str, int] | None) -> Any:
        """Return the label of a cell, or the cell itself where it has none or its label is no level."""
        label = self.labels.get(cell)
        if label is None or (texts is not None and label.strip() not in texts):
            whole = isinstance(cell, float) and texts is None and cell.is_integer() and abs(cell) < 2**53
            return int(cell) if whole else cell
        return label
