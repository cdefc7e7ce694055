"""Facts that have tables of their own: calls and classes, of each file; external symbols, of each repository."""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.graph import CALLS, CLASSES, EXTERNAL_SYMBOLS
from codelake.graph.passes import Pass, full, label, looped, union

_CALLS = Pass(
    "link_calls",
    {
        "label": label("calls[x.call].node"),
        "start_line": "nodes[calls[x.call].node].start_line",
        "caller": "x.caller",
        "callee_text": "calls[x.call].callee",
        **{c: f"x.{c}" for c in ("target", "n_targets", "confidence", "method", "reason")},
    },
)
_CLASSES = Pass(
    "link_classes",
    {
        "label": label("definitions[x.definition].node"),
        "qualified_name": "concat(module, '.', definitions[x.definition].qualified_name)",
        **{c: f"x.{c}" for c in ("bases", "mro", "problem")},
    },
)


def calls(whole: DataFrame) -> DataFrame:
    found = union(looped(whole, [_CALLS], "repo", "path", "file_id"))
    return found.selectExpr("*", f"{full('label')} AS call_id").select(*CALLS.column_names)


def classes(whole: DataFrame) -> DataFrame:
    found = union(looped(whole, [_CLASSES], "repo", "path", "file_id"))
    return found.selectExpr("*", f"{full('label')} AS class_id").select(*CLASSES.column_names)


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
