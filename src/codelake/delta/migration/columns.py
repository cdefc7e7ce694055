"""The columns of a dataset: the union of its files' columns, in types that a table can have.

A column that some files lack is NULL in their rows. Of two types, the wider one is taken where no value is lost.
Whatever else differs is refused, with the file and the column.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts.arrow import arrow_type
from codelake.contracts.table import Column, Layout, Table
from codelake.contracts.types import parse_type
from codelake.delta.migration.source import Source, SourceFile
from codelake.errors import ContractBroken, Damaged, UsageError

_SCALARS = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "tinyint"),
    (lambda t: pa.types.is_int16(t) or pa.types.is_uint8(t), "smallint"),
    (lambda t: pa.types.is_int32(t) or pa.types.is_uint16(t), "int"),
    (lambda t: pa.types.is_int64(t) or pa.types.is_uint32(t), "bigint"),
    (pa.types.is_uint64, "decimal(20,0)"),
    (lambda t: pa.types.is_float32(t) or pa.types.is_float16(t), "float"),
    (pa.types.is_float64, "double"),
    (lambda t: pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t), "string"),
    (lambda t: pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t), "binary"),
    (pa.types.is_date, "date"),
    (pa.types.is_null, "void"),
)
_WIDER = {
    ("tinyint", "smallint"): "smallint",
    ("tinyint", "int"): "int",
    ("tinyint", "bigint"): "bigint",
    ("smallint", "int"): "int",
    ("smallint", "bigint"): "bigint",
    ("int", "bigint"): "bigint",
    ("int", "double"): "double",
    ("float", "double"): "double",
}
_FORBIDDEN = " ,;{}()\n\t="


def contract_of(source: Source, name: str, *, partition_by: tuple[str, ...] = ()) -> Table:
    """A contract for the table that the dataset becomes. Its folders' `key=value` are columns too."""
    types: dict[str, str] = {}
    problems: list[str] = []
    for file in source.files:
        if file.problem or file.schema is None:
            continue
        for field in file.schema:
            try:
                found = type_of(field.type)
            except ValueError as error:
                problems.append(f"{file.path}, {field.name}: {error}")
                continue
            both = wider(types.get(field.name, "void"), found)
            if both is None:
                problems.append(f"{file.path}, {field.name}: {found}, elsewhere {types[field.name]}")
            else:
                types[field.name] = both
    if not types:
        named = "; ".join(f"{file.path}: {file.problem or 'no columns'}" for file in source.files[:10])
        raise Damaged(f"Parquet dataset {source.root}", expected="a file that can be read", found=named)
    for key, values in _partition_values(source).items():
        if key not in types:
            whole = all(v is None or v.lstrip("-").isdigit() for v in values)
            types[key] = "bigint" if whole and any(values) else "string"
    problems += _bad_names(types)
    if problems:
        raise ContractBroken(
            f"Parquet dataset {source.root}: columns that no table can have",
            found="; ".join(problems[:20]),
            do="Nothing was written. Write these files with other names or types.",
        )
    if lost := [key for key in partition_by if key not in types]:
        raise UsageError("--partition-by", expected=f"one of the columns {', '.join(types)}", found=", ".join(lost))
    columns = tuple(Column(n, "string" if t == "void" else t, "", nullable=True) for n, t in types.items())
    return Table(
        name,
        f"Imported from the Parquet dataset {source.root.name}.",
        columns,
        layout=Layout(partition_by=partition_by),
        schema_mode="merge",
    )


def type_of(found: pa.DataType) -> str:
    """The type of a column, as a contract writes it."""
    if pa.types.is_dictionary(found):
        return type_of(found.value_type)
    if pa.types.is_decimal(found):
        if found.precision > 38 or found.scale < 0:
            raise ValueError(f"{found} is too wide")
        return f"decimal({found.precision},{found.scale})"
    if pa.types.is_timestamp(found):
        return "timestamp" if found.tz else "timestamp_ntz"
    if pa.types.is_list(found) or pa.types.is_large_list(found) or pa.types.is_fixed_size_list(found):
        return f"array<{_inner(found.value_type)}>"
    if pa.types.is_map(found):
        return f"map<{_inner(found.key_type)},{_inner(found.item_type)}>"
    if pa.types.is_struct(found):
        if found.num_fields == 0:
            raise ValueError("a struct without fields")
        return f"struct<{','.join(f'{f.name}:{_inner(f.type)}' for f in found)}>"
    for test, name in _SCALARS:
        if test(found):
            return name
    raise ValueError(f"{found} is no type of a table")


def _inner(found: pa.DataType) -> str:
    name = type_of(found)
    return "string" if name == "void" else name


def wider(one: str, other: str) -> str | None:
    """The one of two types that has all values of both, if there is one."""
    if one == other or other == "void":
        return one
    if one == "void":
        return other
    return _WIDER.get((one, other)) or _WIDER.get((other, one))


def _partition_values(source: Source) -> dict[str, set[str | None]]:
    found: dict[str, set[str | None]] = {}
    for file in source.files:
        for key, value in file.partition.items():
            found.setdefault(key, set()).add(value)
    return found


def _bad_names(names: Iterable[str]) -> list[str]:
    problems: list[str] = []
    seen: dict[str, str] = {}
    for name in names:
        if not name or any(c in _FORBIDDEN for c in name):
            problems.append(f"{name!r}: a name with one of {_FORBIDDEN!r}")
        if name.lower() in seen:
            problems.append(f"{name}: the same name as {seen[name.lower()]} to engines that ignore case")
        seen[name.lower()] = name
    return problems


def rows_of(source: Source, file: SourceFile, table: Table) -> pa.Table:
    """The rows of a file with the contract's columns, in its order. A value that does not fit raises ValueError."""
    rows = source.open(file).read()
    columns = []
    for column in table.columns:
        wanted = arrow_type(parse_type(column.type))
        if column.name in rows.column_names:
            values = rows.column(column.name)
            if pa.types.is_dictionary(values.type):
                values = pc.cast(values, values.type.value_type)
            columns.append(values.cast(wanted))
        elif column.name in file.partition:
            value = file.partition[column.name]
            typed = int(value) if value is not None and column.type == "bigint" else value
            columns.append(pa.array([typed] * rows.num_rows, wanted))
        else:
            columns.append(pa.nulls(rows.num_rows, wanted))
    return pa.table(columns, names=list(table.column_names))
