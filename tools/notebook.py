"""The notebooks of the documentation: run them, check them, and show each as a page.

    python tools/notebook.py run [NAME]      run docs/notebook.ipynb and docs/notebooks/*, keep what their cells show
    python tools/notebook.py check [NAME]    run and compare: does every cell show what the kept one does?

Noise differs from run to run, so a check compares what kinds of output a cell has (text, HTML, a picture) and, of its
text, the lines on privacy and the ledger with numbers blotted out. `make docs` shows the kept outputs (``page``), and a
test runs the check.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOK = DOCS / "notebook.ipynb"
NOTEBOOKS = (NOTEBOOK, *sorted((DOCS / "notebooks").glob("*.ipynb")))
SECONDS = 300  # a cell may take, on a busy machine
NUMBER = re.compile(r"[-+]?\b\d[\d.,]*(?:e[-+]?\d+)?\b|\b[0-9a-f]{8,64}\b")
FIXED = r"Privacy: epsilon|Ledger: |spent: |left: |\d+ of \d+ true|exact |\d+ exact |after \d+ answers"
ORDER = (
    "text/html",
    "image/svg+xml",
    "image/png",
    "text/plain",
)  # what is shown of an output, the first there is


def executed(notebook: Path = NOTEBOOK) -> Any:
    """Return the notebook after a run of all its cells in a folder of its own."""
    from nbclient import NotebookClient

    found = kept(notebook)
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        NotebookClient(found, timeout=SECONDS, kernel_name="python3", resources=where).execute()
    return joined(found)


def kept(notebook: Path = NOTEBOOK) -> Any:
    """Return the notebook as it is kept."""
    import nbformat

    read: Any = nbformat.read  # has no types
    return joined(read(notebook, as_version=4))


def joined(notebook: Any) -> Any:
    """Join what a cell printed in several pieces: how many there are depends on the machine."""
    for cell in notebook.cells:
        outputs: list[Any] = []
        for output in cell.get("outputs", []):
            if outputs and output.get("name") and outputs[-1].get("name") == output["name"]:
                outputs[-1]["text"] += output["text"]
            else:
                outputs.append(output)
        if "outputs" in cell:
            cell["outputs"] = outputs
    return notebook


def kinds(cell: Any) -> list[str]:
    """Return what a cell shows, output by output: the kind that a reader sees, or where it was printed."""
    return [output.get("name") or shown_kind(output) for output in cell.get("outputs", [])]


def shown_kind(output: Any) -> str:
    """Return the kind of a result or picture that is shown."""
    return next((kind for kind in ORDER if kind in output.get("data", {})), output["output_type"])


def blotted(text: str) -> list[str]:
    """Return the lines that noise can't change, numbers blotted out: what was promised and what the ledger holds.

    >>> blotted("2 edges\\n a -> b\\nPrivacy: epsilon 0.5, delta 0.")
    ['Privacy: epsilon #, delta #.']
    """
    return [NUMBER.sub("#", line) for line in text.splitlines() if re.match(FIXED, line)]


def faults(before: Any, after: Any) -> list[str]:
    """Return one line for each cell that shows something else than it did."""
    found = []
    pairs = zip(before.cells, after.cells, strict=True)
    for number, (old, new) in enumerate(pairs, start=1):
        if kinds(old) != kinds(new):
            found.append(f"cell {number}: shows {kinds(new)}, and {kinds(old)} is kept")
            continue
        for one, other in zip(old.get("outputs", []), new.get("outputs", []), strict=True):
            if one.get("text") and blotted(one["text"]) != blotted(other["text"]):
                found.append(
                    f"cell {number}: prints {blotted(other['text'])}, and {blotted(one['text'])} is kept"
                )
    return found + ["run tools/notebook.py run, and look at it"] * bool(found)


def pages() -> dict[str, str]:
    """Return address -> text of the page of every notebook."""
    return {one.relative_to(DOCS).with_suffix(".md").as_posix(): page(one) for one in NOTEBOOKS}


def page(notebook: Path = NOTEBOOK) -> str:
    """Return the kept notebook as Markdown for mkdocs."""
    parts = []
    for cell in kept(notebook).cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        parts += [shown(output) for output in cell.outputs]
    return "\n\n".join(parts) + "\n"


def shown(output: Any) -> str:
    """Return one output as Markdown."""
    if "text" in output:
        return f"```text\n{output['text'].rstrip()}\n```"
    kind = shown_kind(output)
    data = output.get("data", {}).get(kind, "")
    if kind in ("text/html", "image/svg+xml"):
        whole = re.sub(r"\n\s*", " ", "".join(data))  # one line: Markdown leaves it as it is
        return f'<div class="output">{whole}</div>'
    if kind == "image/png":
        picture = f"data:image/png;base64,{data.strip()}"
        return f'<p class="output"><img alt="What the cell above draws" src="{picture}"></p>'
    return f"```text\n{data}\n```"


def written(notebook: Any) -> str:
    """Return the text of the file: outputs without what differs for no reason."""
    import nbformat

    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id, cell.metadata = f"cell-{number}", {}
    writes: Any = nbformat.writes  # has no types
    return f"{writes(notebook)}\n"


def main(arguments: list[str]) -> int:
    """Run or check; return the exit code."""
    command, names = arguments[:1], arguments[1:]
    asked = [one for one in NOTEBOOKS if not names or one.stem in names]
    if command not in (["run"], ["check"]) or not asked:
        print(__doc__)
        return 2
    faulty = False
    for notebook in asked:
        if command == ["run"]:
            notebook.write_text(written(executed(notebook)), encoding="utf-8")
            continue
        found = faults(kept(notebook), executed(notebook))
        print(*found or [f"{notebook.name} shows what it did"], sep="\n")
        faulty = faulty or bool(found)
    return int(faulty)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
