"""A script that makes a catalogue know the lake: one statement a table and a view, for Spark SQL, Databricks, or any
catalogue that takes Delta tables by their location. The catalogue then opens the newest version of each table; who
must not see half a run reads at the versions of the table `runs`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from codelake.contracts.table import Table
from codelake.contracts.views import VIEWS, View
from codelake.delta.create import registration
from codelake.delta.lake import Lake
from codelake.errors import UsageError


def registration_script(
    lake: Lake, tables: Sequence[Table], *, schema: str, views: Sequence[View] = VIEWS
) -> list[str]:
    """`schema` is `schema` or `catalogue.schema`. Tables that are not made yet are left out, and views on them."""
    if not re.fullmatch(r"[^.`]+(\.[^.`]+)?", schema):
        raise UsageError("schema", expected="SCHEMA or CATALOGUE.SCHEMA", found=schema)
    there = [table for table in tables if lake.exists(table.name)]
    names = {table.name for table in there}
    script = [f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)}"]
    for table in there:
        name = f"{_quoted(schema)}.`{table.name}`"
        script.append(registration(name, _location(lake, table.name), table.meaning))
    for view in views:
        if _tables_of(view) <= names:
            script.append(f"CREATE OR REPLACE VIEW {_quoted(schema)}.`{view.name}` AS {_qualified(view, schema)}")
    return script


def _tables_of(view: View) -> set[str]:
    return {table.name for table in sqlglot.parse_one(view.sql, dialect="spark").find_all(exp.Table)}


def _qualified(view: View, schema: str) -> str:
    tree = sqlglot.parse_one(view.sql, dialect="spark")
    parts = schema.split(".")
    for table in tree.find_all(exp.Table):
        table.set("db", exp.to_identifier(parts[-1], quoted=True))
        if len(parts) > 1:
            table.set("catalog", exp.to_identifier(parts[0], quoted=True))
    return tree.sql(dialect="spark")


def _location(lake: Lake, name: str) -> str:
    return lake.uri(name) if not lake.store.is_local else f"file://{lake.uri(name)}"


def _quoted(schema: str) -> str:
    return ".".join(f"`{part}`" for part in schema.split("."))
