"""Our private tests inside the search loops of other packages, none of which is needed to import this."""

from dpcausal.adapters.oracle import PrivateOracle

__all__ = ["PrivateOracle"]
