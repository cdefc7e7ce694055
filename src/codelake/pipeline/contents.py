"""The stage `contents`: each distinct content once in `blobs`."""

from __future__ import annotations

import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.sources import BLOBS
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.pipeline.lookup import rows_of
from codelake.pipeline.reading import Chunk
from codelake.pipeline.work import Build


def store_contents(build: Build) -> None:
    for chunk in build.reading.chunks():
        build.n_stored += _store(build, chunk)
    build.told.n_misses = build.n_stored
    build.told.n_hits = len(build.reading.sizes) - build.n_stored
    if build.n_stored:
        build.told.why.append(f"{build.n_stored:,} content(s) that the lake did not have")


def _store(build: Build, chunk: Chunk) -> int:
    lacking: list[str] = []

    def plan(run: Run) -> Plan:
        there = {row["digest"] for row in rows_of(run, BLOBS, chunk)}
        lacking[:] = [digest for digest in chunk if digest not in there]
        return _rows(chunk, lacking) if lacking else None

    build.committed(commit_planned(build.run, BLOBS, plan, mode="append", from_pin=True))
    return len(lacking)


def _rows(chunk: Chunk, digests: list[str]) -> pa.Table:
    contents = [chunk[digest] for digest in digests]
    return pa.table([digests, contents, [len(content) for content in contents]], schema=arrow_schema(BLOBS))
