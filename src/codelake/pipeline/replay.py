"""A run done again, from what the lake has kept of it: the files and contents of its versions, into another lake. What
it makes must be what the run left, table by table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from codelake.contracts import EVIDENCE
from codelake.contracts.sources import BLOBS, DIAGNOSTICS, DISTRIBUTIONS, FILES, REPOSITORIES
from codelake.delta.digest import Digest, digest_of
from codelake.delta.embedded import among, ask
from codelake.delta.lake import Lake
from codelake.delta.run import Run, pin
from codelake.delta.runs import PublishedRun
from codelake.extract.guard import Limits
from codelake.extract.sources import Declared, Distribution, MetadataProblem, Source
from codelake.extract.sources.select import Choice
from codelake.pipeline.build import BUILT, build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Chunk, Listed, ListedFile, Reading

_CHUNK = 2_000
"""Contents that are held at a time."""


class Compared(NamedTuple):
    table: str
    then: Digest
    now: Digest

    @property
    def is_same(self) -> bool:
        return self.then == self.now


def replay(lake: Lake, run: PublishedRun, into: Lake, *, limits: Limits, progress: Progress) -> list[Compared]:
    """`into` is a lake that has nothing yet. Runs that a newer codelake replays may differ: fingerprints tell."""
    with lake.reading():
        then = Run(lake, run.run_id, pipeline="replay")
        for table in BUILT:
            pin(then, table, at=run.versions[table.name])
        build(into, Stored(then, progress), limits=limits, progress=progress)
        now = Run(into, run.run_id, pipeline="replay")
        return [Compared(table.name, _digest(then, table), _digest(now, table)) for table in BUILT]


def _digest(run: Run, table: Any) -> Digest:
    """Contents that no file of the run has are of other runs."""
    used = "WHERE digest IN (SELECT digest FROM files)" if table in (BLOBS, EVIDENCE) else ""
    asked = (table,) if table is FILES else (table, FILES)
    columns = ", ".join(table.column_names)
    return digest_of(ask(run, asked, f"SELECT {columns} FROM {table.name} {used}").to_batches())


class Stored(Reading):
    """The repositories of a run, read from the lake."""

    def __init__(self, run: Run, progress: Progress) -> None:
        super().__init__([], progress)
        self._run = run
        self.listed = [self._repository(row) for row in _rows(run, REPOSITORIES)]
        self._chunks = self._stored()

    def _repository(self, row: dict[str, Any]) -> Listed:
        source = Source(
            row["repo"],
            row["source"],
            row["repo"],
            row["revision"],
            row["committed_at"],
            0,
            Choice((), ()),
            _unopened,
            lambda: row["is_dirty"],
        )
        within = among("repo", [row["repo"]])
        said = {one["path"]: one for one in _rows(self._run, DIAGNOSTICS, within) if one["kind"] != "metadata"}
        files = [_listed_file(one, said.get(one["path"])) for one in _rows(self._run, FILES, within)]
        distributions = [
            Distribution(one["name"], one["version"], one["declared_in"])
            for one in _rows(self._run, DISTRIBUTIONS, within)
        ]
        wrong = _rows(self._run, DIAGNOSTICS, f"{within} AND kind = 'metadata'")
        problems = [MetadataProblem(one["path"], one["message"]) for one in wrong]
        self.sizes |= {file.digest: file.n_bytes for file in files if file.digest is not None}
        return Listed(source, files, Declared(distributions, problems))

    def _stored(self) -> Iterator[Chunk]:
        digests = sorted(self.sizes)
        for first in range(0, len(digests), _CHUNK):
            wanted = among("digest", digests[first : first + _CHUNK])
            rows = ask(self._run, (BLOBS,), f"SELECT digest, content FROM blobs WHERE {wanted}").to_pylist()
            yield {row["digest"]: row["content"] for row in rows}


def _rows(run: Run, table: Any, where: str = "true") -> list[dict[str, Any]]:
    columns = ", ".join(table.column_names)
    rows: list[dict[str, Any]] = ask(run, (table,), f"SELECT {columns} FROM {table.name} WHERE {where}").to_pylist()
    return rows


def _listed_file(row: dict[str, Any], said: dict[str, Any] | None) -> ListedFile:
    """Of a file that was not read, or of which there was something to say as such, the words are in `diagnostics`."""
    unread = row["reason"] if row["digest"] is None else None
    note = said["message"] if said and said["kind"] in (unread, "file") else None
    return ListedFile(row["path"], row["digest"], row["n_bytes"], row["module"], unread, note)


def _unopened(*_: object) -> NoReturn:
    raise AssertionError("what is stored is not opened")
