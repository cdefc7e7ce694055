"""`codelake tables`: what there is to know of the tables from their logs and contracts, without a JVM."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from codelake.cli import output
from codelake.cli.opening import lake_without_session
from codelake.cli.options import given
from codelake.contracts import TABLES, Table
from codelake.errors import CodelakeError, Damaged, NotFound, PinUnavailable, UsageError

# deltalake and Arrow take longer to import than most commands to run: only who asks for tables loads them.
if TYPE_CHECKING:
    from codelake.delta.entries import Commit
    from codelake.delta.lake import Lake
    from codelake.delta.log import Log

_CONTRACTS = {table.name: table for table in TABLES}
_LIST = ["table", "rows", "version", "size", "files", "changed at", "drift"]
_UNDECLARED = "no contract"
_STYLES = {"drift": {_UNDECLARED: "yellow"}}


@click.command()
@click.argument("name", required=False)
@click.option("--at", metavar="VERSION-or-TIME", help="as of a version of NAME, or of a time (ISO 8601, UTC)")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="commits in the history")
@click.pass_context
def tables(context: click.Context, name: str | None, at: str | None, limit: int) -> None:
    """The tables of the lake, or all there is to know of one.

    Rows, version, size, contract, drift from it, features and history come from the tables' logs: no row is
    read and no Spark is started. A table that cannot be opened is listed with the reason, and the exit code
    is then 5.
    """
    asked = int(at) if at is not None and at.lstrip("-").isdigit() else at
    lake = lake_without_session()
    if name is not None:
        _show_one(lake, name, asked, limit)
        return
    if isinstance(asked, int):
        raise UsageError("--at without a table", expected="a time: each table counts its own versions", found=at)
    found = [row for each in lake.table_names() if (row := _listed(lake, each, asked))]
    _show_all(found)
    if any(row["error"] for row in found):
        context.exit(Damaged.exit_code)


# all of them -------------------------------------------------------------------------------------


def _listed(lake: Lake, name: str, at: str | None) -> dict[str, Any] | None:
    """A table's row; None where it was not there yet at that time."""
    from codelake.delta.inspect import table_facts
    from codelake.delta.run import resolved

    row: dict[str, Any] = {"name": name, "has_contract": name in _CONTRACTS, "error": None}
    try:
        version = resolved(lake, name, at).version
        facts = table_facts(lake, name, _CONTRACTS.get(name), version=version)
    except UsageError:
        raise  # the question is wrong, not the table
    except CodelakeError as error:
        if isinstance(error, PinUnavailable) and lake.log(name).versions.start == 0:
            return None
        return {**row, "error": str(error)}
    return row | {
        "version": facts.version,
        "n_rows": facts.n_rows,
        "n_bytes": facts.n_bytes,
        "n_files": facts.n_files,
        "changed_at": _iso(facts.changed_at),
        "n_drift": len(facts.drift) if facts.has_contract else None,
    }


def _show_all(found: list[dict[str, Any]]) -> None:
    if given().json:
        output.document(found)
        return
    columns = [*_LIST, "error"] if any(row["error"] for row in found) else _LIST
    output.rows([_drawn_row(row) for row in found], columns, styles=_STYLES)


def _drawn_row(row: dict[str, Any]) -> dict[str, Any]:
    drawn = {"table": row["name"], "drift": "" if row["has_contract"] else _UNDECLARED, "error": row["error"]}
    if row["error"]:
        return drawn
    return drawn | {
        "rows": "?" if row["n_rows"] is None else row["n_rows"],
        "version": row["version"],
        "size": _size(row["n_bytes"]),
        "files": row["n_files"],
        "changed at": _seconds(row["changed_at"]),
        "drift": row["n_drift"] if row["has_contract"] else _UNDECLARED,
    }


# one of them -------------------------------------------------------------------------------------


def _show_one(lake: Lake, name: str, at: int | str | None, limit: int) -> None:
    from codelake.delta.run import resolved

    if name not in (there := lake.table_names()):
        raise _unknown(name, there)
    found = _all_of(lake, resolved(lake, name, at), _CONTRACTS.get(name), limit)
    if given().json:
        output.document(found)
    else:
        _draw(found)


def _unknown(name: str, there: list[str]) -> NotFound:
    near = get_close_matches(name, there, 3)
    do = f"Did you mean {' or '.join(near)}?" if near else "Type `codelake tables` for what there is."
    return NotFound(
        f"table {name}",
        expected=f"one of {', '.join(there)}" if there else "a table; the lake has none yet",
        found="declared by a contract, but not made yet" if name in _CONTRACTS else "no such table",
        do=do if there else "",
    )


def _all_of(lake: Lake, log: Log, contract: Table | None, limit: int) -> dict[str, Any]:
    from codelake.delta.features import protocol_of
    from codelake.delta.inspect import history, table_facts

    facts = table_facts(lake, log.name, contract, version=log.version)
    protocol = protocol_of(*log.protocol)
    return {
        "name": log.name,
        "meaning": contract.meaning if contract else None,
        "has_contract": facts.has_contract,
        "version": facts.version,
        "changed_at": _iso(facts.changed_at),
        "n_rows": facts.n_rows,
        "n_files": facts.n_files,
        "n_bytes": facts.n_bytes,
        "key": list(contract.key) if contract else [],
        "key_scope": contract.key_scope if contract and contract.key else None,
        "sorted_by": facts.sorted_by,
        "partition_by": log.partition_columns,
        "min_reader_version": protocol.min_reader_version,
        "min_writer_version": protocol.min_writer_version,
        "features": list(protocol.features),
        "columns": _columns(log, contract),
        "checks": _checks(log, contract),
        "drift": [asdict(one) for one in facts.drift],
        "history": [_entry(commit) for commit in history(log, limit)],
    }


def _columns(log: Log, contract: Table | None) -> list[dict[str, Any]]:
    """The contract's columns; of a table without one, those that are stored."""
    if contract is None:
        from codelake.delta.drift import type_text

        return [
            {
                "column": field["name"],
                "type": type_text(field["type"]),
                "nullable": field["nullable"],
                "semantic": None,
                "meaning": field.get("metadata", {}).get("comment"),
            }
            for field in log.fields
        ]
    return [
        {
            "column": column.name,
            "type": column.type,
            "nullable": column.nullable,
            "semantic": column.semantic.name if column.semantic else None,
            "meaning": column.meaning,
        }
        for column in contract.columns
    ]


def _checks(log: Log, contract: Table | None) -> list[dict[str, Any]]:
    from codelake.delta.drift import CONSTRAINT

    declared = contract.all_checks if contract else ()
    names = {check.name for check in declared}
    own = {k.removeprefix(CONSTRAINT): v for k, v in log.properties.items() if k.startswith(CONSTRAINT)}
    return [
        *({"check": c.name, "action": c.action, "expression": c.expression, "origin": "contract"} for c in declared),
        *(
            {"check": name, "action": "fail", "expression": text, "origin": "table"}
            for name, text in own.items()
            if name not in names
        ),
        *(
            {"check": r.name, "action": r.action, "expression": r.name, "origin": "reference"}
            for r in (contract.references if contract else ())
        ),
    ]


def _entry(commit: Commit) -> dict[str, Any]:
    return {
        "version": commit.version,
        "committed_at": _iso(commit.timestamp),
        "operation": commit.operation,
        "mode": commit.own.get("mode"),
        "run_id": commit.own.get("run_id"),
        "stage": commit.own.get("stage"),
        "n_rows": _rows_of(commit),
        "metrics": commit.metrics,
    }


_ROW_METRICS = {
    "DELETE": ("numDeletedRows",),
    "UPDATE": ("numUpdatedRows",),
    "MERGE": ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"),
}


def _rows_of(commit: Commit) -> int | None:
    """Rows that a commit wrote, changed or deleted; None where it is not about rows."""
    names = _ROW_METRICS.get(commit.operation, ("numOutputRows",))
    found = [commit.metrics[name] for name in names if name in commit.metrics]
    return sum(found) if found else None


def _draw(found: dict[str, Any]) -> None:
    meaning = found["meaning"] or "A table without a contract."
    click.echo(f"{click.style(found['name'], bold=True)}: {meaning}\n")
    rows = "rows not counted" if found["n_rows"] is None else f"{found['n_rows']} rows"
    key = f"{', '.join(found['key'])} (unique in the {found['key_scope']})" if found["key"] else ""
    protocol = f"reader {found['min_reader_version']}, writer {found['min_writer_version']}"
    for label, text in {
        "version": f"{found['version']}, committed at {found['changed_at']}",
        "size": f"{rows} in {found['n_files']} files, {_size(found['n_bytes'])}",
        "key": key,
        "sorted by": found["sorted_by"].replace(",", ", "),
        "partitions": ", ".join(found["partition_by"]),
        "protocol": protocol,
        "features": ", ".join(found["features"]),
    }.items():
        if text:
            click.echo(f"{label:<10}  {text}")
    columns = [{**c, "": _marks(c)} for c in found["columns"]]
    _section("", columns, ["column", "type", "", "meaning"])
    _section("Checks", found["checks"], ["check", "action", "expression", "origin"])
    drift = [{**one, "what": one["kind"]} for one in found["drift"]]
    if not found["has_contract"]:
        click.echo("\nNo contract declares this table, so there is nothing to differ from.")
    elif drift:
        _section("Drift from the contract", drift, ["what", "name", "expected", "found"])
    else:
        click.echo("\nThe table is as its contract says.")
    commits = [
        {**c, "time (UTC)": _seconds(c["committed_at"]), "run": c["run_id"], "rows": c["n_rows"]}
        for c in found["history"]
    ]
    _section("History, newest first", commits, ["version", "time (UTC)", "operation", "run", "stage", "rows"])


def _section(title: str, rows: list[dict[str, Any]], columns: list[str]) -> None:
    if rows:
        click.echo(f"\n{title}" if title else "")
        output.rows(rows, columns)


def _marks(column: dict[str, Any]) -> str:
    return ", ".join(filter(None, ["" if column["nullable"] else "not null", column["semantic"]]))


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(iso: str) -> str:
    return iso[:19].replace("T", " ")


def _size(n: int) -> str:
    if n < 1000:
        return f"{n} B"
    size, unit = float(n), 0
    while size >= 999.95 and unit < 4:
        size, unit = size / 1000, unit + 1
    return f"{size:.1f} {('B', 'kB', 'MB', 'GB', 'TB')[unit]}"
