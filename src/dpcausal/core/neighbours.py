"""The neighbouring relations."""

from __future__ import annotations

from enum import StrEnum

from dpcausal.core.errors import InputError, did_you_mean


class Neighbours(StrEnum):
    """Which pairs of data sets a guarantee compares.

    ``REPLACE_ONE``: one row changed to any other; the number of rows n is public.
    ``ADD_REMOVE``: one row added or taken away; n itself is protected.
    ``FIXED_LABELS``: one row changed, but not its label: which group each row is in, and so the size of every group, is
    public. Weaker than ``REPLACE_ONE``; what is charged under one does not count under the other.
    """

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"
    FIXED_LABELS = "fixed-labels"

    @classmethod
    def parse(cls, name: str | Neighbours, *, labels: bool = True) -> Neighbours:
        """Return the neighbouring relation of that name or refuse it; ``labels``: fixed-labels is allowed.

        >>> Neighbours.parse("add-remove")
        <Neighbours.ADD_REMOVE: 'add-remove'>
        """
        known = [relation.value for relation in cls if labels or relation is not cls.FIXED_LABELS]
        if name in known:
            return cls(name)
        hint = did_you_mean(str(name), known)
        raise InputError(
            f"neighbours must be {', '.join(known[:-1])} or {known[-1]}, not {str(name)!r}{hint}"
        )
