"""Check the built documentation: every internal link and anchor leads somewhere, nothing is fetched from elsewhere, and
the reference shows every public name.

    python tools/docs.py [SITE]      SITE defaults to site/, as made by `make docs`

mkdocs checks links between sources; this reads the pages a browser gets, generated ones and the reference included.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """Ids, links and loaded files of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect."""
        values = {name: value for name, value in attrs if value}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADS and LOADS[tag] in values and values.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(values[LOADS[tag]])


def remote(address: str) -> bool:
    """Whether an address leaves the site."""
    parts = urlsplit(address)
    return bool(parts.scheme in ("http", "https") or parts.netloc)


def faults(site: Path) -> list[str]:
    """One line per dead link, dead anchor or remote file below ``site``; empty when all is well."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found: list[str] = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve()).as_posix()
        found += [f"{name}: loads {load} from elsewhere" for load in page.loads if remote(load)]
        if name == "404.html":
            continue  # its addresses hold wherever it is shown
        for link in [*page.links, *page.loads]:
            if remote(link) or urlsplit(link).scheme in ("mailto", "data"):
                continue
            address, anchor = urldefrag(link)
            target = (path.parent / unquote(address)).resolve() if address else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{name}: no such page: {link}")
            elif anchor and target in pages and unquote(anchor) not in pages[target].ids:
                found.append(f"{name}: no such anchor: {link}")
    return found


def unnamed(site: Path, names: Iterable[str]) -> list[str]:
    """One line for each of ``names`` that the first page of the reference has no entry for.

    An entry is an anchor ``dpcausal. ... .name``, as mkdocstrings makes it.
    """
    ids = Page((site / "reference" / "index.html").read_text(encoding="utf-8")).ids
    shown = {anchor.rpartition(".")[2] for anchor in ids if anchor.startswith("dpcausal.")}
    return [f"reference/index.html: no entry for dc.{name}" for name in names if name not in shown]


if __name__ == "__main__":
    where = Path(sys.argv[1] if len(sys.argv) > 1 else "site")
    if not (where / "index.html").is_file():
        sys.exit(f"{where} holds no built documentation: run make docs")
    import dpcausal

    problems = faults(where) + unnamed(where, dpcausal.__all__)
    print("\n".join(problems) or "docs: all links lead somewhere, and every public name is in the reference")
    sys.exit(bool(problems))
