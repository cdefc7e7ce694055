"""Rows against their contract: keys are unique, references lead somewhere, two engines read the same."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from codelake.contracts.table import Table
from codelake.delta.checks.finding import Finding
from codelake.delta.digest import embedded_digest, spark_digest
from codelake.delta.embedded import rows
from codelake.delta.lake import Lake

_SHOWN = 3


def contents(lake: Lake, contract: Table) -> Iterator[Finding]:
    """Every key once in the table, however wide the contract's gate compares; every reference to a row."""
    names = {contract.name, *(reference.table for reference in contract.references)}
    tables = {name: lake.log(name).delta_table for name in names if lake.exists(name)}
    if contract.key:
        key = ", ".join(_quoted(c) for c in contract.key)
        sql = f"SELECT {key}, count(*) AS n FROM {_quoted(contract.name)} GROUP BY {key} HAVING count(*) > 1"
        twice = rows(tables, sql)
        if twice.num_rows:
            yield _broken(contract, "key twice", f"each {', '.join(contract.key)} once", twice)
    for reference in contract.references:
        if not lake.exists(reference.table):
            yield Finding(contract.name, "reference to nothing", reference.name, "a table", "no such table")
            continue
        pairs = list(zip(reference.columns, reference.to_columns, strict=True))
        same = " AND ".join(f"a.{_quoted(a)} = b.{_quoted(b)}" for a, b in pairs)
        refers = " AND ".join(f"a.{_quoted(c)} IS NOT NULL" for c in reference.columns)
        columns = ", ".join(f"a.{_quoted(c)}" for c in reference.columns)
        sql = (
            f"SELECT DISTINCT {columns} FROM {_quoted(contract.name)} a "
            f"LEFT ANTI JOIN {_quoted(reference.table)} b ON {same} WHERE {refers}"
        )
        lost = rows(tables, sql)
        if lost.num_rows:
            yield _broken(contract, "reference to nothing", reference.name, lost)


def two_engines(lake: Lake, name: str) -> Iterator[Finding]:
    log = lake.log(name)
    embedded = embedded_digest(log)
    spark = spark_digest(lake.session.read.format("delta").option("versionAsOf", log.version).load(lake.uri(name)))
    if spark != embedded:
        yield Finding(name, "engines differ", f"version {log.version}", f"{spark} as Spark reads", f"{embedded}")


def _broken(contract: Table, fault: str, expected: str, found: pa.Table) -> Finding:
    shown = "; ".join(str(row) for row in found.slice(0, _SHOWN).to_pylist())
    return Finding(
        contract.name,
        fault,
        f"{found.num_rows} values",
        expected,
        shown,
        do="Commit the rows again, or restore the table: `codelake table restore`.",
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
