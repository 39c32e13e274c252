"""Mechanisms: one file each, a proof beside it. Each is a frozen value with a cost, an event and a sample."""

from __future__ import annotations

from dpcausal.privacy.mechanisms.exponential import Exponential
from dpcausal.privacy.mechanisms.gaussian import Gaussian
from dpcausal.privacy.mechanisms.grid import INTEGERS, Grid
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.median import ExponentialMedian
from dpcausal.privacy.mechanisms.median_smooth import SmoothMedian
from dpcausal.privacy.mechanisms.noisy_max import NoisyMax
from dpcausal.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from dpcausal.privacy.mechanisms.release import begin, release
from dpcausal.privacy.mechanisms.sieve_and_examine import SieveAndExamine
from dpcausal.privacy.mechanisms.sparse_vector import HaltedError, SparseVector
from dpcausal.privacy.mechanisms.top_k import TopK

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
    "SparseVector",
    "TopK",
    "begin",
    "release",
]
