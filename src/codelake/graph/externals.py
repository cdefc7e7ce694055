"""External symbols: what each repository uses of the outside."""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.graph import EXTERNAL_SYMBOLS


def external_symbols(links: DataFrame, distributions: DataFrame) -> DataFrame:
    """What a repository uses of the outside. Which distribution brings a name is told by the longest of the names
    that a declared distribution may be imported by."""
    used = links.selectExpr("repo", "explode(array_distinct(edges.dst)) AS id").where("startswith(id, '::')")
    symbols = (
        used.selectExpr("repo", "regexp_replace(id, '@type$', '') AS symbol_id", "endswith(id, '@type') AS is_type")
        .groupBy("repo", "symbol_id")
        .agg(F.max("is_type").alias("has_type"))
        .selectExpr("*", "substring(symbol_id, 3) AS name")
        .selectExpr("*", "regexp_extract(name, '^[^.(]*', 0) AS top")
    )
    declared = distributions.selectExpr("repo", "name AS distribution", "version", "explode(import_names) AS offered")
    declared = declared.selectExpr("*", "substring_index(offered, '.', 1) AS top")
    matched = symbols.join(F.broadcast(declared), on=["repo", "top"], how="left").where(
        "offered IS NULL OR name = offered OR startswith(name, concat(offered, '.'))"
    )
    best = matched.groupBy("repo", "symbol_id", "name", "top", "has_type").agg(
        F.max_by(F.struct("distribution", "version"), F.length("offered")).alias("found")
    )
    known = symbols.join(best.select("repo", "symbol_id", "found"), on=["repo", "symbol_id"], how="left")
    standard = ", ".join(f"'{name}'" for name in sorted(sys.stdlib_module_names))
    return known.selectExpr(
        *("symbol_id", "repo", "name"),
        f"""CASE
            WHEN top = 'builtins' THEN 'builtin'
            WHEN top IN ({standard}) THEN 'standard_library'
            WHEN found.distribution IS NOT NULL THEN 'distribution'
            ELSE 'unknown'
        END AS kind""",
        *("found.distribution AS distribution", "found.version AS version"),
        "(contains(name, '(') OR contains(name, '[')) AS is_derived",
        "has_type",
    ).select(*EXTERNAL_SYMBOLS.column_names)
