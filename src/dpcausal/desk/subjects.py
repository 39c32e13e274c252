"""What a data set is to a desk: the columns of a table, or the SNPs of a case/control study.

Each says what may be asked of it, what of it is public, how a question is rehearsed without rows, what an answer is
expected to show, and how a worker opens the real rows.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.desk.config import STUDY_COMMANDS, TABLE_COMMANDS, DatasetSettings
from dpcausal.effects.levels import level_names
from dpcausal.gwas.cohort import Cohort, GenotypeCounts, Variant
from dpcausal.gwas.plan import ScreenPlan
from dpcausal.networks.dummy import dummy_values
from dpcausal.present.gwas import forecast_words

MOST_DUMMY_ROWS, WARM_ROWS = 1_000_000, 2000


@dataclass(frozen=True)
class Table:
    """Rows with declared columns."""

    schema: Schema
    rows: int

    commands: ClassVar[tuple[str, ...]] = TABLE_COMMANDS
    fixed: ClassVar[tuple[str, ...]] = ()

    @property
    def unit(self) -> str:
        """Whom the promise is about."""
        return "row" if self.schema.unit is None else "person"

    def facts(self) -> dict[str, Any]:
        """Return what is public of it, for the interface."""
        return {"schema": self.schema.to_toml(), "rows": self.rows, "unit": self.unit}

    def columns(self) -> list[tuple[str, str]]:
        """Return every column with its declared values, for a page."""
        return [
            (
                name,
                ", ".join(map(str, one.levels))
                if isinstance(one, Categorical)
                else f"{one.lower:g} to {one.upper:g}; bins: {', '.join(level_names(one))}",
            )
            for name, one in self.schema.items()
        ]

    @property
    def labels(self) -> Mapping[str, str]:
        """What the code book says of columns, by name."""
        return self.schema.labels

    def dummy_values(self, rows: int, seed: int) -> Mapping[str, Any]:
        """Return dummy rows, column by column."""
        return dummy_values(self.schema, rows, seed)

    @cached_property
    def dummy(self) -> Dataset:
        """Dummy rows, on which questions are rehearsed."""
        return dc.dummy(self.schema, min(self.rows, MOST_DUMMY_ROWS))

    def forecast(self, command: str, arguments: Mapping[str, Any]) -> str:
        """Return what the answer is expected to show, in words."""
        given = {name: value for name, value in arguments.items() if name != "anyway"}
        if command == "ci_test":
            return dc.forecast_ci_test(self.schema, rows=self.rows, **given).summary()
        if command == "effect":
            return dc.forecast_effect(self.schema, rows=self.rows, **given).summary()
        names = ("epsilon", "delta", "neighbours", "level", "max_order", "target")
        given = {name: given[name] for name in names if name in given}
        return dc.plan(self.schema, self.rows, **given).summary()

    def open(self, settings: DatasetSettings) -> Any:
        """Return the rows; raise ``InputError`` where their number is public and another than declared."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "://" in settings.source or settings.table:
                data: Any = dc.connect(settings.source, self.schema, settings.table or None)
            else:
                data = dc.read(settings.source, self.schema)
        if settings.neighbours == "replace-one" and data.n != settings.rows:
            raise InputError(
                f"data set {settings.name!r} is declared with {settings.rows} {self.unit}s and has another number: "
                f"mend rows, which counts {self.unit}s"
            )
        return data

    def small(self) -> Table:
        """Return the same with few rows, to warm up with."""
        return replace(self, rows=min(self.rows, WARM_ROWS))

    def examples(self, neighbours: str) -> Mapping[str, Mapping[str, Any]]:
        """Return a question of each kind, without its epsilon, to warm up with."""
        a, b = [*self.schema, *self.schema][:2]
        kinds = {"ci_test": {"x": a, "y": b}, "effect": {"treatment": a, "outcome": b}, "discover": {}}
        return {command: {**one, "anyway": True, "neighbours": neighbours} for command, one in kinds.items()}


@dataclass(frozen=True)
class Study:
    """Genotypes of cases and controls at many SNPs: PREFIX.bed, .bim and .fam."""

    snps: int
    cases: int
    controls: int
    missing: str
    allele_order: str

    commands: ClassVar[tuple[str, ...]] = STUDY_COMMANDS
    fixed: ClassVar[tuple[str, ...]] = ("unit",)  # a person: the promise is not the analyst's to weaken
    unit: ClassVar[str] = "person"

    def facts(self) -> dict[str, Any]:
        """Return what is public of it, for the interface."""
        return {"snps": self.snps, "cases": self.cases, "controls": self.controls, "unit": self.unit}

    def columns(self) -> list[tuple[str, str]]:
        """Return no columns: SNPs are asked about all together."""
        return []

    @property
    def labels(self) -> Mapping[str, str]:
        """Nothing: SNPs have no code book."""
        return {}

    def dummy_values(self, rows: int, seed: int) -> Mapping[str, Any]:
        """Refuse: a script that screens needs counts, and ``dc.gwas.Simulation`` makes them up."""
        raise InputError("a study has no dummy rows: dc.gwas.Simulation makes counts up")

    @cached_property
    def dummy(self) -> GenotypeCounts:
        """Counts that are all zero, on which questions are rehearsed."""
        nobody = Variant("0", "none", 0, "NA", "NA")
        return GenotypeCounts(
            np.zeros((self.snps, 4), np.int32),
            self.cases,
            self.controls,
            [nobody],
            np.zeros(self.snps, np.int64),
            self.missing,
            self.allele_order,
        )

    def forecast(self, command: str, arguments: Mapping[str, Any]) -> str:
        """Return what a screening is expected to find, in words."""
        given = {name: value for name, value in arguments.items() if name in ScreenPlan.__dataclass_fields__}
        return forecast_words(ScreenPlan(snps=self.snps, cases=self.cases, controls=self.controls, **given))

    def open(self, settings: DatasetSettings) -> GenotypeCounts:
        """Return the counts; raise ``InputError`` where the study has other public numbers than declared."""
        found = Cohort.open(settings.source).count(missing=self.missing, allele_order=self.allele_order)  # type: ignore[arg-type]
        if (len(found), found.cases, found.controls) != (self.snps, self.cases, self.controls):
            raise InputError(
                f"data set {settings.name!r} is declared with {self.snps} SNPs, {self.cases} cases and "
                f"{self.controls} controls, and has {len(found)}, {found.cases} and {found.controls}: mend them"
            )
        return found

    def small(self) -> Study:
        """Return itself: a rehearsal of zeros is quick."""
        return self

    def examples(self, neighbours: str) -> Mapping[str, Mapping[str, Any]]:
        """Return a question of each kind, without its epsilon, to warm up with."""
        return {"gwas": {}}


Subject = Table | Study


def subject_of(settings: DatasetSettings) -> Subject:
    """Return what a data set is, from its settings."""
    if settings.is_study:
        return Study(
            settings.snps, settings.cases, settings.controls, settings.missing, settings.allele_order
        )
    schema = settings.read_schema()
    return Table(schema.with_unit(settings.unit) if settings.unit else schema, settings.rows)


def digest(subject: Subject) -> str:
    """Return a short hash of all that is declared, by which a worker sees that it was told the same as the server."""
    declared = {one.name: getattr(subject, one.name) for one in fields(subject)}
    text = json.dumps(declared, default=Schema.to_toml, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
