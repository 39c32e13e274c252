"""The guide for R, run as it is printed, where R with reticulate is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "from_r.md"
CHECKS = """
stopifnot(identical(names(arcs), c("from", "to")))
stopifnot(is.matrix(amat), nrow(amat) == 4, all(amat %in% c(0, 1)))
stopifnot(result$privacy$epsilon <= 1, is.logical(test$independent))
ways <- which(t(amat) == 1, arr.ind = TRUE)
stopifnot(setequal(paste(arcs$from, arcs$to), paste(rownames(amat)[ways[, 1]], rownames(amat)[ways[, 2]])))
stopifnot(file.exists("report.html"), grepl("^pdag", readLines("graph.dagitty")[1]))
stopifnot(identical(same$to_json(), result$shown$to_json()), identical(drawn$to_json(), result$shown$to_json()))
hidden <- dc$discover(data, epsilon = 1, delta = 1e-6, method = "measured", latent = TRUE)
stopifnot(grepl("^pag", hidden$graph$to_dagitty()))
cat("all of it ran")
"""


def has_reticulate() -> bool:
    """Whether R can load reticulate."""
    if shutil.which("Rscript") is None:
        return False
    return not subprocess.run(
        ["Rscript", "-e", "library(reticulate)"], capture_output=True, check=False
    ).returncode


def printed() -> str:
    """The blocks of the guide, one session."""
    return "\n".join(re.findall(r"^```r\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S))


def test_the_guide_has_blocks() -> None:
    assert printed().count("dc$") >= 5


def test_the_guide_runs_as_printed(tmp_path: Path) -> None:
    if not has_reticulate():
        pytest.skip("needs R with reticulate (Debian: r-base-core, r-cran-reticulate)")
    script = tmp_path / "guide.R"
    script.write_text(printed() + CHECKS, encoding="utf-8")
    ran = subprocess.run(
        ["Rscript", str(script)],
        cwd=tmp_path,
        env={**os.environ, "RETICULATE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    assert "all of it ran" in ran.stdout
