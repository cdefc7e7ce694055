"""Extraction on Spark: contents in, evidence out.

Contents come from the lake, not from the disk of whoever reads: so executors need not see the repository,
and Spark's file sources, which leave out names that begin with `_` or `.`, have no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.evidence import EVIDENCE
from codelake.contracts.types import parse_type
from codelake.errors import Unavailable
from codelake.extract.content import evidence_of
from codelake.extract.extractors import extractor_version
from codelake.extract.guard import Content, Extract, Limits, guarded
from codelake.extract.tasks import Tasks

CHUNK_BYTES = 8 << 20
"""Source bytes that a worker holds, and a child inherits, at a time."""
_SCHEMA = ", ".join(f"`{column.name}` {parse_type(column.type)}" for column in EVIDENCE.columns)


def evidence(contents: DataFrame, tasks: Tasks | None, *, limits: Limits, extract: Extract = evidence_of) -> DataFrame:
    """The evidence of those `contents` (digest, content) that have a place in a task; without tasks, of all, as they
    come."""
    work = _Extraction(limits, extract, extractor_version())
    if tasks is None:
        return contents.select("digest", "content").coalesce(1).mapInArrow(work, _SCHEMA)
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


@dataclass(frozen=True)
class _Extraction:
    """What a Python worker does with a task's contents. Spark binds the columns by position, not by name."""

    limits: Limits
    extract: Extract
    version: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        self._check_version()
        chunk: list[Content] = []
        n_bytes = 0
        for content in _each_once(batches):
            chunk.append(content)
            n_bytes += content[1].size
            if n_bytes >= CHUNK_BYTES:
                yield from guarded(chunk, limits=self.limits, extract=self.extract)
                chunk, n_bytes = [], 0
        yield from guarded(chunk, limits=self.limits, extract=self.extract)

    def _check_version(self) -> None:
        """What is stored under a version must be what that version gives."""
        if (found := extractor_version()) != self.version:
            raise Unavailable(
                "the executors would read Python differently from the driver",
                expected=f"extractors {self.version}",
                found=found,
                do="Install the same Python and the same codelake on both.",
            )


def _each_once(batches: Iterator[pa.RecordBatch]) -> Iterator[Content]:
    """Two builds at the same time may both have stored a content; all its rows are in one task."""
    seen = set()
    for batch in batches:
        digests, contents = batch.columns
        for digest, content in zip(digests.to_pylist(), contents, strict=True):
            if digest not in seen:
                seen.add(digest)
                yield digest, content.as_buffer()
