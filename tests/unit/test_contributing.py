"""The recipes of CONTRIBUTING for a statistic and a test, followed with a toy in a copy of the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long_file

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "tools", "docs", "pyproject.toml", "mkdocs.yml", "Makefile", "CONTRIBUTING.md")
MAX_SOURCE_FILES = 4

STATISTIC = '''"""Covariance of the positions of levels within blocks: a toy.

**Formula.** With positions u, v in [0, 1], M = sum_b sum_i (u_i - ubar_b)(v_i - vbar_b) over the rows i of block b, and
V = sum_b SSu_b SSv_b/(n_b - 1). **Guarantee** (``toy.proof.md``): M moves by 1 add, 2 replace, V by 1/4 and 3/8.
**Null law**: given the margins M has mean 0 and variance V. **Cost** O(k r c). **Edge cases**: a block of fewer than
two rows, or constant in x or y, adds 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.blocks import checked_blocks
from dpcausal.stats.noisy_normal import laplace_tail


class Toy(NamedTuple):
    """The statistic M and its variance V."""

    statistic: float
    variance: float


def toy(blocks: ArrayLike) -> Toy:
    """Return M and V of the blocks.

    >>> toy([[[2, 0], [0, 2]]])
    Toy(statistic=1.0, variance=0.3333333333333333)
    """
    table = checked_blocks(blocks).astype(np.float64)
    _, r, c = table.shape
    u, v = np.arange(r) / max(r - 1, 1), np.arange(c) / max(c - 1, 1)
    rows, columns, n = table.sum(axis=2), table.sum(axis=1), table.sum(axis=(1, 2))
    some = np.maximum(n, 1.0)
    covariance = np.einsum("bij,i,j->b", table, u, v) - (rows @ u) * (columns @ v) / some
    squares = (rows @ u**2 - (rows @ u) ** 2 / some) * (columns @ v**2 - (columns @ v) ** 2 / some)
    return Toy(float(covariance.sum()), float((squares / np.maximum(n - 1.0, 1.0)).sum()))


@proved("toy.proof.md")
def toy_sensitivity(neighbours: Neighbours | str, weight: float) -> float:
    """Return the l1 sensitivity of (M, weight V).

    >>> toy_sensitivity("replace-one", 1.0)
    2.375
    """
    added = Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE
    return 1.0 + weight / 4 if added else 2.0 + weight * 3 / 8


def toy_pvalue(statistic: float, variance: float, scale: float) -> float:
    """Return P(|N(0, V) + Lap(scale)| >= |M|)."""
    return laplace_tail(statistic, variance, scale)
'''

PROOF = """# How far one row moves the toy

<!-- proves: toy_sensitivity sha256: -->

## Theorem

One row added moves $M$ by at most 1 and $V$ by at most $1/4$; one row replaced moves them by at most 2 and $3/8$.

## Proof

That of `gcm_bins.proof.md`, for positions of levels. $\\blacksquare$
"""

UNIT_TEST = '''"""The toy against numpy."""

import numpy as np

from dpcausal.stats.toy import toy


def test_one_block_is_the_covariance_of_its_rows() -> None:
    table = np.array([[5, 1, 2], [0, 3, 4]])
    x, y = (np.repeat(place, table.ravel()) for place in np.indices(table.shape).reshape(2, -1))
    found = toy(table[None])
    assert np.isclose(found.statistic, np.cov(x, y / 2)[0, 1] * (table.sum() - 1))
    assert np.isclose(found.variance, np.var(x) * np.var(y / 2) * table.sum() ** 2 / (table.sum() - 1))
'''

PROPERTY_TEST = '''"""The sensitivity of the toy: all neighbours of small tables, and large ones that come near it."""

from itertools import product

import numpy as np
import pytest

from dpcausal.stats.toy import toy, toy_sensitivity


def worst(relation: str, weight: float) -> float:
    """The largest move of (M, weight V) over neighbours in two blocks of 2 x 2."""
    small = [np.array(cells).reshape(2, 2, 2) for cells in product(range(3), repeat=8) if sum(cells) == 3]
    far = np.zeros((2, 2, 2), np.int64)
    far[0, 0, 0] = far[1, 0, 1] = 400
    far[0, 1, 1] = 1  # moved to the second block this row takes nearly 1 off both
    ones = list(np.ndindex(2, 2, 2))
    moves = []
    for table in [*small, far]:
        before = toy(table)
        for leaves, comes in product(ones, ones):
            if relation == "add-remove" and leaves != ones[0]:
                continue
            after = table.copy()
            if relation == "replace-one":
                after[leaves] -= 1
            after[comes] += 1
            if after.min() >= 0:
                found = toy(after)
                moves.append(
                    abs(found.statistic - before.statistic) + weight * abs(found.variance - before.variance)
                )
    return max(moves)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_no_neighbour_moves_it_further_and_some_come_near(relation: str, weight: float) -> None:
    assert 0.7 * toy_sensitivity(relation, weight) < worst(relation, weight) <= toy_sensitivity(relation, weight)
'''

CLASS = '''"""``toy``: the covariance of the positions of levels.

**Guarantee**: epsilon-DP, both relations (``toy.proof.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from dpcausal.citests.base import Charger, Outcome, Question, TableTest, TestInfo, TestSettings
from dpcausal.core.statement import Noisy, Released
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.noisy_normal import normal_pvalue
from dpcausal.stats.toy import toy, toy_pvalue, toy_sensitivity


@dataclass(frozen=True)
class ToyTest(TableTest):
    """The toy with its option."""

    weight: Annotated[float, "weight of the variance in the release"] = 1.0

    info = TestInfo("toy", "the covariance of the positions of levels", signed=True, any_question=True)
    releases = Noisy("statistic")

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """Compare M/sqrt(V) with the normal law."""
        statistic, variance = toy(blocks)
        return Outcome.at(level, float(normal_pvalue(statistic, variance)), statistic)

    def private(self, question: Question, blocks: Blocks, settings: TestSettings, budget: Charger) -> Outcome:
        """Release both numbers at once; the p-value is post-processing."""
        mechanism = Laplace(
            sensitivity=toy_sensitivity(settings.neighbours, self.weight),
            epsilon=settings.epsilon,
            neighbours=settings.neighbours,
            size=2,
        )
        statistic, variance = toy(blocks)
        found = release(mechanism, budget, f"toy: {question}", np.array([statistic, self.weight * variance]))
        pvalue = toy_pvalue(float(found[0]), float(found[1]) / self.weight, mechanism.scale)
        return Outcome.at(settings.level, pvalue, float(found[0]))
'''

MADE = {
    "stats/NAME.py": STATISTIC,
    "stats/NAME.proof.md": PROOF,
    "tests/unit/stats/test_NAME.py": UNIT_TEST,
    "tests/property/stats/test_NAME.py": PROPERTY_TEST,
    "citests/NAME.py": CLASS,
    "docs/methods/NAME.md": '# `ci_test(method="toy")`\n\n**Guarantee.** Pure epsilon-DP.\n',
}
CHANGED: dict[str, list[tuple[str, str]]] = {  # a line that is there, and what takes its place
    "citests/registry.py": [
        (r"(from dpcausal\.citests\.unit_circle)", r"from dpcausal.citests.toy import ToyTest\n\1"),
        (r"(        TestOfTests,\n)", r"\1        ToyTest,\n"),
        (r'("test-of-tests")(\n\])', r'\1, "toy"\2'),
    ],
    "docs/methods/index.md": [(r"(\| \[`crt`\])", r"| [`toy`](toy.md) | any | two numbers | Laplace |\n\1")],
    "mkdocs.yml": [(r"( +- )(crt: methods/crt\.md)", r"\1toy: methods/toy.md\n\1\2")],
    "tests/net/calls.py": [
        (r'(    asked \+= \[)(\("measured", "level duckdb")', r'\1("toy", "levels", ranked, {"weight": 0.5}), \2'),
        (r'(for inner in \("g", "chi2", "measured", "kendall", "spearman")', r'\1, "toy"'),
        (r'(for inner in \("kendall", "spearman")', r'\1, "toy"'),
    ],
    "tests/net/test_wiring.py": [(r'(for name in \("auto", "kendall", "spearman")', r'\1, "toy"')],
}  # fmt: skip

ASKED = """
import json, sys
import numpy as np
import dpcausal as dc
from dpcausal.citests.base import Question
from dpcausal.citests.registry import TESTS, choose, described_tests

def refusal(**call):
    try:
        dc.ci_test(data, **call)
    except dc.InputError as error:
        return str(error)

data = dc.networks.load("cancer").sample(5000, seed=1)
columns = list(data.schema)
three = dc.Schema(a=dc.Categorical(["p", "q", "r"]), b=dc.Categorical(["p", "q", "r"]), z=dc.Numeric(0, 1))
ordered = dc.Schema(a=dc.Numeric(0, 1), b=dc.Numeric(0, 1), z=dc.Numeric(0, 1), w=dc.Numeric(0, 1))
levels = dc.read({"a": list("pqr"), "b": list("qrp"), "z": [0.1, 0.2, 0.3]}, three)
questions = [Question.of(three, "a", "b"), Question.of(ordered, "a", "b"), Question.of(ordered, "a", "b", ["z", "w"])]
graph = dc.discover(data, method="tests", test="toy", epsilon=20.0)
answer = {
    "described": described_tests().get("toy"),
    "auto": [choose(question, epsilon)[0] for question in questions for epsilon in (None, 1.0)],
    "unknown": refusal(x=columns[0], y=columns[1], method="toi", epsilon=1.0),
    "option": refusal(x=columns[0], y=columns[1], method="toy", epsilon=1.0, weigth=2.0),
    "searched": graph.privacy.private and len(graph.privacy.events),
    "trend": dc.ci_test(data, "Smoker", "Cancer", method="toy", epsilon=50.0).trend,
}
data = levels
answer["instead"] = refusal(x="a", y="b", method="kendall", epsilon=1.0)
json.dump(answer, sys.stdout)
"""


def place(name: str) -> Path:
    """Return where a file of a recipe is, below the repository, for the toy."""
    room = Path("src/dpcausal") if name.startswith(("stats/", "citests/")) else Path()
    return room / name.replace("NAME", "toy")


def contents(folder: Path) -> dict[Path, bytes]:
    """Return every file that a person writes, by its place."""
    files = (path for name in COPIED for path in (folder / name, *(folder / name).rglob("*")))
    return {
        path.relative_to(folder): path.read_bytes()
        for path in files
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with the toy in it."""
    folder = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)  # with compiled kernels, which take long to make
        else:
            shutil.copy2(ROOT / name, folder / name)
    for name, text in MADE.items():
        assert not (folder / place(name)).exists()
        (folder / place(name)).write_text(text)
    for name, edits in CHANGED.items():
        text = (folder / place(name)).read_text()
        for there, instead in edits:
            text, count = re.subn(there, instead, text, count=1)
            assert count == 1, (name, there)
        (folder / place(name)).write_text(text)
    run(folder, "tools/proofs.py", "sign", "toy_sensitivity")
    return folder


def run(folder: Path, *words: str) -> str:
    """Run Python on the copy and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_recipe_names_the_files_that_were_made_and_changed(copy: Path) -> None:
    before, after = contents(ROOT), contents(copy)
    touched = {path for path in after if before.get(path) != after[path]}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipes = [
        text.split(f"\n## How to add a {what}\n")[1].split("\n## ")[0] for what in ("statistic", "test")
    ]
    named = {
        place(name) for recipe in recipes for name in re.findall(r"^\d+\. `([^`]+)`:", recipe, re.MULTILINE)
    }
    assert touched == named
    source = [path for path in touched if path.suffix == ".py" and path.parts[0] == "src"]
    assert len(source) <= MAX_SOURCE_FILES


def test_registry_search_and_errors_see_it_and_auto_does_not(copy: Path) -> None:
    found: dict[str, Any] = json.loads(run(copy, "-c", ASKED))
    assert found["described"] == "the covariance of the positions of levels"
    assert found["auto"] == ["g", "measured", "kendall", "kendall", "gcm", "gcm"]
    assert 'did you mean "toy"' in found["unknown"]
    assert found["unknown"].endswith(", toy")
    assert "toy has no option 'weigth' (did you mean \"weight\"?); it has weight" in found["option"]
    assert found["instead"].endswith("or use chi2, g, measured or toy")
    assert found["searched"] > 0
    assert found["trend"].startswith("Cancer = False is associated with Smoker = False")


def test_the_command_line_sees_it(copy: Path) -> None:
    page = " ".join(run(copy, "-m", "dpcausal", "test", "--help").split())
    assert "toy: the covariance of the positions of levels" in page
    assert "chi2, g, measured, test-of-tests and toy do." in page


def test_its_proof_is_signed(copy: Path) -> None:
    program = "from pathlib import Path; import proofs; print([x for x in proofs.check() if 'toy' in x])"
    assert run(copy, "-c", f"import sys; sys.path.insert(0, 'tools'); {program}").strip() == "[]"


CHECKS = (
    "src/dpcausal/stats/toy.py",
    "tests/unit/stats/test_toy.py",
    "tests/property/stats/test_toy.py",
    "tests/unit/citests/test_ci_test.py::test_private_answer_costs_what_was_asked[toy-replace-one]",
    "tests/unit/citests/test_ci_test.py::test_private_answer_costs_what_was_asked[toy-add-remove]",
    "tests/unit/citests/test_ci_test.py::test_classical_answer_says_it_is_not_private[toy]",
    "tests/unit/test_public_api.py::test_the_names_of_methods_are_the_real_ones",
    "tests/unit/test_public_api.py::test_the_tests_of_ci_test_are_told_with_their_options",
    "tests/unit/test_public_api.py::test_the_index_of_methods_lists_every_method_and_test",
    "tests/unit/tools/test_docs.py::test_every_method_has_a_page_with_its_guarantee",
    "tests/unit/tools/test_docs.py::test_every_proof_and_room_has_a_page",
    "tests/unit/test_architecture.py::test_no_file_imports_itself_through_others",
    "tests/net/test_non_interference.py::test_every_test_and_driver_has_a_case",
    "tests/net/test_non_interference.py::test_every_option_of_a_test_has_a_case[toy]",
    "tests/net/test_non_interference.py::test_every_inner_test_has_a_case",
    "tests/net/test_wiring.py::test_the_search_covers_every_name",
)


@pytest.mark.slow
def test_the_checks_of_every_test_pass_with_it(copy: Path) -> None:
    said = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *CHECKS)
    assert "failed" not in said
