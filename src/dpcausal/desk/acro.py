"""A release as a record for output checking, in the form that ACRO writes and the SACRO viewer reads.

``results.json`` lists the files with ``status`` "review" and an empty ``outcome``: no rule for suppression applies,
since noise was added before. ``checksums`` holds the SHA-256 of each file. Where two people read every output, they
read these.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dpcausal._version import __version__

if TYPE_CHECKING:
    from dpcausal.desk.request import Request

VERSION, UID = "1.0.2", "output_0"  # of the form, which ACRO wants to be its own, and of the one output
TOOL = {"@type": "SoftwareApplication", "name": "dpcausal", "version": __version__}


def record(files: Mapping[str, bytes], request: Request) -> dict[str, bytes]:
    """Return the files of the record of a release by name."""
    statement = json.loads(files["privacy.json"])
    given = ", ".join(f"{name}={value!r}" for name, value in request.question.arguments.items())
    entry = {
        "uid": UID,
        "status": "review",
        "type": "custom",
        "properties": {
            "method": "differential privacy",
            "epsilon": statement["epsilon"],
            "delta": statement["delta"],
            "neighbours": request.neighbours,
        },
        "files": [{"name": name, "sdc": {}} for name in files],
        "outcome": {},
        "command": f"{request.command}({given})",
        "summary": (
            f"differentially private, epsilon {statement['epsilon']:g}, delta {statement['delta']:g}: privacy.json "
            "states what that promises; nothing is suppressed, noise was drawn before"
        ),
        "timestamp": datetime.fromtimestamp(request.asked, UTC).isoformat(),
        "comments": [f"data set {request.dataset}, asked by {request.person}: {request.purpose}"],
        "exception": "",
        "fair": {},
    }
    results = {"version": VERSION, "tool": TOOL, "results": {UID: entry}}
    sums = {
        f"checksums/{name}.txt": hashlib.sha256(content).hexdigest().encode()
        for name, content in files.items()
    }
    return {"results.json": json.dumps(results, indent=2, ensure_ascii=False).encode(), **sums}
