"""An identifier made of what a file says, so that a damaged or edited file is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def content_id(content: Mapping[str, Any]) -> str:
    """Return the first 16 digits of the SHA-256 of plain data, which survive writing it as JSON and reading it.

    >>> content_id({"a": 1, "b": [2.5]}) == content_id({"b": [2.5], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(dict(content), sort_keys=True).encode()).hexdigest()[:16]
