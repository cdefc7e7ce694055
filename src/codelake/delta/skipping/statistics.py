"""What the log says of each file: which columns have statistics at all, and their values file by file.

The two are apart because Delta treats them so: a column outside the table's statistics rules nothing out,
while a column inside them whose value a file lacks makes that file a candidate, whatever else is known of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from codelake.delta.skipping.values import is_numeric

MIN, MAX, NULL_COUNT, N_RECORDS = "min", "max", "null_count", "num_records"
_DEFAULT_COLUMNS = 32
_LONGEST = (1 << 63) - 1


class Statistics:
    def __init__(
        self,
        files: pa.Table,
        fields: Sequence[Mapping[str, Any]],
        partition_columns: Sequence[str],
        properties: Mapping[str, str],
    ) -> None:
        self.files = files
        data = [field for field in fields if field["name"] not in partition_columns]
        if names := properties.get("delta.dataSkippingStatsColumns"):
            leaves = _named_leaves(data, _split_names(names))
        else:
            n = int(properties.get("delta.dataSkippingNumIndexedCols", _DEFAULT_COLUMNS))
            leaves = list(_leaves(data))
            leaves = leaves if n < 0 else leaves[:n]
        self._types: dict[tuple[str, ...], str] = dict(leaves)
        self.values = cache(self._values)

    def has(self, stat: str, column: tuple[str, ...]) -> bool:
        """Whether the table keeps this statistic of this column, by its physical name."""
        if stat == N_RECORDS:
            return True
        type_ = self._types.get(column)
        return type_ is not None and (stat == NULL_COUNT or _has_range(type_))

    def _values(self, stat: str, column: tuple[str, ...] = ()) -> list[Any]:
        """One value a file; None where the file lacks it."""
        name = ".".join((stat, *column))
        if name not in self.files.column_names:
            return [None] * self.files.num_rows
        found = plain_values(self.files.column(name))
        if stat == MAX and self._types[column] in ("timestamp", "timestamp_ntz"):
            # Spark writes milliseconds and cuts off what is below: the true maximum may be almost one more.
            return [value if value is None else min(value + 1000, _LONGEST) for value in found]
        return found


def plain_values(column: pa.ChunkedArray) -> list[Any]:
    """Python values as `codelake.delta.skipping.values` has them."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return list(column.to_pylist())


def _has_range(type_: str) -> bool:
    return is_numeric(type_) or type_ in ("date", "timestamp", "timestamp_ntz", "string")


def _physical(field: Mapping[str, Any]) -> str:
    return str(field.get("metadata", {}).get("delta.columnMapping.physicalName", field["name"]))


def _leaves(fields: Sequence[Mapping[str, Any]], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Physical path and type of every column that is not a struct, in the order Delta counts them."""
    for field in fields:
        path, type_ = (*above, _physical(field)), field["type"]
        if isinstance(type_, str):
            yield path, type_
        elif type_["type"] == "struct":
            yield from _leaves(type_["fields"], path)
        else:
            yield path, type_["type"]


def _named_leaves(
    fields: Sequence[Mapping[str, Any]], names: list[tuple[str, ...]], above: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], str]]:
    """The leaves under the named columns; a struct's name stands for all in it."""
    found: list[tuple[tuple[str, ...], str]] = []
    for field in fields:
        rests = [name[1:] for name in names if name[0] == field["name"].lower()]
        if not rests:
            continue
        if not any(rests):
            found += _leaves([field], above)
        elif isinstance(field["type"], Mapping) and field["type"]["type"] == "struct":
            deeper = [rest for rest in rests if rest]
            found += _named_leaves(field["type"]["fields"], deeper, (*above, _physical(field)))
    return found


def _split_names(text: str) -> list[tuple[str, ...]]:
    """`a, s.x, `odd, name`` as paths, in lower case."""
    part = r"`(?:[^`]|``)*`|[^`.,\s][^`.,]*"
    paths = re.findall(rf"(?:{part})(?:\.(?:{part}))*", text)
    return [tuple(_bare(one) for one in re.findall(part, path)) for path in paths]


def _bare(name: str) -> str:
    name = name.strip()
    return (name[1:-1].replace("``", "`") if name.startswith("`") else name).lower()
