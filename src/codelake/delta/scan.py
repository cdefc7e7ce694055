"""Pinned reads. The one place where a stored table becomes a DataFrame, and where its shape is decided:
casts, defaults, renames, projections, the file of origin, and a restriction to certain files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.operations import SCANS
from codelake.contracts.table import Table
from codelake.contracts.types import parse_type
from codelake.delta.drift import type_text
from codelake.delta.engine import engine_errors
from codelake.delta.expressions import column_paths, parse_expression
from codelake.delta.log import Log
from codelake.delta.report import scan_report
from codelake.delta.run import At, Run, pin
from codelake.delta.schema import named
from codelake.errors import ContractBroken, UsageError

_FILE_PATH = "_metadata.file_path"


def scan(
    run: Run,
    table: Table,
    *,
    at: At = None,
    where: str | None = None,
    project: Mapping[str, str] | None = None,
    files: Sequence[str] | None = None,
    origin: str | None = None,
) -> DataFrame:
    """The table's rows at the run's pin, in the shape of today's contract.

    `where` and the values of `project` (alias to expression) are Spark SQL over the contract's columns.
    `files` are paths as the log names them; `origin` names a column that says which file a row came from.
    """
    spark = run.lake.session  # before any expression is made, which asks for one that is there
    pinned = pin(run, table, at=at)
    log = run.lake.log(table.name, version=pinned.version)
    log.require_files()
    if where is not None:
        parse_expression(where, table.column_names)
    for text in (project or {}).values():
        parse_expression(text, table.column_names)
    selected, options = _shape(table, log)
    if origin is not None:
        selected.append(_relative_path(run, table).alias(origin))
        options["origin"] = origin
    _note_scan(run, table, log, where, project, files, options)

    with engine_errors(f"table {table.name}, version {pinned.version}: scan"):
        rows = spark.read.format("delta").option("versionAsOf", pinned.version).load(run.lake.uri(table.name))
        if files is not None:
            rows = rows.where(_relative_path(run, table).isin(_known_files(log, files)))
        rows = rows.select(*selected)
        if where is not None:
            rows = rows.where(where)
        if project is not None:
            kept = [F.col(f"`{origin}`")] if origin else []
            rows = rows.select(*(F.expr(text).alias(alias) for alias, text in project.items()), *kept)
        return rows


def _shape(table: Table, log: Log) -> tuple[list[SparkColumn], dict[str, str]]:
    """The contract's columns made from the stored ones, and what was done to get there."""
    stored = {f["name"]: type_text(f["type"]) for f in log.fields}
    selected, options, lacking = [], {}, []
    for column in table.columns:
        wanted = str(parse_type(column.type))
        name = next((n for n in (column.name, *column.was) if n in stored), None)
        if name is None:
            if column.default is None and not column.nullable:
                lacking.append(column.name)
                continue
            value = F.expr(column.default or "NULL").cast(wanted)
            options[f"default.{column.name}"] = column.default or "NULL"
        else:
            value = F.col(f"`{name}`")
            if name != column.name:
                options[f"rename.{column.name}"] = name
            if stored[name] != wanted:
                # under ANSI mode a value that does not fit raises; none is turned into NULL
                value = value.cast(wanted)
                options[f"cast.{column.name}"] = f"{stored[name]} to {wanted}"
        selected.append(named(value, column))
    if lacking:
        raise ContractBroken(
            f"table {table.name}, version {log.version}",
            expected=f"the columns {', '.join(lacking)}, or a default for them in the contract",
            found=f"only {', '.join(stored)}",
            do="Declare `default` or `was` for the column, or read a newer version.",
        )
    return selected, options


def _columns_of(table: Table, text: str) -> set[str]:
    return {path[0].name.lower() for path in column_paths(parse_expression(text, table.column_names))}


def _relative_path(run: Run, table: Table) -> SparkColumn:
    """A row's file, as the log names it. Spark gives a URI with its own spelling of the root."""
    return F.regexp_extract(
        F.col(_FILE_PATH), f"/{_regex_text(table.name)}/((?:(?!/{_regex_text(table.name)}/).)*)$", 1
    )


def _regex_text(name: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else f"\\{c}" for c in name)


def _known_files(log: Log, files: Sequence[str]) -> list[str]:
    known = set(log.files.column("path").to_pylist())
    for path in files:
        if path not in known:
            raise UsageError(f"table {log.name}, version {log.version}", expected="files of that version", found=path)
    return list(files)


def _note_scan(
    run: Run,
    table: Table,
    log: Log,
    where: str | None,
    project: Mapping[str, str] | None,
    files: Sequence[str] | None,
    options: dict[str, str],
) -> None:
    # a column that is renamed, defaulted or cast has no statistics of its own: then every file is a candidate
    shaped = {key.partition(".")[2].lower() for key in options}
    report = scan_report(log, None if where is None or shaped & _columns_of(table, where) else where)
    for alias, text in (project or {}).items():
        options[f"project.{alias}"] = text
    if files is not None:
        options["files"] = str(len(files))
    run.note(
        SCANS,
        table_name=table.name,
        version=log.version,
        stage=run.stage,
        filter=where,
        n_files=report.n_files,
        n_candidates=report.n_candidates,
        n_pruned=report.n_pruned,
        n_bytes=report.n_bytes,
        n_rows=report.n_rows,
        from_version=None,
        options=options,
    )
