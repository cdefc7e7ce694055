"""A small lake, and the faults that are planted in copies of it. Each is what damage leaves that no engine made:
Hadoop's own checksums, which would betray most of it, are taken away first."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from codelake.contracts import Column, Table
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.publish import publish
from codelake.delta.record import create_operations, record
from codelake.delta.run import Run, advance
from codelake.delta.vectors import vector_path
from codelake.delta.write import commit
from tests.delta.things import THINGS, frame

Actions = list[dict[str, Any]]
LOG = "_delta_log"
_EVENTS = (
    "CREATE TABLE {t} (id BIGINT NOT NULL, day INT, name STRING, at TIMESTAMP) USING delta PARTITIONED BY (day) "
    "TBLPROPERTIES (delta.checkpointPolicy = 'v2', delta.checkpointInterval = 3)"
)


EVENTS = Table(
    "events",
    "Events, in partitions.",
    (
        Column("id", "bigint", "the key"),
        Column("day", "int", "a partition", nullable=True),
        Column("name", "string", "a text", nullable=True),
        Column("at", "timestamp", "a time", nullable=True),
    ),
)


def make(lake: Lake) -> None:
    """things: entries 0 to 5, a deletion vector, a checkpoint at 4. events: partitions, v2 checkpoints. One run."""
    create_operations(lake)
    create_table(lake, THINGS)
    run = Run(lake, "run-1", stage="load", pipeline="build")
    for i in range(3):
        rows = [(i * 10 + k, "ab"[k % 2], None if k == 2 else k + 1) for k in range(4)]
        commit(run, THINGS, frame(lake, rows).coalesce(1), mode="append")
    commit(run, THINGS, mode="delete", where="id = 1")
    DeltaTable(lake.uri("things")).create_checkpoint()
    done = commit(run, THINGS, frame(lake, [(50, "c", 5), (51, "c", 6)]).coalesce(1), mode="append")
    lake.session.sql(_EVENTS.format(t=lake.sql_name("events")))
    for i in range(4):
        text = f"{i}L AS id, {i % 2} AS day, 'event {i}' AS name, timestamp'2026-01-0{i + 1} 10:00:00.123456' AS at"
        lake.session.sql(f"SELECT {text}").write.format("delta").mode("append").save(lake.uri("events"))
    advance(run, THINGS, done.version)
    _publish(run, {"things": done.version, "events": 4})
    for beside in lake.store.path.rglob(".*.crc"):
        beside.unlink()


def _publish(run: Run, versions: dict[str, int]) -> None:
    now = run.pins["things"].committed_at
    publish(
        run,
        (THINGS,),
        recorded=record(run) | versions,
        started_at=now,
        repositories=[],
        pins={},
        manifest=json.dumps({"versions": versions}),
    )


class Planted(NamedTuple):
    what: str
    fault: str
    """The name that the check gives it."""
    plant: Callable[[Path], None]
    """Given the lake's root."""
    is_note: bool = False


# tools -------------------------------------------------------------------------------------------


def entry(root: Path, version: int, table: str = "things") -> Path:
    return root / table / LOG / f"{version:020}.json"


def actions_of(file: Path) -> Actions:
    return [json.loads(line) for line in file.read_text().splitlines()]


def edited(version: int, change: Callable[[Actions], object], table: str = "things") -> Callable[[Path], None]:
    """The entry with its actions changed in place."""

    def plant(root: Path) -> None:
        actions = actions_of(entry(root, version, table))
        change(actions)
        entry(root, version, table).write_text("".join(json.dumps(a) + "\n" for a in actions))

    return plant


def added(actions: Actions) -> dict[str, Any]:
    found: dict[str, Any] = next(a["add"] for a in actions if "add" in a)
    return found


def with_stats(change: Callable[[dict[str, Any]], object]) -> Callable[[Actions], None]:
    def apply(actions: Actions) -> None:
        stats = json.loads(added(actions)["stats"])
        change(stats)
        added(actions)["stats"] = json.dumps(stats)

    return apply


def rewritten(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    """The data file of entry 5 with other rows, and a log that knows its new size."""

    def plant(root: Path) -> None:
        actions = actions_of(entry(root, 5))
        one = added(actions)
        file = root / "things" / one["path"]
        pq.write_table(change(pq.read_table(file)), file)
        one["size"] = file.stat().st_size
        entry(root, 5).write_text("".join(json.dumps(a) + "\n" for a in actions))
        (root / "things" / LOG / f"{5:020}.crc").unlink()

    return plant


def data_file(root: Path, version: int = 5) -> Path:
    return Path(root / "things" / added(actions_of(entry(root, version)))["path"])


def flip(file: Path, place: int) -> None:
    raw = bytearray(file.read_bytes())
    raw[place] ^= 0xFF
    file.write_bytes(raw)


def vector_file(root: Path) -> Path:
    return Path(root / "things" / str(vector_path(added(actions_of(entry(root, 4)))["deletionVector"])))


def with_vector(**changes: Any) -> Callable[[Path], None]:
    """Also out of the checkpoint's way: it is newer than the entry and says what the entry said."""

    def plant(root: Path) -> None:
        no_checkpoint(root)
        edited(4, lambda actions: added(actions)["deletionVector"].update(changes))(root)

    return plant


def no_checkpoint(root: Path) -> None:
    (root / "things" / LOG / f"{4:020}.checkpoint.parquet").unlink()
    (root / "things" / LOG / "_last_checkpoint").unlink()


def checkpoint(root: Path) -> Path:
    return root / "things" / LOG / f"{4:020}.checkpoint.parquet"


def checkpoint_rows(keep: Callable[[pa.Table], Any]) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        rows = pq.read_table(checkpoint(root))
        pq.write_table(rows.filter(keep(rows)), checkpoint(root))

    return plant


def shorter(find: Callable[[Path], Path], by: int = 10) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        file = find(root)
        file.write_bytes(file.read_bytes()[:-by])

    return plant


def without(find: Callable[[Path], Path]) -> Callable[[Path], None]:
    return lambda root: find(root).unlink()


def written(find: Callable[[Path], Path], raw: bytes) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        find(root).write_bytes(raw)

    return plant


def sidecar(root: Path) -> Path:
    return next((root / "events" / LOG / "_sidecars").iterdir())


def protocol_of(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """In entry 0, and no checkpoint that says otherwise."""

    def plant(root: Path) -> None:
        no_checkpoint(root)
        edited(0, lambda actions: change(next(a["protocol"] for a in actions if "protocol" in a)))(root)

    return plant


def metadata_of(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        no_checkpoint(root)
        edited(0, lambda actions: change(next(a["metaData"] for a in actions if "metaData" in a)))(root)

    return plant


def recorded_run(**values: Any) -> Callable[[Path], None]:
    """One more row of `runs`, after the good one."""

    def plant(root: Path) -> None:
        engine = QueryBuilder()
        engine.register("runs", DeltaTable(root / "runs"))
        rows = pa.table(engine.execute("SELECT * FROM runs").read_all())
        row = rows.slice(0, 1).to_pylist()[0] | values
        row["recorded_at"] = row["recorded_at"].replace(year=2099)
        write_deltalake(root / "runs", pa.Table.from_pylist([row], schema=rows.schema), mode="append")

    return plant


def _drop(kind: str) -> Callable[[Actions], None]:
    def apply(actions: Actions) -> None:
        actions[:] = [a for a in actions if kind not in a]

    return apply


def _twice(actions: Actions) -> None:
    actions.append({"add": added(actions)})


def _outside(path: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        shutil.copy(data_file(root), root / "secret.parquet")
        edited(5, lambda actions: added(actions).update(path=path.format(root=root)))(root)

    return plant


def _other_table(root: Path) -> None:
    shutil.rmtree(root / "things")
    write_deltalake(root / "things", pa.table({"id": [1]}))


def _partition(value: str | None) -> Callable[[Actions], None]:
    def apply(actions: Actions) -> None:
        added(actions)["partitionValues"] = {} if value is None else {"day": value}

    return apply


def _parts(root: Path) -> None:
    """A checkpoint that says it is the first of two parts."""
    checkpoint(root).rename(root / "things" / LOG / f"{4:020}.checkpoint.0000000001.0000000002.parquet")


def _properties(**changes: str) -> Callable[[dict[str, Any]], None]:
    return lambda metadata: metadata["configuration"].update({k.replace("__", "."): v for k, v in changes.items()})


def _null_id(rows: pa.Table) -> pa.Table:
    return rows.set_column(0, "id", pa.array([None, 51], pa.int64()))


def _entry5(root: Path) -> Path:
    return entry(root, 5)


# the faults --------------------------------------------------------------------------------------

LOG_FAULTS = (
    Planted("the newest entry is empty", "empty entry", written(_entry5, b"")),
    Planted("an entry is empty", "empty entry", written(lambda r: entry(r, 2), b"")),
    Planted("an entry ends within a line", "corrupt entry", shorter(_entry5, 50)),
    Planted("an entry is zeros", "corrupt entry", written(_entry5, b"\0" * 900)),
    Planted("an entry is a list", "corrupt entry", written(_entry5, b"[1, 2]\n")),
    Planted("an entry is blank", "corrupt entry", written(_entry5, b"\n\n")),
    Planted("an entry lost its add", "version does not add up", edited(5, _drop("add"))),
    Planted("an old entry lost its add", "version does not add up", edited(2, _drop("add"))),
    Planted("an entry is gone", "gap", without(lambda r: entry(r, 2))),
    Planted("the newest entry is gone", "lost entry", without(_entry5)),
    Planted("an add without a path", "bad action", edited(5, lambda a: added(a).pop("path"))),
    Planted("an add without a size", "bad action", edited(5, lambda a: added(a).pop("size"))),
    Planted("an add with a size below nothing", "bad action", edited(5, lambda a: added(a).update(size=-1))),
    Planted("a file added twice", "file added twice", edited(5, _twice)),
    Planted(
        "an entry with the metadata of another table",
        "entry of another table",
        edited(5, lambda a: a.append({"metaData": actions_meta("other")})),
    ),
    Planted(
        "a checksum that says otherwise",
        "version does not add up",
        written(lambda r: r / "things" / LOG / f"{5:020}.crc", b'{"numFiles": 99, "tableSizeBytes": 1}'),
    ),
    Planted(
        "a checksum that is no JSON",
        "corrupt checksum",
        written(lambda r: r / "things" / LOG / f"{5:020}.crc", b"\0\0"),
    ),
    Planted(
        "a file that is no entry",
        "foreign file in the log",
        written(lambda r: r / "things" / LOG / "6.json", b"{}"),
        is_note=True,
    ),
    Planted("no log", "no log", lambda r: shutil.rmtree(r / "things" / LOG) or (r / "things" / LOG).mkdir()),
)


def actions_meta(table_id: str) -> dict[str, Any]:
    schema = {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]}
    return {
        "id": table_id,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps(schema),
        "partitionColumns": [],
        "configuration": {},
    }


def _headless(root: Path) -> None:
    no_checkpoint(root)
    for version in range(3):
        entry(root, version).unlink()
        (root / "things" / LOG / f"{version:020}.crc").unlink()


def _pointer(root: Path) -> Path:
    return root / "things" / LOG / "_last_checkpoint"


CHECKPOINT_FAULTS = (
    Planted("no beginning and no checkpoint", "no beginning", _headless),
    Planted("a checkpoint ends early", "corrupt checkpoint", shorter(checkpoint)),
    Planted("a checkpoint is empty", "corrupt checkpoint", written(checkpoint, b"")),
    Planted(
        "a checkpoint lost files",
        "checkpoint differs",
        checkpoint_rows(lambda rows: pc.is_null(rows.column("add"))),
    ),
    Planted(
        "a checkpoint lost the protocol",
        "incomplete checkpoint",
        checkpoint_rows(lambda rows: pc.is_null(rows.column("protocol"))),
    ),
    Planted("a checkpoint lost a part", "corrupt checkpoint", _parts),
    Planted("the pointer is no JSON", "bad pointer", written(_pointer, b"{")),
    Planted("the pointer leads nowhere", "bad pointer", written(_pointer, b'{"version":77,"size":9}')),
    Planted("a sidecar is gone", "corrupt checkpoint", without(sidecar)),
    Planted("a sidecar ends early", "corrupt checkpoint", shorter(sidecar)),
)

DATA_FAULTS = (
    Planted("a file is gone", "missing file", without(data_file)),
    Planted("a file ends early", "truncated file", shorter(data_file)),
    Planted("a file is empty", "truncated file", written(data_file, b"")),
    Planted("a file's footer is gone", "corrupt file", lambda r: flip(data_file(r), -1)),
    Planted("a page is damaged", "corrupt rows", lambda r: flip(data_file(r), 8)),
    Planted("a path with dots", "path leaves the table", _outside("../secret.parquet")),
    Planted("an absolute path", "path leaves the table", _outside("{root}/secret.parquet")),
    Planted("a path that is a URI", "path leaves the table", _outside("file://{root}/secret.parquet")),
    Planted("a column is gone", "file of another schema", rewritten(lambda t: t.drop_columns(["owner"]))),
    Planted(
        "a column of another type",
        "file of another schema",
        rewritten(lambda t: t.set_column(1, "owner", pa.array([1.0, 2.0]))),
    ),
    Planted("NULL where none may be", "NULL in a NOT NULL column", rewritten(_null_id)),
    Planted("rows are gone", "truncated file", lambda r: pq.write_table(pq.read_table(data_file(r))[1:], data_file(r))),
    Planted("a key is there twice", "key twice", rewritten(lambda t: pa.concat_tables([t.slice(0, 1)] * 2))),
    Planted("no partition value", "bad partition value", edited(4, _partition(None), "events")),
    Planted("a partition value that is no number", "bad partition value", edited(4, _partition("x"), "events")),
    Planted(
        "a file that the log does not name",
        "foreign file",
        written(lambda r: r / "things" / "part-x.parquet", b"PAR1"),
        is_note=True,
    ),
)

VECTOR_FAULTS = (
    Planted("a vector is gone", "missing deletion vector", without(vector_file)),
    Planted("a vector ends early", "corrupt deletion vector", shorter(vector_file)),
    Planted("a vector is empty", "corrupt deletion vector", written(vector_file, b"")),
    Planted("a vector with other bits", "corrupt deletion vector", lambda r: flip(vector_file(r), -6)),
    Planted("a vector of another format", "corrupt deletion vector", lambda r: flip(vector_file(r), 0)),
    Planted("a vector with another mark", "corrupt deletion vector", lambda r: flip(vector_file(r), 6)),
    Planted("a vector with another size", "corrupt deletion vector", with_vector(sizeInBytes=30)),
    Planted("a vector at another place", "corrupt deletion vector", with_vector(offset=3)),
    Planted("a vector counted wrong", "deletion vector lies", with_vector(cardinality=3)),
    Planted(
        "a vector elsewhere",
        "path leaves the table",
        with_vector(storageType="p", pathOrInlineDv="/elsewhere/deletion_vector.bin"),
    ),
    Planted(
        "a vector inside the log that is none",
        "corrupt deletion vector",
        with_vector(storageType="i", pathOrInlineDv="00000", sizeInBytes=4, offset=None),
    ),
    Planted(
        "a vector for rows that the file has not",
        "deletion vector lies",
        lambda r: (no_checkpoint(r), edited(4, with_stats(lambda s: s.update(numRecords=1)))(r))[0],
    ),
)

PROTOCOL_FAULTS = (
    Planted(
        "a feature that nobody knows",
        "unknown feature",
        protocol_of(lambda p: (p["readerFeatures"].append("timeMachine"), p["writerFeatures"].append("timeMachine"))),
    ),
    Planted(
        "a reader version that nobody knows", "unknown feature", protocol_of(lambda p: p.update(minReaderVersion=9))
    ),
    Planted("no list of features", "bad protocol", protocol_of(lambda p: p.pop("readerFeatures"))),
    Planted("no writer version", "bad protocol", protocol_of(lambda p: p.pop("minWriterVersion"))),
    Planted(
        "a reader feature that writers do not have",
        "bad protocol",
        protocol_of(lambda p: p["writerFeatures"].remove("deletionVectors")),
    ),
    Planted(
        "vectors without their feature",
        "feature not in the protocol",
        protocol_of(
            lambda p: (p["readerFeatures"].remove("deletionVectors"), p["writerFeatures"].remove("deletionVectors"))
        ),
    ),
    Planted(
        "column mapping without its feature",
        "feature not in the protocol",
        metadata_of(_properties(delta__columnMapping__mode="name")),
    ),
    Planted("no protocol", "no protocol", lambda r: (no_checkpoint(r), edited(0, _drop("protocol"))(r))[0]),
    Planted("no metadata", "no metadata", lambda r: (no_checkpoint(r), edited(0, _drop("metaData"))(r))[0]),
    Planted("a schema that is no JSON", "bad schema", metadata_of(lambda m: m.update(schemaString="{"))),
    Planted("a partition column that is none", "bad schema", metadata_of(lambda m: m.update(partitionColumns=["x"]))),
)

STATISTICS_FAULTS = (
    Planted("a minimum too high", "statistics lie", edited(5, with_stats(lambda s: s["minValues"].update(id=51)))),
    Planted("a maximum too low", "statistics lie", edited(5, with_stats(lambda s: s["maxValues"].update(id=50)))),
    Planted("a text too low", "statistics lie", edited(5, with_stats(lambda s: s["maxValues"].update(owner="b")))),
    Planted("NULLs not counted", "statistics lie", edited(3, with_stats(lambda s: s["nullCount"].update(size=0)))),
    Planted("too many rows", "statistics lie", edited(5, with_stats(lambda s: s.update(numRecords=9)))),
    Planted(
        "a time too early",
        "statistics lie",
        edited(4, with_stats(lambda s: s["maxValues"].update(at="2026-01-01T00:00:00.000Z")), "events"),
    ),
    Planted("no JSON", "corrupt statistics", edited(5, lambda a: added(a).update(stats="{"))),
)

RUN_FAULTS = (
    Planted(
        "a version that is not there",
        "published version lost",
        recorded_run(run_id="run-2", versions=[("things", 99)], manifest="{}"),
    ),
    Planted("a table that is not there", "published version lost", lambda r: shutil.rmtree(r / "events")),
    Planted("a manifest that is no JSON", "corrupt manifest", recorded_run(run_id="run-2", manifest="{")),
    Planted(
        "a manifest that says otherwise",
        "manifest contradicts",
        recorded_run(run_id="run-2", manifest='{"versions": {"things": 1}}'),
    ),
    Planted("a run published twice", "key twice", recorded_run()),
    Planted("a table made anew", "table made anew", _other_table),
    Planted(
        "an entry that no run made",
        "history differs",
        edited(5, lambda a: a[0]["commitInfo"].pop("userMetadata")),
    ),
)

PLANTED = (
    *LOG_FAULTS,
    *CHECKPOINT_FAULTS,
    *DATA_FAULTS,
    *VECTOR_FAULTS,
    *PROTOCOL_FAULTS,
    *STATISTICS_FAULTS,
    *RUN_FAULTS,
)
