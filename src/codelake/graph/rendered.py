"""Rendering on Spark: whole files in, rows of the graph's tables out. What is done with them is in
`codelake.graph.render`; here Python is only put where the rows are.

What each function gives holds rows of all tables, packed: to be kept, and then read table by table (`rows_of`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts import Table
from codelake.contracts.graph import RENDERED
from codelake.contracts.types import parse_type
from codelake.graph.files import listed, whole_files
from codelake.graph.render.outside import OF_SYMBOLS
from codelake.graph.render.packing import unpacked
from codelake.graph.render.render import render_around, render_joined, render_outside

_PACKED = ", ".join(f"`{table.name}` binary" for table in RENDERED)


def rendered(
    files: DataFrame, evidence: DataFrame, links: DataFrame, *, begins: Sequence[tuple[str, str]]
) -> DataFrame:
    """What is in `files`, in parts from `begins` on. Nothing of it depends on other files but what `links` says."""
    return whole_files(files, evidence, links, begins=begins).mapInArrow(render_joined, _PACKED)


def around(files: DataFrame) -> DataFrame:
    """Repositories and folders of `files`, which are all of their repositories, and files that were not read."""
    return listed(files).coalesce(1).mapInArrow(render_around, _PACKED)


def outside(externals: DataFrame) -> DataFrame:
    """What is outside of the lake, by the external symbols of all repositories."""
    # One row, even of nothing: what owns the outside is there in any case.
    symbols = externals.agg(F.collect_list(F.struct(*OF_SYMBOLS)).alias("symbols"))
    return symbols.mapInArrow(render_outside, _PACKED)


def rows_of(packed: DataFrame, table: Table) -> DataFrame:
    """Spark binds the columns by position, not by name."""
    schema = ", ".join(f"`{column.name}` {parse_type(column.type)}" for column in table.columns)
    return packed.select(table.name).mapInArrow(unpacked, schema)
