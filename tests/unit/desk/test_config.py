"""``desk.toml``: what can't be used is named in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcausal.core.errors import InputError
from dpcausal.desk.config import parse_config, read_config

from .conftest import settings

DATA = {"source": "p.csv", "schema": "s.toml", "rows": 10, "epsilon": 1.0}
RIGHT = {"ledger": "sqlite:///desk.db", "datasets": {"cohort": DATA}}


@pytest.mark.parametrize(
    "change",
    [
        {"ledger": ""},
        {"ledger": "env:NOBODY_SET_THIS"},
        {"datasets": {}},
        {"datasets": {"cohort": {**DATA, "epsilon": "one"}}},
        {"datasets": {"cohort": {**DATA, "rows": 0}}},
        {"datasets": {"cohort": {**DATA, "rows": True}}},
        {"datasets": {"cohort": {**DATA, "neighbours": "friends"}}},
        {"datasets": {"cohort": {**DATA, "commands": ["drop"]}}},
        {"datasets": {"cohort": {**DATA, "epsilom": 1.0}}},
        {"datasets": {"cohort": {"source": "p.csv"}}},
        {"persons": [{"name": "anna", "role": "king"}]},
        {"persons": [{"role": "analyst"}]},
        {"ticks": 5},
        {"oidc": {"issuer": "i"}},
    ],
    ids=str,
)
def test_wrong_entries_are_refused(change, tmp_path):
    with pytest.raises(InputError):
        parse_config({**RIGHT, **change}, tmp_path)


def test_paths_are_relative_to_the_file_and_secrets_from_the_environment_or_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("DESK_LEDGER", "postgresql://u:secret@h/db")
    monkeypatch.setenv("DESK_SOURCE", "postgresql://u:secret@h/rows")
    engine = {**DATA, "source": "env:DESK_SOURCE", "table": "t"}
    found = parse_config({"ledger": "env:DESK_LEDGER", "datasets": {"a": DATA, "b": engine}}, tmp_path)
    assert found.ledger == "postgresql://u:secret@h/db"
    assert found.datasets["a"].source == str(tmp_path / "p.csv")
    assert found.datasets["b"].source == "postgresql://u:secret@h/rows"
    (tmp_path / "secret").write_text("postgresql://u:secret@h/db\n")
    kept = {"ledger": "file:secret", "datasets": {"a": {**DATA, "source": f"file:{tmp_path}/secret"}}}
    assert parse_config(kept, tmp_path).ledger == found.ledger
    assert parse_config(kept, tmp_path).datasets["a"].source == found.ledger
    with pytest.raises(InputError, match="nowhere: can't be read"):
        parse_config({**kept, "ledger": "file:nowhere"}, tmp_path)
    assert found.folder == tmp_path / "desk"


def test_the_guide_shows_settings_that_can_be_read(tmp_path, monkeypatch):
    page = (Path(__file__).parents[3] / "docs" / "guides" / "desk.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    oidc = page.split("```toml\n")[2].split("```")[0]
    monkeypatch.setenv("DESK_LEDGER", "sqlite:///desk.db")
    genes = page.split("```toml\n")[3].split("```")[0]
    (tmp_path / "desk.toml").write_text(text + oidc + genes)
    found = read_config(tmp_path / "desk.toml")
    assert found.datasets["cohort"].epsilon == 4.0
    assert found.oidc is not None
    assert found.datasets["genes"].allowed == ("gwas",)


@pytest.mark.parametrize("text", ["[", "\xff"])
def test_files_that_cannot_be_read(tmp_path, text):
    (tmp_path / "desk.toml").write_bytes(text.encode("latin-1"))
    for name in ("desk.toml", "none.toml"):
        with pytest.raises(InputError):
            read_config(tmp_path / name)


def test_a_draft_of_a_schema_is_refused(tmp_path):
    """Its levels and bounds were read from rows, and analysts are shown them."""
    config = settings(tmp_path)
    schema = tmp_path / "schema.toml"
    schema.write_text(f"draft = true\n{schema.read_text()}")
    with pytest.raises(InputError, match="draft"):
        config.datasets["cohort"].read_schema()


def test_a_file_that_is_not_there_is_said_to_be_none(tmp_path):
    with pytest.raises(InputError, match=r"dsk\.toml: no such file"):
        read_config(tmp_path / "dsk.toml")
