"""The stage `evidence`: contents that have no evidence of the present extractors are extracted."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack

from codelake.contracts.evidence import EVIDENCE
from codelake.contracts.sources import BLOBS
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.extract.extractors import extractor_version
from codelake.extract.run import evidence
from codelake.extract.tasks import balanced, portions
from codelake.pipeline.lookup import rows_of
from codelake.pipeline.progress import watched
from codelake.pipeline.work import Build, Seen

PORTION_CONTENTS, PORTION_BYTES = 250_000, 8 << 30
"""Of one commit: what a build that dies loses, and the digests that Spark holds in memory at a time."""
_FEW = 10
"""As many digests as Spark looks up in Parquet's indexes one by one; for more, it reads all of `blobs`."""


def extract_contents(build: Build) -> None:
    for sizes in portions(build.reading.sizes, n_contents=PORTION_CONTENTS, n_bytes=PORTION_BYTES):
        extracted = _extract(build, sizes)
        build.seen |= _seen(build.run, extracted)
        build.n_extracted += len(extracted)


def _extract(build: Build, sizes: dict[str, int]) -> list[str]:
    lacking: list[str] = []
    with ExitStack() as watching:

        def plan(run: Run) -> Plan:
            watching.close()
            build.seen |= _seen(run, sizes)
            lacking[:] = [digest for digest in sizes if digest not in build.seen]
            if not lacking:
                return None
            tasks = balanced({digest: sizes[digest] for digest in lacking})
            watching.enter_context(watched(build.spark, tasks, build.progress))
            named = ", ".join(f"'{digest}'" for digest in lacking)
            contents = scan(run, BLOBS, where=f"digest IN ({named})" if len(lacking) <= _FEW else None)
            return evidence(contents, tasks, limits=build.limits, extract=build.extract)

        build.committed(commit_planned(build.run, EVIDENCE, plan, mode="append", from_pin=True))
    return lacking


def _seen(run: Run, digests: Collection[str]) -> dict[str, Seen]:
    """What evidence of the present extractors says of contents as such."""
    version = f"extractor_version = '{extractor_version()}'"
    rows = rows_of(run, EVIDENCE, digests, "digest", *Seen._fields, where=version)
    columns = (rows.column(name).to_pylist() for name in ("digest", *Seen._fields))
    # Two builds at the same time, in a lake without locks, may both have added a content: one of them will do.
    return {digest: Seen(*values) for digest, *values in zip(*columns, strict=True)}
