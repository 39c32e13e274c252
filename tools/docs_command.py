"""The reference page of the ``dpcausal`` command, from the command's own help."""

from __future__ import annotations

import re
from typing import Any

INTRO = """# Command line

Made from the command's own help. Exit codes: 0 done; 2 bad input or usage, one line on standard error; 3 the budget
does not allow it; 130 interrupted. `--json` prints one JSON object on standard output and nothing else there.

"""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _shown(parameter: Any) -> tuple[str, str]:
    """Name and help of an option or argument."""
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    if parameter.param_type_name == "argument":
        names = f"`{parameter.name.upper()}`"
    about = getattr(parameter, "help", None) or ""
    default = parameter.default
    if parameter.required:
        about += " Required."
    elif isinstance(default, str | int | float) and not isinstance(default, bool) and default != "":
        about += f" Default: `{default}`."
    return names, about


def _help(text: str) -> list[str]:
    """Help as Markdown: terminal markup gone, what follows "Examples" shown as code.

    >>> _help("Do it.\\n\\n[bold]Examples[/bold]\\n\\n# all of it\\ndpcausal it")
    ['Do it.', '', '```bash', '# all of it', 'dpcausal it', '```']
    """
    plain = re.sub(r"\[/?(?:bold|dim|italic|red|green|yellow|cyan)\]", "", text).strip()
    about, _, examples = plain.partition("\nExamples\n")
    lines = [line.rstrip() for line in about.rstrip().splitlines()]
    if examples:
        lines += ["", "```bash", *(line.rstrip() for line in examples.strip().splitlines()), "```"]
    return lines


def _command(name: str, command: Any) -> list[str]:
    lines = [f"## `{name}`", ""]
    lines += _help(command.help or "")
    rows = [_shown(p) for p in command.params if p.name != "help"]
    if rows:
        lines += ["", "| option | meaning |", "|---|---|"]
        lines += [f"| {names} | {_cell(about)} |" for names, about in rows]
    lines.append("")
    for inner, child in getattr(command, "commands", {}).items():
        lines += _command(f"{name} {inner}", child)
    return lines


def command_page() -> str:
    """The page."""
    import typer

    from dpcausal.cli.app import app

    root: Any = typer.main.get_command(app)
    lines = [INTRO]
    for name, command in root.commands.items():
        lines += _command(f"dpcausal {name}", command)
    return "\n".join(lines)


if __name__ == "__main__":
    print(command_page())
