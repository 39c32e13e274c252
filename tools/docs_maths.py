"""Plain formulas of the proofs, set for the page: ``x_i^2 <= sqrt(n)`` with indices, powers, roots and symbols in HTML.

The proofs are written in plain text, with formulas inside sentences and no marks around them. So this is a matter of
single tokens: a power is what follows ``^``, an index what follows ``_`` on a letter, ``epsilon`` a Greek letter,
``<=`` a sign. What is not understood stays as it is (names of files and functions, words). Brackets are dropped where
the raised, lowered or covered text shows the same group. Nothing else is changed: ``undone`` in the tests turns every
built proof back into its source.
"""

from __future__ import annotations

import re
from html import escape

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eps": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Delta": "Δ", "Phi": "Φ", "Gamma": "Γ",
    "Lambda": "Λ", "Sigma": "Σ", "Omega": "Ω",
}  # fmt: skip
LARGE = {"sum": "∑", "prod": "∏", "int": "∫", "integral": "∫"}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "/=": "≠", "+-": "±", "-+": "∓", "->": "→", "=>": "⇒"}
UPRIGHT = ("max", "min", "E", "P", "Var")  # may carry an index, beside single and Greek letters
PRODUCTS = re.compile("nN|ab|d[VKFtuqxysei]|w[VU]|XY|xy|[gh][xy]|n[mTM]|fg|aI|Ns|m[MC]|uv|kg|tX|rc|ns")
WORDS = frozenset(("for", "of", "from", "to", "at", "by"))  # rho_for is a function's name, no index
OPERATORS = "=+<>/"
NUMBER = re.compile(r"\d+(?:,\d{3})+|\d*\.?\d+(?:e-?\d+)?(?![A-Za-z]*_)")
WORD = re.compile(r"[A-Za-z]+")
SIZE = re.compile(r"\d+x\d+\b")
NAME = re.compile(r"[A-Za-z][\w]*(?:\.[A-Za-z]\w*)*")
INDEX = re.compile(r"[A-Za-z0-9]+|[+-](?![\w(])")
POWER = re.compile(r"(-\+|\+-|[-+])?(?:(\d+(?:\.\d+)?)|([A-Za-z]+)(\d*)('*)(?![A-Za-z0-9(]))")
PLAIN = re.compile(
    r"(?<=[A-Za-z])'s?(?![A-Za-z])|\b(?:e\.g\.|i\.e\.|i\.i\.d\.)|(?<![\w)\]}|'])\([a-z]\)|(?<=tau)-[ab]\b"
)
PRIMES = re.compile(r"'+(?![A-Za-z])|(?<=Phi)'+(?=[A-Za-z]|$)")
JOINED = "&#8288;"  # a line may not end here
CLOSES = {"(": ")", "{": "}", "[": "]"}


def group(text: str, at: int) -> int:
    """Where the bracket that opens at ``at`` ends (just behind it); ``at`` where it never does.

    >>> group("a(b(c))d", 1)
    7
    """
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in CLOSES) - (text[i] in CLOSES.values())
        if depth == 0:
            return i + 1 if text[i] == CLOSES[text[at]] else at
    return at


class Setting:
    """One run over a piece of text, from left to right."""

    def __init__(self, text: str, inside: bool = False) -> None:
        self.text, self.at, self.inside = text, 0, inside
        self.out: list[str] = []
        self.stars = 0

    def before(self) -> str:
        """What stands last before here, spaces left out."""
        return self.text[: self.at].rstrip()[-1:]

    def after(self, at: int) -> str:
        """What stands next, spaces left out."""
        return self.text[at:].lstrip()[:1]

    def done(self) -> str:
        """Everything, as HTML."""
        while self.at < len(self.text):
            start = self.at
            self.step()
            assert self.at > start
        return "".join(self.out)

    def put(self, html: str, to: int) -> None:
        """Write, and go on at ``to``."""
        self.out.append(html)
        self.at = to

    def step(self) -> None:
        """One token."""
        text, at = self.text, self.at
        if text[at] == "`":  # code stays
            end = text.find("`", at + 1)
            end = len(text) if end < 0 else end + 1
            self.put(text[at:end], end)
        elif (found := SIZE.match(text, at)) and not text[at - 1 : at].isalnum():
            self.put(found[0].replace("x", "×"), found.end())
        elif found := NUMBER.match(text, at):
            self.put(found[0], found.end())
            self.scripts(letter=False)
        elif text.startswith("sqrt(", at) and (end := group(text, at + 4)) > at + 4:
            self.put(f'√<span class="root">{inner(text[at + 5 : end - 1])}</span>', end)
            self.scripts(letter=False)
        elif found := re.compile(r"sqrt (?=[A-Za-z](?![A-Za-z])|\d)").match(text, at):
            self.put("√", found.end())
        elif found := PLAIN.match(text, at):
            self.put(found[0], found.end())
        elif found := WORD.match(text, at):
            self.word(found[0])
        elif text[at : at + 2] in SIGNS:
            self.put(SIGNS[text[at : at + 2]], at + 2)
        elif text[at] == "-":
            self.put("−" if self.minus() else "-", at + 1)
        elif text.startswith(" * ", at):
            self.put(" · ", at + 3)
        elif text[at] in ")]|":
            self.put(text[at], at + 1)
            self.scripts(letter=text[at] != "]")
        else:
            self.put(escape(text[at], quote=False), at + 1)

    def word(self, word: str) -> None:
        """A word: a letter of a formula, a Greek one, a large sign, or none of these."""
        text, at = self.text, self.at
        end = at + len(word)
        digits = re.compile(r"\d*").match(text, end)[0]  # type: ignore[index]
        indexed = re.compile(r"'*_[A-Za-z0-9({+-]").match(text, end + len(digits)) is not None
        follows = text[end + len(digits) : end + len(digits) + 1]
        known = len(word) == 1 or word in GREEK
        named = NAME.match(text, at)
        assert named
        glued = text[at - 1 : at] in ("_", ".") and not known
        of_index = re.compile(r"'*_([A-Za-z]*)").match(text, end + len(digits))
        a_name = (follows == "_" and not known and word not in (*LARGE, *UPRIGHT)) or (
            of_index is not None and of_index[1] in WORDS
        )
        if a_name or glued or (digits and not known) or (known and follows.isalpha()):
            if known and re.fullmatch(r"[A-Za-z]\d+[xy]", named[0]):  # T3x: the third of x
                self.put(f"<i>{word}</i><sub>{named[0][1:]}</sub>", named.end())
                self.scripts(letter=True)
                return
            self.put(escape(named[0], quote=False), named.end())
        elif word in LARGE and (indexed or (word in ("sum", "prod") and self.summing(end))):
            self.put(LARGE[word], end)
            self.scripts(letter=True)
        elif known:
            html = GREEK.get(word) or (f"<i>{word}</i>" if self.variable(word, end + len(digits)) else word)
            if digits:
                html += f"<sup>{digits}</sup>" if word == "chi" else f"<sub>{digits}</sub>"
            self.put(html, end + len(digits))
            self.scripts(letter=True)
        else:
            shown = f"<i>{word}</i>" if PRODUCTS.fullmatch(word) else word
            self.put("∞" if word == "infinity" and self.inside else shown, end)
            self.scripts(letter=word in UPRIGHT)

    def variable(self, word: str, end: int) -> bool:
        """Whether a single letter is one of a formula: ``a``, ``A`` and ``I`` may be words."""
        if word not in ("a", "A", "I") or self.inside:
            return True
        text, at, before = self.text, self.at, self.before()
        if (
            before in tuple(OPERATORS)
            or before.isdigit()
            or self.out[-1:] == ["−"]
            or self.out[-2:] == ["−", " "]
        ):
            return True
        if re.search(r"\w'*\.$", text[:at]) or re.compile(
            r" ?[=+<>/)\]^|]|-|[_'(\d]| - | [B-HJ-Z]\b[^-.]"
        ).match(text, end):
            return True
        return (
            text[at - 1 : at] in tuple("([{|") and re.compile(r",| [A-Za-z]\b").match(text, end) is not None
        )

    def summing(self, end: int) -> bool:
        """Whether ``sum`` is the sign: after an operator, or before what is plainly a term."""
        if re.compile(r"\s+(?:of|over|to|is|with|or|at|stands)\b").match(self.text, end):
            return False
        if re.search(r"\b(?:[Tt]he|[Aa]|no|new|first|smaller|largest|weighted)\s+$", self.text[: self.at]):
            return False
        term = re.compile(r"\s+(?:[A-Za-z]\d*(?:'|_|\^)|\|\s?[A-Za-z]|\()").match(self.text, end)
        return self.inside or self.before() in tuple("=+<>(-/") or term is not None

    def minus(self) -> bool:
        """Whether ``-`` is a minus: between spaces, before a term, or between two terms."""
        text, at = self.text, self.at
        left, right = text[at - 1 : at], text[at + 1 : at + 2]
        if right in (" ", "\n"):  # not the mark of a list
            return self.inside or (left == " " and text[:at].rpartition("\n")[2].strip() != "")
        term = re.compile(r"[(|.\[]|\d|[A-Za-z]+\(|[A-Z]bar\b|([A-Za-z]+)").match(text, at + 1)
        if term is None or (
            term[1] and len(term[1]) > 1 and term[1] not in GREEK and not PRODUCTS.fullmatch(term[1])
        ):
            return False
        if not left or left in " \n([{,=/^|" or left in OPERATORS:
            return True
        ends = re.search(r"([A-Za-z]+)?\d*'*$", text[:at])
        word = ends[1] if ends else None
        return (
            left in ")]"
            or left.isdigit()
            or left == "'"
            or bool(word and (len(word) == 1 or word in GREEK | LARGE))
        )

    def scripts(self, letter: bool) -> None:
        """Primes, an index (where ``letter``) and a power behind what was just written."""
        while self.at < len(self.text):
            text, at = self.text, self.at
            if letter and (found := PRIMES.match(text, at)):
                self.put("′" * len(found[0]) + JOINED, found.end())
            elif text[at] == "^" and self.power(at + 1):
                letter = True
            elif letter and self.star():
                self.stars += 1
                self.put("<sup>&#42;</sup>", at + 1)
            elif not (letter and text[at] == "_" and self.index(at + 1)):
                return

    def star(self) -> bool:
        """Whether a star is one of a formula, as in ``s*``, and ends no emphasis."""
        text, at = self.text, self.at
        if text[at] != "*" or "*" in (text[at - 1], text[at + 1 : at + 2]) or text[at + 1 : at + 2].isalnum():
            return False
        past = re.sub(r"`[^`]*`| \* ", "", text[:at])
        return (past.count("*") - self.stars) % 2 == 0

    def index(self, at: int) -> bool:
        """An index that begins at ``at``; False, and nothing written, where there is none."""
        text = self.text
        if text[at : at + 1] in ("(", "{") and (end := group(text, at)) > at:
            self.put(f"<sub>{inner(text[at + 1 : end - 1])}</sub>", end)
            return True
        found = INDEX.match(text, at)
        if found is None or text[found.end() : found.end() + 1] == "_":
            return False
        if found[0].isupper() and text[found.end() : found.end() + 1] == "'" and text[at - 2 : at - 1] == "E":
            return False  # E_Q': whose prime is it?
        short = len(found[0]) == 2 and found[0].isalpha()  # r_xi: row i of x, no Greek letter
        shown = f"<i>{found[0]}</i>" if short else found[0] if len(found[0]) > 2 else inner(found[0])
        self.put(f"<sub>{shown.replace('-', '−')}</sub>", found.end())
        return True

    def power(self, at: int) -> bool:
        """The same for a power."""
        text = self.text
        if text[at : at + 1] in ("(", "{") and (end := group(text, at)) > at:
            self.put(f"<sup>{inner(text[at + 1 : end - 1])}</sup>", end)
            return True
        if found := re.compile(r"\|[^|\s]+\|").match(text, at):
            self.put(f"<sup>{inner(found[0])}</sup>", found.end())
            return True
        found = POWER.match(text, at)
        if found is None:
            return False
        end = found.end()
        tail = re.compile(r"_[A-Za-z0-9]+").match(text, end) if found[3] in GREEK else None
        end = tail.end() if tail else end
        self.put(f"<sup>{inner(text[at:end])}</sup>", end)
        return True


def inner(text: str) -> str:
    """A part of a formula, where single letters are never words."""
    return Setting(text, inside=True).done()


def set_maths(text: str) -> str:
    """A piece of text with its formulas set, as HTML; code between backticks stays.

    >>> set_maths("|M - m| <= n^2 e^(-k beta)/sqrt(2L)")
    '|<i>M</i> − <i>m</i>| ≤ <i>n</i><sup>2</sup> <i>e</i><sup>−<i>k</i> β</sup>/√<span class="root">2<i>L</i></span>'
    >>> set_maths("A row p, see gaussian.proof.md: the sum of any l is sum a_1")
    'A row <i>p</i>, see gaussian.proof.md: the sum of any <i>l</i> is ∑ <i>a</i><sub>1</sub>'
    """
    return Setting(text).done()
