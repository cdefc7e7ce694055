"""Contracts as Arrow: the schema, and rows made in Python as an Arrow table of that schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from codelake.contracts.table import Table
from codelake.contracts.types import DataType, parse_type
from codelake.errors import ContractBroken

_SCALARS: dict[str, pa.DataType] = {
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def arrow_type(parsed: DataType) -> pa.DataType:
    if parsed.name == "array":
        return pa.list_(arrow_type(parsed.items[0]))
    if parsed.name == "map":
        return pa.map_(arrow_type(parsed.items[0]), arrow_type(parsed.items[1]))
    if parsed.name == "struct":
        return pa.struct([pa.field(n, arrow_type(t)) for n, t in zip(parsed.names, parsed.items, strict=True)])
    return pa.decimal128(*parsed.decimal) if parsed.decimal else _SCALARS[parsed.name]


def arrow_schema(table: Table) -> pa.Schema:
    return pa.schema([pa.field(c.name, arrow_type(parse_type(c.type)), c.nullable) for c in table.columns])


def arrow_table(table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as dictionaries, in the contract's shape. A value of another type is refused by name."""
    schema = arrow_schema(table)
    columns = []
    for column in schema:
        values = [row.get(column.name) for row in rows]
        if pa.types.is_map(column.type):
            values = [None if v is None else list(v.items()) for v in values]
        try:
            columns.append(pa.array(values, column.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise ContractBroken(
                f"table {table.name}, column {column.name}", expected=str(column.type), found=str(error)
            ) from error
    return pa.Table.from_arrays(columns, schema=schema)
