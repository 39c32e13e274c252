"""Graph values (DAG, CPDAG), d-separation, orientation, metrics, import and export. Never sees a row."""

from __future__ import annotations

from dpcausal.graphs.equivalence import cpdag, extend, meek, orient, v_structure_arrows
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.metrics import Scores, arrowhead_scores, cpdag_scores, shd, skeleton_scores
from dpcausal.graphs.separation import d_separated, reachable

__all__ = [
    "Graph",
    "Scores",
    "arrowhead_scores",
    "cpdag",
    "cpdag_scores",
    "d_separated",
    "extend",
    "meek",
    "orient",
    "reachable",
    "shd",
    "skeleton_scores",
    "v_structure_arrows",
]
