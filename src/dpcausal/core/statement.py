"""The privacy statement that goes with every release (``privacy.json``).

It tells a reader what NIST SP 800-226 asks for: the definition with its own parameters, epsilon and delta;
the unit and the neighbouring relation; what was assumed public; every charged event and how they compose;
what was released; where noise came from and known limits; the software version. The first field says whether
it is private at all.

Made by ``Budget.statement``; a plain value here, so that results can carry it without seeing any mechanism.
Events enter as plain dictionaries.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from html import escape
from importlib import import_module
from typing import Any

from dpcausal._version import __version__
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement_words import RELATIONS, WEAK, summary, weak_promise

__all__ = ["KNOWN_LIMITS", "RELATIONS", "WEAK", "PrivacyStatement", "known_limits", "weak_promise"]

FORMAT = 1

ONE_ROW = "one row"
SCHEMA = "the schema (columns, levels, spellings, bounds, bins)"  # what every method takes as public
_LIMITS = (
    "Timing is not protected: how long a run takes can depend on the data.",
    "Noise is drawn exactly on an integer grid; what is computed before it uses double precision, rounded to "
    "that grid with one more grid step of sensitivity.",
    "Sums of costs are exact, and totals are kept to a factor of 1 + 1e-12.",
    "The guarantee covers this release; others from the same rows add to it (a ledger sums them).",
    "It is for one unit, as named here ({unit}): someone with k of them is protected k times less (k times epsilon, "
    "and at least k times delta).",
)


def known_limits(unit: str) -> tuple[str, ...]:
    """What every guarantee for ``unit`` leaves open.

    >>> known_limits("one family")[-1][:44]
    'It is for one unit, as named here (one famil'
    """
    return tuple(line.replace("{unit}", unit) for line in _LIMITS)


KNOWN_LIMITS = known_limits(ONE_ROW)

NO_PRIVACY = "no privacy was asked for (epsilon=None): computed from the raw rows, no noise added"


def _software() -> dict[str, str]:
    return {"dpcausal": __version__, "python": platform.python_version()}


@dataclass(frozen=True, kw_only=True)
class PrivacyStatement:
    """What a release cost and what that means.

    ``epsilon`` and ``delta`` are the guarantee: what was really spent where the plan was fixed in advance,
    the total that could have been spent where it was not; never more than was asked. Both are None without
    privacy. ``asked`` and ``reading`` hold the request and the sum over this run's events.

    >>> statement = PrivacyStatement.none(released=["a graph"])
    >>> statement.private, statement.epsilon
    (False, None)
    >>> PrivacyStatement.from_json(statement.to_json()) == statement
    True
    """

    private: bool
    why_not_private: str | None = None
    definition: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    epsilon: float | None
    delta: float | None
    neighbours: Neighbours
    unit: str = ONE_ROW
    public: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    composition: str
    events: tuple[Mapping[str, Any], ...] = ()
    asked: Mapping[str, float] = field(default_factory=dict)
    reading: Mapping[str, float] = field(default_factory=dict)
    noise: str
    limits: tuple[str, ...] = KNOWN_LIMITS
    ledger: Mapping[str, Any] | None = None
    software: Mapping[str, str] = field(default_factory=_software)
    format: int = FORMAT

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours.parse(self.neighbours))
        for name in ("public", "released", "events", "limits"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.private == bool(self.why_not_private):
            raise InputError("a privacy statement is private, or says why it is not")
        if self.private and (self.epsilon is None or self.delta is None):
            raise InputError("a private statement needs its epsilon and delta")

    @classmethod
    def none(
        cls,
        *,
        released: tuple[str, ...] | list[str],
        why: str = NO_PRIVACY,
        neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
    ) -> PrivacyStatement:
        """The statement of an answer without any privacy."""
        return cls(
            private=False,
            why_not_private=why,
            definition="none",
            epsilon=None,
            delta=None,
            neighbours=Neighbours.parse(neighbours),
            released=tuple(released),
            composition="nothing was charged",
            noise="none",
            limits=("Anything about any row can leak from this answer.",),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data in reading order; ``why_not_private`` only where it says something."""
        data: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "why_not_private" and value is None:
                continue
            if isinstance(value, tuple):
                value = [dict(entry) if isinstance(entry, Mapping) else entry for entry in value]
            elif isinstance(value, Mapping):
                value = dict(value)
            data[item.name] = str(value) if isinstance(value, Neighbours) else value
        return data

    def to_json(self) -> str:
        """The statement as JSON text: strict JSON, without NaN or infinity."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PrivacyStatement:
        """The statement that ``to_json`` wrote."""
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"a privacy statement that is not JSON: {error}") from None
        if not isinstance(data, dict):
            raise InputError("a privacy statement must be one JSON object")
        if isinstance(data.get("format"), int) and data["format"] > FORMAT:
            raise InputError(f"a privacy statement of format {data['format']}: written by a newer version")
        try:
            return cls(**data)
        except TypeError as error:
            raise InputError(f"a privacy statement that can't be read: {error}") from None

    def summary(self) -> str:
        """The statement in a few plain lines (``statement_words.py``)."""
        return summary(self)

    def __str__(self) -> str:
        return self.summary()

    def plot(self, ax: Any = None) -> Any:
        """Draw where the budget went with matplotlib (``dpcausal.plots``) on ``ax`` or on new axes; the axes."""
        return import_module("dpcausal.plots").plot_budget(self, ax)  # that room is above this one

    def _repr_html_(self) -> str:
        """For notebooks: the summary as a small block."""
        colour = "#2e7d32" if self.private else "#c62828"
        body = "<br>".join(escape(line) for line in self.summary().splitlines())
        return f'<div style="border-left:4px solid {colour};padding-left:8px">{body}</div>'
