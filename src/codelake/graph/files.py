"""One row a file, with all that is known of it: what nodes, edges and properties are rendered from.

Everything in a file is nested in its row: so whatever is said of the file follows from its row, without a join and
without a shuffle.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.graph import LINKS
from codelake.graph.render.files import NESTED

OF_LINKS = {f"link_{c.name}": c for c in LINKS.columns if f"link_{c.name}" in NESTED}


LISTED = (
    *("repo", "path", "file_id"),
    "coalesce(module, replace(regexp_replace(path, '[.]pyi?$', ''), '/', '.')) AS module",
    *("digest", "n_bytes", "encoding", "status", "reason"),
)
"""Files as they are rendered, in SQL that Spark and DataFusion both run. `module` is the name of the module; of a
script, the path as one would import it."""


def listed(files: DataFrame) -> DataFrame:
    return files.selectExpr(*LISTED)


def whole_files(files: DataFrame, evidence: DataFrame, links: DataFrame, *, n_parts: int) -> DataFrame:
    """The files that have evidence, with the nested columns of it and those of `links` (as link_edges, link_calls,
    link_classes), in `n_parts` partitions.

    `files` are few and small: they are sent to where the evidence is. `links` are not: they and the evidence meet by
    file.
    """
    found = evidence.select(F.col("digest").alias("_digest"), *(name for name in NESTED if name not in OF_LINKS))
    rows = found.join(F.broadcast(listed(files)), on=F.expr("_digest = digest"), how="inner").drop("_digest")
    of_links = links.select("repo", "path", *(F.col(c.name).alias(name) for name, c in OF_LINKS.items()))
    met = rows.repartition(n_parts, "repo", "path").join(
        of_links.repartition(n_parts, "repo", "path").hint("shuffle_hash"), on=["repo", "path"], how="left"
    )
    filled = (F.expr(f"coalesce({name}, CAST(array() AS {c.type}))").alias(name) for name, c in OF_LINKS.items())
    return met.select(*rows.columns, *filled)
