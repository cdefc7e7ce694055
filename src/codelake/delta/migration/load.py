"""A dataset loaded batch by batch. A batch is written down before it is committed and again after, and its commit is
made once, so that a load that was killed goes on where it was and nothing is there twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from codelake.contracts.operations import LOADS
from codelake.contracts.table import Table
from codelake.delta.create import create_table
from codelake.delta.digest import Digest, digest_of, embedded_digest
from codelake.delta.drift import drift
from codelake.delta.embedded import rows, text
from codelake.delta.lake import Lake
from codelake.delta.log import Log
from codelake.delta.migration.columns import rows_of, wider
from codelake.delta.migration.source import Source, SourceFile
from codelake.delta.record import record
from codelake.delta.run import Run, Txn
from codelake.delta.schema import spark_schema
from codelake.delta.write import commit
from codelake.errors import ContractBroken, Damaged

BATCH_BYTES = 64 << 20
BATCH_FILES = 500
RESTORED = "RESTORE"
"""The operation, as Delta's log spells it."""


@dataclass
class Loaded:
    """What a load did. `digest` is of all rows that this source has brought into the table; where others have written
    to it as well, or its log does not tell any more, it was not compared with the table's."""

    table: str
    source: str
    n_files: int = 0
    n_known: int = 0
    n_rows: int = 0
    n_batches: int = 0
    version: int | None = None
    digest: str = ""
    is_verified: bool = False
    corrupt: list[dict[str, str]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Imported before, and written since: not imported again."""


@dataclass(frozen=True)
class ToDo:
    """What of a source is not in the table yet."""

    again: list[SourceFile]
    """Of a load that was killed: the same files again, under the same number."""
    new: list[SourceFile]
    n_known: int
    changed: list[str]
    last_batch: int

    @property
    def files(self) -> list[SourceFile]:
        return [*self.again, *self.new]


def to_do(lake: Lake, source: Source, table: Table) -> ToDo:
    """Reads what there is, and changes nothing. A table that cannot hold the dataset is refused."""
    _require_room(lake, table)
    history = _history(lake, table.name, str(source.root.absolute()))
    imported = _imported(lake, table.name, history)
    by_path = {file.path: file for file in source.files}
    there = [file for file in source.files if file.path in imported]
    changed = [file.path for file in there if _differs(file, imported[file.path])]
    last = max((row["batch"] for row in history if row["status"] == "imported"), default=0)
    pending = [row["path"] for row in history if row["status"] == "planned" and row["batch"] > last]
    again = [by_path[path] for path in pending if path in by_path]
    new = [file for file in source.files if not (file.path in imported or file.problem or file in again)]
    return ToDo(again, new, len(there) - len(changed), changed, last)


def load(run: Run, source: Source, table: Table, *, skip_corrupt: bool = False) -> Loaded:
    """Every file that was not loaded before. A file that cannot be read stops the load before its batch is
    committed, unless it may be left out; either way it is named."""
    lake, root = run.lake, str(source.root.absolute())
    done = Loaded(table.name, root, corrupt=[_named(file, file.problem) for file in source.unreadable])
    _stop_if_corrupt(done, skip_corrupt)
    create_table(lake, LOADS)
    if not lake.exists(table.name):
        create_table(lake, table, allow_features=("timestampNtz",))
    found = to_do(lake, source, table)
    done.n_known, done.changed = found.n_known, found.changed
    batches = [*([found.again] if found.again else []), *_batches(found.new)]
    for number, batch in enumerate(batches, found.last_batch + 1):
        _load_batch(run, source, table, batch, number, done, skip_corrupt=skip_corrupt)
    _verify(lake, table, root, done)
    return done


def _require_room(lake: Lake, table: Table) -> None:
    """Partitions that were asked for are those that the table has; no column of it is too narrow."""
    if not lake.exists(table.name):
        return
    wanted = {one.name: one for one in drift(table, lake.log(table.name)) if one.kind in ("retyped", "partitioning")}
    if not table.layout.partition_by:
        wanted.pop("partition_by", None)
    found = [one for one in wanted.values() if one.kind != "retyped" or wider(one.found, one.expected) != one.found]
    if found:
        raise ContractBroken(
            f"table {table.name} does not take this dataset",
            found="; ".join(map(str, found)),
            do="Nothing was written. Load it into a table of another name.",
        )


def _load_batch(
    run: Run,
    source: Source,
    table: Table,
    files: Sequence[SourceFile],
    number: int,
    done: Loaded,
    *,
    skip_corrupt: bool,
) -> None:
    parts: list[pa.Table] = []
    read: list[tuple[SourceFile, Digest]] = []
    for file in files:
        try:
            rows = rows_of(source, file, table)
        except (ValueError, OSError) as error:  # pages that cannot be decoded are known only now
            done.corrupt.append(_named(file, str(error).splitlines()[0]))
            continue
        parts.append(rows)
        read.append((file, digest_of(rows.to_batches())))
    _stop_if_corrupt(done, skip_corrupt)
    if not read:
        return
    _write_down(run, table, source, read, number, "planned", None)
    txn = Txn(f"import/{source.root.absolute()}", number)
    rows = run.lake.session.createDataFrame(pa.concat_tables(parts).combine_chunks(), spark_schema(table))
    made = commit(run, table, rows, mode="append", txn=txn)
    _write_down(run, table, source, read, number, "imported", made.version)
    done.n_files += len(read)
    done.n_rows += sum(digest.n_rows for _, digest in read)
    done.n_batches += 1
    done.version = made.version


def _write_down(
    run: Run,
    table: Table,
    source: Source,
    files: Sequence[tuple[SourceFile, Digest]],
    number: int,
    status: str,
    version: int | None,
) -> None:
    note = Run(run.lake, run.run_id, stage=f"import {status}", pipeline=run.pipeline)
    for file, digest in files:
        note.note(
            LOADS,
            table_name=table.name,
            source=str(source.root.absolute()),
            path=file.path,
            n_bytes=file.n_bytes,
            modified_at=file.modified_at,
            batch=number,
            status=status,
            n_rows=digest.n_rows,
            digest=str(digest),
            version=version,
        )
    record(note, repeatable=False)


def _batches(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    batch: list[SourceFile] = []
    n_bytes = 0
    for file in files:
        if batch and (n_bytes + file.n_bytes > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield batch
            batch, n_bytes = [], 0
        batch.append(file)
        n_bytes += file.n_bytes
    if batch:
        yield batch


def _history(lake: Lake, table: str, root: str) -> list[dict[str, Any]]:
    """Of the table that there is now: one that was deleted, and made anew, has not what the other had."""
    if not (lake.exists(LOADS.name) and lake.exists(table)):
        return []
    loads = {LOADS.name: lake.log(LOADS.name).delta_table}
    made = f"TIMESTAMP '{lake.log(table).created_at.isoformat()}'"
    where = f"table_name = {text(table)} AND source = {text(root)} AND recorded_at >= {made}"
    return list(rows(loads, f"SELECT * FROM {LOADS.name} WHERE {where}").to_pylist())


def _imported(lake: Lake, table: str, history: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By path, what is known of each file that was loaded. A load that a restore has undone is none."""
    undone = _undone(lake.log(table)) if history else ()
    rows = [row for row in history if row["status"] == "imported" and row["version"] not in undone]
    return {row["path"]: row for row in sorted(rows, key=lambda row: row["batch"])}


def _undone(log: Log) -> set[int]:
    """Versions whose rows a restore has taken out again, and no later one has brought back."""
    there: dict[int, set[int]] = {}
    now = set(range(log.versions.start))
    for version in log.versions:
        commit = log.commit(version)
        if commit is not None and commit.operation == RESTORED:
            to = int(commit.info["operationParameters"]["version"])
            now = there.get(to, set(range(to + 1)))
        else:
            now = now | {version}
        there[version] = now
    return set(range(log.version + 1)) - now


def _verify(lake: Lake, table: Table, root: str, done: Loaded) -> None:
    """Digests add up: those of the files must give that of the table, as long as only this source was loaded."""
    imported = _imported(lake, table.name, _history(lake, table.name, root))
    parts = [row["digest"].partition("-") for row in imported.values()]
    total = Digest(sum(int(n) for n, _, _ in parts), sum(int(t, 16) for _, _, t in parts) % (1 << 64))
    done.digest = str(total)
    log = lake.log(table.name)
    done.is_verified = log.versions.start == 0 and not any(_is_of_others(log, v, root) for v in log.versions)
    if done.is_verified and (found := embedded_digest(log)) != total:
        raise Damaged(
            f"table {table.name}, loaded from {root}",
            expected=f"rows with the digest {total}, as the files have",
            found=found,
            do="Restore the table to an earlier version, and load again.",
        )


def _is_of_others(log: Log, version: int, root: str) -> bool:
    """Whether the commit changed rows, and neither loaded nor restored what this source has."""
    commit = log.commit(version)
    if commit is None or commit.operation == RESTORED or commit.own.get("app") == f"import/{root}":
        return False
    return any(action.get(kind, {}).get("dataChange") for action in log.actions(version) for kind in ("add", "remove"))


def _stop_if_corrupt(done: Loaded, skip: bool) -> None:
    if done.corrupt and not skip:
        named = "; ".join(f"{one['path']}: {one['problem']}" for one in done.corrupt[:10])
        raise Damaged(
            f"Parquet dataset {done.source}: {len(done.corrupt)} file(s) cannot be read",
            found=named,
            do="What was loaded before stays. Mend the files, or load the others with --skip-corrupt.",
        )


def _named(file: SourceFile, problem: str) -> dict[str, str]:
    return {"path": file.path, "problem": problem}


def _differs(file: SourceFile, row: dict[str, Any]) -> bool:
    return (file.n_bytes, file.modified_at) != (row["n_bytes"], row["modified_at"])
