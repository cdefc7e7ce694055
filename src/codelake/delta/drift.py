"""How a table differs from its contract, column by column and property by property."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import sqlglot

from codelake.contracts.table import Table
from codelake.contracts.types import parse_type
from codelake.delta.expressions import Spark4
from codelake.delta.layout import table_properties
from codelake.delta.log import Log

Kind = Literal[
    "missing column",
    "extra column",
    "retyped",
    "renamed",
    "nullable",
    "partitioning",
    "clustering",
    "property",
    "check",
]

_TYPE_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
CONSTRAINT = "delta.constraints."
NOT_SET = "not set"


@dataclass(frozen=True)
class Drift:
    kind: Kind
    name: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: expected {self.expected}, found {self.found}"


def drift(table: Table, log: Log) -> tuple[Drift, ...]:
    return (*_column_drift(table, log), *_layout_drift(table, log), *_property_drift(table, log))


def _column_drift(table: Table, log: Log) -> list[Drift]:
    found: list[Drift] = []
    fields = {f["name"]: f for f in log.fields}
    explained = set()
    for column in table.columns:
        wanted = str(parse_type(column.type))
        old = next((name for name in column.was if name in fields), None)
        if column.name in fields:
            field = fields[column.name]
        elif old is not None:
            field = fields[old]
            explained.add(old)
            found.append(Drift("renamed", column.name, column.name, old))
        else:
            found.append(Drift("missing column", column.name, wanted, "no such column"))
            continue
        stored = type_text(field["type"])
        if stored != wanted:
            found.append(Drift("retyped", column.name, wanted, stored))
        if bool(field["nullable"]) != column.nullable:
            words = {True: "nullable", False: "NOT NULL"}
            found.append(Drift("nullable", column.name, words[column.nullable], words[bool(field["nullable"])]))
    for name, field in fields.items():
        if name not in table.column_names and name not in explained and table.schema_mode == "strict":
            found.append(Drift("extra column", name, "no such column", type_text(field["type"])))
    return found


def _layout_drift(table: Table, log: Log) -> list[Drift]:
    found = []
    wanted, stored = list(table.layout.partition_by), log.partition_columns
    if wanted != stored:
        found.append(Drift("partitioning", "partition_by", ", ".join(wanted) or "none", ", ".join(stored) or "none"))
    if bool(table.layout.cluster_by) != ("clustering" in log.protocol[2]):
        found.append(
            Drift(
                "clustering",
                "cluster_by",
                ", ".join(table.layout.cluster_by) or "none",
                "clustered" if not table.layout.cluster_by else "none",
            )
        )
    return found


def _property_drift(table: Table, log: Log) -> list[Drift]:
    found = []
    stored = log.properties
    for name, value in table_properties(table).items():
        if name.startswith("delta.feature."):
            continue  # these become part of the protocol and leave the properties
        if stored.get(name) != value:
            found.append(Drift("property", name, value, stored.get(name, NOT_SET)))
    for check in table.all_checks:
        if check.action == "fail" and not same_expression(stored.get(CONSTRAINT + check.name), check.sql):
            found.append(Drift("check", check.name, check.sql, stored.get(CONSTRAINT + check.name, NOT_SET)))
    return found


def same_expression(stored: str | None, wanted: str) -> bool:
    """Whether two texts are one expression. ADD CONSTRAINT keeps a text with spaces of its own."""
    return stored is not None and _canonical(stored) == _canonical(wanted)


@cache
def _canonical(text: str) -> str:
    return sqlglot.parse_one(text, dialect=Spark4).sql(dialect=Spark4)


def type_text(stored: Any) -> str:
    """A type as Delta's log spells it, as Spark's SQL spells it."""
    if isinstance(stored, str):
        return _TYPE_NAMES.get(stored, stored)
    if stored["type"] == "array":
        return f"array<{type_text(stored['elementType'])}>"
    if stored["type"] == "map":
        return f"map<{type_text(stored['keyType'])},{type_text(stored['valueType'])}>"
    inner = ",".join(f"{f['name']}:{type_text(f['type'])}" for f in stored["fields"])
    return f"struct<{inner}>"
