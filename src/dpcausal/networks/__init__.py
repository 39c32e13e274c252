"""Small benchmark networks, sampling from them, and a reader for others. Synthetic data only: no privacy
here."""

from __future__ import annotations

from dpcausal.networks import clinic
from dpcausal.networks.bif import read_bif, write_bif
from dpcausal.networks.network import Network, Variable, load, names

__all__ = ["Network", "Variable", "clinic", "load", "names", "read_bif", "write_bif"]
