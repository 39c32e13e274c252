"""The picture of a report in the README: the first page that ``make demo`` writes, as Chromium draws it.

make demo && python tools/report_picture.py        # writes docs/figures/report.png
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPORT, PICTURE = ROOT / "demo" / "report.html", ROOT / "docs" / "figures" / "report.png"
SIZE = "860,1340"  # the first page: conclusion, promise and graph


def main() -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or not REPORT.is_file():
        raise SystemExit("this needs Chromium, and the report of make demo")
    with tempfile.TemporaryDirectory() as profile:
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            f"--user-data-dir={profile}",
        ]
        wanted = [f"--window-size={SIZE}", f"--screenshot={PICTURE}", "--hide-scrollbars"]
        subprocess.run(
            [browser, *flags, *wanted, REPORT.as_uri()], check=True, capture_output=True, timeout=120
        )


if __name__ == "__main__":
    main()
