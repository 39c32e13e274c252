"""The catalogue of public calls that look at rows: every method, every option that chooses a mechanism, every relation.

``CASES`` is a plain list. A case names the kind of data it needs and holds a function that runs one public call:

    case.run(build(case.kind, raw(case.kind, "a", 600), folder), Terms(1.0, 0.0, "replace-one"))

``raw`` makes plain columns (or genotypes), which a test may change row by row; ``build`` makes of them what the call is
given. ``test_non_interference.py`` and ``test_wiring.py`` share it. The names of the package that are not public
stand in one block below: after a move of files only that block changes.
"""

from __future__ import annotations

import contextlib
import csv
import importlib.metadata
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pyarrow
from pyarrow import parquet

import dpcausal as dc

# --- names that may move -----------------------------------------------------------------------------------------
from dpcausal import adapters, estimators
from dpcausal.adapters import causal_learn, pgmpy
from dpcausal.citests.registry import TESTS, make_test
from dpcausal.citests.session import Session
from dpcausal.cli.app import app as command_line
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.stream import count_files, count_table
from dpcausal.discovery.discover import METHODS
from dpcausal.effects.question import ESTIMANDS
from dpcausal.effects.request import EffectMethod
from dpcausal.gwas.plan import Method as GwasMethod
from dpcausal.gwas.plan import ScreenPlan as GwasPlan
from dpcausal.gwas.screen import screen, single_test
from dpcausal.gwas.simulate import Simulation

# --- end of them -------------------------------------------------------------------------------------------------

__all__ = [
    "CASES",
    "ESTIMANDS",
    "KINDS",
    "METHODS",
    "TESTS",
    "Case",
    "EffectMethod",
    "GwasMethod",
    "GwasPlan",
    "Terms",
    "build",
    "command_line",
    "make_test",
    "raw",
]

BOTH = ("replace-one", "add-remove")
REPLACE = ("replace-one",)
FIXED = ("fixed-labels",)
PURE, APPROXIMATE = 0.0, 1e-6
TIME = dc.Survival("w", "c", 0.8, [0.2, 0.4])


@dataclass(frozen=True)
class Terms:
    """Under what a call is made."""

    epsilon: float
    delta: float
    neighbours: str


@dataclass(frozen=True)
class Case:
    """One public call.

    ``call`` and ``name`` say which (``ci_test`` and the name of a test, ``discover`` and that of a method ...), and
    ``options`` what chooses a variant of it, so that a test can tell which names and options have no case. ``deltas``
    are those at which it runs another mechanism. ``needs`` is a package that may be missing. ``refused``: it is an
    error, whatever the rows are. ``measures`` are words of charges that it must make: what the case is there for;
    "this|that" is one of them.
    """

    id: str
    call: str
    name: str
    kind: str
    run: Callable[[Any, Terms], Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    relations: tuple[str, ...] = BOTH
    epsilon: float = 2.0
    deltas: tuple[float, ...] = (PURE,)
    needs: str | None = None
    refused: bool = False
    measures: tuple[str, ...] = ()

    def terms(self) -> Iterator[Terms]:
        """Every relation with every delta."""
        for neighbours in self.relations:
            for delta in self.deltas:
                yield Terms(self.epsilon, delta, neighbours)


# --- data --------------------------------------------------------------------------------------------------------

LEVELS = dc.Schema(
    a=dc.Categorical(["0", "1"]),
    b=dc.Categorical(["x", "y", "z"], ordered=True),
    c=dc.Categorical(["p", "q", "r"]),
    d=dc.Categorical(["no", "yes"]),
    e=dc.Categorical(["low", "mid", "high"], ordered=True),
    one=dc.Categorical(["only"]),
)
NUMBERS = dc.Schema(
    x=dc.Numeric(-4.0, 4.0),
    y=dc.Numeric(-6.0, 6.0),
    z=dc.Numeric(-3.0, 3.0, bins=[-1.0, 1.0]),
    w=dc.Numeric(0.0, 1.0, scale="log", missing_level=True),
    a=dc.Categorical(["0", "1"]),
    c=dc.Categorical(["p", "q", "r"]),
)
MANY = dc.Schema(
    m=dc.Categorical([f"m{i}" for i in range(12)]),  # more levels than noise leaves room for: they are merged
    k=dc.Categorical([f"k{i}" for i in range(15)], ordered=True),
    g=dc.Categorical([f"g{i}" for i in range(20)]),  # and more cells than one table may have
    h=dc.Categorical([f"h{i}" for i in range(16)]),
    a=dc.Categorical(["0", "1"]),
    d=dc.Categorical(["no", "yes"]),
    f=dc.Categorical(["no", "yes"]),
)
# so many columns that a tree of pairs is chosen and measured alone
WIDE = dc.Schema({f"w{i:02}": dc.Categorical(["0", "1", "2"]) for i in range(12)})
CODES = ["I10", "E11*", "E11.9", "N18*", "I50", "J44", "F32*", "M54"]
# of persons: what they are, and which records they have
PERSONS = dc.Schema(
    sex=dc.Categorical(["f", "m"]),
    **{code: dc.Categorical(["no", "yes"]) for code in CODES if code != "E11*"},
)
ORDERED = dc.Schema({name: LEVELS[name] for name in "abde"})
ONLY_NUMBERS = dc.Schema({name: NUMBERS[name] for name in "xyza"})
SCALED = dc.Schema({name: NUMBERS[name] for name in "xywa"})
LABELS = dc.Schema(group=dc.Categorical(["control", "case"]), outcome=dc.Categorical(["no", "yes"]))

Raw = dict[
    str, Any
]  # columns by name; for genotypes "genotypes" (people x SNPs, 0..2 copies of allele 1) and "case"
MISSING = -1  # a genotype that was not called
SNPS = 40
PLANNED_ROWS = 500  # for which plans are made, whatever rows there are


def _levels(which: str, n: int, rng: np.random.Generator) -> Raw:
    draw = {name: rng.integers(0, column.size, n) for name, column in LEVELS.items()}
    if which == "a":  # a chain a -> d -> e, a -> b; c alone
        draw["d"] = np.where(rng.random(n) < 0.1, 1 - draw["a"], draw["a"])
        draw["e"] = np.minimum(draw["d"] + rng.integers(0, 2, n), 2)
        draw["b"] = np.minimum(draw["a"] + rng.integers(0, 2, n), 2)
    found = {name: [LEVELS[name].levels[i] for i in code] for name, code in draw.items()}
    if which == "constant":  # and cells that the schema does not know
        found = {
            "a": ["1"] * n,
            "b": ["?"] * n,
            "c": ["r"] * n,
            "d": ["yes"] * n,
            "e": [""] * n,
            "one": ["bad"] * n,
        }
    return found


def _many_levels(which: str, n: int, rng: np.random.Generator) -> Raw:
    draw = {name: rng.integers(0, column.size, n) for name, column in MANY.items()}
    if which == "a":  # some levels are common, others rare; no one or two columns tell all that others share
        hidden = rng.integers(0, 2, n)
        for name in "adf":
            draw[name] = np.where(rng.random(n) < 0.15, 1 - hidden, hidden)
        draw["m"] = np.minimum(rng.geometric(0.4, n) - 1 + 4 * hidden, 11)
        draw["k"] = np.minimum(rng.geometric(0.3, n) - 1 + 4 * hidden, 14)
    if which == "constant":
        draw = {name: np.full(n, column.size - 1) for name, column in MANY.items()}
    return {name: [MANY[name].levels[i] for i in code] for name, code in draw.items()}


def _many_columns(which: str, n: int, rng: np.random.Generator) -> Raw:
    draw = rng.integers(0, 3, (len(WIDE), n))
    if which == "a":  # a chain
        for j in range(1, len(WIDE)):
            draw[j] = np.where(rng.random(n) < 0.2, draw[j], draw[j - 1])
    if which == "constant":
        draw[:] = 2
    return {name: [str(i) for i in code] for name, code in zip(WIDE, draw, strict=True)}


def _numbers(which: str, n: int, rng: np.random.Generator) -> Raw:
    x, y, z = rng.normal(size=(3, n))
    w, a, c = rng.random(n), rng.integers(0, 2, n), rng.integers(0, 3, n)
    w[rng.random(n) < 0.1] = np.nan  # missing, which is a level of its own
    if which == "a":
        z = np.clip(z, -2.9, 2.9)
        x = z + 0.5 * x
        y = np.sin(2 * z) + x + 0.3 * y
        a = (x > 0).astype(int)
    found: Raw = {"x": x, "y": y, "z": z, "w": w, "a": [str(i) for i in a], "c": ["pqr"[i] for i in c]}
    if which == "constant":  # and cells that are no numbers, or beyond their bounds
        found = {
            "x": np.full(n, np.nan),
            "y": np.full(n, 1e300),
            "z": np.full(n, -np.inf),
            "w": np.full(n, 0.5),
        }
        found |= {"a": ["?"] * n, "c": ["r"] * n}
    return found


def _with_a_bad_cell(which: str, n: int, rng: np.random.Generator) -> Raw:
    """Numbers of x as text, one of which is none."""
    found = _numbers(which, n, rng)
    return {**found, "x": [f"{which} {n} rows", *(str(x) for x in found["x"][1:])]}


def _persons(which: str, n: int, rng: np.random.Generator) -> Raw:
    """Persons with few codes; the long table is made of them (``_long``)."""
    names = [name for name in PERSONS if name != "sex"]
    draw = rng.random((len(names), n)) < 0.15
    if which == "a":  # some come together
        draw[1] |= draw[0] & (rng.random(n) < 0.7)
        draw[3] |= draw[2] & (rng.random(n) < 0.7)
    if which == "constant":
        draw[:] = True
    sex = np.where(rng.random(n) < 0.5, "f", "m") if which != "constant" else np.full(n, "?")
    return {
        "sex": sex.tolist(),
        **{name: np.where(one, "yes", "no").tolist() for name, one in zip(names, draw, strict=True)},
    }


def _long(columns: Raw) -> tuple[Raw, Raw]:
    """Return records, some of them twice and ids in several spellings, and the table of persons."""
    persons = np.arange(len(columns["sex"]))
    who, what = [], []
    for name, cells in columns.items():
        have = [] if name == "sex" else persons[np.asarray(cells) == "yes"].tolist()
        for times, spelling in ((1, "{}"), (2, " {} "), (3, "{}.0")):
            some = [i for i in have if times == 1 or i % 3 == times - 1]
            who += [spelling.format(i) for i in some]
            what += [name.lower().replace("*", ".1") if times > 1 else name.replace("*", "")] * len(some)
    return {"pid": [*who, "", "nobody"], "icd10": [*what, "I10", "Z00"]}, {
        "pid": persons,
        "sex": columns["sex"],
    }


def _labels(which: str, n: int, rng: np.random.Generator) -> Raw:
    """Who is in which group is public here, so it is the same in all data sets."""
    group = np.arange(n) % 3 == 0
    outcome = rng.random(n) < 0.5
    if which == "a":
        outcome = group ^ (rng.random(n) < 0.2)
    elif which == "constant":
        outcome = np.ones(n, bool)
    named = {"group": ["case" if one else "control" for one in group]}
    return named | {"outcome": ["yes" if one else "no" for one in outcome]}


def _genotypes(which: str, n: int, rng: np.random.Generator) -> Raw:
    """Who takes part and who is a case is public."""
    case = np.arange(n) % 2 == 0
    rate = np.full((n, SNPS), 0.3)
    if which == "a":
        rate[case, 3::9] = 0.75
    found = rng.binomial(2, rate)
    return {"genotypes": np.full((n, SNPS), 2) if which == "constant" else found, "case": case}


# kind -> (maker of raw data, schema)
KINDS: dict[str, tuple[Callable[..., Raw], dc.Schema | None]] = {
    "levels": (_levels, LEVELS),  # a Dataset of levels
    "many levels": (_many_levels, MANY),
    "many columns": (_many_columns, WIDE),
    "numbers": (_numbers, NUMBERS),  # a Dataset of mostly numbers
    "ordered": (_levels, ORDERED),  # the same, all of them with an order
    "only numbers": (_numbers, ONLY_NUMBERS),
    "labels": (_labels, LABELS),  # a Dataset, the first column public
    "codes": (_persons, PERSONS),  # a long table, and the number of persons
    "codes and persons": (_persons, PERSONS),  # a long table, and a table of persons
    "code engine": (_persons, PERSONS),  # both of them tables on an engine
    "code csv": (_persons, PERSONS),  # a folder with long.csv, codes.txt and persons.csv
    "level counts": (_levels, LEVELS),  # a counting backend in memory
    "level duckdb": (_levels, LEVELS),  # a counting backend in DuckDB
    "level engine": (_levels, LEVELS),  # a table on an engine, through Ibis
    "number duckdb": (_numbers, NUMBERS),  # a file that passes by in batches
    "number engine": (_numbers, SCALED),  # the same on an engine, one column on a log scale
    "failing duckdb": (_with_a_bad_cell, NUMBERS),  # a view that casts text to numbers, and fails at a cell
    "failing engine": (_with_a_bad_cell, NUMBERS),
    "level columns": (_levels, LEVELS),  # plain columns, as an estimator takes them
    "number columns": (_numbers, NUMBERS),
    "persons": (_levels, LEVELS),  # a Dataset of persons with one to three rows
    "persons, rows averaged": (_levels, LEVELS),  # up to three rows of each
    "person engine": (_levels, LEVELS),
    "person csv": (_levels, LEVELS),
    "level csv": (_levels, LEVELS),  # a folder with data.csv and schema.toml
    "number csv": (_numbers, NUMBERS),
    "label csv": (_labels, LABELS),
    "genotypes": (_genotypes, None),  # GenotypeCounts
    "bed": (_genotypes, None),  # a folder with study.bed, study.bim and study.fam
}


def raw(kind: str, which: str, n: int, seed: int = 0) -> Raw:
    """Plain data of that kind: ``which`` is "a" (with dependences), "independent" or "constant"."""
    if which not in ("a", "independent", "constant"):
        raise ValueError(which)
    make, schema = KINDS[kind]
    found = make(which, n, np.random.default_rng([seed, n, len(which)]))
    return found if schema is None else {name: found[name] for name in schema}


# so many good rows come first that the bad cell is not among those that are read at once
FAILING_VIEW = """
CREATE TABLE cells_kept AS SELECT cells.* REPLACE ('0.5' AS x) FROM cells, range(100);
INSERT INTO cells_kept SELECT * FROM cells;
CREATE VIEW patients AS SELECT CAST(x AS DOUBLE) AS x, y, z, w, a, c FROM cells_kept
"""


def visits(columns: Raw) -> Raw:
    """Rows of persons: each row of ``columns`` becomes one to three, as its own cells say, the last one as it is.

    Earlier rows hold the cells of the same row in other columns' places, ids are spelled differently, and rows of
    different persons alternate.
    """
    names = list(columns)
    rows = list(zip(*columns.values(), strict=True))
    found: list[tuple[Any, ...]] = []
    for earlier in (2, 1, 0):
        for i, row in enumerate(rows):
            if earlier <= sum(map(len, map(str, row))) % 3:
                cells = row if earlier == 0 else row[earlier:] + row[:earlier]
                found.append((*cells, f"{' ' * earlier}P{i}", 9 - earlier))
    return dict(zip([*names, "pid", "visit"], map(list, zip(*found, strict=True)), strict=True))


UNIT = {"unit": "pid", "order_by": "visit"}


def build(kind: str, columns: Raw, folder: Path) -> Any:
    """What the calls of that kind are given. ``folder`` is empty, and is where files go."""
    schema = KINDS[kind][1]
    if kind in ("persons", "persons, rows averaged"):
        return dc.read(visits(columns), schema, **UNIT, rows_per_unit=1 if kind == "persons" else 3)
    if kind == "person csv":
        assert schema is not None
        _write_csv(visits(columns), schema, folder)
        return folder
    if kind == "person engine":
        import ibis

        backend = ibis.duckdb.connect(threads=1)
        backend.con.register("rows", pyarrow.table(visits(columns)))
        backend.con.execute("CREATE TABLE patients AS SELECT * FROM rows")
        return dc.connect(backend.table("patients"), schema, **UNIT, memory_limit=4000)
    if kind == "genotypes":
        return _counted(columns)
    if kind == "bed":
        _write_bed(columns, folder)
        return folder
    assert schema is not None
    if kind in ("levels", "many levels", "many columns", "numbers", "ordered", "only numbers", "labels"):
        return dc.read(columns, schema)
    if kind in ("codes", "codes and persons", "code engine", "code csv"):
        return _build_codes(kind, columns, folder)
    if kind == "level counts":
        return MemoryCounts(dc.read(columns, schema))
    if kind in ("level csv", "number csv", "label csv"):
        _write_csv(columns, schema, folder)
        return folder
    if kind in ("level duckdb", "number duckdb"):
        parquet.write_table(pyarrow.table(columns), folder / "data.parquet")
        return count_files(folder / "data.parquet", schema, threads=1)
    if kind == "failing duckdb":
        connection = duckdb.connect()
        connection.register("cells", pyarrow.table(columns))
        connection.execute(FAILING_VIEW)
        return count_table(connection, "patients", schema)
    if kind in ("level engine", "number engine", "failing engine"):
        import ibis

        backend = ibis.duckdb.connect(threads=1)
        backend.con.register("rows", pyarrow.table(columns))
        if kind == "failing engine":
            backend.con.register("cells", pyarrow.table(columns))
            backend.con.execute(FAILING_VIEW)
            return dc.connect(backend.table("patients"), schema)
        backend.con.execute("CREATE TABLE patients AS SELECT * FROM rows")
        # 300 rows are counted by covering tables, 77 are brought here: under add-remove neither may show
        return dc.connect(backend.table("patients"), schema, memory_limit=4000)
    return columns


def _build_codes(kind: str, columns: Raw, folder: Path) -> Any:
    records, persons = _long(columns)
    if kind == "code csv":
        for name, table in (("long.csv", records), ("persons.csv", persons)):
            with (folder / name).open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(table)
                writer.writerows(zip(*table.values(), strict=True))
        (folder / "codes.txt").write_text("\n".join(CODES))
        (folder / "schema.toml").write_text(dc.Schema(sex=PERSONS["sex"]).to_toml())
        return folder
    if kind == "codes":
        return dc.read_codes(records, codes=CODES, unit="pid", code="icd10", people=len(persons["pid"]))
    sex = dc.Schema(sex=PERSONS["sex"])
    if kind == "code engine":
        import ibis

        backend = ibis.duckdb.connect(threads=1)
        for name, rows in (("records", records), ("persons", persons)):
            backend.con.register("rows", pyarrow.table(rows))
            backend.con.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
        people = backend.table("persons")
        return dc.connect_codes(
            backend.table("records"), CODES, unit="pid", code="icd10", people=people, schema=sex
        )
    return dc.read_codes(records, codes=CODES, unit="pid", code="icd10", people=persons, schema=sex)


def _write_csv(columns: Raw, schema: dc.Schema, folder: Path) -> None:
    with (folder / "data.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    (folder / "schema.toml").write_text(schema.to_toml())


def _simulated(columns: Raw) -> tuple[Any, np.ndarray[Any, Any]]:
    """Counts with made-up SNPs for as many people, and (hom1, het) of cases and controls in ``columns``."""
    genotypes, case = columns["genotypes"], columns["case"]
    share = float(case.mean())
    blank = Simulation(people=len(case), snps=genotypes.shape[1], case_share=share).counts()
    parts = [(genotypes[group] == copies).sum(axis=0) for group in (case, ~case) for copies in (2, 1)]
    return blank, np.column_stack(parts).astype(np.int32)


def _rarer_first(genotypes: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], list[tuple[str, str]]]:
    """Copies of allele 1 a person and SNP, and the alleles, as plink 1.9 orders them: the study's rarer one first."""
    called = genotypes != MISSING
    turned = np.where(called, genotypes, 0).sum(axis=0) > called.sum(axis=0)
    copies = np.where(called & turned, 2 - genotypes, genotypes)
    return copies, [("G", "A") if other else ("A", "G") for other in turned]


def _counted(columns: Raw) -> Any:
    copies, alleles = _rarer_first(columns["genotypes"])
    blank, table = _simulated({**columns, "genotypes": copies})
    variants = [blank.variant(i)._replace(allele1=one, allele2=two) for i, (one, two) in enumerate(alleles)]
    return replace(blank, table=table, variants=variants, allele_order="study")


def _write_bed(columns: Raw, folder: Path) -> None:
    """PLINK 1 files: two bits a person, 00 for two copies of allele 1, 10 for one, 11 for none, 01 for no call."""
    copies, alleles = _rarer_first(columns["genotypes"])
    codes = np.array([3, 2, 0, 1], np.uint8)[copies].T
    codes = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 4))).reshape(len(codes), -1, 4)
    packed = (codes << np.array([0, 2, 4, 6], np.uint8)).sum(axis=2).astype(np.uint8)
    (folder / "study.bed").write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    lines = [f"1\tsnp{i}\t0\t{i + 1}\t{one}\t{two}\n" for i, (one, two) in enumerate(alleles)]
    (folder / "study.bim").write_text("".join(lines))
    people = [f"f{i} p{i} 0 0 1 {1 + int(c)}\n" for i, c in enumerate(columns["case"])]
    (folder / "study.fam").write_text("".join(people))


Asked = str | list[str]  # a column, or several as one side of a question


# --- ci_test -----------------------------------------------------------------------------------------------------


def _tests() -> Iterator[Case]:
    def law(z: Mapping[str, Any], generator: Any) -> Any:
        return z["z"] + 0.5 * generator.standard_normal(len(z["z"]))

    linear = dc.LinearGaussian(0.0, {"z": 1.0}, sd=0.5)
    table = dc.TableModel(("d",), np.array([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]))
    asked: list[tuple[str, str, tuple[Asked, Asked, list[str]], dict[str, Any]]] = []
    ranked, tabled = ("a", "b", ["d"]), ("a", "c", ["d"])
    valued, mixed = ("x", "y", ["z"]), ("x", "a", ["z", "c"])
    for name in ("kendall", "spearman"):
        asked += [(name, "levels", ranked, {}), (name, "numbers", valued, {}), (name, "numbers", mixed, {})]
        asked += [(name, "numbers", valued, {"on": "table"}), (name, "numbers", valued, {"strata": "schema"})]
        asked += [(name, "numbers", valued, {"strata": 7}), (name, "level counts", ranked, {})]
    for name in ("chi2", "g"):
        asked += [(name, "levels", tabled, {}), (name, "levels", ("a", "c", []), {"parts": 5})]
        asked += [
            (name, "levels", ("a", "c", []), {"median": median})
            for median in ("cauchy", "laplace", "gaussian")
        ]
        asked += [(name, "numbers", mixed, {})]
        asked += [(name, "levels", tabled, {"median": "cauchy", "trim": 0.25, "parts": 9})]
    asked += [("g", "levels", ("a", "c", []), {"median": "laplace", "trim": 0.2})]
    as_printed = {"median": "laplace", "variant": "paper"}  # refused: not private
    asked += [(name, "levels", ("a", "c", []), as_printed) for name in ("chi2", "g")]
    for name in ("kendall", "spearman"):
        asked += [
            (name, "levels", ranked, {"variant": "paper"}),
            (name, "numbers", valued, {"variant": "paper"}),
        ]
    asked += [("measured", "levels", tabled, {}), ("measured", "numbers", mixed, {})]
    asked += [("measured", "levels", tabled, {"noise": noise}) for noise in ("laplace", "gaussian")]
    asked += [("measured", "levels", tabled, {"form": form}) for form in ("omnibus", "pooled")]
    asked += [("measured", "level duckdb", tabled, {})]
    asked += [("measured", "level engine", tabled, {})]
    asked += [
        ("gcm", "numbers", valued, {}),
        ("gcm", "levels", ranked, {}),
        ("gcm", "numbers", mixed, {"parts": 6}),
    ]
    asked += [("gcm", "numbers", mixed, {"variant": variant}) for variant in ("weighted", "bins")]
    asked += [("gcm", "numbers", valued, {"variant": "bins", "bins": 9})]
    for variant in ("moments", "residuals"):
        asked += [("gcm", "numbers", mixed, {"variant": variant})]
        more = {
            "variant": variant,
            "select": True,
            "lambdas": [0.5, 2.0],
            "bandwidths": [0.1, 0.3],
            "share": 0.3,
        }
        asked += [("gcm", "numbers", valued, more)]
    asked += [("gcm", "numbers", valued, {"variant": "moments", "lambda_": 0.7, "bandwidth": 0.2})]
    asked += [
        ("gcm", "numbers", mixed, {"variant": "moments", "kernel": kernel})
        for kernel in ("additive", "mixed")
    ]
    asked += [("gcm", "numbers", mixed, {"variant": "paper"})]
    asked += [("crt", "numbers", valued, {"model": linear, "variant": "paper"})]
    for release in ("decision", "rank"):
        for score in ("ranks", "plain", "kernel"):
            asked += [("crt", "numbers", valued, {"model": linear, "release": release, "score": score})]
    asked += [
        ("crt", "numbers", valued, {"model": law}),
        ("crt", "levels", ("c", "b", ["d"]), {"model": table}),
    ]
    asked += [
        ("crt", "numbers", ("y", "x", ["z"]), {"model": linear, "resample": "x", "copies": 39, "strata": 5})
    ]
    asked += [("crt", "numbers", valued, {"model": linear, "strata": "schema"})]
    for score in ("ranks", "plain"):
        shuffled = {"draw": "permutation", "score": score}
        asked += [
            ("crt", "levels", ranked, shuffled),
            ("crt", "numbers", valued, {"model": linear, **shuffled}),
        ]
    asked += [("crt", "numbers", ("x", "y", ["c"]), {"draw": "permutation", "release": "rank"})]
    kernel = {"score": "kernel", "strength": 2.0, "bandwidth": 0.4}
    asked += [("crt", "numbers", valued, {"model": linear, **kernel})]
    for inner in ("g", "chi2", "measured", "kendall", "spearman"):
        asked += [("test-of-tests", "levels", ranked, {"test": inner})]
    asked += [("test-of-tests", "numbers", valued, {"test": "gcm"}), ("test-of-tests", "levels", tabled, {})]
    asked += [("test-of-tests", "levels", ("a", "d", []), {"test": "unit-circle"})]
    asked += [("test-of-tests", "levels", tabled, {"parts": 8, "sub_level": 0.2})]
    asked += [("test-of-tests:gcm", "numbers", valued, {"parts": 8, "sub_level": 0.2})]
    asked += [
        ("auto", "levels", ranked, {}),
        ("auto", "levels", tabled, {}),
        ("auto", "numbers", ("x", "y", []), {}),
    ]
    asked += [("auto", "numbers", ("x", "y", ["z", "w"]), {}), ("auto", "numbers", ("c", "y", ["z"]), {})]
    asked += [("auto", "numbers", ("x", "a", ["z"]), {}), ("gcm", "numbers", ("c", "x", ["z"]), {"parts": 4})]
    several = (["x", "y"], ["a", "c"], ["z"])
    asked += [
        ("auto", "numbers", several, {"anyway": True}),
        ("gcm", "numbers", (["x", "c"], "y", []), {"parts": 4}),
    ]
    asked += [
        ("test-of-tests:gcm", "numbers", several, {}),
        ("kendall", "numbers", several, {}),
    ]  # the last: an error
    asked += [
        ("kendall", "levels", ("a", "nothing", []), {}),
        ("kendall", "levels", ("a", "c", []), {}),
    ]  # errors
    asked += [("measured", "levels", ("a", "one", []), {})]
    seen: dict[str, int] = {}
    for name, kind, (x, y, given), options in asked:
        sides = ",".join(side if isinstance(side, str) else "+".join(side) for side in (x, y))
        words = [name, kind, f"{sides}|{','.join(given)}", *(_word(*option) for option in options.items())]
        own_delta = options.get("median") in ("laplace", "gaussian")
        deltas = (PURE, APPROXIMATE) if name == "measured" else (APPROXIMATE,) if own_delta else (PURE,)
        yield Case(
            id=_unique(seen, "ci_test " + " ".join(words)),
            call="ci_test",
            name=name.partition(":")[0],
            kind=kind,
            run=_test_call(name, x, y, given, options),
            options={**options, **({"test": name.partition(":")[2]} if ":" in name else {})},
            deltas=deltas,
        )
    circles: list[dict[str, Any]] = [{"statistic": word} for word in ("circle", "distance", "chi2")]
    circles += [{}, {"positives": 90}, {"positives": (50, 120)}, {"positives": 90, "variant": "paper"}]
    for options in circles:
        words = [_word(*option) for option in options.items()]
        for relation in (FIXED, BOTH):  # add-remove is refused, replace-one read as fixed labels
            yield Case(
                id=_unique(seen, "ci_test " + " ".join(["unit-circle", *words])),
                call="ci_test",
                name="unit-circle",
                kind="labels",
                run=_test_call("unit-circle", "group", "outcome", [], options),
                options=options,
                relations=relation,
            )
    yield Case(
        id="ci_test unit-circle labels=group",
        call="ci_test",
        name="unit-circle",
        kind="labels",
        run=_test_call("unit-circle", "outcome", "group", [], {"labels": "group"}),
        options={"labels": "group"},
        relations=FIXED,
    )


def _word(name: str, value: Any) -> str:
    if name == "model":
        return type(value).__name__
    return f"{name}={value}".replace(" ", "")


def _unique(seen: dict[str, int], name: str) -> str:
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name} ({seen[name]})"


def _test_call(
    name: str, x: Asked, y: Asked, given: list[str], options: Mapping[str, Any]
) -> Callable[..., Any]:
    def run(data: Any, terms: Terms) -> Any:
        return dc.ci_test(
            data, x, y, given, method=name, epsilon=terms.epsilon, delta=terms.delta, neighbours=terms.neighbours,
            progress=True, **options,
        )  # fmt: skip

    return run


# --- sessions of tests -------------------------------------------------------------------------------------------


def _sessions() -> Iterator[Case]:
    """Several questions under one budget, one of them twice, until the budget refuses."""

    def call(
        name: str, asked: list[tuple[str, str, list[str]]], options: Mapping[str, Any]
    ) -> Callable[..., Any]:
        def run(data: Any, terms: Terms) -> Any:
            relation = dc.Neighbours.parse(terms.neighbours)
            budget = dc.Budget(terms.epsilon, terms.delta, neighbours=relation)
            each = terms.epsilon / 2.5
            method = make_test(name, dict(options))
            session = Session(data, method, level=0.05, epsilon=each, neighbours=relation, budget=budget)
            found: list[Any] = []
            for x, y, given in asked:
                try:
                    found.append(session.ask(x, y, given))
                except dc.BudgetError as error:
                    found.append(str(error))
            return found, budget.events, budget.left_epsilon()

        return run

    levels = [("a", "b", []), ("b", "a", []), ("d", "e", ["a"]), ("a", "e", [])]
    numbers = [("x", "y", []), ("y", "x", []), ("x", "y", ["z"]), ("x", "w", [])]
    for name, kind, asked in (
        ("kendall", "levels", levels),
        ("measured", "level counts", levels),
        ("g", "levels", levels),
        ("gcm", "numbers", numbers),
        ("spearman", "numbers", numbers),
    ):
        # the same two columns with another given set are another question, and are charged
        given = ("given z",) if kind == "numbers" else ("given a",)
        run = call(name, asked, {})
        yield Case(f"session {name} {kind}", "session", name, kind, run, epsilon=3.0, measures=given)


# --- discover ----------------------------------------------------------------------------------------------------


PRINTED = ("priv-pc", "svt-pc", "em-pc", "curate")  # methods with a variant that is as printed
# calls of what is as printed and not private: refused for the operating system's noise
AS_PRINTED = {
    *(f"discover {name} levels variant=paper" for name in PRINTED),
    *(f"ci_test {name} levels a,c| median=laplace variant=paper" for name in ("chi2", "g")),
    *(f"ci_test {name} levels a,b|d variant=paper" for name in ("kendall", "spearman")),
    *(f"ci_test {name} numbers x,y|z variant=paper" for name in ("kendall", "spearman")),
    *(f"gwas method={method} variant=paper" for method in ("svt", "em")),
}


def _discoveries() -> Iterator[Case]:
    asked: list[tuple[str, str, dict[str, Any]]] = []
    for name in METHODS:
        if name != "pc":  # not private, and says so
            asked += [(name, "levels", {}), (name, "numbers", {})]
    asked += [("auto", "levels", {}), ("auto", "numbers", {}), ("measured", "many levels", {"anyway": True})]
    asked += [("measured", "many columns", {"anyway": True, "confidence": 3})]
    asked += [("measured", "many columns", {"anyway": True, "confidence": 0, "target": "w03"})]
    asked += [("measured", "levels", {"confidence": 3}), ("measured", "level counts", {})]
    asked += [("measured", "level duckdb", {"max_order": 1}), ("measured", "levels", {"target": "b"})]
    asked += [("measured", "level engine", {"anyway": True}), ("svt-pc", "level engine", {})]
    asked += [
        ("measured", "persons", {}),
        ("priv-pc", "persons", {}),
        ("measured", "persons, rows averaged", {}),
    ]
    asked += [("measured", "person engine", {"anyway": True})]
    asked += [("measured", "levels", {"latent": True}), ("measured", "level counts", {"latent": True})]
    asked += [("moments", "numbers", {"latent": True})]
    asked += [
        ("moments", "numbers", {"harmonics": 1, "confidence": 3}),
        ("moments", "numbers", {"reach": 1.5, "stable": False}),
        ("moments", "number engine", {"harmonics": 0}),
        ("auto", "number duckdb", {"harmonics": 1}),
    ]
    asked += [("moments", "level counts", {})]  # refused: there are no rows
    asked += [
        ("auto", "codes", {"confidence": 3}),
        ("codes", "codes and persons", {}),
        ("codes", "code engine", {"confidence": 0}),
        ("codes", "codes", {"confidence": 2}),
        ("codes", "level counts", {}),
    ]
    asked += [("measured", "codes", {"anyway": True, "confidence": 0})]
    for name in ("moments", "measured"):  # an engine's own words name the cell at which it fails
        asked += [(name, kind, {"anyway": True}) for kind in ("failing duckdb", "failing engine")]
    for name in ("priv-pc", "svt-pc"):
        asked += [
            (name, "numbers", {"on": "table"}),
            (name, "levels", {"stable": False}),
            (name, "level counts", {}),
        ]
    asked += [("priv-pc", "levels", {"subsample": 150}), ("priv-pc", "levels", {"subsample": "optimal"})]
    asked += [("priv-pc", "levels", {"hits": 2, "share": 0.6}), ("svt-pc", "levels", {"positives": 2})]
    for name in ("priv-pc", "svt-pc"):
        asked += [(name, "ordered", {"test": "spearman"}), (name, "only numbers", {"test": "spearman"})]
        asked += [(name, "levels", {"test": test, "max_order": 1}) for test in ("chi2", "g")]
        asked += [(name, "level counts", {"test": "chi2", "max_order": 0})]
        asked += [(name, "levels", {"test": "spearman"})]  # refused: c has no order
    asked += [("priv-pc", "levels", {"tweak": 1.5}), ("priv-pc", "levels", {"test": "g", "subsample": 200})]
    asked += [("em-pc", "levels", {"orders": 1}), ("em-pc", "level counts", {})]
    asked += [("curate", "levels", {"margins_of": "threshold", "margins": (0.5, 0.5)})]
    asked += [("curate", "levels", {"margins": (5.0, 5.0)}), ("curate", "levels", {"stable": False})]
    asked += [(name, "levels", {"variant": "paper"}) for name in PRINTED]  # refused: not private
    for inner in ("g", "chi2", "measured", "unit-circle", "test-of-tests", "test-of-tests:chi2"):
        asked += [
            (
                "tests",
                "levels",
                {"test": inner} if inner == "unit-circle" else {"test": inner, "max_order": 1},
            )
        ]
    for inner in ("kendall", "spearman", "gcm", "test-of-tests:gcm"):
        asked += [("tests", "only numbers", {"test": inner, "max_order": 1})]
    asked += [
        ("tests", "ordered", {"test": "kendall"}),
        ("tests", "ordered", {"test": "spearman", "on": "table"}),
    ]
    asked += [("tests", "levels", {"test": "kendall"})]  # refused: c has no order
    asked += [("tests", "levels", {"test": "chi2", "median": "cauchy", "parts": 9, "test_epsilon": 0.9})]
    trimmed = {"test": "g", "median": "cauchy", "trim": 0.2, "parts": 9, "test_epsilon": 0.9, "max_order": 0}
    asked += [("tests", "levels", trimmed)]
    asked += [("tests", "levels", {"test": "g", "test_epsilon": 0.9, "stable": False})]
    asked += [("tests", "levels", {"test": "crt"})]  # refused
    smooth = [("g", "laplace"), ("chi2", "gaussian")]  # every test has a delta of its own
    asked += [
        ("tests", "levels", {"test": test, "median": median, "max_order": 0}) for test, median in smooth
    ]
    known = {"required": [("a", "d")], "forbidden": [("c", "e")], "tiers": [["a"], ["b", "d"]]}
    asked += [("measured", "levels", {**known, "max_order": 1}), ("priv-pc", "levels", known)]
    for name, kind, options in asked:
        words = [name, kind, *(_word(*option) for option in options.items())]
        yield Case(
            id="discover " + " ".join(words),
            call="discover",
            name=name,
            kind=kind,
            run=_discover_call(name, options),
            options=options,
            deltas=(APPROXIMATE,)  # a tree is chosen with a delta alone
            if options.get("median") in ("laplace", "gaussian") or kind == "many columns"
            else (PURE, APPROXIMATE),
            epsilon=4.0,
            measures=_measured_by(name, kind, options),
        )
    yield Case(
        id="discover measured many levels, tables of three columns",
        call="discover",
        name="measured",
        kind="many levels",
        run=_discover_call("measured", {"anyway": True, "confidence": 0}),
        deltas=(APPROXIMATE,),
        epsilon=30.0,  # little noise: larger tables pay
        measures=("how common levels are", "larger tables (given 2 columns)"),
    )
    planned: list[tuple[str, str | None]] = [
        ("levels", None),
        ("levels", "b"),
        ("level counts", None),
        ("many levels", None),
        ("many columns", None),
    ]
    for kind, target in planned:
        yield Case(
            id=f"discover measured {kind} plan" + ("" if target is None else f" target={target}"),
            call="discover",
            name="measured",
            kind=kind,
            run=_planned_call(kind, target),
            options={"plan": "dc.plan"},
            deltas=(PURE, APPROXIMATE),
            epsilon=4.0,
            measures=_measured_by("measured", kind, {} if target is None else {"target": target}),
        )
    yield Case(
        id="discover tests levels test=g median=laplace, no delta",
        call="discover",
        name="tests",
        kind="levels",
        run=_discover_call("tests", {"test": "g", "median": "laplace"}),
        options={"median": "laplace"},
    )
    yield Case(
        id="discover curate levels, delta near 1/n",  # a statement that warns of delta must not know n
        call="discover",
        name="curate",
        kind="levels",
        run=_discover_call("curate", {}),
        relations=("add-remove",),
        deltas=(0.005,),
        epsilon=4.0,
    )


# what every case of a method must be charged for; "this|that": one of them
CHARGED_BY = {
    "moments": ("moments of features",),
    "codes": ("single codes", "pairs of codes", "promising pairs of codes"),
    "svt-pc": ("deletions",),
    "priv-pc": ("round",),
    "em-pc": ("how many",),
    "curate": ("test",),
}


def _measured_by(name: str, kind: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """What a search must measure on rows of that kind."""
    if name == "auto":
        return {"codes": CHARGED_BY["codes"], "number duckdb": CHARGED_BY["moments"]}.get(kind, ())
    if name != "measured":
        return CHARGED_BY.get(name, ())
    if "target" in options:
        return "pairs with the target", "promising columns, with the target and each other"
    return {
        "many levels": ("how common levels are", "pairs of columns"),
        "many columns": ("single columns", "pairs"),  # by a tree or all of them, as the budget says
        "numbers": ("joint table|pairs of columns",),  # with a delta components have less noise
    }.get(kind, ("joint table",))


def _discover_call(name: str, options: Mapping[str, Any]) -> Callable[..., Any]:
    def run(data: Any, terms: Terms) -> Any:
        return dc.discover(
            data, method=name, epsilon=terms.epsilon, delta=terms.delta, neighbours=terms.neighbours, progress=True,
            **options,
        )  # fmt: skip

    return run


def _planned_call(kind: str, target: str | None) -> Callable[..., Any]:
    """Execute a plan that was made before there were rows: for a number of them that is nobody's."""
    schema = KINDS[kind][1]
    assert schema is not None

    def run(data: Any, terms: Terms) -> Any:
        made = dc.plan(
            schema, PLANNED_ROWS, terms.epsilon, terms.delta, neighbours=terms.neighbours, max_order=0, target=target
        )  # fmt: skip
        return dc.discover(data, plan=made, progress=True, anyway=True)

    return run


def _protocol(schema: dc.Schema, terms: Terms, rounds: int) -> dc.Protocol:
    """A protocol for numbers of rows that are nobody's."""
    return dc.protocol(
        schema, [PLANNED_ROWS, PLANNED_ROWS], terms.epsilon, terms.delta, neighbours=terms.neighbours, rounds=rounds
    )  # type: ignore[arg-type]  # fmt: skip


def _contributions() -> Iterator[Case]:
    def call(kind: str, number: int) -> Callable[..., Any]:
        schema = KINDS[kind][1]
        assert schema is not None

        def run(data: Any, terms: Terms) -> Any:
            protocol = _protocol(schema, terms, min(number, 2))
            if number == 2:
                names = list(schema)
                protocol = protocol.for_promising([(names[0], names[1]), (names[1], names[3])], ["north"])
            if number == 3:  # the sizes of groups are the protocol's, whatever rows look like
                common = {name: np.arange(1.0, column.size + 1.0) for name, column in schema.items()}
                protocol = protocol.for_common(common, ["north"])
            first = None  # the second round spends what the first left, and names what it measures by what it released
            if number > 1:
                first = dc.contribute(data, _protocol(schema, terms, 2), "north")
            found = dc.contribute(data, protocol, "north", rest_of=first, progress=True)
            return [
                first,
                found,
                found.files(),
                str(found),
                dc.pool([found], confidence=2) if number == 1 else None,
            ]

        return run

    for kind in ("levels", "level counts", "many levels"):
        for number in (1, 2, *([3] if kind == "many levels" else [])):
            yield Case(
                id=f"contribute {kind} round {number}",
                call="contribute",
                name="measured",
                kind=kind,
                run=call(kind, number),
                deltas=(PURE, APPROXIMATE),
                epsilon=4.0,
                measures=("single columns", "pairs of columns"),
            )


# --- estimators --------------------------------------------------------------------------------------------------


def _estimators() -> Iterator[Case]:
    def call(name: str, schema: dc.Schema) -> Callable[..., Any]:
        def run(data: Any, terms: Terms) -> Any:
            kind = getattr(dc, name)
            given = {"epsilon": terms.epsilon, "delta": terms.delta, "neighbours": terms.neighbours}
            return kind(schema, max_order=1, **given).fit(data)

        return run

    for name in sorted({*estimators.__all__} - {"PC"}):
        for kind, schema in (("level columns", LEVELS), ("number columns", NUMBERS)):
            yield Case(
                f"estimator {name} {kind}", "estimator", name, kind, call(name, schema), deltas=(APPROXIMATE,)
            )


# --- adapters ----------------------------------------------------------------------------------------------------


def _oracle(data: Any, terms: Terms, **options: Any) -> Any:
    return adapters.PrivateOracle(
        data, epsilon=terms.epsilon, delta=terms.delta, neighbours=terms.neighbours, questions=6, **options
    )


def _spent(oracle: Any) -> Any:
    return oracle.calls, oracle.charged, oracle.refused, oracle.each, oracle.privacy


@contextlib.contextmanager
def _stand_in() -> Iterator[dict[str, Any]]:
    """The names of causal-learn that registering a test needs; what was registered, by name."""
    registered: dict[str, Any] = {}
    names = ("causallearn", "causallearn.utils", "causallearn.utils.cit")
    made = {name: ModuleType(name) for name in names}
    made["causallearn.utils"].cit = made["causallearn.utils.cit"]  # type: ignore[attr-defined]
    made["causallearn.utils.cit"].CIT_Base = object  # type: ignore[attr-defined]
    made["causallearn.utils.cit"].register_ci_test = registered.__setitem__  # type: ignore[attr-defined]
    with mock.patch.dict(sys.modules, made):
        yield registered


def _adapters() -> Iterator[Case]:
    def by_oracle(method: str, options: Mapping[str, Any]) -> Callable[..., Any]:
        def run(data: Any, terms: Terms) -> Any:
            oracle = _oracle(data, terms, method=method, **options)
            pairs = [*combinations("abde", 2), ("b", "a")]
            return [oracle.ask(x, y) for x, y in pairs], oracle.pvalue("a", "e", ["d"]), _spent(oracle)

        return run

    def by_causal_learn(data: Any, terms: Terms) -> Any:
        oracle = _oracle(data, terms)
        with _stand_in() as registered:
            name = causal_learn.register(oracle)
        test = registered[name](causal_learn.placeholder(oracle))
        found = [test(x, y, given) for x, y, given in ((0, 1, ()), (1, 0, None), (0, 3, [4]), (3, 4, [0, 1]))]
        return found, test.pvalue_cache, causal_learn.placeholder(oracle), _spent(oracle)

    def by_pgmpy(data: Any, terms: Terms) -> Any:
        oracle = _oracle(data, terms)
        test = pgmpy.ci_test(oracle)
        asked = (("a", "b", ()), ("b", "a", ()), ("a", "d", ["e"]), ("d", "e", ["a", "b"]))
        return [test(x, y, z, data=None, significance_level=0.05) for x, y, z in asked], _spent(oracle)

    def search(peer: Any) -> Callable[..., Any]:
        def run(data: Any, terms: Terms) -> Any:
            oracle = _oracle(data, terms)
            options = {"return_type": "pdag"} if peer is pgmpy else {}
            found = peer.pc(oracle, **options)
            edges = causal_learn.skeleton(found) if peer is causal_learn else sorted(found.edges())
            return edges, _spent(oracle)

        return run

    both = (PURE, APPROXIMATE)
    tests: list[tuple[str, dict[str, Any]]] = [("kendall", {}), ("measured", {}), ("g", {"parts": 9})]
    for name, options in [
        *tests,
        ("test-of-tests", {"test": "g"}),
        ("chi2", {"median": "cauchy", "parts": 9}),
    ]:
        run = by_oracle(name, options)
        yield Case(
            f"oracle {name}", "adapter", "PrivateOracle", "levels", run, options, deltas=both, epsilon=3.0
        )
    yield Case("adapter causal_learn test", "adapter", "causal_learn", "levels", by_causal_learn, deltas=both)
    yield Case("adapter pgmpy test", "adapter", "pgmpy", "levels", by_pgmpy, deltas=both)
    for name, peer, package in (("causal_learn", causal_learn, "causallearn"), ("pgmpy", pgmpy, "pgmpy")):
        yield Case(f"adapter {name} pc", "adapter", name, "levels", search(peer), deltas=both, needs=package)


# --- effects -----------------------------------------------------------------------------------------------------


def _effects() -> Iterator[Case]:
    def after(data: Any, terms: Terms) -> Any:
        """Effects from a share that a discovery kept, from the tables that it released, and at a charge of its own."""
        given = {"epsilon": terms.epsilon, "delta": terms.delta, "neighbours": terms.neighbours}
        tiers = [["a"], ["d"], ["b", "e"]]
        known: dict[str, Any] = {"required": [("a", "d")], "tiers": tiers, "confidence": 0, "anyway": True}
        found = dc.discover(data, effect=("a", "d"), reserve=0.4, **known, **given)
        paid = found.effect("a", "d", part=0.6), found.effect("a", "d", level=0.9)
        more = found.effect("a", "e", adjust=["b"], method="table", anyway=True)
        free = found.effect("a", "d", free=True), found.effect("a", "d", data=data, **given)
        return found.privacy, paid, more, free

    yield Case(
        "effect after discover ordered", "effect", "after", "ordered", after, deltas=(PURE, APPROXIMATE),
        measures=("table of the",),
    )  # fmt: skip

    def after_moments(data: Any, terms: Terms) -> Any:
        """Effects from the moments that a discovery released."""
        given = {"epsilon": terms.epsilon, "delta": terms.delta, "neighbours": terms.neighbours}
        known: dict[str, Any] = {
            "tiers": [["x", "z"], ["a"], ["c", "y", "w"]],
            "confidence": 0,
            "max_order": 0,
        }
        found = dc.discover(data, method="moments", anyway=True, **known, **given)
        return found.effect("a", "c", adjust=["x", "z"], event="r"), found.effect(
            "a", "c", adjust=[], event="p"
        )

    yield Case(
        "effect after moments numbers",
        "effect",
        "after",
        "numbers",
        after_moments,
        deltas=(PURE, APPROXIMATE),
        measures=("moments of features",),
    )

    def call(
        treatment: str, outcome: str | dc.Survival, adjust: list[str] | None, options: Mapping[str, Any]
    ) -> Callable[..., Any]:
        def run(data: Any, terms: Terms) -> Any:
            refused = terms.epsilon < 1 and not (adjust and "graph" in options)  # else: nothing could be said
            tiny = {"anyway": True} if refused else {}
            return dc.effect(
                data, treatment, outcome, adjust=adjust, epsilon=terms.epsilon, delta=terms.delta,
                neighbours=terms.neighbours, **{**options, **tiny},
            )  # fmt: skip

        return run

    fork = dc.Graph(
        ["a", "c", "d", "e"], directed=[("c", "a"), ("c", "e")], undirected=[("a", "d"), ("a", "e")]
    )
    dag = dc.Graph(["a", "c", "d"], directed=[("c", "a"), ("c", "d"), ("a", "d")])
    asked: list[tuple[str, str, str | dc.Survival, list[str] | None, dict[str, Any]]] = [
        ("levels", "a", "d", ["c"], {}),
        ("levels", "a", "d", None, {"level": 0.9}),
        ("levels", "e", "b", ["d"], {"estimand": "mean difference"}),
        ("levels", "c", "d", ["a"], {"compare": ("p", "r"), "estimand": "risk ratio"}),
        ("levels", "a", "c", ["b", "e"], {"event": "q", "estimand": "odds ratio"}),
        ("levels", "a", "d", None, {"graph": dag}),
        ("levels", "a", "e", None, {"graph": fork}),
        ("levels", "a", "c", [], {"graph": dag, "event": "p", "estimand": "risk difference"}),
        ("level counts", "a", "d", ["c"], {}),
        ("level duckdb", "a", "b", ["c"], {}),
        ("numbers", "a", "y", ["z", "c"], {}),
        ("numbers", "a", "c", ["x"], {"event": "r"}),
        ("numbers", "a", "y", ["c"], {"event": ">= 0.3"}),
        ("numbers", "a", "w", ["c"], {}),  # rows whose w is missing are in neither arm
        ("numbers", "a", "w", ["c"], {"event": ">= 0.3"}),
        ("numbers", "a", "y", ["x", "z", "w", "c"], {"method": "regression", "anyway": True}),
        ("levels", "a", "d", ["b", "c", "e"], {"method": "table"}),  # with a margin
        ("levels", "a", "d", ["b", "c", "e"], {"population": "exposed"}),
        ("levels", "a", "d", ["b", "c"], {"population": "overlap", "estimand": "risk ratio"}),
        ("level counts", "a", "d", ["c"], {"population": "all"}),
        ("levels", "a", "d", ["b", "c", "e"], {"method": "regression", "anyway": True}),
        ("level counts", "a", "d", ["b"], {"method": "regression"}),
        ("levels", "a", "a", [], {}),
        ("levels", "a", "one", [], {}),
        ("levels", "one", "a", [], {}),
        ("levels", "c", "d", [], {}),
        ("levels", "a", "c", [], {}),
        ("levels", "a", "d", ["nothing"], {}),
        ("levels", "c", "a", ["d"], {"graph": dag, "compare": ("p", "q")}),
        ("levels", "c", "a", ["d"], {"graph": dag, "compare": ("p", "q"), "anyway": True}),
        ("numbers", "x", "y", ["z"], {}),
        ("numbers", "a", TIME, ["z"], {}),  # a follow-up with competing events and missing times
        ("numbers", "a", dc.Survival("y", "c", 3.0), [], {"estimand": "risk ratio"}),
        ("number duckdb", "a", TIME, ["z"], {}),
        ("number engine", "x", dc.Survival("w", "a", 0.8), [], {}),
        ("level counts", "a", dc.Survival("b", "d", 0.8), [], {}),  # refused: no number
    ]
    for kind, treatment, outcome, adjust, options in asked:
        shown = [_word(name, repr(value) if name == "graph" else value) for name, value in options.items()]
        named = outcome if isinstance(outcome, str) else f"{outcome.time}:{outcome.event}"
        words = [kind, f"{treatment}>{named}|{'-' if adjust is None else ','.join(adjust)}", *shown]
        yield Case(
            id="effect " + " ".join(words),
            call="effect",
            name=options.get("method", "table"),
            kind=kind,
            run=call(treatment, outcome, adjust, options),
            options={"adjust": adjust, **options},
            deltas=(PURE, APPROXIMATE),
            measures={
                "table": ("table of the",),
                "regression": ("moments for the", "sums for the"),
            }.get(options.get("method", ""), ("table of the|sums for the",)),
        )


# --- gwas --------------------------------------------------------------------------------------------------------


def _screenings() -> Iterator[Case]:
    def call(options: Mapping[str, Any]) -> Callable[..., Any]:
        def run(data: Any, terms: Terms) -> Any:
            more = {"frequencies": np.full(len(data), 0.3)} if options.get("frequencies") else {}
            return screen(data, terms.epsilon, **{**options, **more})

        return run

    asked: list[dict[str, Any]] = []
    for method in ("svt", "em"):
        for statistic in ("distance", "circle", "chi2"):
            asked += [{"method": method, "statistic": statistic, "max_hits": 3}]
        asked += [
            {"method": method, "unit": "allele", "max_hits": 3},
            {"method": method, "maf": 0.1, "max_hits": 3},
        ]
        asked += [{"method": method, "freq_share": 0.1, "max_hits": 3}]
    asked += [{"method": "svt", "max_answers": 20}, {"method": "svt", "frequencies": True, "max_hits": 3}]
    asked += [{"method": "em", "share": 0.4, "max_hits": 3}, {"method": "svt", "max_hits": 1, "level": 0.2}]
    asked += [{"method": method, "variant": "paper"} for method in ("svt", "em")]  # refused: not private
    for options in asked:
        words = " ".join(_word(*option) for option in options.items())
        yield Case(
            f"gwas {words}",
            "gwas",
            options["method"],
            "genotypes",
            call(options),
            options,
            FIXED,
            epsilon=20.0,
            measures=(
                *(("gwas: rarest allele",) if "freq_share" in options else ()),
                *(("gwas: sparse vector",) if options["method"] == "svt" else ("gwas: top-k", "gwas: test")),
            ),
        )

    def one(margin: Any, unit: str) -> Callable[..., Any]:
        def run(data: Any, terms: Terms) -> Any:
            cases, controls = (counts.tolist() for counts in data.alleles())
            n1, n0 = 2 * data.cases, 2 * data.controls
            return single_test(cases[3], controls[3], n1, n0, terms.epsilon, margin=margin, unit=unit)

        return run

    singles: list[tuple[Any, str]] = [(None, "person"), ((100, 500), "person"), (None, "allele")]
    for margin, unit in singles:
        options = {"margin": margin, "unit": unit}
        run = one(margin, unit)
        yield Case(f"gwas single {margin} {unit}", "gwas", "single", "genotypes", run, options, FIXED)


# --- the command line --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Printed:
    """What a command left: its exit code, and the files that it wrote."""

    code: Any
    files: Mapping[str, bytes]


def command(folder: Path, *words: str) -> Printed:
    """Run ``dpcausal`` as the installed command does, in ``folder``."""
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="dpcausal")
    before = {path for path in folder.rglob("*") if path.is_file()}
    code: Any = None
    with contextlib.chdir(folder), mock.patch.object(sys, "argv", ["dpcausal", *words]):
        try:
            entry.load()()
        except SystemExit as stop:
            code = stop.code
    after = sorted(path for path in folder.rglob("*") if path.is_file() and path not in before)
    return Printed(code, {str(path.relative_to(folder)): path.read_bytes() for path in after})


def _commands() -> Iterator[Case]:
    def call(*words: str) -> Callable[..., Any]:
        def run(folder: Path, terms: Terms) -> Any:
            end = ["--epsilon", repr(terms.epsilon), "--out", "out"]
            if words[0] != "gwas":
                end += [
                    "--neighbours",
                    terms.neighbours,
                    "--delta",
                    repr(terms.delta),
                    "--schema",
                    "schema.toml",
                ]
            return command(folder, *words, *end)

        return run

    discover, test = ("discover", "data.csv"), ("test", "data.csv")
    effect = ("effect", "data.csv")
    of_codes = ("discover", "long.csv", "--codes", "codes.txt", "--unit", "pid", "--code", "icd10")
    asked: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
        ("discover", "level csv", discover, BOTH),
        ("discover", "level csv", (*discover, "--confidence", "2", "--json"), BOTH),
        ("discover", "level csv", (*discover, "--target", "a"), BOTH),
        ("discover", "level csv", (*discover, "--latent"), BOTH),
        (
            "discover",
            "level csv",
            (*discover, "--effect", "a,d", "--reserve", "0.4", "--required", "a:d"),
            BOTH,
        ),
        ("discover", "level csv", (*discover, "--method", "svt-pc", "--tiers", "a;b,d"), BOTH),
        ("discover", "level csv", (*discover, "--method", "svt-pc", "--option", "positives=3"), BOTH),
        ("discover", "level csv", (*discover, "--method", "moments", "--show-open"), BOTH),
        ("discover", "level csv", (*discover, "--columns", "a,b,d", "--encoding", "latin-1"), REPLACE),
        ("discover", "person csv", (*discover, "--unit", "pid", "--order-by", "visit"), BOTH),
        ("discover", "number csv", (*discover, "--method", "auto", "--anyway"), BOTH),
        ("discover", "code csv", (*of_codes, "--people", "persons.csv"), BOTH),
        ("test", "level csv", (*test, "--x", "a", "--y", "b", "--given", "d"), BOTH),
        ("test", "level csv", (*test, "--x", "a", "--y", "c", "--json"), BOTH),
        ("test", "number csv", (*test, "--x", "x", "--y", "y", "--given", "z"), BOTH),
        (
            "test",
            "number csv",
            (*test, "--x", "x,a", "--y", "y", "--given", "z", "--option", "parts=4"),
            BOTH,
        ),
        (
            "test",
            "level csv",
            (*test, "--x", "a", "--y", "b", "--method", "crt", "--option", "draw=permutation"),
            BOTH,
        ),
        ("test", "level csv", (*test, "--x", "a", "--y", "c", "--method", "kendall"), REPLACE),
        ("test", "label csv", (*test, "--x", "group", "--y", "outcome", "--method", "unit-circle"), REPLACE),
        ("effect", "level csv", (*effect, "--treatment", "a", "--outcome", "d", "--adjust", "c"), BOTH),
        ("effect", "level csv", (*effect, "--treatment", "a", "--outcome", "e", "--json"), BOTH),
        ("effect", "person csv", (*effect, "--treatment", "a", "--outcome", "d", "--unit", "pid"), BOTH),
        (
            "effect",
            "number csv",
            (
                *effect,
                "--treatment",
                "a",
                "--time",
                "w",
                "--event",
                "c",
                "--horizon",
                "0.8",
                "--cuts",
                "0.2,0.4",
            ),
            BOTH,
        ),
        (
            "effect",
            "number csv",
            (*effect, "--treatment", "a", "--outcome", "y", "--adjust", "z", "--full"),
            BOTH,
        ),
        ("gwas", "bed", ("gwas", "study"), FIXED),
        ("gwas", "bed", ("gwas", "study", "--method", "em", "--max-hits", "3", "--json"), FIXED),
        ("gwas", "bed", ("gwas", "study", "--freq", "budget"), FIXED),
        ("gwas", "bed", ("gwas", "study", "--method", "em", "--share", "0.4"), FIXED),
    ]
    for name, kind, words, relations in asked:
        epsilon = 20.0 if name == "gwas" else 4.0
        deltas = (APPROXIMATE,) if name == "discover" else (PURE,)
        yield Case(
            f"command {' '.join(words)} {kind}",
            "command",
            name,
            kind,
            call(*words),
            {},
            relations,
            epsilon,
            deltas,
        )

    def again(folder: Path, terms: Terms) -> Any:
        """Discover, then search what was released with other knowledge, and take an effect from it: all files."""
        first = call("discover", "data.csv", "--confidence", "0", "--columns", "a,b,d,e", "--required", "a:d")
        more = ("--tiers", "a;b,d", "--confidence", "2")
        found = [first(folder, terms), command(folder, "again", "out", *more, "--out", "more")]
        effect = ("--treatment", "a", "--outcome", "d")
        return [*found, command(folder, "effect", "--release", "more", *effect, "--out", "effect")]

    def contribute(folder: Path, terms: Terms) -> Any:
        """Contribute to a protocol that was made before there were rows."""
        _protocol(LEVELS, terms, 1).save(folder / "protocol.json")
        return command(folder, "contribute", "data.csv", "--protocol", "protocol.json", "--out", "north")

    def pool(folder: Path, terms: Terms) -> Any:
        """Contribute, and pool both rounds: all files."""
        _protocol(LEVELS, terms, 2).save(folder / "protocol.json")
        site = ("contribute", "data.csv", "--site", "north")
        found = [command(folder, *site, "--protocol", "protocol.json", "--out", "one")]
        found += [command(folder, "pool", "one", "--out", "first", "--confidence", "2")]
        second = ("--protocol", "first/protocol-2.json", "--rest-of", "one")
        found += [command(folder, *site, *second, "--out", "two")]
        return [*found, command(folder, "pool", "one", "two", "--out", "out", "--confidence", "2")]

    for name, run in (("contribute", contribute), ("pool", pool)):
        yield Case(
            f"command {name} level csv", "command", name, "level csv", run, epsilon=4.0, deltas=(APPROXIMATE,)
        )
    yield Case(
        "command again level csv", "command", "again", "level csv", again, epsilon=4.0, deltas=(APPROXIMATE,)
    )


# refused whatever the rows are: their errors are compared too
REFUSED = {
    "ci_test kendall levels a,nothing|",
    "ci_test kendall levels a,c|",
    "ci_test measured levels a,one|",
    "ci_test kendall numbers x+y,a+c|z",
    "effect levels a>a|",
    "effect levels a>one|",
    "effect levels one>a|",
    "effect levels c>d|",
    "effect levels a>c|",
    "effect levels a>d|nothing",
    "effect level counts a>b:d|",
    "effect level counts a>d|b method=regression",
    "effect levels c>a|d graph=Graph(a->d,c->a,c->d) compare=('p','q')",
    "discover codes level counts",
    "discover moments level counts",
    "discover moments failing duckdb anyway=True",
    "discover moments failing engine anyway=True",
    "discover measured failing duckdb anyway=True",
    "discover measured failing engine anyway=True",
    "discover tests levels test=unit-circle",
    "discover tests levels test=kendall",
    "discover tests levels test=crt",
    "discover tests levels test=g median=laplace, no delta",
    "discover priv-pc levels test=spearman",
    "discover svt-pc levels test=spearman",
    *AS_PRINTED,
    "command test data.csv --x a --y c --method kendall level csv",
}

CASES: list[Case] = [
    replace(case, refused=case.id in REFUSED)
    for part in (
        _tests,
        _sessions,
        _discoveries,
        _contributions,
        _estimators,
        _adapters,
        _effects,
        _screenings,
        _commands,
    )
    for case in part()
]
if len({case.id for case in CASES}) < len(CASES) or REFUSED - {case.id for case in CASES}:
    raise ValueError("two cases have the same id, or there is no case of an id that is said to be refused")
