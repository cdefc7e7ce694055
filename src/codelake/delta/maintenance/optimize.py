"""Small files made into few, and rows that vectors delete left out, without a change of any row.

A table that its contract keeps sorted is written anew in that order, all of it: Delta's OPTIMIZE keeps no order.
Every other table is left to OPTIMIZE, which takes only the files that need it, and clusters or Z-orders where the
contract says so.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import pyarrow.compute as pc

from codelake.contracts.table import Table
from codelake.delta.engine import engine_errors
from codelake.delta.entries import Commit, own_metadata_text
from codelake.delta.features import check_protocol
from codelake.delta.identity import newest_own_commit, own_metadata
from codelake.delta.lake import Lake
from codelake.delta.log import Log
from codelake.delta.maintenance.operation import ASKED, Maintained, maintained
from codelake.delta.modes import run_statement, write_rows
from codelake.delta.run import Run, pin
from codelake.errors import Conflict

_FILE_BYTES = 128 << 20


def optimize(run: Run, table: Table, *, full: bool = False, reason: str = ASKED, dry_run: bool = False) -> Maintained:
    """`full` also clusters files that are clustered already."""
    way = "rewrite" if is_kept_sorted(table) else "optimize"
    with maintained(run, table.name, "optimize", reason=reason, dry_run=dry_run, options={"way": way}) as done:
        log = run.lake.log(table.name)
        check_protocol(log, write=True)
        small, n_vectors = candidates(log, table)
        if dry_run:
            done.metrics.update(n_files=log.files.num_rows, n_small_files=small, n_deletion_vectors=n_vectors)
            return done
        with engine_errors(f"table {table.name}: optimize"):
            made = _rewrite(run, table, log) if is_kept_sorted(table) else _optimize(run, table, log, full=full)
        _measure(done, log, made)
    return done


def leaves_no_vectors(lake: Lake, table: Table) -> bool:
    """Whether a build writes files with a deletion vector anew: on an object store, what it reads and writes for that
    takes longer than all else."""
    return table.layout.without_vectors and lake.store.is_local and lake.locking


def purge(run: Run, table: Table) -> Maintained | None:
    """Files with a deletion vector written anew without the rows that it deletes, as long as the table is as the run
    reads it."""
    log = run.lake.log(table.name)
    n_vectors = log.deletion_vectors.num_rows if log.files.num_rows else 0
    if n_vectors == 0 or log.version != pin(run, table).version:
        return None
    reason = f"{n_vectors} files with deletion vectors"
    with maintained(run, table.name, "optimize", reason=reason, options={"way": "purge"}) as done:
        log = run.lake.log(table.name)
        if log.version == pin(run, table).version:
            with engine_errors(f"table {table.name}: purge"):
                commit_id, metadata = _named(run, log)
                _purge(run, table, metadata)
            _measure(done, log, _made(log, commit_id))
    return done


def is_kept_sorted(table: Table) -> bool:
    return bool(table.layout.order) and not (table.layout.zorder_by or table.layout.cluster_by)


def candidates(log: Log, table: Table) -> tuple[int, int]:
    """Small files, and files with a deletion vector."""
    if log.files.num_rows == 0:
        return 0, 0
    small = pc.sum(pc.less(log.files.column("size_bytes"), _small_bytes(log, table))).as_py()
    return int(small or 0), log.deletion_vectors.num_rows


def _measure(done: Maintained, log: Log, made: Sequence[Commit]) -> None:
    actions = [action for one in made for action in log.actions(one.version)]
    if actions:
        done.metrics.update(
            n_added_files=sum("add" in a for a in actions),
            n_removed_files=sum("remove" in a for a in actions),
            n_added_bytes=sum(a["add"]["size"] for a in actions if "add" in a),
            n_removed_bytes=sum(a["remove"].get("size") or 0 for a in actions if "remove" in a),
        )


def _small_bytes(log: Log, table: Table) -> int:
    """A file below this is small. Where the contract bounds the rows of a file, what about half as many take."""
    most, n_rows = table.layout.file_rows, log.n_rows
    if most is None or not n_rows:
        return table.upkeep.small_bytes
    return min(table.upkeep.small_bytes, log.n_bytes * most // (2 * n_rows))


def _optimize(run: Run, table: Table, log: Log, *, full: bool) -> list[Commit]:
    commit_id, metadata = _named(run, log)
    name = run.lake.sql_name(table.name)
    statement = f"OPTIMIZE {name}"
    if table.layout.zorder_by:
        statement += f" ZORDER BY ({', '.join(f'`{c}`' for c in table.layout.zorder_by)})"
    elif full and table.layout.cluster_by:
        statement += " FULL"
    # Rows lie along the curve within a file too: one that is ended by its rows ends where the next begins.
    confs = {"spark.databricks.io.skipping.mdc.sortWithinFiles": "true"}
    if table.layout.file_bytes is not None:
        confs["spark.databricks.delta.optimize.maxFileSize"] = str(table.layout.file_bytes)
    if table.layout.file_rows is not None:
        confs["spark.sql.files.maxRecordsPerFile"] = str(table.layout.file_rows)
        confs["spark.databricks.delta.optimize.minFileSize"] = str(_small_bytes(log, table))
        if log.deletion_vectors.num_rows:
            # OPTIMIZE leaves files of which little is deleted.
            _purge(run, table, metadata)
    run_statement(run.lake, table, statement, metadata=metadata, txn=None, confs=confs)
    return _made(log, commit_id)


def _purge(run: Run, table: Table, metadata: str) -> None:
    """Each file by itself: put together by their sizes, they would no longer be ranges of paths."""
    confs = {"spark.databricks.delta.optimize.maxFileSize": "1"}
    if table.layout.file_rows is not None:
        confs["spark.sql.files.maxRecordsPerFile"] = str(table.layout.file_rows)
    statement = f"REORG TABLE {run.lake.sql_name(table.name)} APPLY (PURGE)"
    run_statement(run.lake, table, statement, metadata=metadata, txn=None, confs=confs)


def _rewrite(run: Run, table: Table, log: Log) -> list[Commit]:
    if log.files.num_rows == 0:
        return []
    commit_id, metadata = _named(run, log)
    rows = run.lake.session.read.format("delta").option("versionAsOf", log.version).load(run.lake.uri(table.name))
    n_files = max(1, log.n_bytes // (table.layout.file_bytes or _FILE_BYTES))
    rows = rows.repartitionByRange(n_files, *table.layout.order) if n_files > 1 else rows.coalesce(1)
    write_rows(run.lake, table, rows, metadata=metadata, txn=None, overwrite=True, rearranged=True)
    made = _made(log, commit_id)
    if made and made[0].info.get("readVersion") != log.version:
        # only where no lock keeps others out: Delta has replaced rows that were not read
        raise Conflict(
            f"table {table.name}: optimize",
            expected=f"version {log.version}, which was read",
            found=f"version {made[0].info.get('readVersion')}, which was replaced",
            do=f"Restore it: codelake table restore {table.name} --to {made[0].info.get('readVersion')}.",
        )
    return made


def _named(run: Run, log: Log) -> tuple[str, str]:
    """A name to find the commit by, and metadata that carries cursors and applications on."""
    commit_id = uuid.uuid4().hex
    newest = newest_own_commit(log)
    own = own_metadata(run, newest, commit_id=commit_id, mode="optimize", txn=None, cursors={}, fingerprint=None)
    return commit_id, own_metadata_text(own)


def _made(log: Log, commit_id: str) -> list[Commit]:
    return [one for one in log.newer_commits(log.version) if one.own.get("commit_id") == commit_id]
