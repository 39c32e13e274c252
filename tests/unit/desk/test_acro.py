"""The record of a release for houses where two people read every output."""

from __future__ import annotations

import hashlib
import json
import re

from dpcausal.desk.worker import record

from .conftest import ask

# what acro 1.0.2 writes (Records.finalise_json) and wants when it reads (load_records), with its own version
TOP = {"version", "tool", "results"}
ENTRY = {
    "uid", "status", "type", "properties", "files", "outcome", "command", "summary", "timestamp", "comments",
    "exception", "fair",
}  # fmt: skip


def test_a_record_waits_for_review_and_names_every_file(make_desk):
    asked = ask(make_desk(approvals=1), epsilon=0.3)
    files = {"privacy.json": b'{"epsilon": 0.3, "delta": 0.0}', "answer.json": b"{}"}
    written = record(files, asked)
    assert set(written) == {"results.json", "checksums/privacy.json.txt", "checksums/answer.json.txt"}
    for name, content in files.items():
        assert written[f"checksums/{name}.txt"].decode() == hashlib.sha256(content).hexdigest()
    whole = json.loads(written["results.json"])
    (one,) = whole["results"].values()
    assert (set(whole), set(one)) == (TOP, ENTRY)
    assert whole["version"] == "1.0.2"
    assert (one["status"], one["outcome"]) == ("review", {})
    assert [file["name"] for file in one["files"]] == list(files)
    assert one["properties"]["epsilon"] == 0.3
    assert "privacy.json states what that promises" in one["summary"]
    assert one["comments"] == ["data set cohort, asked by anna: to see"]


def test_a_record_tells_when_was_asked_and_not_when_it_was_answered(make_desk):
    """Else it would hold the run time, which the tick hides."""
    asked = ask(make_desk(approvals=1), now=1.5e9)
    text = record({"privacy.json": b'{"epsilon": 0.3, "delta": 0.0}'}, asked)["results.json"].decode()
    assert re.findall(r"\d{4}-\d\d-\d\d[T ][0-9:.+]+", text) == ["2017-07-14T02:40:00+00:00"]
