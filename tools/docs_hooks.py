"""What mkdocs adds to docs/ when it builds: the proofs beside the code, the command line, what can
be reproduced, one page per room.

Nothing is written to docs/; the pages exist only in the built site. Proofs are plain text with plain formulas; their
pages set the formulas (``docs_maths.py``), list the ``proves:`` marks on top and link the names of other proofs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from docs_command import command_page
from docs_figures import figures_page
from docs_maths import inner, set_maths

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dpcausal"
MARK = re.compile(r"<!-- proves: (?P<name>[\w.]+) sha256:(?P<hash>[0-9a-f]*) -->\n?")
NAMED = re.compile(r"`(?:[\w.]+/)*(?P<name>\w+)\.proof\.md`")
ROOMS = {
    "core": "errors, neighbours, the privacy statement",
    "data": "schema, reading files, the coded data set",
    "counts": "contingency tables and their backends",
    "privacy": "noise, mechanisms, events, accounting, budget, ledger",
    "stats": "statistics, sensitivities and null laws",
    "citests": "tests of conditional independence",
    "graphs": "CPDAGs, d-separation, formats, metrics",
    "discovery": "the PC search and its drivers",
    "gwas": "private screening of SNPs",
    "audit": "lower bounds on epsilon, known-broken mechanisms",
    "networks": "benchmark networks and sampling",
    "report": "the HTML report",
    "plots": "figures with matplotlib",
    "planning": "what a budget will show",
    "regression": "kernel ridge and Fourier features",
    "adapters": "private tests inside other libraries' searches",
    "estimators": "estimators with scikit-learn's conventions",
}
PROOFS_INTRO = """# Proofs

Every constant that carries a guarantee has its proof in a file beside the code, and the code names the file
(`@proved("...")`). The file holds a hash of the function's syntax tree and of everything in its module that it uses. A
change of the code without a new reading of the proof fails the build: `python tools/proofs.py check`. These pages show
those files. There formulas are plain text (`x_i^2 <= sqrt(n)`); here they are set, token by token, and a test turns
every page back into its file.

| proof | proves | for |
|---|---|---|
"""


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


def kept(html: str) -> str:
    """Kept from Markdown, outside code: ``_`` is no emphasis and ``{...}`` no attribute.

    >>> kept("per_step, `x_i`")
    'per\\\\_step, `x_i`'
    """
    spans = html.split("`")
    spans[::2] = [re.sub(r"([_{}])", r"\\\1", span) for span in spans[::2]]
    return "`".join(spans)


def displayed(lines: list[str]) -> str:
    """Lines of formulas of their own: a number at the end goes to the right, wide gaps stay wide."""
    shown = []
    for line in lines:
        formula, number = re.fullmatch(r"(.*?)(?: {3,}(\(\d+\)))?", line.strip()).groups()  # type: ignore[union-attr]
        parts = [inner(part) for part in re.split(r" {2,}", formula)]
        shown.append(" &emsp;".join(parts) + (f' <span class="number">{number}</span>' if number else ""))
    return '<div class="formula">' + "<br>\n".join(shown) + "</div>"


def literal(body: str) -> str:
    """A proof as Markdown: formulas set (``docs_maths.py``), and a list that follows a line is a list.

    >>> literal("w_i <= 1, `x_i`")
    '<i>w</i><sub><i>i</i></sub> ≤ 1, `x_i`'
    """
    lines: list[str] = []
    listing = False
    for line in body.split("\n"):
        item = re.match(r" {0,3}[-*] ", line) is not None
        if item and lines and lines[-1].strip() and not listing:
            lines.append("")
        listing = bool(line.strip()) and (listing or item)
        lines.append(line)
    blocks = re.split(r"\n{2,}", "\n".join(lines).strip("\n"))
    return "\n\n".join(
        displayed(block.split("\n")) if block.startswith("    ") else kept(set_maths(block))
        for block in blocks
    )


def proof_page(proof: Path, addresses: dict[str, str]) -> str:
    """The proof as a page: marks as a list, other proofs linked, the rest as it is."""
    text = proof.read_text(encoding="utf-8")
    marks = [(m["name"], m["hash"]) for m in MARK.finditer(text)]
    title, _, body = MARK.sub("", text).partition("\n")
    room = proof.parent.relative_to(SOURCE).as_posix()
    proved = ", ".join(f"`{name}` ({digest})" for name, digest in marks)
    said = f"Proves, in `src/dpcausal/{room}/`: {proved}. File: `{proof.name}`."
    head = f'<div class="proves" markdown="1">\n{said}\n</div>'

    def linked(match: re.Match[str]) -> str:
        address = addresses.get(match["name"])
        return f"[{match[0]}]({Path(address).name})" if address else match[0]

    return f"{title}\n\n{head}\n\n{NAMED.sub(linked, literal(body)).strip()}\n"


def rooms() -> list[str]:
    """The packages, in the order of ``ROOMS``; new ones last. The command line has a page of its own."""
    there = {path.parent.name for path in SOURCE.glob("*/__init__.py")} - {"cli"}
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
    addresses = {proof.name.removesuffix(".proof.md"): proof_address(proof) for proof in proofs}
    pages: dict[str, str] = {}
    rows = []
    for proof in proofs:
        text = proof.read_text(encoding="utf-8")
        pages[proof_address(proof)] = proof_page(proof, addresses)
        names = ", ".join(f"`{m['name']}`" for m in MARK.finditer(text))
        room = proof.parent.relative_to(SOURCE).as_posix()
        rows.append(f"| [{title_of(text)}]({Path(proof_address(proof)).name}) | {names} | `{room}` |")
    pages["proofs/index.md"] = PROOFS_INTRO + "\n".join(rows) + "\n"
    pages["reference/command_line.md"] = command_page()
    pages["reproductions.md"] = figures_page()
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
    return [
        {
            title: filled.get(entry, entry) if isinstance(entry, str) else entry
            for title, entry in item.items()
        }
        for item in nav
    ]


def named_in(entry: Any) -> set[str]:
    """Every page that a navigation names."""
    if isinstance(entry, str):
        return {entry}
    inner = entry.values() if isinstance(entry, dict) else entry
    return set().union(*(named_in(one) for one in inner))


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
