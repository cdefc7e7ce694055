"""Rendering on Spark: whole files in, rows of the graph's tables out. What is done with them is in
`codelake.graph.render`; here Python is only put where the rows are.

What each function gives holds rows of all tables, packed: to be kept, and then read table by table (`rows_of`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from codelake.contracts import Table
from codelake.contracts.graph import RENDERED
from codelake.contracts.types import parse_type
from codelake.graph.files import in_parts, whole_files
from codelake.graph.render.packing import unpacked
from codelake.graph.render.render import render_files, render_joined

_PACKED = ", ".join(f"`{table.name}` binary" for table in RENDERED)


def rendered_whole(whole: DataFrame, *, begins: Sequence[tuple[str, str]]) -> DataFrame:
    """Of whole files, a row each, in parts from `begins` on."""
    return in_parts(whole, begins).mapInArrow(render_files, _PACKED)


def rendered(
    files: DataFrame, evidence: DataFrame, links: DataFrame, *, begins: Sequence[tuple[str, str]]
) -> DataFrame:
    """What is in `files` (LISTED), in parts from `begins` on. But for what `links` says, nothing of it depends on other
    files."""
    return whole_files(files, evidence, links, begins=begins).mapInArrow(render_joined, _PACKED)


def rows_of(packed: DataFrame, table: Table) -> DataFrame:
    """Spark binds the columns by position, not by name."""
    schema = ", ".join(f"`{column.name}` {parse_type(column.type)}" for column in table.columns)
    return packed.select(table.name).mapInArrow(unpacked, schema)
