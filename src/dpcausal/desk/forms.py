"""The forms by which a page asks: for each command its fields, from which the page, the arguments and advice are made.

A text that names an option names its field here (``in_words``), so that advice on a page can be followed on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dpcausal.core.errors import InputError


@dataclass(frozen=True)
class Field:
    """One field: the argument that it gives, what it is called, and how a text becomes a value."""

    name: str
    label: str
    kind: Literal["text", "number", "column", "columns", "choice", "tick"] = "text"
    hint: str = ""
    required: bool = False
    choices: Sequence[tuple[str, str]] = ()  # value and words
    empty: str = ""  # words for no column
    read: Callable[[str], Any] = str

    @property
    def words(self) -> str:
        """How the field is called in a sentence."""
        return f'the {"box" if self.kind == "tick" else "field"} "{self.label}"'


def comma_list(text: str) -> list[str]:
    """Return what stands between commas.

    >>> comma_list("no, yes,")
    ['no', 'yes']
    """
    return [one.strip() for one in text.split(",") if one.strip()]


def tier_lists(text: str) -> list[list[str]]:
    """Return groups of columns, with semicolons between them.

    >>> tier_lists("age, sex; smoking;")
    [['age', 'sex'], ['smoking']]
    """
    return [tier for tier in map(comma_list, text.split(";")) if tier]


def number(text: str) -> float:
    """Return a number; raise ``InputError`` for what is none."""
    try:
        return float(text)
    except ValueError:
        raise InputError("epsilon and delta are numbers, such as 0.5 and 0.000001") from None


@dataclass(frozen=True)
class QuestionForm:
    """How one command is asked on a page."""

    title: str
    fields: tuple[Field, ...]

    def arguments(self, sent: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the arguments that the fields give; empty ones are left out."""
        found: dict[str, Any] = {}
        for one in self.fields:
            texts = [text.strip() for text in sent.get(one.name, ()) if text.strip()]
            if one.kind == "columns" and texts:
                found[one.name] = texts
            elif one.kind == "tick" and texts:
                found[one.name] = True
            elif texts or (one.required and one.kind == "number"):
                found[one.name] = one.read(texts[0] if texts else "")
        return found

    def in_words(self) -> dict[str, str]:
        """Return how each argument is called on the page."""
        return {one.name: one.words for one in self.fields}


EPSILON = Field("epsilon", "Epsilon", "number", "what it may cost", required=True, read=number)
DELTA = Field("delta", "Delta", "number", "0 if empty", read=number)
ANYWAY = Field("anyway", "Ask even where hardly anything can be shown", "tick")
COST = (EPSILON, DELTA, ANYWAY)
FORMS: Mapping[str, QuestionForm] = {
    "discover": QuestionForm(
        "Which columns are causes of which: a graph",
        (
            Field("target", "Only what is linked to", "column", empty="any column"),
            Field(
                "tiers", "Order in time", hint="if known: columns, with ; before later ones", read=tier_lists
            ),
            Field("latent", "Hidden common causes are possible", "tick"),
            *COST,
        ),
    ),
    "ci_test": QuestionForm(
        "Whether two columns depend on each other: a test",
        (
            Field("x", "One column", "column"),
            Field("y", "Another column", "column"),
            Field("given", "Held fixed", "columns", "several with Ctrl"),
            *COST,
        ),
    ),
    "effect": QuestionForm(
        "How much one column changes another: an effect",
        (
            Field("treatment", "Treatment", "column"),
            Field("compare", "Compare", hint="two levels of the treatment, as in: no, yes", read=comma_list),
            Field("outcome", "Outcome", "column"),
            Field(
                "event", "Event", hint="the level of the outcome that counts; a number: a cut, as in >= 140"
            ),
            Field("adjust", "Held fixed", "columns", "several with Ctrl"),
            *COST,
        ),
    ),
    "gwas": QuestionForm(
        "Which SNPs go with the disease: a screening",
        (
            Field(
                "method",
                "How",
                "choice",
                choices=(
                    ("svt", "in file order, above a cut or not"),
                    ("em", "the most associated, each with a p-value"),
                ),
            ),
            EPSILON,
        ),
    ),
}
