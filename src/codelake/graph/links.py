"""Linking on Spark: the kernel run on each repository with what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.evidence import LINK_INPUT
from codelake.contracts.graph import LINKED, LINKS
from codelake.contracts.types import parse_type
from codelake.graph.link.claims import COLUMNS as OF_CLAIMS
from codelake.graph.link.kernel import link_batches
from codelake.graph.link.results import COLUMNS, NOTHING
from codelake.graph.link.stubs import Stubs

_SCHEMA = ", ".join(f"`{name}` {parse_type(LINKS.column(name).type)}" for name in COLUMNS)
_NOTHING = {
    **dict.fromkeys(LINKED, "X''"),
    **{name: f"CAST(array() AS {LINKS.column(name).type})" for name in ("classes", "externals", "disagreements")},
}


def links(
    files: DataFrame, evidence: DataFrame, units: DataFrame, stubs: Stubs, made_by: str, claims: DataFrame | None = None
) -> DataFrame:
    """The links of every file of the repositories that `units` (unit, repo) names as units; a unit sees the files of
    its repos, itself among them. `made_by` is the version of all that has a part in it. `claims` are what other tools
    say of files (repo, path, claims_digest, and a column an origin), if they say anything."""
    of_units = units.join(files, on="repo", how="inner").selectExpr(
        "unit", "repo", "path", "module", "unit = repo AS is_own", "digest AS _digest"
    )
    if claims is not None:
        of_units = of_units.join(claims.drop("claims_digest"), on=["repo", "path"], how="left")
    read_by_claims = [] if claims is None else ["nodes"]
    seen = evidence.select("digest", *LINK_INPUT, *read_by_claims).join(
        F.broadcast(of_units), on=F.expr("digest = _digest"), how="inner"
    )
    if claims is not None:  # nodes are many, and only needed where something is claimed of them
        is_claimed = F.coalesce(*map(F.col, OF_CLAIMS.values())).isNotNull()
        seen = seen.withColumn("nodes", F.when(is_claimed, F.col("nodes")))
    found = seen.drop("_digest").groupBy("unit").applyInArrow(_linking(stubs), _SCHEMA)
    own = files.join(F.broadcast(units.selectExpr("unit AS repo").distinct()), on="repo", how="left_semi")
    unread = own.where("digest IS NULL").selectExpr(
        *("repo", "path", "digest"),
        *(f"{sql} AS {name}" for name, sql in _NOTHING.items()),
        f"CAST({NOTHING} AS bigint) AS found_digest",
    )
    of_files = own.select("repo", "path", "module", F.col("digest").alias("_digest"))
    read = evidence.selectExpr("digest AS _digest", "link_digest")
    about = of_files.join(F.broadcast(read), on="_digest", how="left").drop("_digest")
    if claims is None:
        about = about.withColumn("claims_digest", F.lit(None).cast("string"))
    else:
        about = about.join(F.broadcast(claims.select("repo", "path", "claims_digest")), on=["repo", "path"], how="left")
    rows = found.unionByName(unread.coalesce(1)).join(F.broadcast(about), on=["repo", "path"], how="inner")
    return rows.withColumn("made_by", F.lit(made_by)).select(*LINKS.column_names)


def _linking(stubs: Stubs) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The stubs go to the workers with the function."""

    def linked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return link_batches(batches, stubs)

    return linked
