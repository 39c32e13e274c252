"""A table in the place of a schema: known by the end of its name or by its first line, of which nothing is shown."""

from __future__ import annotations

import re

_DATA_NAME = re.compile(
    r"\.(csv|tsv|tab|parquet|pq|arrow|feather|ipc|arrows|xlsx?)(\.(gz|bz2|zst))?$", re.IGNORECASE
)
_FIELDS = re.compile(r"[^\[\]={}#,;\t]*([,;\t][^\[\]={}#,;\t]*)+")


def looks_like_data(source: str, text: str = "") -> bool:
    """Whether a file that is no TOML looks like a table: by the end of its name, or by a first line of fields.

    >>> looks_like_data("patients.csv.gz"), looks_like_data("s.toml", "smoke,age\\nyes,30"), looks_like_data("s.toml")
    (True, True, False)
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    return bool(_DATA_NAME.search(source) or _FIELDS.fullmatch(first))


def data_words(source: str) -> str:
    """The error for a table in the place of a schema; it shows nothing of what is in it."""
    return (
        f"{source} looks like a data file, not like a schema; a schema is a TOML file, drafted by: "
        f"dpcausal schema {source} > schema.toml"
    )
