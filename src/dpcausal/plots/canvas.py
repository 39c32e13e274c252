"""Axes to draw on: the caller's, or new ones of a stated size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, SOFT, STRONG = "#1b1f24", "#57606a", "#0072b2"


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """``ax`` itself, or the axes of a new figure of ``width`` by ``height`` inches.

    Anything else than axes of matplotlib is an ``InputError``, before anything is drawn.
    """
    if ax is not None:
        from matplotlib.axes import Axes

        if not isinstance(ax, Axes):
            raise InputError(
                f"ax must be axes of matplotlib (plt.subplots() makes some), not {type(ax).__name__}"
            )
        return ax
    from matplotlib import pyplot

    _, made = pyplot.subplots(figsize=(width, height), layout="constrained")
    return made


def bare(ax: Axes) -> None:
    """No frame on top and on the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
