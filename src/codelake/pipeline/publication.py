"""The stage `files`: what the repositories hold now, in the place of what they held.

Only differences are committed, so that the change feeds of these tables tell what really changed, and a build
with nothing new leaves them as they are. Until `files` is committed, nothing refers to what earlier stages did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from codelake.contracts import Table
from codelake.contracts.arrow import arrow_table
from codelake.contracts.sources import DIAGNOSTICS, DISTRIBUTIONS, FILES, REPOSITORIES
from codelake.delta.create import sql_text
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.ids import file_id
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.reading import ListedFile
from codelake.pipeline.work import Build, Seen

Row = Mapping[str, Any]


def publish_files(build: Build) -> None:
    _publish(build, DIAGNOSTICS, list(_diagnostics(build)))
    _publish(build, REPOSITORIES, list(_repositories(build)))
    _publish(build, DISTRIBUTIONS, list(_distributions(build)))
    _publish(build, FILES, list(_files(build)))


def _publish(build: Build, table: Table, rows: list[Row]) -> None:
    repos = [listed.source.repo for listed in build.reading.listed]
    within = f"repo IN ({', '.join(map(sql_text, repos))})"

    def plan(run: Run) -> Plan:
        old = [] if is_empty(run, table) else scan(run, table, where=within).toArrow().to_pylist()
        new, gone = _only(rows, old, table), _only(old, rows, table)
        if not gone:
            return (_frame(build, table, new), {"mode": "append"}) if new else None
        if not table.key:
            return _frame(build, table, rows), {"mode": "replace", "replacing": [(repo,) for repo in repos]}
        keys = {_values(row, table.key) for row in rows}
        if all(_values(row, table.key) in keys for row in gone):
            return _frame(build, table, new), {"mode": "merge"}
        return _frame(build, table, rows), {"mode": "merge", "delete_unmatched": within}

    build.committed(commit_planned(build.run, table, plan, from_pin=True))


def _frame(build: Build, table: Table, rows: list[Row]) -> Any:
    return build.spark.createDataFrame(arrow_table(table, rows))


def _only(rows: list[Row], others: list[Row], table: Table) -> list[Row]:
    """The rows that `others` does not have, or not as often."""
    there = Counter(_values(row, table.column_names) for row in others)
    found = []
    for row in rows:
        values = _values(row, table.column_names)
        if there[values]:
            there[values] -= 1
        else:
            found.append(row)
    return found


def _values(row: Row, columns: tuple[str, ...]) -> tuple[Any, ...]:
    values = (row[column] for column in columns)
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


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
    for listed in build.reading.listed:
        for wrong in listed.declared.problems:
            place = {"repo": listed.source.repo, "path": wrong.path}
            yield {**place, "start_byte": 0, "end_byte": 0, "kind": "metadata", "message": wrong.message}


def _each_file(build: Build) -> Iterator[tuple[str, ListedFile, Seen | None]]:
    for listed in build.reading.listed:
        for file in listed.files:
            yield listed.source.repo, file, None if file.digest is None else build.seen[file.digest]
