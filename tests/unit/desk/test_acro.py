"""The record of a release for houses where two people read every output."""

from __future__ import annotations

import hashlib
import json

from dpcausal.desk.acro import record

from .conftest import ask


def test_a_record_waits_for_review_and_names_every_file(make_desk):
    asked = ask(make_desk(approvals=1), epsilon=0.3)
    files = {"privacy.json": b'{"epsilon": 0.3, "delta": 0.0}', "answer.json": b"{}"}
    written = record(files, asked)
    assert set(written) == {"results.json", "checksums/privacy.json.txt", "checksums/answer.json.txt"}
    for name, content in files.items():
        assert written[f"checksums/{name}.txt"].decode() == hashlib.sha256(content).hexdigest()
    (one,) = json.loads(written["results.json"])["results"].values()
    assert (one["status"], one["outcome"]) == ("review", {})
    assert [file["name"] for file in one["files"]] == list(files)
    assert one["properties"]["epsilon"] == 0.3
    assert "privacy.json states what that promises" in one["summary"]
    assert one["comments"] == ["data set cohort, asked by anna: to see"]
