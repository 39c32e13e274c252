"""The result of one test of conditional independence, with what it cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any

from dpcausal.core.statement import PrivacyStatement


@dataclass(frozen=True, kw_only=True)
class CITestResult:
    """Whether x and y may be independent given the rest, at a level; the statement says what that told about anyone.

    ``pvalue`` and ``statistic`` are None where the mechanism releases only a decision. ``independent`` means no more
    than that independence was not rejected: there was no evidence against it at this level and budget. ``trend`` says
    which way y goes with x where the statistic has a sign, ``tau`` how far (``kendall``; see ``trend.py``).
    """

    x: str
    y: str
    given: tuple[str, ...]
    method: str
    level: float
    independent: bool
    pvalue: float | None
    statistic: float | None
    dof: int | None
    why: str
    privacy: PrivacyStatement
    trend: str = ""
    tau: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "x": self.x,
            "y": self.y,
            "given": list(self.given),
            "method": self.method,
            "level": self.level,
            "independent": self.independent,
            "pvalue": self.pvalue,
            "statistic": self.statistic,
            "dof": self.dof,
            "tau": self.tau,
            "trend": self.trend or None,
            "why": self.why,
            "privacy": self.privacy.to_dict(),
        }

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def summary(self) -> str:
        """In words."""
        about = f"{self.x} and {self.y}" + (f" given {', '.join(self.given)}" if self.given else "")
        found = "no evidence against independence" if self.independent else "dependent"
        pvalue = "" if self.pvalue is None else f" (p = {self.pvalue:.3g}, level {self.level:g})"
        trend = f"{self.trend}\n" if self.trend else ""
        return f"{about}: {found}{pvalue}. Test: {self.method}; {self.why}.\n{trend}{self.privacy.summary()}"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        pvalue = "None" if self.pvalue is None else f"{self.pvalue:.4g}"
        cost = f"method={self.method!r}, epsilon={self.privacy.epsilon}"
        return f"CITestResult(independent={self.independent}, pvalue={pvalue}, {cost})"

    def _repr_html_(self) -> str:
        lines = "<br>".join(escape(line) for line in self.summary().splitlines())
        return f"<div>{lines}</div>"
