"""Who asks and what for: the person, the project and the purpose that an entry of a ledger records.

They are part of the entry's note, and so of its hash: ``verify`` finds a purpose that was rewritten. Entries from
before they were known have none and verify as they did.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields

from dpcausal.core.errors import InputError

LONGEST = {"person": 200, "project": 200, "purpose": 1000}  # characters


@dataclass(frozen=True)
class Asker:
    """Who asks and what for; None where it is not known.

    >>> Asker("anna", "does smoking cause it?").note()
    {'person': 'anna', 'purpose': 'does smoking cause it?'}
    """

    person: str | None = None
    purpose: str | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        for name, longest in LONGEST.items():
            text = getattr(self, name)
            if text is None:
                continue
            if not isinstance(text, str) or not text.strip() or len(text) > longest or not text.isprintable():
                raise InputError(
                    f"{name} must be a line of 1 to {longest} printable characters, not {str(text)[:40]!r}"
                )

    def note(self) -> dict[str, str]:
        """Return who asks and why as a mapping, for the note of an entry."""
        return {name: text for name, text in asdict(self).items() if text is not None}

    def over(self, other: Asker) -> Asker:
        """Return this asker with missing fields filled from ``other``."""
        return Asker(**{**other.note(), **self.note()})


NOBODY = Asker()
_ASKING: ContextVar[Asker] = ContextVar("asking", default=NOBODY)
NAMES = tuple(field.name for field in fields(Asker))


def asking() -> Asker:
    """Return who is recorded as asking within the current block."""
    return _ASKING.get()


@contextmanager
def asked_by(asker: Asker) -> Iterator[None]:
    """Record, within the block, who asks in the ledger entries of charges."""
    token = _ASKING.set(asker.over(_ASKING.get()))
    try:
        yield
    finally:
        _ASKING.reset(token)
