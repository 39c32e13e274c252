"""Mechanisms: one file each, a proof beside it. Each is a frozen value with a cost, an event and a sample."""

from __future__ import annotations

from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, Grid, begin, release
from dpcausal.privacy.mechanisms.median import ExponentialMedian, SmoothMedian
from dpcausal.privacy.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip, SpanningTree, TopK
from dpcausal.privacy.mechanisms.sieve_and_examine import SieveAndExamine
from dpcausal.privacy.mechanisms.sparse_vector import HaltedError, SparseVector
from dpcausal.privacy.mechanisms.trimmed_mean import SmoothTrimmedMean

__all__ = [
    "INTEGERS",
    "Exponential",
    "ExponentialMedian",
    "Gaussian",
    "Grid",
    "HaltedError",
    "Laplace",
    "NoisyMax",
    "PermuteAndFlip",
    "SieveAndExamine",
    "SmoothMedian",
    "SmoothTrimmedMean",
    "SpanningTree",
    "SparseVector",
    "TopK",
    "begin",
    "release",
]
