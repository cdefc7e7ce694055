"""Sources read on the driver, file by file: what is kept of a file is its digest, what is kept of bytes is a chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from codelake.errors import CodelakeError, UsageError
from codelake.extract.claims import Claimed, Report, claimed
from codelake.extract.sources import Declared, Source, SourceFile
from codelake.pipeline.progress import Progress

CHUNK_BYTES = 64 << 20
"""Of contents that are held until they are in the lake."""

Chunk = dict[str, bytes]
"""Contents by their digests."""


class ListedFile(NamedTuple):
    path: str
    digest: str | None
    """None where there is no content."""
    n_bytes: int
    module: str | None
    unread: str | None
    """Why there is no content."""
    note: str | None


@dataclass
class Listed:
    """A source that was read."""

    source: Source
    files: list[ListedFile] = field(default_factory=list)
    declared: Declared = field(default_factory=lambda: Declared([], []))


class Reading:
    """All sources, in their order. A content is given out once, however many files have it."""

    def __init__(
        self,
        sources: Sequence[Source],
        progress: Progress,
        *,
        reports: Sequence[Report] = (),
        forgotten: Sequence[str] = (),
    ) -> None:
        self.listed = [Listed(source) for source in sources]
        self.reports, self.forgotten = reports, forgotten
        """Reports of other tools about the sources; and the origins of those that no longer count."""
        self.claimed: list[Claimed] = []
        """What the reports say of the files read so far."""
        self.sizes: dict[str, int] = {}
        """Of every content read so far, by its digest."""
        self.failed: dict[str, CodelakeError] = {}
        """By repository: what is wrong with those that could not be read, where there are others."""
        self._progress = progress
        self._chunks = self._read()

    def begin(self) -> None:
        """Read the first chunk. What is wrong with a source mostly shows here, before anything is written."""
        first = next(self._chunks, None)
        if first is not None:
            self._chunks = chain([first], self._chunks)

    def chunks(self) -> Iterator[Chunk]:
        return self._chunks

    def _read(self) -> Iterator[Chunk]:
        chunk: Chunk = {}
        n_bytes = 0
        for listed in tuple(self.listed):
            for file in self._files(listed):
                digest = None if file.content is None else hashlib.sha256(file.content).hexdigest()
                listed.files.append(
                    ListedFile(file.path, digest, file.n_bytes, file.module, _text(file.reason), file.problem)
                )
                self._progress.read(listed.source.repo, file.n_bytes if digest else 0)
                if digest is not None and file.content is not None:
                    self._read_reports(listed.source.repo, file.path, file.content, digest)
                if digest is None or file.content is None or digest in self.sizes:
                    continue
                self.sizes[digest] = file.n_bytes
                chunk[digest] = file.content
                n_bytes += file.n_bytes
                if n_bytes >= CHUNK_BYTES:
                    yield chunk
                    chunk, n_bytes = {}, 0
        self._check_reports()
        if chunk:
            yield chunk

    def _read_reports(self, repo: str, path: str, content: bytes, digest: str) -> None:
        for report in self.reports:
            if path in report.paths:
                self.claimed.append(claimed(report, repo, path, content, digest))

    def _check_reports(self) -> None:
        """A report of which no file is there is about something else."""
        for report in self.reports:
            if not any(row.origin == report.origin for row in self.claimed):
                raise UsageError(
                    f"--{report.origin} {report.location}",
                    expected="a report about files of the repository, by their paths from its root",
                    found=f"others, such as {min(report.paths)}",
                    do="Make it in the repository's root.",
                )

    def _files(self, listed: Listed) -> Iterator[SourceFile]:
        """The files, once what the metadata declares is known. One source of many that cannot be read is left out."""
        try:
            with listed.source.read() as opened:
                listed.declared = opened.declared()
                yield from opened.files()
        except CodelakeError as error:
            self.listed.remove(listed)
            if not self.listed:
                raise
            self.failed[listed.source.repo] = error


def _text(value: object) -> str | None:
    return None if value is None else str(value)
