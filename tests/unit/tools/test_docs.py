"""The documentation's own tools: dead links are found, and every formula of a proof reaches its page."""

from __future__ import annotations

import importlib.util
import inspect
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
EXTENSIONS = ["tables", "admonition", "attr_list", "footnotes", "md_in_html", "pymdownx.superfences"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The pages that are made from the source."""
    made: dict[str, str] = HOOKS.generated()
    return made


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


def test_the_reference_shows_what_the_class_of_an_estimator_has_when_it_is_made() -> None:
    griffe = pytest.importorskip("griffe")
    import dpcausal as dc

    found = griffe.Class("PrivPC")
    tool("docs_docstrings").describe_estimator(found, dc.PrivPC)
    assert found.docstring.value == inspect.getdoc(dc.PrivPC)
    assert [one.name for one in found.parameters] == ["self", *inspect.signature(dc.PrivPC).parameters]
    assert (found.parameters["epsilon"].required, found.parameters["hits"].default) == (True, "None")


def shown(text: str) -> str:
    markdown = pytest.importorskip("markdown")
    html: str = markdown.markdown(text, extensions=[HOOKS.Formulas(), *EXTENSIONS])
    return html


def test_formulas_become_mathml_in_a_line_and_displayed() -> None:
    html = shown("So $x_1 * y_2 < *z*$ holds, and\n$$\\frac{a}{b}\n= \\sum_{i=1}^n c_i$$")
    assert html.count("<math ") == 2
    assert "<msub><mi>x</mi><mn>1</mn></msub>" in html
    assert "<em>" not in html
    assert html.count('display="block"') == 1
    assert "<mfrac>" in html


@pytest.mark.parametrize(
    "text", ["`$x$`", "costs $5 and $6", "    $ dpcausal $x$", "```\n$x$\n```", r"\$x\$"]
)
def test_code_and_prices_are_no_formulas(text: str) -> None:
    assert "<math" not in shown(text)


def test_functions_and_bars_are_set_as_tex_does() -> None:
    assert '<mi>ln</mi><mspace width="0.167em" /><mi>x</mi>' in HOOKS.mathml(r"\ln x")
    assert "<msub><mi>log</mi><mn>2</mn></msub>" in HOOKS.mathml(r"\log_2 x")
    assert HOOKS.mathml("|k|/b").count('lspace="0"') == 3
    assert 'stretchy="true"' in HOOKS.mathml(r"\left| x \right|")
    assert "<mtext>per_step</mtext>" in HOOKS.mathml(r"\text{per\_step}")


@pytest.mark.parametrize("formula", [r"\unknown{x}", r"\begin{gathered} a & b \end{gathered}"])
def test_what_is_not_understood_stops_the_build(formula: str) -> None:
    with pytest.raises(ValueError, match="not understood"):
        HOOKS.mathml(formula)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.name)
def test_every_formula_of_a_proof_is_set(proof: Path) -> None:
    """No dollar is left over, on the page or by miscounting."""
    html = shown(HOOKS.proof_page(proof))
    text = re.sub(r"<code>.*?</code>|<math .*?</math>", "", html, flags=re.DOTALL)
    assert "$" not in text
    source = re.sub(r"`[^`]*`", "", proof.read_text())
    assert html.count("<math ") == (source.count("$") - 2 * source.count("$$")) / 2 + source.count("$$") / 2


def test_the_name_of_another_proof_is_a_link_to_it() -> None:
    near = HOOKS.SOURCE / "discovery" / "moments.proof.md"
    assert HOOKS.proof_named("moments", near) == near
    assert HOOKS.proof_named("stats/moments", near) == HOOKS.SOURCE / "stats" / "moments.proof.md"
    assert HOOKS.proof_named("gone", near) is None


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.name)
def test_no_proof_names_one_that_is_not_there(proof: Path) -> None:
    named = [match["name"] for match in HOOKS.NAMED.finditer(proof.read_text())]
    assert [name for name in named if HOOKS.proof_named(name, proof) is None] == []


def test_every_error_warning_and_remark_says_what_to_do() -> None:
    assert tool("docs_errors").lacking() == []


def test_a_class_of_errors_without_advice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = tool("docs_errors")
    monkeypatch.delitem(errors.TO_DO, "BudgetError")
    monkeypatch.delitem(errors.REMARKS["Note"], "conflicts")
    assert errors.lacking() == ["class BudgetError", "Note conflicts"]


def test_the_catalogue_has_the_messages_of_every_room(pages: dict[str, str]) -> None:
    """Each in the words of the code, with an example of every remark that asks for something."""
    page = pages["errors.md"]
    assert page.count("\n- `") > 500
    for title, _ in tool("docs_errors").ROOMS.values():
        assert title in ("Models for crt", "Testing") or f"### {title}\n" in page
    assert "| |" not in page
    assert "|  |" not in page


def test_rooms_are_described() -> None:
    assert set(HOOKS.rooms()) <= HOOKS.ROOMS.keys()


def test_every_proof_and_room_has_a_page(pages: dict[str, str]) -> None:
    assert {HOOKS.proof_address(proof) for proof in PROOFS} <= pages.keys()
    assert {"reference/stats.md", "reference/command_line.md", "proofs/index.md"} <= pages.keys()
    assert "dpcausal discover" in pages["reference/command_line.md"]


def test_every_method_has_a_page_with_its_guarantee() -> None:
    from dpcausal.citests.registry import TESTS
    from dpcausal.discovery.discover import METHODS

    pages = [page.read_text() for page in (ROOT / "docs" / "methods").glob("*.md")]
    wanted = [f'discover(method="{name}")' for name in METHODS]
    wanted += [f'ci_test(method="{name}")' for name in TESTS]
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
