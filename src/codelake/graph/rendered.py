"""Rendering on Spark: whole files in, rows of the graph's tables out. What is done with them is in
`codelake.graph.render`; here Python is only put where the rows are.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts import Table
from codelake.contracts.graph import RENDERED
from codelake.contracts.types import parse_type
from codelake.graph.files import listed, whole_files
from codelake.graph.render.outside import OF_SYMBOLS
from codelake.graph.render.packing import unpacked
from codelake.graph.render.render import render_around, render_files, render_outside

_PACKED = ", ".join(f"`{table.name}` binary" for table in RENDERED)


def rendered(
    files: DataFrame, evidence: DataFrame, links: DataFrame, externals: DataFrame, *, n_parts: int
) -> DataFrame:
    """The graph of `files`, which are all of their repositories, and of everything outside of the lake. Each row holds
    rows of all tables, packed: to be kept, and then read table by table (`rows_of`)."""
    whole = whole_files(files, evidence, links, n_parts=n_parts).mapInArrow(render_files, _PACKED)
    around = listed(files).coalesce(1).mapInArrow(render_around, _PACKED)
    # One row, even of nothing: what owns the outside is there in any case.
    symbols = externals.agg(F.collect_list(F.struct(*OF_SYMBOLS)).alias("symbols"))
    beyond = symbols.mapInArrow(render_outside, _PACKED)
    return whole.unionAll(around).unionAll(beyond).coalesce(n_parts)


def rows_of(packed: DataFrame, table: Table) -> DataFrame:
    """Spark binds the columns by position, not by name."""
    schema = ", ".join(f"`{column.name}` {parse_type(column.type)}" for column in table.columns)
    return packed.select(table.name).mapInArrow(unpacked, schema)
