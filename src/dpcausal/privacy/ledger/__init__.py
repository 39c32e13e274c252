"""One total budget per data set, for all releases, ever: charged before noise, append-only, tamper-evident."""

from dpcausal.privacy.ledger.chain import Account, Entry, Verification
from dpcausal.privacy.ledger.store import Ledger

__all__ = ["Account", "Entry", "Ledger", "Verification"]
