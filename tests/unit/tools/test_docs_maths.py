"""Formulas on the pages of the proofs: set as a reader expects, and always what the proof says."""

from __future__ import annotations

import html
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOKS, MATHS = tool("docs_hooks"), tool("docs_maths")
EXTENSIONS = ["tables", "admonition", "attr_list", "footnotes", "md_in_html", "pymdownx.superfences"]
SIGNS = {
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "±": "+-",
    "∓": "-+",
    "→": "->",
    "⇒": "=>",
    "−": "-",
    "·": "*",
    "×": "x",
}
SIGNS |= {"\u2060": "", "′": "'", "∑": "sum", "∏": "prod", "∫": "int", "∞": "infinity", "√": "sqrt "}
SIGNS |= {letter: name for name, letter in MATHS.GREEK.items() if name != "eps"}
SCRIPT = re.compile(r"([-+]{0,2}(?:\d+(?:\.\d+)?|[A-Za-z]+\d*'*(?:_[A-Za-z0-9]+)?)|\|[^|\s]+\|)|[+-]")
INDEX = re.compile(r"[A-Za-z0-9]+|[+-]")


def undone(page: str) -> str:
    """The plain text that a built page was made from: powers, indices and roots in brackets."""
    page = (
        page.replace('<span class="root">', "<root>")
        .replace("<sup>&#42;</sup>", "*")
        .replace("<sup>*</sup>", "*")
    )
    page = re.sub(r"</?(?!sup|sub|root|span)[a-z][^>]*>", "", page.replace("&emsp;", " "))
    inmost = re.compile(r"<(sup|sub|root)>((?:(?!<sup|<sub|<root).)*?)</(?:sup|sub|span)>", re.DOTALL)
    while inmost.search(page):
        page = inmost.sub(script, page)
    page = re.sub(r"</?span[^>]*>", "", page)
    return "".join(SIGNS.get(letter, letter) for letter in html.unescape(page))


def script(found: re.Match[str]) -> str:
    return {"sup": "^(", "sub": "_(", "root": "("}[found[1]] + found[2] + ")"


def flat(text: str) -> str:
    """One spelling for all: every power and index in brackets, ``beta1`` as ``beta_(1)``; no spaces, no Markdown."""
    for one, other in (
        (r"\bchi2\b", "chi^2"),
        (r"\beps\b", "epsilon"),
        (r"\bintegral_", "int_"),
        ("/=", "!="),
    ):
        text = re.sub(one, other, text)
    text = re.sub(r"(?<=[A-Za-z])(\d+[xy]?)(?![A-Za-z0-9])", r"_(\1)", bracketed(text))
    return re.sub(r"[\s*`#|\\]+", "", text)


def bracketed(text: str) -> str:
    out, at = "", 0
    while at < len(text):
        out += text[at]
        at += 1
        if out[-1] not in "^_":
            continue
        end = MATHS.group(text, at) if text[at : at + 1] in ("(", "{") else at
        found = (SCRIPT if out[-1] == "^" else INDEX).match(text, at)
        if end > at:
            out += f"({bracketed(text[at + 1 : end - 1])})"
            at = end
        elif found:
            out += f"({bracketed(found[0])})"
            at = found.end()
    return out


@pytest.mark.parametrize("proof", HOOKS.proof_files(), ids=lambda path: path.name)
def test_a_page_is_turned_back_into_its_proof(proof: Path) -> None:
    markdown = pytest.importorskip("markdown")
    body = HOOKS.MARK.sub("", proof.read_text()).partition("\n")[2]
    page = undone(markdown.markdown(HOOKS.literal(body), extensions=EXTENSIONS))
    unmarked = re.sub(r"^ {0,3}(?:\d+\. |[-*] )|^\|[-|]+\|$", "", body, flags=re.MULTILINE)
    assert flat(page) == flat(unmarked)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x^(a+b)c", "x^(a+bc)"),
        ("a <= b", "a >= b"),
        ("a - b", "a + b"),
        ("x_i^2", "x_i2"),
        ("sqrt(a)b", "sqrt(ab)"),
        ("x'", "x"),
        ("e^-a", "e^a"),
    ],
)
def test_what_differs_stays_different(one: str, other: str) -> None:
    """What the test above would not notice is nothing that matters."""
    assert flat(undone(MATHS.set_maths(one))) == flat(one)
    assert flat(one) != flat(other)
    assert flat(undone(MATHS.set_maths(one))) != flat(undone(MATHS.set_maths(other)))


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("n^3(1 - y)", "<i>n</i><sup>3</sup>(1 − <i>y</i>)"),
        ("e^(-eta d)", "<i>e</i><sup>−η <i>d</i></sup>"),
        ("2^-20 of", "2<sup>−20</sup> of"),
        ("A_i' = 1", "<i>A</i><sub><i>i</i></sub>′&#8288; = 1"),
        ("b_(j+1)", "<i>b</i><sub><i>j</i>+1</sub>"),
        ("(5)_+", "(5)<sub>+</sub>"),
        ("r'_xi r_yi", "<i>r</i>′&#8288;<sub><i>xi</i></sub> <i>r</i><sub><i>yi</i></sub>"),
        ("*On A*: s*, s* the", "*On A*: <i>s</i><sup>&#42;</sup>, <i>s</i><sup>&#42;</sup> the"),
        ("Phi'u", "Φ′&#8288;<i>u</i>"),
        ("(a, b) = 2 A b", "(<i>a</i>, <i>b</i>) = 2 <i>A</i> <i>b</i>"),
        ("beta1 and N0", "β<sub>1</sub> and <i>N</i><sub>0</sub>"),
        ("chi2", "χ<sup>2</sup>"),
        ("2x2 tables", "2×2 tables"),
        ("epsilon-DP, the k-th", "ε-DP, the <i>k</i>-th"),
        ("sum_{i<j} u_i", "∑<sub><i>i</i>&lt;<i>j</i></sub> <i>u</i><sub><i>i</i></sub>"),
        ("int_0^1", "∫<sub>0</sub><sup>1</sup>"),
        ("a^|k|", "<i>a</i><sup>|<i>k</i>|</sup>"),
    ],
)
def test_formulas_are_set(plain: str, shown: str) -> None:
    assert MATHS.set_maths(plain) == shown


@pytest.mark.parametrize(
    "words",
    [
        "Kendall's mid-rank is post-processing, tau-b e.g. and (a) the rest; M's.",
        "The sum of all is at least the sum over any.",
        "A row of a table, `x_i <= y^2`, kendall_sensitivity.proof.md, per_step, rho_for(",
        "float64 and log2 of expm1",
        "e^max(r, 0)",
    ],
)
def test_what_is_not_understood_stays(words: str) -> None:
    assert re.sub("</?i>", "", MATHS.set_maths(words)).replace("τ", "tau") == words


def test_formulas_of_their_own_are_blocks_with_numbers_at_the_right() -> None:
    shown = HOOKS.literal("So\n\n    x <= 1,   y = 2.          (3)\n    z\n\nEnd.")
    assert shown.split("\n\n")[1].startswith(
        '<div class="formula"><i>x</i> ≤ 1, &emsp;<i>y</i> = 2. <span class="number">(3)'
    )
