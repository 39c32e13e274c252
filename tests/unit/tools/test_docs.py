"""The documentation's own tools: dead links are found, and no formula of a proof is lost on its way to the page."""

from __future__ import annotations

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


CHECK, HOOKS = tool("docs"), tool("docs_hooks")
PROOFS = HOOKS.proof_files()


def faults(folder: Path, body: str) -> list[str]:
    (folder / "index.html").write_text(f"<html><body>{body}</body></html>")
    (folder / "other.html").write_text('<h1 id="here">x</h1>')
    found: list[str] = CHECK.faults(folder)
    return found


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="gone.html">x</a>', "index.html: no such page: gone.html"),
        ('<a href="other.html#gone">x</a>', "index.html: no such anchor: other.html#gone"),
        ('<a href="#gone">x</a>', "index.html: no such anchor: #gone"),
        ('<img src="gone.png">', "index.html: no such page: gone.png"),
        (
            '<script src="https://cdn.example/x.js"></script>',
            "index.html: loads https://cdn.example/x.js from elsewhere",
        ),
    ],
)
def test_faults_are_found(tmp_path: Path, body: str, said: str) -> None:
    assert faults(tmp_path, body) == [said]


def test_good_links_pass(tmp_path: Path) -> None:
    assert faults(tmp_path, '<a id="a" href="other.html#here">x</a><a href="#a">y</a>') == []


def test_a_public_name_without_an_entry_is_found(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "index.html").write_text(
        '<h2 id="dpcausal.data.read.read">x</h2><h2 id="plan">y</h2>'
    )
    assert CHECK.unnamed(tmp_path, ["read", "plan"]) == ["reference/index.html: no entry for dc.plan"]


def test_the_reference_is_asked_for_every_public_name() -> None:
    """``make docs`` checks the built page (``unnamed``); this one is quick and reads its source."""
    import dpcausal as dc
    from dpcausal.core import errors

    text = (ROOT / "docs" / "reference" / "index.md").read_text()
    asked = {line.split()[1].rpartition(".")[2] for line in text.splitlines() if line.startswith("::: ")}
    if "::: dpcausal.core.errors\n" in text:  # a module: all of its classes
        asked |= {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert set(dc.__all__) - asked == set()


def test_plain_markdown_would_lose_some() -> None:
    """``test_docs_maths.py`` checks all proofs."""
    markdown = pytest.importorskip("markdown")
    formula = "at least (5)_+ y and (3)_+ y"
    assert "_" not in markdown.markdown(formula)
    assert "(5)<sub>+</sub> <i>y</i> and (3)<sub>+</sub>" in markdown.markdown(HOOKS.literal(formula))


def test_every_proof_and_room_has_a_page() -> None:
    pages = HOOKS.generated()
    assert {HOOKS.proof_address(proof) for proof in PROOFS} <= pages.keys()
    assert {"reference/stats.md", "reference/command_line.md", "proofs/index.md"} <= pages.keys()
    assert "dpcausal discover" in pages["reference/command_line.md"]


def test_every_method_has_a_page_with_its_guarantee() -> None:
    from dpcausal.citests.registry import MAKERS
    from dpcausal.discovery.discover import DRIVERS

    pages = [page.read_text() for page in (ROOT / "docs" / "methods").glob("*.md")]
    wanted = [f'discover(method="{name}")' for name in DRIVERS]
    wanted += [f'ci_test(method="{name}")' for name in MAKERS]
    about = {words: [text for text in pages if words in text.split("\n")[0]] for words in wanted}
    assert {words: len(found) for words, found in about.items() if len(found) != 1} == {}
    assert [words for words, (text,) in about.items() if "**Guarantee.**" not in text] == []


def test_the_build_is_strict_and_not_silenced() -> None:
    """``mkdocs build --quiet`` also hides warnings from ``--strict``, which then lets everything pass."""
    recipe = re.search(r"^docs:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert recipe
    assert "--strict" in recipe[1]
    assert "quiet" not in recipe[1]
    assert "-q" not in recipe[1].split()
