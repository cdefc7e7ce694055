"""Adjacency: the edges of a node as one sorted list, for the kinds that people ask for (`EdgeKind.adjacent`)."""

from __future__ import annotations

from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.kinds import EDGE_KINDS

_SHOWN = ("start_byte", "end_byte", "confidence", "method")


def adjacency(edges: DataFrame, *, side: Literal["src", "dst"]) -> DataFrame:
    """Rows by (node, file), so that an edit of a file changes only its own. What bindings resolve to is left out: it
    is in cpg_edges, and nobody asks for it by name."""
    other = "dst" if side == "src" else "src"
    kinds = [kind.name for kind in EDGE_KINDS if side[0] in kind.adjacent]
    asked = edges.where(F.col("kind").isin(kinds) & ~F.col("src").contains("@scope:"))
    entry = F.struct("kind", F.col(other).alias("other"), *_SHOWN)
    return (
        asked.groupBy(F.col(side).alias("node_id"), "repo", "path")
        .agg(F.sort_array(F.collect_list(entry)).alias("edges"))
        .select("node_id", "repo", "path", "edges")
    )
