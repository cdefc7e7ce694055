"""What is around the files: repositories, folders, and files that were not read. Small, and known from `files`."""

from __future__ import annotations

from pyspark.sql import DataFrame

from codelake.graph.files import listed
from codelake.graph.passes import diagnostic_label, union
from codelake.ids import file_id_sql, owner_id_sql, repository_id_sql

_PROBLEM = "named_struct('kind', reason, 'message', reason, 'start_byte', 0, 'end_byte', 0)"
_LABEL = diagnostic_label("problem", "0")


def folders(files: DataFrame) -> DataFrame:
    """repo, path (with / at its end) of each folder that a file is in, and of those around it."""
    parts = "slice(split(path, '/'), 1, size(split(path, '/')) - 1)"
    above = f"transform({parts}, (p, i) -> concat(array_join(slice({parts}, 1, i + 1), '/'), '/'))"
    return files.selectExpr("repo", f"explode({above}) AS path").distinct()


def unread(files: DataFrame) -> DataFrame:
    """Files without a content, each with its one problem."""
    return listed(files).where("digest IS NULL").selectExpr("*", f"{_PROBLEM} AS problem")


def folder_nodes(files: DataFrame) -> DataFrame:
    """node_id, kind, repo, path, name, parent_id."""
    missing = unread(files)
    return union(
        (
            files.select("repo")
            .distinct()
            .selectExpr(
                f"{repository_id_sql()} AS node_id",
                "'repository' AS kind",
                *("repo", "'' AS path", "repo AS name", "CAST(NULL AS STRING) AS parent_id"),
            ),
            folders(files).selectExpr(
                f"{file_id_sql()} AS node_id",
                "'package' AS kind",
                *("repo", "path", "element_at(split(path, '/'), -2) AS name", f"{owner_id_sql()} AS parent_id"),
            ),
            missing.selectExpr(
                *("file_id AS node_id", "'file' AS kind", "repo", "path"),
                *("element_at(split(path, '/'), -1) AS name", "owner_id AS parent_id"),
            ),
            missing.selectExpr(
                f"concat(file_id, {_LABEL}) AS node_id",
                *("'diagnostic' AS kind", "repo", "path", "problem.kind AS name", "file_id AS parent_id"),
            ),
        )
    ).coalesce(1)


def folder_edges(files: DataFrame) -> DataFrame:
    missing = unread(files)
    rows = union(
        (
            folders(files).selectExpr(
                "'CONTAINS' AS kind", f"{owner_id_sql()} AS src", f"{file_id_sql()} AS dst", "repo", "path"
            ),
            missing.selectExpr("'CONTAINS' AS kind", "owner_id AS src", "file_id AS dst", "repo", "path"),
            missing.selectExpr(
                "'HAS_DIAGNOSTIC' AS kind", "file_id AS src", f"concat(file_id, {_LABEL}) AS dst", "repo", "path"
            ),
        )
    )
    return rows.coalesce(1).selectExpr(
        "*",
        "concat(src, ' ', kind, ' ', replace(dst, concat(src, '#'), '#')) AS edge_id",
        *("CAST(NULL AS INT) AS start_byte", "CAST(NULL AS INT) AS end_byte", "'syntax' AS origin"),
        "if(kind = 'CONTAINS', 'path', 'problem') AS method",
        *("CAST(1 AS FLOAT) AS confidence", "CAST(NULL AS FLOAT) AS score"),
        *("CAST(NULL AS STRING) AS ambiguity_group", "lower(kind) AS rule"),
    )
