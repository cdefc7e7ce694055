"""Contracts and Spark schemas: the derived schema, and rows brought into a contract's shape."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from codelake.contracts.semantic import SEMANTIC_KEY
from codelake.contracts.table import Column, Table
from codelake.contracts.types import DataType, parse_type
from codelake.errors import ContractBroken

_SCALARS: dict[str, T.DataType] = {
    "string": T.StringType(),
    "binary": T.BinaryType(),
    "boolean": T.BooleanType(),
    "tinyint": T.ByteType(),
    "smallint": T.ShortType(),
    "int": T.IntegerType(),
    "bigint": T.LongType(),
    "float": T.FloatType(),
    "double": T.DoubleType(),
    "date": T.DateType(),
    "timestamp": T.TimestampType(),
    "timestamp_ntz": T.TimestampNTZType(),
}

# a value of the left type is always a value of the right one
_WIDER = {
    "tinyint": ("smallint", "int", "bigint"),
    "smallint": ("int", "bigint"),
    "int": ("bigint", "double"),
    "float": ("double",),
    "void": tuple(_SCALARS),
}


def spark_type(parsed: DataType) -> T.DataType:
    if parsed.name == "array":
        return T.ArrayType(spark_type(parsed.items[0]))
    if parsed.name == "map":
        return T.MapType(spark_type(parsed.items[0]), spark_type(parsed.items[1]))
    if parsed.name == "struct":
        return T.StructType([T.StructField(n, spark_type(t)) for n, t in zip(parsed.names, parsed.items, strict=True)])
    return T.DecimalType(*parsed.decimal) if parsed.decimal else _SCALARS[parsed.name]


def spark_schema(table: Table) -> T.StructType:
    return T.StructType([_field(c) for c in table.columns])


def _field(column: Column) -> T.StructField:
    return T.StructField(
        column.name, spark_type(parse_type(column.type)), column.nullable, metadata=semantic_metadata(column)
    )


def semantic_metadata(column: Column) -> dict[str, str]:
    return {SEMANTIC_KEY: column.semantic.name} if column.semantic else {}


def named(expression: SparkColumn, column: Column) -> SparkColumn:
    """The expression under the column's name, carrying the column's semantic type with it."""
    metadata = semantic_metadata(column)
    return expression.alias(column.name, metadata=metadata) if metadata else expression.alias(column.name)


def handed(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """In one chunk: Spark makes nothing of a table without any, and silently ends at one that is empty."""
    if rows.num_rows == 0:
        rows = pa.Table.from_arrays([pa.array([], column.type) for column in rows.schema], schema=rows.schema)
    return spark.createDataFrame(rows.combine_chunks())


def check_semantics(rows: DataFrame, table: Table) -> None:
    """Refuse a stage's plan in which a column of one meaning feeds a column of another. Runs no job."""
    wrong = []
    for field in rows.schema.fields:
        carried = field.metadata.get(SEMANTIC_KEY)
        if carried is None or field.name not in table.column_names:
            continue
        wanted = table.column(field.name).semantic
        if wanted is None or wanted.name != carried:
            wrong.append((field.name, wanted.name if wanted else "no semantic type", carried))
    if wrong:
        raise ContractBroken(
            f"table {table.name}",
            expected="; ".join(f"{name} is a {wanted}" for name, wanted, _ in wrong),
            found="; ".join(f"{name} is fed by a {carried}" for name, _, carried in wrong),
            do="Nothing was written. Feed the column from one of its own meaning.",
        )


def conformed(rows: DataFrame, table: Table) -> DataFrame:
    """The rows with exactly the contract's columns, in its order. Only casts that lose nothing are made.

    Under schema mode `merge` and `overwrite`, columns that the contract does not know come along, behind.
    """
    given = {f.name: f.dataType.simpleString() for f in rows.schema.fields}
    if list(given.items()) == [(c.name, str(parse_type(c.type))) for c in table.columns]:
        return rows
    problems: list[str] = []
    selected: list[SparkColumn] = []
    for column in table.columns:
        wanted = str(parse_type(column.type))
        if column.name not in given:
            if column.default is not None:
                selected.append(named(F.expr(column.default).cast(wanted), column))
            elif column.nullable:
                selected.append(named(F.lit(None).cast(wanted), column))
            else:
                problems.append(f"{column.name}: missing, expected {wanted}")
            continue
        found = given[column.name]
        if found == wanted:
            selected.append(named(F.col(f"`{column.name}`"), column))
        elif wanted in _WIDER.get(found, ()):
            selected.append(named(F.col(f"`{column.name}`").cast(wanted), column))
        else:
            problems.append(f"{column.name}: expected {wanted}, found {found}")
    extra = [name for name in given if name not in table.column_names]
    if table.schema_mode == "strict":
        problems += [f"{name}: not in the contract, found {given[name]}" for name in extra]
    else:
        selected += [F.col(f"`{name}`") for name in extra]
    if problems:
        raise ContractBroken(
            f"table {table.name}: rows of another shape ({table.schema_mode} schema)",
            found="; ".join(problems),
            do="Nothing was written. Bring the rows into the contract's shape, or change the contract.",
        )
    return rows.select(*selected)
