"""Mark a function whose correctness rests on a written proof.

``@proved("additive.proof.md")`` names a file beside the module. That file carries a line

    <!-- proves: LaplaceMechanism.charge sha256:... -->

with a hash of the syntax tree, without docstrings, of the function or class and of the constants, functions and
classes of its module that it uses; a method also rests on the bases, the fields and the methods of its class that it
reaches. What is in another module has a proof of its own. ``python tools/proofs.py check`` fails when any of them
changed after its proof was read; ``python tools/proofs.py sign NAME`` renews the hash once a person has read the proof
against the code again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[..., object] | type)


def proved(proof: str) -> Callable[[T], T]:
    """Mark the decorated function or class as proved in the file ``proof`` beside its module."""

    def mark(thing: T) -> T:
        thing.__proof__ = proof  # type: ignore[union-attr]
        return thing

    return mark
