"""A small lake with a history, for what looks after tables: commits in several modes, a cursor, published runs."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime

from codelake.contracts import Layout
from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import MAINTENANCE, RUNS
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.write import commit
from codelake.pipeline.upkeep import run_row
from tests.delta.things import THINGS, frame, new_run

UNSORTED = replace(THINGS, name="unsorted", layout=Layout())
PUBLISHED, NEWEST = 3, 6
"""Of things: what the one run has published, and what is there."""
CURSORS = {"test": {"unsorted": 2}}


def make(lake: Lake) -> None:
    """things: four appends, of which a run published three, a replace and a delete; unsorted: two appends."""
    for table in (RUNS, MAINTENANCE):
        create_table(lake, table)
    for table, n in ((THINGS, 4), (UNSORTED, 2)):
        create_table(lake, table)
        for i in range(n):
            rows = [(i * 10 + k, f"o{i}", k + 1) for k in (3, 1, 2)]
            commit(new_run(lake, f"r{i}"), table, frame(lake, rows, table).coalesce(1), mode="append")
    publish(lake, "published", {"things": PUBLISHED, "unsorted": 2})
    replaced = frame(lake, [(31, "o3", 9)])
    commit(new_run(lake, "r7"), THINGS, replaced, mode="replace", replacing=[("o3",)], cursors={"unsorted": 2})
    commit(new_run(lake, "r8"), THINGS, mode="delete", where="id = 2")


def publish(lake: Lake, run_id: str, versions: dict[str, int]) -> None:
    run = Run(lake, run_id, stage="publish")
    row = run_row(run, versions, pins={}, started_at=datetime.now(UTC))
    commit(run, RUNS, lake.session.createDataFrame(arrow_table(RUNS, [row])), mode="append")


def age(lake: Lake, name: str, days: int) -> None:
    """As if all that is there had been done so many days ago."""
    moment = time.time() - days * 86400
    folder = lake.store.path / name
    for entry in sorted((folder / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in entry.read_text().splitlines()]
        for action in actions:
            for kind, field in (("commitInfo", "timestamp"), ("remove", "deletionTimestamp")):
                if kind in action and field in action[kind]:
                    action[kind][field] -= days * 86_400_000
        entry.write_text("".join(json.dumps(a) + "\n" for a in actions))
        entry.with_name(f".{entry.name}.crc").unlink(missing_ok=True)
    for file in folder.rglob("*"):
        os.utime(file, (moment, moment))
