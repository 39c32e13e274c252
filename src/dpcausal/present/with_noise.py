"""Beside an answer without privacy: which test an answer with noise takes, so that like is compared with like."""

from __future__ import annotations

from dpcausal.citests.result import WithNoise, WithNoiseKind
from dpcausal.present.spelling import spelled


def with_noise_words(fact: WithNoise) -> str:
    """Return which test a private answer takes, beside one without privacy.

    >>> with_noise_words(WithNoise(WithNoiseKind.OTHER_BELOW, epsilon=0.16, test="gcm"))
    "With noise the same test is used from epsilon 0.16 on, and gcm below: to compare with that, method='gcm'."
    """
    match fact.kind:
        case WithNoiseKind.SAME:
            return "With noise the same test is used."
        case WithNoiseKind.SAME_TABLE:
            return (
                f"With noise the test is {fact['test']}: the same table with noise in every cell, and a statistic "
                "that knows the noise."
            )
        case _:
            name = fact["test"]
            option = spelled(f"--method {name}", f"method={name!r}")
            return (
                f"With noise the same test is used from epsilon {fact['epsilon']:.3g} on, and {name} below: to compare "
                f"with that, {option}."
            )
