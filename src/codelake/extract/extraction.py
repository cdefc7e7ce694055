"""What a Python process does with contents that it is given: Spark's workers, and the one beside a build of few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from codelake.errors import Unavailable
from codelake.extract.extractors import extractor_version
from codelake.extract.guard import Content, Extract, Limits, guarded

CHUNK_BYTES = 8 << 20
"""Source bytes that a process holds, and a child inherits, at a time."""


@dataclass(frozen=True)
class Extraction:
    """Of batches of contents (digest, content). Spark binds the columns of evidence by position, not by name."""

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
