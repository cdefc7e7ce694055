"""The stage `files`: what the repositories hold now, in the place of what they held.

Only differences are committed, so that the change feeds of these tables tell what really changed, and a build
with nothing new leaves them as they are. Until `files` is committed, nothing refers to what earlier stages did.
"""

from __future__ import annotations

from collections.abc import Iterator

from codelake.contracts.sources import DIAGNOSTICS, DISTRIBUTIONS, FILES, REPOSITORIES
from codelake.ids import file_id
from codelake.pipeline.reading import ListedFile
from codelake.pipeline.rows import Row, commit_rows
from codelake.pipeline.work import Build, Seen


def publish_files(build: Build) -> None:
    repos = [listed.source.repo for listed in build.reading.listed]
    for table, rows in (
        (DIAGNOSTICS, _diagnostics),
        (REPOSITORIES, _repositories),
        (DISTRIBUTIONS, _distributions),
        (FILES, _files),
    ):
        commit_rows(build, table, list(rows(build)), repos)


# rows --------------------------------------------------------------------------------------------


def _repositories(build: Build) -> Iterator[Row]:
    for source in (listed.source for listed in build.reading.listed):
        yield {
            "repo": source.repo,
            "source": source.kind,
            "revision": source.revision,
            "is_dirty": source.is_dirty,
            "committed_at": source.committed_at,
        }


def _files(build: Build) -> Iterator[Row]:
    for repo, file, seen in _each_file(build):
        yield {
            "repo": repo,
            "path": file.path,
            "file_id": file_id(repo, file.path),
            "digest": file.digest,
            "n_bytes": file.n_bytes,
            "encoding": seen.encoding if seen else None,
            "module": file.module,
            "status": seen.status if seen else "skipped",
            "reason": seen.reason if seen else file.unread,
        }


def _distributions(build: Build) -> Iterator[Row]:
    for listed in build.reading.listed:
        for each in listed.declared.distributions:
            yield {
                "repo": listed.source.repo,
                "name": each.name,
                "version": each.version,
                "declared_in": each.declared_in,
                "import_names": list(each.import_names),
            }


def _diagnostics(build: Build) -> Iterator[Row]:
    """What there is to say of a file as such, the problems that the extractors found in its content, and what is
    wrong with metadata."""
    for repo, file, seen in _each_file(build):
        place = {"repo": repo, "path": file.path}
        if file.unread or file.note:
            message = file.note or file.unread
            yield {**place, "start_byte": 0, "end_byte": 0, "kind": file.unread or "file", "message": message}
        for problem in seen.problems if seen else ():
            yield {**place, **problem}
        for message in build.stale.get((repo, file.path), ()):
            yield {**place, "start_byte": 0, "end_byte": 0, "kind": "claims", "message": message}
    for listed in build.reading.listed:
        for wrong in listed.declared.problems:
            place = {"repo": listed.source.repo, "path": wrong.path}
            yield {**place, "start_byte": 0, "end_byte": 0, "kind": "metadata", "message": wrong.message}


def _each_file(build: Build) -> Iterator[tuple[str, ListedFile, Seen | None]]:
    for listed in build.reading.listed:
        for file in listed.files:
            yield listed.source.repo, file, None if file.digest is None else build.seen[file.digest]
