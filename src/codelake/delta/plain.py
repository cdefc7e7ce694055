"""Arrow that everybody reads: the engine's texts are views, which Spark, older pandas and many others do not know."""

from __future__ import annotations

import pyarrow as pa


def plain(table: pa.Table) -> pa.Table:
    return table.cast(plain_schema(table.schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(one.name, _plain(one.type)) for one in schema])


def _plain(found: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(found):
        return pa.string()
    if pa.types.is_binary_view(found):
        return pa.binary()
    if pa.types.is_list(found):
        return pa.list_(_plain(found.value_type))
    if pa.types.is_map(found):
        return pa.map_(_plain(found.key_type), _plain(found.item_type))
    if pa.types.is_struct(found):
        return pa.struct([pa.field(found.field(k).name, _plain(found.field(k).type)) for k in range(found.num_fields)])
    return found
