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
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from html import escape
from importlib import import_module
from typing import Any

from dpcausal._version import __version__
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours

FORMAT = 1

KNOWN_LIMITS = (
    "Timing is not protected: how long a run takes can depend on the data.",
    "Noise is drawn exactly on an integer grid; what is computed before it uses double precision, rounded to "
    "that grid with one more grid step of sensitivity.",
    "Sums of costs are exact, and totals are kept to a factor of 1 + 1e-12.",
    "The guarantee covers this release; others from the same rows add to it (a ledger sums them).",
    "It is for one unit, as named here (one row): someone with k of them is protected k times less (k times epsilon, "
    "and at least k times delta).",
)
WEAK = "Weak promise: "  # begins every line of ``weak_promise``
WEAK_EPSILON = 10.0  # above it e^epsilon is over 22,000
HARD_EPSILON = 3.0  # up to it, e^epsilon at most about 20, neighbours are called hard to tell apart

NO_PRIVACY = "no privacy was asked for (epsilon=None): computed from the raw rows, no noise added"

RELATIONS = {
    Neighbours.REPLACE_ONE: "two tables with the same number of rows that differ in one row",
    Neighbours.ADD_REMOVE: "two tables of which one has one row more",
    Neighbours.FIXED_LABELS: "two tables with the same public labels that differ in the rest of one row",
}


PLAIN = {  # definition -> what its name means for a reader
    "pure": "pure: the bound holds without exception",
    "approximate": "approximate: the bound may fail with probability up to delta",
    "zCDP": "zCDP: added up as rho, stated as epsilon and delta; the bound may fail with probability up to delta",
}

NO_LEDGER = (
    "No ledger: nobody adds this up with other releases from these rows. To keep count: --ledger URL --dataset NAME "
    "(in Python ledger=, dataset=)."
)


def weak_promise(epsilon: float | None, delta: float | None, rows: int | None = None) -> tuple[str, ...]:
    """What makes a budget promise little, a line each; ``rows`` only where their number is public.

    delta >= 1/n allows to release a row chosen at random as it is: it is then any given one with probability 1/n.

    >>> weak_promise(1.0, 1e-6, 8000)
    ()
    >>> weak_promise(1.0, 0.1, 8000)[0]
    'Weak promise: delta 0.1 is not below one over the number of rows (8,000): it allows releasing whole rows.'
    """
    lines = []
    if epsilon is not None and epsilon > WEAK_EPSILON:
        lines.append(
            f"{WEAK}epsilon {epsilon:g} promises almost nothing: a result may be {_factor(epsilon):.3g} times as "
            "likely with one row as with another in its place."
        )
    if delta and rows and delta >= 1 / rows:
        lines.append(
            f"{WEAK}delta {delta:g} is not below one over the number of rows ({rows:,}): it allows releasing whole "
            "rows."
        )
    return tuple(lines)


def _factor(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))


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
    unit: str = "one row"
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
        """The statement in a few plain lines."""
        lines = []
        if not self.private:
            lines.append(f"NOT PRIVATE: {self.why_not_private}.")
        if self.epsilon is not None and self.delta is not None:
            meaning = PLAIN.get(self.definition, self.definition)
            lines.append(f"Privacy: epsilon {self.epsilon:.6g}, delta {self.delta:.6g} ({meaning}).")
            lines.append(f"Protects {self.unit}: {self._apart(self.epsilon, self.delta)}")
        if self.events:
            plural = "s" if len(self.events) > 1 else ""
            lines.append(f"Charged for {len(self.events)} noisy answer{plural}: {self.composition}.")
            lines.append(self._ledger_words())
        if self.released:
            lines.append("Released: " + "; ".join(self.released) + ".")
        if self.public:
            lines.append("Assumed public: " + "; ".join(self.public) + ".")
        return "\n".join(lines)

    def _apart(self, epsilon: float, delta: float) -> str:
        """How well neighbours can be told apart; the exception that delta allows stands in the same sentence."""
        pair, factor = RELATIONS[self.neighbours], f"{_factor(epsilon):.3g}"
        but = f", apart from a probability of at most {delta:.3g}" if delta else ""
        if epsilon <= HARD_EPSILON and not any(line.startswith(WEAK) for line in self.limits):
            return (
                f"{pair} are hard to tell apart; no result is more than {factor} times as likely from one as from the "
                f"other{but}."
            )
        return (
            f"{pair} can be told apart with odds up to {factor} to 1; no result is more than {factor} times as likely "
            f"from one as from the other{but}."
        )

    def _ledger_words(self) -> str:
        if not self.ledger:
            return NO_LEDGER
        return (
            f"Charged to a ledger: data set {self.ledger.get('dataset')!r}, entry {self.ledger.get('entry')}."
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw where the budget went with matplotlib (``dpcausal.plots``) on ``ax`` or on new axes; the axes."""
        return import_module("dpcausal.plots").plot_budget(self, ax)  # that room is above this one

    def _repr_html_(self) -> str:
        """For notebooks: the summary as a small block."""
        colour = "#2e7d32" if self.private else "#c62828"
        body = "<br>".join(escape(line) for line in self.summary().splitlines())
        return f'<div style="border-left:4px solid {colour};padding-left:8px">{body}</div>'
