"""Semantic types: what a column's value means beyond how it is stored.

A column that a contract marks `node id` takes its values only from columns that are node ids. That is
checked twice: when a stage is planned, against the meaning its input columns carry with them
(`codelake.delta.schema`), and when rows are written, against the check below (`codelake.delta.gates`).
"""

from __future__ import annotations

from dataclasses import dataclass

SEMANTIC_KEY = "codelake.semantic"
"""The key under which a Spark field's metadata carries the semantic type."""


@dataclass(frozen=True)
class Semantic:
    name: str
    type: str
    meaning: str
    check: str
    """SQL over `{column}` that every value satisfies; empty where any value will do."""


_ID = "{column} <> '' AND {column} = trim({column})"

NODE_ID = Semantic(
    "node id",
    "string",
    "id of a node of the graph",
    _ID,
)
EDGE_ID = Semantic(
    "edge id",
    "string",
    "id of an edge of the graph",
    _ID,
)
FILE_ID = Semantic(
    "file id",
    "string",
    "id of a file of a repository",
    _ID,
)
START_BYTE = Semantic("span start", "int", "first byte of a span in the file's raw bytes", "{column} >= 0")
END_BYTE = Semantic("span end", "int", "byte after the last of a span", "{column} >= 0")
DIGEST = Semantic(
    "digest",
    "string",
    "SHA-256 of raw bytes, in hex",
    # no regular expression: both engines that write enforce this
    "length({column}) = 64 AND btrim({column}, '0123456789abcdef') = ''",
)
RUN_ID = Semantic("run id", "string", "id of a run of the pipeline", "{column} <> ''")
TABLE_NAME = Semantic("table name", "string", "name of a table of the lake", "{column} <> ''")
TABLE_VERSION = Semantic("table version", "bigint", "version of a Delta table", "{column} >= 0")
