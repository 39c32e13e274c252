"""An algorithm of a paper as it is here, or exactly as its paper prints it (``variant="paper"``).

What is printed and not private runs under ``dpcausal.testing.seeded`` alone, and is stamped ``NotPrivate.PRINTED``.
"""

from __future__ import annotations

from typing import Literal, get_args

from dpcausal.core import entropy
from dpcausal.core.errors import InputError

Variant = Literal["ours", "paper"]
NOT_PRIVATE = "ours, or paper: as printed, not private, and for runs under dpcausal.testing.seeded alone"


def checked_variant(variant: Variant) -> Variant:
    """Return the variant ("ours" or "paper"); refuse another one."""
    if variant not in get_args(Variant):
        raise InputError(f"variant must be ours or paper, not {variant!r}")
    return variant


def refuse_real_rows(what: str) -> None:
    """Refuse to run ``what`` as its paper prints it, which is not private, outside of seeded tests."""
    if entropy.is_secure():
        raise InputError(
            f"variant='paper' of {what} is as printed and not private: it runs under dpcausal.testing.seeded "
            "alone, on data that are not sensitive (dpcausal reproduce --list: as the papers have them)"
        )
