"""The counts of whatever a user hands over; a data set is compressed once, however often it is asked about."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from dpcausal.core.errors import InputError
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset

_known: WeakKeyDictionary[Dataset, MemoryCounts] = WeakKeyDictionary()


def counts_of(data: Dataset | Counts) -> Counts:
    """``data`` itself if it counts already, else its counts in memory, kept as long as it lives."""
    if isinstance(data, Dataset):
        if data not in _known:
            _known[data] = MemoryCounts(data)
        return _known[data]
    if isinstance(data, Counts):
        return data
    raise InputError(f"data must come from dc.read or a counting backend, not {type(data).__name__}")
