"""A stream of changes that keeps a table of users up to date: restarted from its checkpoint, it equals the batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from codelake.contracts import Column, Table
from codelake.contracts.arrow import arrow_table
from codelake.contracts.graph import CPG_EDGES
from codelake.contracts.semantic import EDGE_ID, NODE_ID
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.run import Run, Txn
from codelake.delta.stream import changes_stream, run_stream
from codelake.delta.write import commit
from codelake.errors import CodelakeError, ContractBroken, FeedUnavailable, UsageError
from tests.delta.things import THINGS, new_run, stored

pytestmark = pytest.mark.slow

USERS = Table(
    "users",
    "Who calls whom, kept up to date by a stream of cpg_edges.",
    (
        Column("edge_id", "string", "the call", EDGE_ID),
        Column("used", "string", "what is called", NODE_ID),
        Column("user", "string", "who calls it", NODE_ID),
    ),
    key=("edge_id",),
    key_scope="write",
    replace_by=("edge_id",),
)


def edge(src: str, dst: str, path: str = "a.py", kind: str = "CALLS") -> dict[str, Any]:
    row = {c.name: None for c in CPG_EDGES.columns}
    place = {"repo": "r", "path": path, "start_byte": 0, "end_byte": 1}
    return {
        **row,
        **place,
        "edge_id": f"{kind}:{src}->{dst}",
        "kind": kind,
        "src": src,
        "dst": dst,
        "origin": "syntax",
        "method": "name",
        "confidence": 1.0,
        "rule": kind.lower(),
    }


def write(lake: Lake, run_id: str, rows: list[dict[str, Any]], **how: Any) -> None:
    frame = lake.session.createDataFrame(arrow_table(CPG_EDGES, rows))
    commit(new_run(lake, run_id), CPG_EDGES, frame, **how)


def users_of(edges: DataFrame) -> DataFrame:
    return edges.where("kind = 'CALLS'").selectExpr("edge_id", "dst AS used", "src AS user")


def follow(run: Run) -> Callable[[DataFrame, Txn], object]:
    def bring(batch: DataFrame, txn: Txn) -> object:
        latest = Window.partitionBy("edge_id").orderBy(F.desc("_commit_version"), F.desc("_change_type"))
        last = batch.withColumn("n", F.row_number().over(latest)).where("n = 1")
        touched = [(row.edge_id,) for row in last.select("edge_id").collect()]
        rows = users_of(last.where("_change_type IN ('insert', 'update_postimage')"))
        return commit(run, USERS, rows, mode="replace", replacing=touched, txn=txn) if touched else None

    return bring


def test_a_stream_that_is_restarted_equals_the_batch(lake: Lake, tmp_path: Path) -> None:
    create_table(lake, CPG_EDGES)
    create_table(lake, USERS)
    run = Run(lake, "stream", stage="users", pipeline="users")

    def stream(bring: Callable[[DataFrame, Txn], object]) -> int:
        return run_stream(run, "users", changes_stream(run, CPG_EDGES), bring, checkpoint=tmp_path / "checkpoint")

    def batch() -> list[tuple[Any, ...]]:
        edges = lake.session.read.format("delta").load(lake.uri("cpg_edges"))
        return sorted((tuple(row) for row in users_of(edges).collect()), key=repr)

    write(lake, "r1", [edge("f", "g"), edge("f", "h"), edge("f", "x", kind="READS")], mode="append")
    assert stream(follow(run)) == 1 and stored(lake, USERS) == batch() and len(batch()) == 2
    write(lake, "r2", [edge("k", "g", "b.py")], mode="append")
    write(lake, "r3", [edge("f", "g")], mode="replace", replacing=[("r", "a.py")])

    def dies(rows: DataFrame, txn: Txn) -> object:
        follow(run)(rows, txn)
        raise RuntimeError("killed between the commit and the checkpoint")

    with pytest.raises(CodelakeError, match="stream users"):
        stream(dies)
    version = lake.log("users").version
    assert stream(follow(run)) == 1 and lake.log("users").version == version, "committed once"
    assert stored(lake, USERS) == batch() and len(batch()) == 2
    assert stream(follow(run)) == 0, "nothing new"
    write(lake, "r4", [edge("m", "g", "c.py")], mode="append")
    with pytest.raises(ContractBroken, match="table users"):
        stream(lambda rows, txn: commit(run, USERS, rows, mode="append", txn=txn))


def test_what_cannot_be_streamed(lake: Lake) -> None:
    with pytest.raises(UsageError, match="unbounded"):
        changes_stream(new_run(lake), THINGS)
    lake.session.range(1).write.format("delta").save(lake.uri("cpg_edges"))
    with pytest.raises(FeedUnavailable, match="not enabled"):
        changes_stream(new_run(lake), CPG_EDGES, after=-1)
