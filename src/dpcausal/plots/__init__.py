"""Pictures with matplotlib, from results only: ``plot_graph``, ``plot_budget``, ``plot_power``.

Each draws on the axes it is given, or on new ones, and returns them: ``plot_graph(graph).figure.savefig("graph.png")``.
matplotlib is imported when the first picture is drawn.
"""

from __future__ import annotations

from dpcausal.plots.budget import plot_budget
from dpcausal.plots.graph import plot_graph
from dpcausal.plots.power import plot_power

__all__ = ["plot_budget", "plot_graph", "plot_power"]
