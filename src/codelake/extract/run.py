"""Extraction on Spark: contents in, evidence out.

Contents come from the lake, not from the disk of whoever reads: so executors need not see the repository,
and Spark's file sources, which leave out names that begin with `_` or `.`, have no part in it.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.evidence import EVIDENCE
from codelake.contracts.types import parse_type
from codelake.extract.content import evidence_of
from codelake.extract.extraction import Extraction
from codelake.extract.extractors import extractor_version
from codelake.extract.guard import Extract, Limits
from codelake.extract.tasks import Tasks

_SCHEMA = ", ".join(f"`{column.name}` {parse_type(column.type)}" for column in EVIDENCE.columns)


def evidence(contents: DataFrame, tasks: Tasks, *, limits: Limits, extract: Extract = evidence_of) -> DataFrame:
    """The evidence of those `contents` (digest, content) that have a place in a task."""
    work = Extraction(limits, extract, extractor_version())
    digests = list(tasks.places)
    places = contents.sparkSession.createDataFrame(
        pa.table(
            {
                "digest": pa.array(digests, pa.string()),
                "task": pa.array([tasks.places[digest][0] for digest in digests], pa.int32()),
                "rank": pa.array([tasks.places[digest][1] for digest in digests], pa.int32()),
            }
        )
    )
    return (
        contents.select("digest", "content")
        .join(F.broadcast(places), on="digest", how="inner")
        .repartitionById(len(tasks), "task")
        .sortWithinPartitions("rank")
        .select("digest", "content")
        .mapInArrow(work, _SCHEMA)
    )
