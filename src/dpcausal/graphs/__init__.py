"""Graph values (DAG, CPDAG, PAG), d-separation, orientation, metrics, import and export. Never sees a row."""

from __future__ import annotations

from dpcausal.graphs.equivalence import cpdag, extend, meek, orient, v_structures
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.hidden import orient_pag, possible_d_sep
from dpcausal.graphs.metrics import Scores, arrowhead_scores, cpdag_scores, shd, skeleton_scores
from dpcausal.graphs.pag import PAG, Mark
from dpcausal.graphs.separation import d_separated, reachable

__all__ = [
    "PAG",
    "Graph",
    "Mark",
    "Scores",
    "arrowhead_scores",
    "cpdag",
    "cpdag_scores",
    "d_separated",
    "extend",
    "meek",
    "orient",
    "orient_pag",
    "possible_d_sep",
    "reachable",
    "shd",
    "skeleton_scores",
    "v_structures",
]
