"""One row per file, with all that is known of it: what nodes, edges and properties are rendered from.

Everything in a file is nested in its row: so whatever is said of the file follows from its row, without a join and
without a shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from codelake.contracts.graph import LINKS
from codelake.graph.render.files import NESTED

OF_LINKS = {f"link_{c.name}": c for c in LINKS.columns if f"link_{c.name}" in NESTED}


LISTED = (
    *("repo", "path", "file_id"),
    "coalesce(module, replace(regexp_replace(path, '[.]pyi?$', ''), '/', '.')) AS module",
    *("digest", "n_bytes", "encoding", "status", "reason"),
)
"""Files as they are rendered. `module` is the name of the module; of a script, the path as one would import it."""


def whole_files(
    files: DataFrame, evidence: DataFrame, links: DataFrame, *, begins: Sequence[tuple[str, str]]
) -> DataFrame:
    """The files that have evidence, in parts from `begins` (repo, path) on. Each is two rows: with its listing and the
    nested columns of evidence, and with those of `links` (as link_edges, link_calls, link_classes), to be joined by
    `codelake.graph.render.joined`. A join here would scatter the files, and what lies together in a table is found and
    replaced together.

    `files` (LISTED) are few and small: they are sent to where the evidence is.
    """
    found = evidence.select(F.col("digest").alias("_digest"), *(name for name in NESTED if name not in OF_LINKS))
    rows = found.join(F.broadcast(files), on=F.expr("_digest = digest"), how="inner").drop("_digest")
    of_links = links.select("repo", "path", *(F.col(c.name).alias(name) for name, c in OF_LINKS.items()))
    both = rows.unionByName(of_links, allowMissingColumns=True)
    return in_parts(both, begins, F.col("file_id").isNull())


def in_parts(rows: DataFrame, begins: Sequence[tuple[str, str]], *then: Column) -> DataFrame:
    """In one partition from each of `begins` on and one before, each sorted by repository, path and `then`."""
    return rows.repartitionById(len(begins) + 1, _part(begins)).sortWithinPartitions("repo", "path", *then)


def _part(begins: Sequence[tuple[str, str]]) -> Column:
    """How many of `begins` are not behind a file."""
    part = F.lit(0)
    for repo, path in begins:
        is_behind = (F.col("repo") > repo) | ((F.col("repo") == repo) & (F.col("path") >= path))
        part = part + is_behind.cast("int")
    return part
