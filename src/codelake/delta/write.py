"""The one function that commits.

Whatever the mode, in this order: the rows are brought into the contract's shape, the protocol and the
gates are checked, Delta commits, and the version that this commit made is read back from the log by the
name that the commit carries, so that a commit of somebody else in between is never taken for ours.

A commit is made once per (application, version), see codelake.delta.identity. Rows in Spark are written by Spark; those
that this process holds are written from here where they may be, see codelake.delta.in_process.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.operations import COMMITS
from codelake.contracts.table import Table
from codelake.delta import in_process
from codelake.delta.engine import (
    CONSTRAINT_BROKEN,
    ENGINE_ERRORS,
    error_class,
    message,
    translated,
)
from codelake.delta.entries import Commit, own_metadata_text
from codelake.delta.expressions import parse_expression
from codelake.delta.features import check_protocol
from codelake.delta.gates import Gated, Violation, gate_that_refused, gated, note_violations
from codelake.delta.identity import earlier_commit, newest_own_commit, own_metadata
from codelake.delta.log import Log
from codelake.delta.modes import (
    delete_statement,
    merge,
    replace_condition,
    run_statement,
    update_statement,
    write_rows,
)
from codelake.delta.run import Run, Txn, pin
from codelake.delta.schema import check_semantics, conformed, handed
from codelake.errors import Conflict, ContractBroken, UsageError

Mode = Literal["append", "overwrite", "replace", "merge", "update", "delete"]
Rows: TypeAlias = DataFrame | pa.Table | None
_WITH_ROWS = ("append", "overwrite", "replace", "merge")


@dataclass(frozen=True)
class Committed:
    """What a commit did. `version` is the one it made, or made when it was first submitted."""

    table: str
    version: int
    mode: Mode
    is_repeat: bool
    is_empty: bool
    """Nothing to write, so no version was made; `version` is the one that was there."""
    metrics: Mapping[str, int]
    gates: Mapping[str, int]
    n_attempts: int


@dataclass(frozen=True)
class _Request:
    """One commit, as asked for."""

    run: Run
    table: Table
    mode: Mode
    txn: Txn | None
    where: str | None
    values: Mapping[str, str]
    replacing: Sequence[Sequence[Any]]
    delete_unmatched: str | None
    cursors: Mapping[str, int]
    fingerprint: str | None
    from_pin: bool
    commit_id: str = field(default_factory=lambda: uuid.uuid4().hex)


def commit(
    run: Run,
    table: Table,
    rows: DataFrame | pa.Table | None = None,
    *,
    mode: Mode,
    txn: Txn | None = None,
    where: str | None = None,
    values: Mapping[str, str] | None = None,
    replacing: Sequence[Sequence[Any]] = (),
    delete_unmatched: str | None = None,
    cursors: Mapping[str, int] | None = None,
    fingerprint: str | None = None,
    from_pin: bool = False,
) -> Committed:
    """Commit to a table, or leave it as it was.

    append      adds `rows`
    overwrite   `rows` instead of all that is there
    replace     `rows` instead of the rows whose `replace_by` columns (or the first of them) have one of the values
                in `replacing`
    merge       by the contract's key: changed rows are updated, new ones inserted; rows of the table that
                are not among `rows` and satisfy `delete_unmatched` are deleted
    update      sets `values` (column to expression) in the rows that satisfy `where`
    delete      deletes the rows that satisfy `where`

    `cursors` says how far the change feed of each source was read for these rows; it moves with this commit.
    `from_pin` says that the rows follow from this table as the run has pinned it, such as those that it lacks:
    if somebody has committed since, that is a conflict. On a local disk the lock makes sure of it; elsewhere a
    commit that is made while these rows are written is not seen.
    """
    request = _Request(
        run, table, mode, txn, where, values or {}, replacing, delete_unmatched, cursors or {}, fingerprint, from_pin
    )
    _check_request(request, rows)
    return _commit_once(request, rows)


def _check_request(request: _Request, rows: Rows) -> None:
    table, mode = request.table, request.mode
    problem = None
    if (rows is not None) != (mode in _WITH_ROWS):
        problem = ("rows", "rows to write" if mode in _WITH_ROWS else "no rows")
    elif mode in ("update", "delete") and request.where is None:
        problem = ("where", "a condition; `true` for all rows")
    elif mode == "update" and not request.values:
        problem = ("values", "at least one column to set")
    elif mode == "merge" and not table.key:
        problem = ("mode merge", "a contract with a key")
    elif mode == "replace" and not (table.replace_by and request.replacing):
        problem = ("mode replace", "a contract with replace_by, and the values to replace")
    elif table.append_only and mode != "append":
        problem = (f"mode {mode}", "append: the contract says append_only")
    if problem:
        raise UsageError(f"commit to {table.name}, {problem[0]}", expected=problem[1])
    names = table.column_names
    if request.where is not None:
        parse_expression(request.where, names)
    for column, text in request.values.items():
        table.column(column)
        if column in table.key:
            raise ContractBroken(f"table {table.name}", expected="an update that leaves the key alone", found=column)
        parse_expression(text, names)


def _commit_once(request: _Request, rows: Rows) -> Committed:
    started = time.monotonic()
    run, table = request.run, request.table
    if isinstance(rows, pa.Table):
        same = in_process.conformed(rows, table)
        rows = handed(run.lake.session, rows) if same is None else same
    if isinstance(rows, DataFrame):
        check_semantics(rows, table)
        rows = conformed(rows, table)
    with run.lake.writing(table.name):
        log = run.lake.log(table.name)
        check_protocol(log, write=True)
        if request.from_pin:
            _check_pin(request, log)
        newest = newest_own_commit(log)
        if repeated := earlier_commit(log, newest, request.txn):
            return _noted(request, repeated, {}, started, is_repeat=True)
        own = own_metadata(
            run,
            newest,
            commit_id=request.commit_id,
            mode=request.mode,
            txn=request.txn,
            cursors=request.cursors,
            fingerprint=request.fingerprint,
        )
        gate = _written(request, rows, log, own)
        made = next((c for c in log.newer_commits(log.version) if c.own.get("commit_id") == request.commit_id), None)
    if made is None and (again := earlier_commit(log, newest_own_commit(run.lake.log(table.name)), request.txn)):
        return _noted(request, again, {}, started, is_repeat=True)  # Delta knew the transaction
    counts = gate.counts() if gate and request.mode != "update" else {}
    if gate and counts:
        note_violations(run, table, gate.violations(list(counts)))
    if made is None:
        return Committed(table.name, log.version, request.mode, False, True, {}, counts, 1)
    return _noted(request, made, counts, started, is_repeat=False)


def _written(request: _Request, rows: Rows, log: Log, own: dict[str, Any]) -> Gated | None:
    """Write what is asked for; the gates that Spark put the rows through."""
    lake, table = request.run.lake, request.table
    if isinstance(rows, pa.Table):
        if in_process.takes(lake, table, log, rows, request.mode):
            try:
                in_process.write(lake, table, log, rows, own_metadata_text(own), request.replacing)
            except in_process.RulesBroken as broken:
                gate = _gate(request, handed(lake.session, rows), log)
                raise _broken(request, gate.violations() if gate else []) from broken
            return None
        rows = conformed(handed(lake.session, rows), table)
    gate = _gate(request, rows, log)
    try:
        _write(request, gate, own)
    except ENGINE_ERRORS as error:
        raise _refusal(request, gate, error) from error
    return gate


def _check_pin(request: _Request, log: Log) -> None:
    pinned = pin(request.run, request.table)
    if log.version != pinned.version:
        raise Conflict(
            f"commit to {request.table.name} ({request.mode})",
            expected=f"version {pinned.version}, from which the rows were planned",
            found=f"version {log.version}",
            do="Nothing was written. Plan again from a new pin.",
        )


# gates ------------------------------------------------------------------------------------------


def _gate(request: _Request, rows: DataFrame | None, log: Log) -> Gated | None:
    run, table = request.run, request.table
    if request.mode == "delete":
        return None
    others = None
    within = replace_condition(table, request.replacing) if request.mode == "replace" else None
    if rows is None:
        changed = (
            _current(run, table)
            .where(request.where or "true")
            .withColumns({c: F.expr(text).cast(table.column(c).type) for c, text in request.values.items()})
        )
        rows = changed.select(*table.column_names)
    elif table.key and table.key_scope == "table" and request.mode in ("append", "replace"):
        others = _current(run, table).where(f"NOT ({within})" if within else "true")
    referred = {}
    for reference in table.references:
        pinned = pin(run, reference.table)
        referred[reference.table] = (
            run.lake.session.read.format("delta")
            .option("versionAsOf", pinned.version)
            .load(run.lake.uri(reference.table))
        )
    gate = gated(rows, table, log, others=others, referred=referred, within=within)
    if request.mode == "update" and (broken := gate.violations()):
        # an update has no row to drop or to count in passing: what does not hold is found beforehand
        if any(v.action != "warn" for v in broken):
            raise _broken(request, broken)
        note_violations(run, table, broken)
    return gate


def _current(run: Run, table: Table) -> DataFrame:
    """The table as it is when the commit's transaction reads it: not at a pin, so that Delta sees a conflict."""
    return run.lake.session.read.format("delta").load(run.lake.uri(table.name))


def _refusal(request: _Request, gate: Gated | None, error: Exception) -> Exception:
    text = message(error)
    broke_rule = error_class(error).startswith(CONSTRAINT_BROKEN) or gate_that_refused(text)
    if broke_rule and gate is not None:
        return _broken(request, [v for v in gate.violations() if v.action == "fail"])
    return translated(f"commit to {request.table.name} ({request.mode})", error)


def _broken(request: _Request, violations: Sequence[Violation]) -> ContractBroken:
    note_violations(request.run, request.table, violations)
    return ContractBroken(
        f"commit to {request.table.name} ({request.mode}) breaks {len(violations)} rule(s)",
        found="; ".join(map(str, violations)),
        do="Nothing was written. The rows are also in the quality table once the run is recorded.",
        violations=violations,
    )


def _write(request: _Request, gate: Gated | None, own: dict[str, Any]) -> None:
    lake, table, txn = request.run.lake, request.table, request.txn
    how: dict[str, Any] = {
        "metadata": own_metadata_text(own),
        "txn": None if txn is None or lake.store.is_local else (txn.app, txn.version),
    }
    if request.mode == "delete":
        run_statement(lake, table, delete_statement(lake.sql_name(table.name), request.where or "true"), **how)
    elif request.mode == "update":
        statement = update_statement(lake.sql_name(table.name), request.values, request.where or "true")
        run_statement(lake, table, statement, **how)
    elif gate is None:
        raise AssertionError(f"mode {request.mode} has rows, and rows have a gate")
    elif request.mode == "merge":
        view = f"codelake_{request.commit_id}"
        merge(lake, table, gate.rows(counting=False), view=view, delete_unmatched=request.delete_unmatched, **how)
    else:
        condition = replace_condition(table, request.replacing) if request.mode == "replace" else None
        write_rows(
            lake,
            table,
            gate.rows(counting=True),
            overwrite=request.mode != "append",
            condition=condition,
            **how,
        )


def _noted(
    request: _Request,
    made: Commit,
    counts: Mapping[str, int],
    started: float,
    *,
    is_repeat: bool,
) -> Committed:
    run, table, txn = request.run, request.table, request.txn
    run.note(
        COMMITS,
        table_name=table.name,
        version=made.version,
        mode=request.mode,
        stage=run.stage,
        commit_id=made.own["commit_id"],
        app=txn.app if txn else None,
        app_version=txn.version if txn else None,
        is_repeat=is_repeat,
        fingerprint=request.fingerprint,
        pins=dict(run.pinned_versions),
        n_attempts=1,
        metrics=made.metrics,
        gates=dict(counts),
        duration_ms=int((time.monotonic() - started) * 1000),
    )
    return Committed(
        table=table.name,
        version=made.version,
        mode=request.mode,
        is_repeat=is_repeat,
        is_empty=False,
        metrics=made.metrics,
        gates=counts,
        n_attempts=1,
    )
