"""Statistics that lie: a filter would rule out files that hold matching rows, and nobody would notice."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from codelake.delta.checks.finding import Finding
from codelake.delta.checks.state import Action

_CUT = timedelta(milliseconds=1)
"""Spark writes milliseconds and cuts off what is below."""


def lying_statistics(table: str, path: str, one: Action, parquet: pq.ParquetFile) -> Iterator[Finding]:
    if not one.get("stats"):
        return
    try:
        said = dict(json.loads(one["stats"]))
    except ValueError as error:
        yield Finding(table, "corrupt statistics", path, "statistics as JSON", str(error))
        return
    n_rows = parquet.metadata.num_rows
    if said.get("numRecords") != n_rows:
        yield _lie(table, path, f"{n_rows} rows", said.get("numRecords"))
    columns = {parquet.schema.column(i).path: i for i in range(len(parquet.schema))}
    least, most = _leaves(said.get("minValues")), _leaves(said.get("maxValues"))
    nulls = _leaves(said.get("nullCount"))
    for name in sorted({*least, *most, *nulls} & set(columns)):
        low, high, n_null = _actual(parquet, columns[name], name)
        if nulls.get(name) is not None and n_null is not None and nulls[name] != n_null:
            yield _lie(table, path, f"{n_null} NULLs in {name}", nulls[name])
        if low is None or high is None:
            continue
        if least.get(name) is not None and _below(low, _as(least[name], low)):
            yield _lie(table, path, f"a minimum of {name} up to {low}", least[name])
        if most.get(name) is not None and _below(_as(most[name], high), _cut(high)):
            yield _lie(table, path, f"a maximum of {name} from {high} on", most[name])


def _lie(table: str, path: str, expected: str, found: object) -> Finding:
    return Finding(
        table,
        "statistics lie",
        path,
        expected,
        str(found),
        do="Filters may miss rows. Rewrite the file: `codelake table optimize --full`.",
    )


def _leaves(values: Mapping[str, Any] | None, above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in (values or {}).items():
        if isinstance(value, Mapping):
            found |= _leaves(value, f"{above}{name}.")
        else:
            found[above + name] = value
    return found


def _actual(parquet: pq.ParquetFile, index: int, name: str) -> tuple[Any, Any, int | None]:
    """Least and greatest value and the NULLs of a column: from the footer, or from its rows where that has none."""
    groups = [parquet.metadata.row_group(i).column(index) for i in range(parquet.metadata.num_row_groups)]
    found = [group.statistics for group in groups]
    nulls = [s.null_count if s is not None and s.has_null_count else None for s in found]
    n_null = None if None in nulls else sum(n for n in nulls if n is not None)
    if found and all(s is not None and s.has_min_max for s in found):
        return min(s.min for s in found), max(s.max for s in found), n_null
    column = parquet.read(columns=[name])
    for part in name.split("."):
        column = column.column(part) if isinstance(column, pa.Table) else pc.struct_field(column, part)
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        return None, None, n_null
    bounds = pc.min_max(column).as_py()
    return bounds["min"], bounds["max"], column.null_count


def _as(said: Any, like: Any) -> Any:
    if isinstance(like, datetime):
        moment = datetime.fromisoformat(str(said))
        if like.tzinfo is None:
            return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if isinstance(like, date):
        return date.fromisoformat(str(said))
    if isinstance(like, Decimal):
        return Decimal(str(said))
    return said


def _cut(value: Any) -> Any:
    return value - _CUT if isinstance(value, datetime) else value


def _below(one: Any, other: Any) -> bool:
    if isinstance(one, str) != isinstance(other, str) or isinstance(one, bytes):
        return False  # a file of another schema: its own check says so
    if any(isinstance(v, float) and math.isnan(v) for v in (one, other)):
        return False
    return bool(one < other)
