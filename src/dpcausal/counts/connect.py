"""``dc.connect``: rows that stay where they are, in files or on an engine, as a data source for every call on tables.

Files and tables of a DuckDB file are read in chunks and counted within this process (``stream.py``). The others are
counted by their engine, through Ibis, and need an extra: ``dpcausal[postgres]``, ``dpcausal[spark]``, and so on.
"""

from __future__ import annotations

import logging
import re
import weakref
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from dpcausal.core import process
from dpcausal.core.errors import EngineError, InputError, did_you_mean
from dpcausal.core.redact import file_name, ledger_name
from dpcausal.counts.duckdb_table import READS_FILES, quoted, reads_stored_tables
from dpcausal.counts.engine import EngineCounts, EngineTable
from dpcausal.counts.expressions import DIALECTS, Dialect
from dpcausal.counts.stream import StreamCounts, count_files, count_table
from dpcausal.data.read import warn_of_draft
from dpcausal.data.schema import Schema

if TYPE_CHECKING:
    from ibis.expr import types as ir

ENGINES = {
    "duckdb": "DuckDB",
    "pyspark": "Spark",
    "postgres": "PostgreSQL",
    "bigquery": "BigQuery",
    "snowflake": "Snowflake",
    "trino": "Trino",
}
_EXTRAS = {"pyspark": "spark"}  # where the extra is not called like the backend
DATABASES = (".duckdb", ".ddb")  # how names of DuckDB files end
_TABLES = """
    SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END
    FROM information_schema.tables WHERE table_catalog = current_catalog() ORDER BY table_schema, table_name
"""
_CLOSED = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
}  # a name is a table or nothing
_TEXT_FORMATS = ("csv", "json", "xml")  # of Spark: their types are guessed from cells
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_PARQUET = re.compile(r"\.(parquet|pq)(/?|/\*.*)$", re.IGNORECASE)


def connect(
    source: Any,
    schema: Schema,
    table: str | None = None,
    *,
    unit: str | None = None,
    rows_per_unit: int | None = None,
    order_by: str | None = None,
    memory_limit: int | None = None,
) -> StreamCounts | EngineCounts:
    """Return a data source for rows that stay where they are.

    It is used like a data set: ``discover``, ``ci_test`` by a test on tables, ``effect``. Rows are coded as
    ``dc.read`` codes them, cell for cell, and counted where they are; what comes here are counts.

    **Guarantee.** No query holds a value that was read from a row, and what is asked follows from public numbers and
    from what was released. The engine's operators see its rows and the queries: the promise is about what this package
    releases. Credentials show in no result, statement or error.

    Parameters
    ----------
    source : path, str or Ibis table
        A file, or a glob of files, that ``dc.read`` takes, best Parquet; a DuckDB file (``clinic.duckdb``); a URL,
        ``postgresql://user@host/database``, ``spark://host:port`` (``spark://local[2]`` starts Spark here),
        ``duckdb:///clinic.duckdb``, and whatever else Ibis connects to among BigQuery, Snowflake and Trino; or an Ibis
        table of one of these.
    schema : Schema
        The declared columns; others are not read.
    table : str, optional
        The table, ``name`` or ``schema.name``; with Spark also the path of Parquet files. Needed with a URL, and with a
        DuckDB file that holds more than one.
    unit, rows_per_unit, order_by
        A person is the unit of privacy, as in ``dc.read``. Rows of an engine have no place, so that ``order_by`` is the
        name of a column there.
    memory_limit : int, optional
        Bytes that rows may take here; a quarter of this machine's memory unless given. Where they take more, tables
        are counted where the rows are, a pass for each batch of tables.

    Returns
    -------
    StreamCounts or EngineCounts

    Raises
    ------
    SchemaError
        If a declared column is missing, or a numeric one holds no numbers.
    InputError
        If there is no such source or table, an extra is not installed, or a type can't be coded on the engine.
    EngineError
        If the engine can't be reached.

    Examples
    --------
    >>> import tempfile
    >>> import dpcausal as dc
    >>> file = tempfile.NamedTemporaryFile(suffix=".csv")
    >>> _ = file.write(b"smoke\\nno\\nyes\\nyes\\n")
    >>> file.flush()
    >>> data = dc.connect(file.name, dc.Schema(smoke=dc.Categorical(["no", "yes"])))
    >>> data.table(["smoke"]).tolist()
    [1, 2]
    """
    if isinstance(schema, Schema):
        schema = schema.with_unit(unit, rows_per_unit, order_by)
    return open_counts(source, schema, table, memory_limit=memory_limit)


def open_counts(
    source: Any,
    schema: Schema,
    table: str | None = None,
    *,
    memory_limit: int | None = None,
    count: bool = True,
) -> StreamCounts | EngineCounts:
    """Connect as ``connect`` does; with ``count=False`` no row is read before a table is requested."""
    if not isinstance(schema, Schema):
        raise InputError(f"schema must be a Schema, not {type(schema).__name__}: see Schema.from_toml")
    warn_of_draft(schema)
    if (there := engine_table(source, table)) is not None:
        return EngineCounts(there, schema, memory_limit=memory_limit)
    if not isinstance(source, str | PathLike):
        raise InputError(
            f"a source is a file, a URL or an Ibis table, not {type(source).__name__}; rows in memory go to dc.read"
        )
    if (path := database_path(source)) is not None:
        connection, name = duckdb_table(path, table)
        counts = count_table(connection, name, schema, memory_limit=memory_limit, count=count)
        counts.file = path.absolute()
        return counts
    if table is not None:
        raise InputError("a file is one table: leave table out, or name a DuckDB file or a URL")
    return count_files(source, schema, memory_limit=memory_limit, count=count)


def is_database(path: Path) -> bool:
    """Return whether a file is one of DuckDB, by its name or its first bytes."""
    if path.suffix.lower() in DATABASES:
        return True
    if path.suffix.lower() not in ("", ".db"):
        return False
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def duckdb_table(path: Path, table: str | None) -> tuple[Any, str]:
    """Return a DuckDB file, opened for reading, and the name of the table that is meant.

    No other file can be read through it.
    """
    import duckdb

    name = file_name(str(path))
    if not path.is_file():
        raise InputError(f"{name}: no such file")
    try:
        connection = duckdb.connect(str(path), read_only=True, config=_CLOSED)
        held = [found for (found,) in connection.execute(_TABLES).fetchall()]
    except duckdb.Error:
        connection = None
    if connection is None:
        raise InputError(
            f"{name} can't be opened by DuckDB: no database, or it is open in this process, or for writing in another"
        )
    if not table and len(held) != 1:
        which = f"{', '.join(held[:5])}{', ...' if len(held) > 5 else ''}" if held else "it holds none"
        raise InputError(f"{name} is a DuckDB file: name a table of it (table=, --table): {which}")
    return connection, table or held[0]


def engine_table(source: Any, table: str | None) -> EngineTable | None:
    """Return a table on an engine, by URL or as an Ibis table; None for what is no such source."""
    if isinstance(source, str) and (found := _URL.match(source)) and found[1].lower() != "duckdb":
        if not table:
            raise InputError(f"{found[0]}... holds more than one table: name one (table=, --table)")
        return _at_url(source, found[1].lower(), table)
    is_expression = type(source).__module__.partition(".")[0] == "ibis"
    return _of_expression(source) if is_expression else None


def database_path(source: Any) -> Path | None:
    """Return the DuckDB file that a path or URL names; None for what is no such source."""
    if not isinstance(source, str | PathLike):
        return None
    if (found := _URL.match(str(source))) and found[1].lower() == "duckdb":
        return Path(unquote(str(source).partition("://")[2].removeprefix("/")))
    return Path(source) if is_database(Path(source)) else None


# ---- through Ibis


def _at_url(url: str, scheme: str, table: str) -> EngineTable:
    """Return a table at a URL of an engine."""
    backends = {"postgresql": "postgres", "spark": "pyspark"} | {name: name for name in ENGINES}
    if scheme not in backends:
        known = ", ".join(("duckdb", "postgresql", "spark", "bigquery", "snowflake", "trino"))
        raise InputError(
            f"no engine is called {scheme!r}{did_you_mean(scheme, backends)}: a URL starts with one of {known}"
        )
    name = backends[scheme]
    if find_spec("ibis") is None:
        raise InputError(f'this needs Ibis: pip install "dpcausal[{_EXTRAS.get(name, name)}]"')
    place = ledger_name(url) if name != "pyspark" else url
    label = f"{file_name(table)} at {place}"

    def reach() -> Any:
        match name:
            case "pyspark":
                return _spark(url)
            case "postgres":
                return _postgres(url)
        import ibis

        return ibis.connect(url)

    return _described(name, label, place, reach, lambda backend: _table_of(backend, table))


def _described(
    name: str, label: str, place: str, reach: Callable[[], Any], find: Callable[[Any], ir.Table]
) -> EngineTable:
    """Return an engine's table with its dialect, size and label; ``open`` connects anew."""
    engine = ENGINES[name]
    backend: list[Any] = []  # the last one

    def connected() -> Any:
        fault: InputError | None = None
        try:
            backend[:] = [reach()]
        except ImportError:
            extra = _EXTRAS.get(name, name)
            fault = InputError(f'the driver of {engine} is not installed: pip install "dpcausal[{extra}]"')
        except InputError as error:
            fault = error
        except Exception:
            fault = EngineError(f"{engine} at {place} can't be reached, or refuses the login")
        if fault is not None:
            raise fault  # outside the except block: a driver's own words may hold a password
        return backend[0]

    def opened() -> ir.Table:
        live = connected()
        try:
            found = find(live)
        except Exception:
            found = None
        if found is None:
            raise InputError(f"{label}: no such table, or no right to read it")
        return _stored(live, found, label)

    def size() -> int | None:
        return _table_size(backend[0], find(backend[0])) if backend else None

    table = opened()
    dialect = _dialect(name, backend[0], table)
    unused = [table]  # of the connection that was just made
    return EngineTable(
        engine,
        label,
        dialect,
        lambda: unused.pop() if unused else opened(),
        remote=name != "duckdb",
        size=size,
    )


def _of_expression(source: Any) -> EngineTable:
    """Return an Ibis table as a table of its engine; refuse any other object of Ibis."""
    from ibis.expr import types as ir

    if not isinstance(source, ir.Table):
        raise InputError("a source must be an Ibis table, not a column or a number")
    backend = source.get_backend()
    if backend.name not in ENGINES:
        raise InputError(
            f"Ibis' {backend.name} is not one of {', '.join(ENGINES)}: write Parquet files, and connect to those"
        )
    if backend.name == "pyspark":
        _silence_spark()
    dialect = _dialect(backend.name, backend, source)
    return EngineTable(
        ENGINES[backend.name],
        "the table",
        dialect,
        lambda: _stored(backend, _again(backend, source), "the table"),
        remote=backend.name != "duckdb",
        size=lambda: _table_size(backend, source),
    )


def _again(backend: Any, table: ir.Table) -> ir.Table:
    """Return the table as it now is in the database; an expression unchanged."""
    from ibis.expr import operations as ops

    node = table.op()
    if not isinstance(node, ops.DatabaseTable):
        return table
    space = node.namespace
    place = (space.catalog, space.database) if space.catalog else space.database
    return backend.table(node.name, database=place)


def _stored(backend: Any, table: ir.Table, label: str) -> ir.Table:
    """Return the table; refuse one whose rows must be read to know its types.

    Those are rows in memory, files that DuckDB opens by itself, and text files of Spark, through views too. Other
    engines read only what is in their catalogue.
    """
    from ibis.expr import operations as ops

    if table.op().find(ops.InMemoryTable):
        raise InputError(f"{label} holds rows in memory: give those to dc.read")
    match backend.name:
        case "duckdb":
            passes = reads_stored_tables(backend.con, backend.compile(table))
        case "pyspark":
            passes = not _spark_text_files(backend, table)
        case _:
            passes = True
    if not passes:
        raise InputError(f"{label} {READS_FILES}")
    return table


def _spark_text_files(backend: Any, table: ir.Table) -> bool:
    """Return whether a plan of Spark reads text files: analysed, not run."""
    import ibis

    plan = backend._session.sql(ibis.to_sql(table, dialect="pyspark"))._jdf.queryExecution().analyzed()
    for part in (plan, *_each(plan.subqueriesAll())):
        for leaf in _each(part.collectLeaves()):
            relation = leaf.relation() if leaf.getClass().getSimpleName() == "LogicalRelation" else leaf
            is_files = relation.getClass().getSimpleName() == "HadoopFsRelation"
            if is_files and relation.fileFormat().toString().lower() in _TEXT_FORMATS:
                return True
    return False


def _each(sequence: Any) -> list[Any]:
    """Return the members of a Scala sequence as a list."""
    return [sequence.apply(i) for i in range(sequence.size())]


def _table_of(backend: Any, table: str) -> ir.Table:
    """Return a table by its name, ``schema.name`` too; with Spark also Parquet files by their path."""
    if backend.name == "pyspark" and _PARQUET.search(table):
        return backend.read_parquet(table)
    place, _, name = table.rpartition(".")
    return backend.table(name, database=place) if place else backend.table(name)


def _postgres(url: str) -> Any:
    """Connect to PostgreSQL, for reading."""
    import ibis

    parts = urlsplit(url)
    backend = ibis.postgres.connect(
        host=parts.hostname or "localhost",
        port=parts.port or 5432,
        user=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
        database=unquote(parts.path.removeprefix("/")) or None,
        **dict(parse_qsl(parts.query)),  # sslmode and the like
    )
    backend.con.execute("SET default_transaction_read_only = on")
    backend.con.commit()
    weakref.finalize(backend, _hang_up, backend.con, process.token()).atexit = False
    return backend


def _hang_up(connection: Any, owner: tuple[int, bytes]) -> None:
    """Close a connection, unless it belongs to another process."""
    if owner == process.token():
        connection.close()


def _silence_spark() -> None:
    """Turn off loggers of Spark's Python side, which may quote cells."""
    for name in ("py4j", "pyspark", "SQLQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _spark(url: str) -> Any:
    """Connect to a Spark master; ``spark://local[2]`` is Spark within this machine."""
    import ibis
    from pyspark.sql import SparkSession

    place = url.removeprefix("spark://")
    here = place.startswith("local") or place.startswith("127.0.0.1")
    builder = SparkSession.builder.master(place if place.startswith("local") else url).appName("dpcausal")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",  # its logs may quote cells
    }
    if place.startswith("local"):
        settings |= {"spark.sql.shuffle.partitions": "8"}  # two hundred small tasks take longer than the work
    if here:
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for key, value in settings.items():
        builder = builder.config(key, value)
    _silence_spark()
    active = SparkSession.getActiveSession()
    if active is not None and active.sparkContext._jsc is None:  # stopped: a new one is made
        SparkSession._instantiatedSession = None
    return ibis.pyspark.connect(builder.getOrCreate())


# ---- what the catalogue says


def _dialect(name: str, backend: Any, table: ir.Table) -> Dialect:
    """Return the dialect, with columns whose texts are not compared byte by byte: from the catalogue, not from rows."""
    dialect = DIALECTS[name]
    try:
        if name == "postgres":
            return replace(dialect, collated=_postgres_collated(backend, table))
        if name == "pyspark":
            return _spark_dialect(dialect, table)
        return dialect
    except Exception:
        pass
    raise EngineError(
        f"{ENGINES[name]} does not tell the types of the columns"
    )  # none of the driver's own words


def _postgres_collated(backend: Any, table: ir.Table) -> frozenset[str]:
    """Return the text columns of ``char(n)``, or of a collation under which different texts may be equal.

    The statement is described and not run: a view or an expression has its types too.
    """
    import ibis

    texts = [name for name, type_ in table.schema().items() if type_.is_string()]
    if not texts:
        return frozenset()
    inner = ibis.to_sql(table.select(*texts), dialect="postgres")
    # as text: a column keeps its collation, and an enumeration, which has none, is no error
    parts = ", ".join(
        f"pg_typeof({quoted(name)})::text, pg_collation_for({quoted(name)}::text)" for name in texts
    )
    # one row of NULLs has the types and collations of all rows
    sql = f"SELECT {parts} FROM (SELECT 1) one LEFT JOIN (SELECT * FROM ({inner}) rows WHERE false) t ON true"
    with backend.con.cursor() as cursor:
        described = cursor.execute(sql).fetchone()
        cursor.execute("SELECT quote_ident(collname) FROM pg_collation WHERE NOT collisdeterministic")
        loose = {name for (name,) in cursor.fetchall()}
    backend.con.commit()
    found = set()
    for i, name in enumerate(texts):
        type_, collation = described[2 * i], described[2 * i + 1]
        base = (collation or "").rpartition(".")[2] if collation else ""
        if type_ in ("character", "bpchar") or collation is None or base in loose:
            found.add(name)
    return frozenset(found)


def _spark_dialect(dialect: Dialect, table: ir.Table) -> Dialect:
    """Return the dialect with text columns that have a collation other than by bytes, and columns of instants."""
    import ibis
    from pyspark.sql import types

    session = table.get_backend()._session
    fields = session.sql(ibis.to_sql(table, dialect="pyspark")).schema.fields
    collated = frozenset(
        field.name
        for field in fields
        if isinstance(field.dataType, types.StringType)
        and (getattr(field.dataType, "collation", None) not in (None, "UTF8_BINARY"))
    )
    zoned = frozenset(field.name for field in fields if isinstance(field.dataType, types.TimestampType))
    return replace(dialect, collated=collated, zoned=zoned)


def _table_size(backend: Any, table: ir.Table) -> int | None:
    """Return the bytes of a table, where the engine reports them without reading it; else None."""
    import ibis

    name = backend.name
    if name == "postgres":
        from ibis.expr import operations as ops

        node = table.op()
        if not isinstance(node, ops.DatabaseTable):
            return None
        place = ".".join(quoted(part) for part in (node.namespace.database, node.name) if part)
        with backend.con.cursor() as cursor:
            found = cursor.execute("SELECT pg_total_relation_size(%s::regclass)", (place,)).fetchone()
        backend.con.commit()
        return None if found is None else int(found[0])
    if name == "pyspark":
        plan = backend._session.sql(ibis.to_sql(table, dialect="pyspark"))._jdf.queryExecution()
        return int(plan.optimizedPlan().stats().sizeInBytes().toString())
    return None
