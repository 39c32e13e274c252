"""One total budget per data set, for all releases, ever: charged before noise, append-only, tamper-evident.

``Ledger`` is imported when it is first asked for: it needs SQLAlchemy, and a run without a ledger only looks whether
one lies beside the file (``beside.py``).
"""

from typing import TYPE_CHECKING, Any

from dpcausal.privacy.ledger.asker import Asker, asked_by
from dpcausal.privacy.ledger.chain import Account, Entry, Verification

if TYPE_CHECKING:
    from dpcausal.privacy.ledger.store import Ledger

__all__ = ["Account", "Asker", "Entry", "Ledger", "Verification", "asked_by"]


def __getattr__(name: str) -> Any:
    if name != "Ledger":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dpcausal.privacy.ledger.store import Ledger

    globals()[name] = Ledger
    return Ledger
