"""Linking on Spark: which repositories see which, and the kernel run on each of them with what it sees."""

from __future__ import annotations

import sys

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.graph import LINKS
from codelake.contracts.types import parse_type
from codelake.graph.link.kernel import VERSION, link
from codelake.graph.link.program import INPUT

# What linking reads. Each field goes to Python as an array of its own: arrays of plain values are what both sides move
# fastest.
_INPUT = [f"{column}.{field} AS {column}_{field}" for column, fields in INPUT.items() for field in fields]
_OUTPUT = [column for column in LINKS.columns if column.name != "made_from"]
_SCHEMA = ", ".join(f"`{column.name}` {parse_type(column.type)}" for column in _OUTPUT)


def needs(files: DataFrame, evidence: DataFrame) -> DataFrame:
    """repo, needed: an absolute import of the one begins with a top-level module of the other, and with none of its
    own nor of the standard library."""
    heads = "array_distinct(transform(filter(imports, m -> m.level = 0), m -> substring_index(m.module, '.', 1)))"
    imported = evidence.selectExpr("digest", f"explode({heads}) AS head")
    standard = F.col("head").isin(sorted(sys.stdlib_module_names))
    wanted = (
        files.select("repo", "digest").join(imported.where(~standard), on="digest", how="inner").select("repo", "head")
    ).distinct()
    offered = files.selectExpr("repo AS needed", "substring_index(module, '.', 1) AS head").where("head IS NOT NULL")
    offered = offered.distinct()
    own = offered.withColumnRenamed("needed", "repo")
    missing = wanted.join(own, on=["repo", "head"], how="left_anti")
    return missing.join(offered, on="head", how="inner").select("repo", "needed").distinct()


def made_from(files: DataFrame, version: str) -> DataFrame:
    """repo, path, and the hash of what a file's links are made of, other files aside."""
    columns = ("digest", "n_bytes", "encoding", "module", "status", "reason")
    return files.selectExpr("repo", "path", f"xxhash64({', '.join(columns)}, '{VERSION} {version}') AS made_from")


def links(files: DataFrame, evidence: DataFrame, units: DataFrame, version: str) -> DataFrame:
    """The links of every file of the repositories that `units` (unit, repo) names as units; a unit sees the files of
    its repos, itself among them. `version` is that of the extractors."""
    of_units = units.join(files, on="repo", how="inner").selectExpr(
        "unit", "repo", "path", "module", "unit = repo AS is_own", "digest AS _digest"
    )
    seen = evidence.selectExpr("digest", *_INPUT).join(
        F.broadcast(of_units), on=F.expr("digest = _digest"), how="inner"
    )
    found = seen.drop("_digest").groupBy("unit").applyInArrow(_link, _SCHEMA)
    own = files.join(F.broadcast(units.select(F.col("unit").alias("repo")).distinct()), on="repo", how="left_semi")
    hashes = F.broadcast(made_from(own, version))
    unread = own.where("digest IS NULL").selectExpr(
        *("repo", "path", "digest"),
        *(f"CAST(array() AS {c.type}) AS {c.name}" for c in _OUTPUT if c.name in ("edges", "calls", "classes")),
    )
    rows = found.unionByName(unread.coalesce(1))
    return rows.join(hashes, on=["repo", "path"], how="inner").select(*LINKS.column_names)


def _link(table: pa.Table) -> pa.Table:
    return link(table.drop_columns(["unit"]))
