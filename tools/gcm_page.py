"""Put the tables of ``docs/figures/gcm_figure1.md`` ... into ``docs/gcm_figures.md``, below its own words.

    python tools/gcm_page.py [--check]

``dpcausal reproduce gcm-figureN --out docs/figures`` writes those files. ``--check``: is it up to date?
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "gcm_figures.md"
START = "\n## GCM figure 1"


def section(number: int) -> str:
    """One figure's file, a heading lower, its picture where the page finds it."""
    text = (DOCS / "figures" / f"gcm_figure{number}.md").read_text(encoding="utf-8")
    return "#" + text.replace("](gcm_figure", "](figures/gcm_figure").rstrip() + "\n"


def main() -> int:
    """Write, or compare."""
    old = PAGE.read_text(encoding="utf-8")
    new = old[: old.index(START)] + "\n" + "\n".join(section(number) for number in range(1, 10))
    if "--check" in sys.argv[1:]:
        print(
            "gcm_figures.md:", "up to date" if new == old else "not up to date: run python tools/gcm_page.py"
        )
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
