"""Modules that are imported when they are first used: what few calls need should not slow all of them down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class LateModule:
    """A module that ``load`` imports and returns; any attribute asks for it.

    >>> def load():
    ...     import math
    ...     return math
    >>> LateModule(load).sqrt(4.0)
    2.0
    """

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._load(), attribute)


def _blas() -> Any:
    from scipy.linalg import blas

    return blas


def _lapack() -> Any:
    from scipy.linalg import lapack

    return lapack


def _linalg() -> Any:
    import scipy.linalg

    return scipy.linalg


def _fft() -> Any:
    import scipy.fft

    return scipy.fft


blas, lapack, linalg, fft = map(LateModule, (_blas, _lapack, _linalg, _fft))  # of scipy
