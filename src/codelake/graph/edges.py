"""Edges: what the rules say of each file."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pyspark.sql import DataFrame

from codelake.contracts.graph import CPG_EDGES
from codelake.graph.folders import folder_edges
from codelake.graph.passes import Pass, full, looped, union
from codelake.graph.rules import RULES
from codelake.graph.rules.rule import Edges, linked
from codelake.ids import edge_id_sql


def cpg_edges(whole: DataFrame, files: DataFrame) -> DataFrame:
    """`whole` are whole files; `files` are all of their repositories."""
    return union(edges(whole)).unionByName(folder_edges(files).select(*CPG_EDGES.column_names))


def edges(whole: DataFrame, kinds: Collection[str] | None = None) -> Iterator[DataFrame]:
    """The edges of files; of these kinds, if some are named."""
    for rows in looped(whole, list(_passes(kinds)), "repo", "path", "file_id"):
        yield finished(rows.where("src_short IS NOT NULL AND dst_short IS NOT NULL"))


def _passes(kinds: Collection[str] | None) -> Iterator[Pass]:
    for rule in RULES:
        if kinds is None or not set(kinds).isdisjoint(rule.kinds):
            for one in rule.passes:
                yield _pass(one, f"'{rule.name}'")
    of_linker = [kind for rule in RULES if rule.is_linked for kind in rule.kinds]
    if asked := tuple(kind for kind in of_linker if kinds is None or kind in kinds):
        yield _pass(linked(asked), "lower(x.kind)")


def _pass(one: Edges, rule: str) -> Pass:
    columns = {
        "kind": f"'{one.kind}'" if one.kind.isupper() else one.kind,
        "src_short": one.src,
        "dst_short": one.dst,
        "start_byte": f"{one.place}.start_byte" if one.place else "CAST(NULL AS INT)",
        "end_byte": f"{one.place}.end_byte" if one.place else "CAST(NULL AS INT)",
        "has_place": one.has_own_place,
        "origin": one.origin,
        "method": one.method,
        "confidence": f"CAST({one.confidence} AS FLOAT)",
        "score": f"CAST({one.score} AS FLOAT)",
        "n": one.n,
        "rule": rule,
    }
    return Pass(one.each, columns, one.where, one.within)


def finished(rows: DataFrame) -> DataFrame:
    """Ids rendered."""
    ids = rows.selectExpr("*", f"{full('src_short')} AS src", f"{full('dst_short')} AS dst")
    place = "if(has_place, concat('@', start_byte, '-', end_byte), '')"
    return ids.selectExpr(
        f"{edge_id_sql('src', 'kind', 'dst_short', 'start_byte', 'end_byte', 'has_place')} AS edge_id",
        *("kind", "src", "dst", "repo", "path", "start_byte", "end_byte"),
        *("origin", "method", "confidence", "score"),
        f"if(n > 1, concat(src, ' ', kind, {place}), NULL) AS ambiguity_group",
        "rule",
    )
