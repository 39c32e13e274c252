"""Private tests inside the search loops of other packages, none of which is needed to import this.

``PrivateOracle`` answers questions within one total budget; ``dpcausal.adapters.causal_learn`` and
``dpcausal.adapters.pgmpy`` run the searches of those packages on it.
"""

from dpcausal.adapters.oracle import PrivateOracle

__all__ = ["PrivateOracle"]
