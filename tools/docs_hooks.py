"""What mkdocs adds to docs/ when it builds: the proofs beside the code, the command line, errors, notebooks,
what can be reproduced, one page per room, and formulas.

Nothing is written to docs/; the pages exist only in the built site. Formulas are LaTeX between dollars, ``$x_i^2$`` in
a line and ``$$x_i^2$$`` as a display, on every page and outside code; they become MathML here, which browsers show
without a script. Pages of proofs list the ``proves:`` marks on top and link the names of other proofs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

sys.path.insert(0, str(Path(__file__).parent))

from docs_command import command_page
from docs_errors import error_page
from docs_figures import figures_page
from notebook import pages as notebook_pages

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dpcausal"
MARK = re.compile(r"<!-- proves: (?P<name>[\w.]+) sha256:(?P<hash>[0-9a-f]*) -->\n?")
NAMED = re.compile(r"`(?:\.\./)*(?P<name>(?:\w+/)*\w+)\.proof\.md`")
DISPLAYED = r"(?<![\\$])\$\$(?P<formula>[^$]+)\$\$"
IN_LINE = r"(?<![\\$])\$(?P<formula>[^\s$](?:[^$]*[^\s$])?)\$(?![\d$])"  # as pandoc: "$5 and $6" is none
SET_BETTER = {  # what TeX would do and the converter does not
    r"<mi>&#x029F5;</mi>": "<mo>&#x02216;</mo>",  # set minus, which few fonts have there
    r"\\([_{}])": r"\1",  # left over in \text{} and after \bigl
    r'<mo(?: fence="false")?(?: stretchy="false")?>(&#x0007C;|&#x02016;|&#x0002F;)</mo>': (
        r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>'
    ),
    r"(?<!<msub>)(?<!<msup>)(<mi>(?:ln|log|exp|cos|sin|sinh|tanh|coth)</mi>)(?=<m[^o])": (
        r'\1<mspace width="0.167em" />'
    ),
}
ROOMS = {
    "core": "errors, neighbours, randomness, the privacy statement",
    "data": "schema, reading files, the coded data set",
    "counts": "contingency tables and their backends",
    "privacy": "noise, mechanisms, events, accounting, budget, ledger",
    "stats": "statistics, sensitivities and null laws",
    "regression": "kernel ridge and Fourier features",
    "citests": "tests of conditional independence",
    "graphs": "CPDAGs, d-separation, formats, metrics",
    "planning": "what a budget will show",
    "discovery": "the PC search and its drivers",
    "effects": "how large the effect of one column on another is",
    "gwas": "private screening of SNPs",
    "audit": "lower bounds on epsilon, known-broken mechanisms",
    "networks": "benchmark networks and sampling",
    "present": "reports, figures, notebooks, words",
    "sites": "one graph from several sites, of which no row leaves any",
    "desk": "the custodian's desk: server, workers and dc.remote",
    "adapters": "private tests inside other libraries' searches",
    "estimators": "estimators with scikit-learn's conventions",
    "cli": "one file per command",
}
PROOFS_INTRO = """# Proofs

Every constant that carries a guarantee has its proof in a file beside the code, and the code names the file
(`@proved("...")`). The file holds a hash of the function's syntax tree and of everything in its module that it uses. A
change of the code without a new reading of the proof fails the build: `python tools/proofs.py check`. These pages show
those files. Each states a theorem with all its constants, its assumptions, the proof, and where the code relies on it.

| proof | proves | for |
|---|---|---|
"""


class Formula(InlineProcessor):  # type: ignore[misc]
    """LaTeX between dollars, as MathML; code has been taken out of the text before this sees it."""

    def __init__(self, pattern: str, md: Markdown, display: str) -> None:
        super().__init__(pattern, md)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:
        """Called by Markdown."""
        return self.md.htmlStash.store(mathml(m["formula"], self.display)), m.start(0), m.end(0)


class Formulas(Extension):  # type: ignore[misc]
    """Reads formulas before Markdown sees stars, underscores and backslashes in them."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Called by Markdown: behind code (190), before escapes (180)."""
        md.inlinePatterns.register(Formula(DISPLAYED, md, "block"), "displayed-formula", 187)
        md.inlinePatterns.register(Formula(IN_LINE, md, "inline"), "formula", 186)


def mathml(latex: str, display: str = "inline") -> str:
    """MathML of a formula; an error where a command is not known, so that no page shows half a formula.

    >>> mathml("x_i")[-53:]
    '<mrow><msub><mi>x</mi><mi>i</mi></msub></mrow></math>'
    """
    source = re.sub(r"(\\(?:begin|end)){aligned}", r"\1{align*}", " ".join(latex.split()))
    made: str = convert(source, display=display)
    for pattern, better in SET_BETTER.items():
        made = re.sub(pattern, better, made)
    if "\\" in made or ">&<" in made:
        raise ValueError(f"not understood in the formula {latex!r}")
    return made


def proof_files() -> list[Path]:
    """Every proof, by path."""
    return sorted(SOURCE.rglob("*.proof.md"))


def proof_address(proof: Path) -> str:
    """Its page in the site.

    >>> proof_address(SOURCE / "stats" / "spearman.proof.md")
    'proofs/stats_spearman.md'
    """
    inside = proof.relative_to(SOURCE)
    return "proofs/" + "_".join([*inside.parts[:-1], proof.name.removesuffix(".proof.md")]) + ".md"


def title_of(text: str) -> str:
    """The first heading."""
    return text.split("\n", 1)[0].lstrip("# ").strip()


def proof_named(name: str, near: Path) -> Path | None:
    """The proof that ``name`` means in the proof ``near``: one beside it, or one below the folders it names.

    >>> proof_named("stats/moments", SOURCE / "discovery" / "moments.proof.md") == SOURCE / "stats/moments.proof.md"
    True
    """
    found = [one for one in proof_files() if one.as_posix().endswith(f"/{name}.proof.md")]
    return min(found, key=lambda one: one.parent != near.parent, default=None)


def proof_page(proof: Path) -> str:
    """The proof as a page: marks as a list, other proofs linked, the rest as it is."""
    text = proof.read_text(encoding="utf-8")
    marks = [(m["name"], m["hash"]) for m in MARK.finditer(text)]
    title, _, body = MARK.sub("", text).partition("\n")
    room = proof.parent.relative_to(SOURCE).as_posix()
    proved = ", ".join(f"`{name}` ({digest})" for name, digest in marks)
    said = f"Proves, in `src/dpcausal/{room}/`: {proved}. File: `{proof.name}`."
    head = f'<div class="proves" markdown="1">\n{said}\n</div>'

    def linked(match: re.Match[str]) -> str:
        other = proof_named(match["name"], proof)
        return f"[{match[0]}]({Path(proof_address(other)).name})" if other else match[0]

    return f"{title}\n\n{head}\n\n{NAMED.sub(linked, body).strip()}\n"


def rooms() -> list[str]:
    """The packages, in the order of ``ROOMS``; new ones last. The command line has a page of its own."""
    there = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    there |= {path.stem for path in SOURCE.glob("*.py") if path.stem in ROOMS}
    there -= {"cli"}
    return [room for room in ROOMS if room in there] + sorted(there - ROOMS.keys())


def room_page(room: str, about: str) -> str:
    """Reference of one room, with its modules' docstrings."""
    return (
        f"# `dpcausal.{room}`: {about}\n\n::: dpcausal.{room}\n    options:\n      show_submodules: true\n"
        "      show_root_heading: false\n      show_root_toc_entry: false\n"
    )


def generated() -> dict[str, str]:
    """Address -> text of every page that is made here."""
    proofs = proof_files()
    pages: dict[str, str] = {}
    rows = []
    for proof in proofs:
        text = proof.read_text(encoding="utf-8")
        pages[proof_address(proof)] = proof_page(proof)
        names = ", ".join(f"`{m['name']}`" for m in MARK.finditer(text))
        room = proof.parent.relative_to(SOURCE).as_posix()
        rows.append(f"| [{title_of(text)}]({Path(proof_address(proof)).name}) | {names} | `{room}` |")
    pages["proofs/index.md"] = PROOFS_INTRO + "\n".join(rows) + "\n"
    pages["reference/command_line.md"] = command_page()
    pages["reproductions.md"] = figures_page()
    pages["errors.md"] = error_page()
    pages |= notebook_pages()
    for room in rooms():
        pages[f"reference/{room}.md"] = room_page(room, ROOMS.get(room, "reference"))
    return pages


def nav_of(pages: dict[str, str], extra: list[str], nav: list[Any]) -> list[Any]:
    """The navigation with MEASURED, PROOFS and REFERENCE filled in."""
    proofs: list[Any] = ["proofs/index.md"]
    for room in dict.fromkeys(p.parent.relative_to(SOURCE).as_posix() for p in proof_files()):
        inside = [p for p in proof_files() if p.parent.relative_to(SOURCE).as_posix() == room]
        proofs.append({room: [{title_of(pages[proof_address(p)]): proof_address(p)} for p in inside]})
    reference: list[Any] = [
        "reference/index.md",
        {"Command line": "reference/command_line.md"},
        *({f"dpcausal.{room}": f"reference/{room}.md"} for room in rooms()),
    ]
    filled = {"MEASURED": ["reproductions.md", *extra], "PROOFS": proofs, "REFERENCE": reference}
    return [fill(item, filled) for item in nav]


def fill(entry: Any, filled: dict[str, list[Any]]) -> Any:
    """A part of the navigation with its placeholders replaced."""
    if isinstance(entry, str):
        return filled.get(entry, entry)
    if isinstance(entry, dict):
        return {title: fill(inner, filled) for title, inner in entry.items()}
    return [fill(inner, filled) for inner in entry]


def named_in(entry: Any) -> set[str]:
    """Every page that a navigation names."""
    if isinstance(entry, str):
        return {entry}
    inner = entry.values() if isinstance(entry, dict) else entry
    return set().union(*(named_in(one) for one in inner))


def on_config(config: Any) -> Any:
    """Called by mkdocs: every page may hold formulas."""
    config.markdown_extensions.append(Formulas())
    return config


def on_files(files: Any, config: Any) -> Any:
    """Called by mkdocs: add the made pages and complete the navigation."""
    from mkdocs.structure.files import File

    pages = generated()
    for address, text in pages.items():
        files.append(File.generated(config, address, content=text))
    known = named_in(config.nav) | set(pages) | {"reference/index.md"}
    there = [file.src_uri for file in files if file.src_uri.endswith(".md") and file.src_uri not in known]
    config.nav = nav_of(pages, sorted(there), config.nav)
    return files
