"""The stage `evidence`: contents that have no evidence of the present extractors are extracted."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack

import pyarrow as pa

from codelake.contracts.evidence import EVIDENCE, FIELDS
from codelake.contracts.sources import BLOBS, FILES
from codelake.delta.embedded import among, ask
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.extract.content import evidence_of
from codelake.extract.run import evidence
from codelake.extract.tasks import balanced, portions
from codelake.pipeline.lookup import PRESENT, is_empty, rows_of
from codelake.pipeline.progress import watched
from codelake.pipeline.rows import frame
from codelake.pipeline.work import Build, Seen

PORTION_CONTENTS, PORTION_BYTES = 250_000, 8 << 30
"""Of one commit: what a build that dies loses, and the digests that Spark holds in memory at a time."""
_HANDED = 32 << 20
"""Bytes of contents that are handed to Spark. For more it reads `blobs` itself, and Delta looks for the files of that
table in jobs of its own first."""
_FEW, _FEW_BYTES = 10, 1 << 20
"""Contents that are extracted without Spark."""
_CONTENTS = pa.schema([("digest", pa.string()), ("content", pa.binary())])


def extract_contents(build: Build) -> None:
    others = _left_behind(build)
    for sizes in portions({**build.reading.sizes, **others}, n_contents=PORTION_CONTENTS, n_bytes=PORTION_BYTES):
        extracted = _extract(build, sizes)
        build.seen |= _seen(build.run, extracted)
        build.n_extracted += len(extracted)
    build.told.n_misses, build.told.n_hits = build.n_extracted, len(build.seen) - build.n_extracted
    if build.n_extracted:
        build.told.why.append(f"{build.n_extracted:,} content(s) without evidence of these extractors")


def _left_behind(build: Build) -> dict[str, int]:
    """Contents, with their sizes, of repositories that are not built now and whose evidence is of other extractors."""
    run = build.run
    if is_empty(run, FILES) or is_empty(run, EVIDENCE):
        return {}
    present = f"SELECT digest FROM evidence WHERE {PRESENT}"
    sql = f"SELECT DISTINCT digest, n_bytes FROM files WHERE digest IS NOT NULL AND digest NOT IN ({present})"
    return {row["digest"]: row["n_bytes"] for row in ask(run, (FILES, EVIDENCE), sql).to_pylist()}


def _extract(build: Build, sizes: dict[str, int]) -> list[str]:
    lacking: list[str] = []
    with ExitStack() as watching:

        def plan(run: Run) -> Plan:
            watching.close()
            build.seen |= _seen(run, sizes)
            lacking[:] = [digest for digest in sizes if digest not in build.seen]
            if not lacking:
                return None
            n_bytes = sum(sizes[digest] for digest in lacking)
            if n_bytes <= _FEW_BYTES and len(lacking) <= _FEW and build.extract is evidence_of:
                return _beside(build, _contents(run, lacking))
            tasks = balanced({digest: sizes[digest] for digest in lacking})
            watching.enter_context(watched(build.spark, tasks, build.progress))
            contents = scan(run, BLOBS) if n_bytes > _HANDED else frame(build, _contents(run, lacking))
            return evidence(contents, tasks, limits=build.limits, extract=build.extract)

        build.committed(commit_planned(build.run, EVIDENCE, plan, mode="append", from_pin=True))
    return lacking


def _contents(run: Run, digests: Collection[str]) -> pa.Table:
    rows = ask(run, (BLOBS,), f"SELECT digest, content FROM blobs WHERE {among('digest', digests)}")
    return rows.cast(_CONTENTS)


def _beside(build: Build, contents: pa.Table) -> pa.Table:
    about = contents.num_rows, contents.column("content").nbytes
    build.progress.expect(*about)
    found = build.open_units.beside.evidence(contents, limits=build.limits)
    build.progress.extracted(*about)
    return found


def _seen(run: Run, digests: Collection[str]) -> dict[str, Seen]:
    """What evidence of the present extractors says of contents as such."""
    packed = {"problems": FIELDS["problems"]}
    rows = rows_of(run, EVIDENCE, digests, *Seen._fields, where=PRESENT, packed=packed)
    # Two builds at the same time, in a lake without locks, may both have added a content: one of them will do.
    return {row.pop("digest"): Seen(**row) for row in rows}
