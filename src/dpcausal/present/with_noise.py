"""Beside an answer without privacy: which test an answer with noise takes, so that like is compared with like."""

from __future__ import annotations

from dpcausal.citests.result import WithNoise
from dpcausal.present.spelling import spelled


def with_noise_words(fact: WithNoise) -> str:
    """Return which test a private answer takes, beside one without privacy.

    >>> with_noise_words(WithNoise("other-below", test="gcm", epsilon=0.16))
    "With noise the same test is used from epsilon 0.16 on, and gcm below: to compare with that, method='gcm'."
    """
    name = fact.test
    match fact.which:
        case "same":
            return "With noise the same test is used."
        case "same-table":
            return (
                f"With noise the test is {name}: the same table with noise in every cell, and a statistic that knows "
                "the noise."
            )
        case "other-below":
            option = spelled(f"--method {name}", f"method={name!r}")
            return (
                f"With noise the same test is used from epsilon {fact.epsilon:.3g} on, and {name} below: to compare "
                f"with that, {option}."
            )
