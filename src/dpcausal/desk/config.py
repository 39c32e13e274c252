"""``desk.toml``: where the ledger is, which data sets there are, who may ask, and what needs approval.

Nothing secret is in it: an address of a ledger or a source may be ``env:NAME``, and is then read from the environment,
or ``file:PATH``, and is then what that file holds.
Paths are relative to the file. ``docs/guides/desk.md`` explains every entry.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.schema import Schema
from dpcausal.gwas.cohort import check_missing_rule

ROLES = ("custodian", "analyst", "auditor")
TABLE_COMMANDS, STUDY_COMMANDS = ("discover", "ci_test", "effect"), ("gwas",)


@dataclass(frozen=True, kw_only=True)
class DatasetSettings:
    """One data set as the custodian registers it. Budgets hold for ever: nothing refreshes."""

    name: str
    source: str  # a file, the address of an engine, or PREFIX of a study
    epsilon: float  # total of all releases, ever
    schema: str = ""  # a schema file
    rows: int = 0  # public; under add-remove a guess
    snps: int = 0  # of a case/control study, in place of schema and rows: public
    cases: int = 0
    controls: int = 0
    missing: str = "het"  # how a call that is missing is counted: het, reference or allele1
    allele_order: str = "study"  # "public" if the order of alleles was fixed without looking at the study
    delta: float = 0.0
    neighbours: str = "replace-one"
    table: str = ""  # of an engine
    unit: str = ""  # column that names a person, where a person may have several rows
    cap_epsilon: float | None = None  # of one question
    cap_delta: float | None = None
    share_epsilon: float | None = None  # of one analyst; None: the total
    share_delta: float | None = None
    project_epsilon: float | None = None  # of one project; None: the total
    project_delta: float | None = None
    commands: tuple[str, ...] = ()  # allowed; none named: all
    methods: tuple[str, ...] = ()  # allowed; none named: all
    approvals: int = 1  # persons who must approve; 0: the rule alone
    approve_up_to: float = 0.0  # epsilon of a question that the rule approves by itself
    analysts: tuple[str, ...] = ()  # who may ask; none named: every analyst
    until: date | None = None  # the last day on which questions are taken
    about: str = ""  # a line for analysts

    @property
    def is_study(self) -> bool:
        """Whether it holds genotypes of cases and controls, and no table."""
        return self.snps > 0

    @property
    def allowed(self) -> tuple[str, ...]:
        """What may be asked."""
        return self.commands or (STUDY_COMMANDS if self.is_study else TABLE_COMMANDS)

    def open_to(self, analyst: str) -> bool:
        """Return whether an analyst may ask of this data set."""
        return not self.analysts or analyst in self.analysts

    def is_over(self, today: date) -> bool:
        """Return whether the last day is past."""
        return self.until is not None and today > self.until

    def by_rule(self, epsilon: float) -> bool:
        """Return whether no person needs to approve a question of this cost."""
        return self.approvals == 0 or epsilon <= self.approve_up_to

    def read_schema(self) -> Schema:
        """Return the declared columns; refuse a draft, since analysts are shown them."""
        found = Schema.from_toml(self.schema)
        if found.is_draft:
            raise InputError(
                f"[datasets.{self.name}]: {Path(self.schema).name} is a draft, read from rows, and analysts are shown "
                "it: check every line of it, then delete its line draft = true"
            )
        return found


@dataclass(frozen=True, kw_only=True)
class Oidc:
    """Whose tokens are accepted: ``claim`` of a token that ``keys`` (a JWKS file) verify names the person."""

    issuer: str
    audience: str
    keys: str
    claim: str = "sub"


@dataclass(frozen=True, kw_only=True)
class DeskConfig:
    """All settings of a desk."""

    ledger: str
    folder: Path  # what must not be restored together with the database: the last head that was seen
    datasets: Mapping[str, DatasetSettings]
    persons: Mapping[str, str] = field(default_factory=dict)  # name -> role
    address: str = ""  # as a browser sees it; empty: where the server listens
    host: str = "127.0.0.1"
    port: int = 8000
    tick: float = 60.0  # seconds: results appear at multiples of it after the charge
    job_seconds: float = 3600.0
    job_memory: float = 8.0  # GiB
    requests_per_minute: int = 240  # of one person
    oidc: Oidc | None = None

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the desk through HTTPS."""
        return self.address.startswith("https://")


def read_config(path: Path) -> DeskConfig:
    """Return the settings in a file; raise ``InputError`` that names the entry that can't be used."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path.name}: no such file") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path.name}: can't be read") from None
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.name}: {error}") from None
    return parse_config(plain, path.absolute().parent, path.name)


def parse_config(plain: Mapping[str, Any], folder: Path, label: str = "desk.toml") -> DeskConfig:
    """Return the settings that a TOML document holds; paths are relative to ``folder``."""
    given = dict(plain)
    sets = given.pop("datasets", {})
    persons = {str(one.get("name", "")): str(one.get("role", "")) for one in given.pop("persons", [])}
    oidc = given.pop("oidc", None)
    for name, role in persons.items():
        if not name or role not in ROLES:
            raise InputError(f"{label}: a person needs a name and a role of {', '.join(ROLES)}")
    if not isinstance(sets, dict) or not sets:
        raise InputError(f"{label}: name at least one [datasets.NAME]")
    found = {
        name: _made(DatasetSettings, {**one, "name": name}, f"{label}: [datasets.{name}]")
        for name, one in sets.items()
    }
    settings: DeskConfig = _made(
        DeskConfig,
        {
            **given,
            "datasets": {
                name: _placed(one, folder, f"{label}: [datasets.{name}]") for name, one in found.items()
            },
            "persons": persons,
            "folder": folder / str(given.get("folder", "desk")),
            "ledger": _ledger(str(given.get("ledger", "")), folder, label),
            "oidc": None if oidc is None else _made(Oidc, oidc, f"{label}: [oidc]"),
        },
        label,
    )
    return settings


def _placed(one: DatasetSettings, folder: Path, label: str) -> DatasetSettings:
    """Return the settings of a data set with its places looked up, after a check of what they say."""
    known = STUDY_COMMANDS if one.is_study else TABLE_COMMANDS
    if set(one.commands) - set(known):
        raise InputError(f"{label}: commands are {', '.join(known)}")
    if one.approvals < 0:
        raise InputError(f"{label}: approvals must be 0 or more")
    for part in ("cap", "share", "project"):
        for unit in ("epsilon", "delta"):
            limit, total = getattr(one, f"{part}_{unit}"), getattr(one, unit)
            if limit is not None and limit > total:
                raise InputError(f"{label}: {part}_{unit} {limit:g} is above the total, {total:g}")
    if one.is_study:
        _check_study(one, label)
    else:
        Neighbours.parse(one.neighbours, labels=True)
        if not one.schema or one.rows < 1:
            raise InputError(
                f"{label}: schema is missing, or rows is below 1 (of a study: snps, cases, controls)"
            )
    source = kept_elsewhere(one.source, folder, label)
    placed = {
        "source": source if "://" in source else str(folder / source),
        "schema": str(folder / one.schema) if one.schema else "",
        "neighbours": Neighbours.FIXED_LABELS.value if one.is_study else one.neighbours,
    }
    return DatasetSettings(**{**vars(one), **placed})


def _check_study(one: DatasetSettings, label: str) -> None:
    """Refuse what a study can't have, and one whose public numbers are missing."""
    of_tables = [name for name in ("schema", "rows", "table", "unit") if getattr(one, name)]
    if of_tables:
        raise InputError(f"{label}: {of_tables[0]} is for tables, and snps says that this is a study")
    if one.cases < 1 or one.controls < 1:
        raise InputError(f"{label}: cases and controls must be 1 or more")
    check_missing_rule(one.missing, one.allele_order)


def _ledger(url: str, folder: Path, label: str) -> str:
    url = kept_elsewhere(url, folder, label)
    if not url:
        raise InputError(f"{label}: ledger is missing, such as sqlite:///desk.db")
    return f"sqlite:///{folder / url.removeprefix('sqlite:///')}" if url.startswith("sqlite:///") else url


def kept_elsewhere(text: str, folder: Path, label: str) -> str:
    """Return a text; for ``env:NAME`` what the environment holds, for ``file:PATH`` what a file of secrets holds."""
    if text.startswith("file:") and "://" not in text:
        secret = folder / text.removeprefix("file:")
        try:
            return secret.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise InputError(f"{label}: {secret.name}: can't be read") from None
    if not text.startswith("env:"):
        return text
    name = text.removeprefix("env:")
    if name not in os.environ:
        raise InputError(f"{label}: the environment has no {name}")
    return os.environ[name]


def _made(kind: type, given: Mapping[str, Any], label: str) -> Any:
    """Return a dataclass from the entries of a table; raise ``InputError`` for one that is missing or unknown."""
    known = {one.name: one for one in fields(kind)}
    for name in given:
        if name not in known:
            raise InputError(f"{label}: no entry is called {name!r}{did_you_mean(name, list(known))}")
    for name, one in known.items():
        if name not in given and one.default is MISSING and one.default_factory is MISSING:
            raise InputError(f"{label}: {name} is missing")
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    for name, value in values.items():
        expected = _KINDS.get(str(known[name].type).removesuffix(" | None"))
        if expected and value is not None and (not isinstance(value, expected) or (isinstance(value, bool))):
            raise InputError(f"{label}: {name} must be {_WORDS[expected]}, not {value!r}")
    return kind(**values)


_KINDS: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "date": date,
    "tuple[str, ...]": tuple,
}
_WORDS = {
    str: "a text",
    int: "a whole number",
    (int, float): "a number",
    date: "a date",
    tuple: "a list of texts",
}
