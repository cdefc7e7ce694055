"""The control plane over Spark Connect, in a process of its own: a process has one kind of session."""

from __future__ import annotations

import json
import sys

from codelake.contracts import Check
from codelake.delta.changes import changes
from codelake.delta.create import create_table
from codelake.delta.lake import create_lake
from codelake.delta.record import create_operations, record
from codelake.delta.scan import scan
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.errors import ContractBroken
from codelake.session import session, stop
from codelake.settings import load
from tests.delta.things import THINGS, Row, frame, new_run, with_checks

TABLE = with_checks(*THINGS.checks, Check("small", "size < 100", action="drop", null="passes"))


def main(url: str, root: str) -> None:
    spark = session(load({"remote": url}))
    lake = create_lake(Store(root), spark)
    create_operations(lake)
    create_table(lake, TABLE)
    run = new_run(lake)
    first: list[Row] = [(1, "a", 1), (2, "b", 2), (3, "c", 300)]
    done = [commit(run, TABLE, frame(lake, first), mode="append", txn=run.txn)]
    done.append(commit(run, TABLE, frame(lake, first), mode="append", txn=run.txn))
    refused = []
    broken: list[Row] = [(5, "a", -1), (1, "z", 1), (None, "z", 1)]
    for row in broken:
        try:
            commit(run, TABLE, frame(lake, [row]), mode="append")
        except ContractBroken as error:
            refused.append(error.violations[0].rule)
    done.append(commit(run, TABLE, frame(lake, [(2, "b", 20), (4, "d", 4), (6, "d", 600)]), mode="merge"))
    done.append(commit(run, TABLE, mode="update", values={"size": "size + 1"}, where="id = 1"))
    done.append(commit(run, TABLE, mode="delete", where="id = 4"))
    done.append(commit(run, TABLE, frame(lake, [(9, "b", 9)]), mode="replace", replacing=[("b",)]))
    answer = {
        "versions": [d.version for d in done],
        "repeats": [d.is_repeat for d in done],
        "dropped": [d.gates.get("small", 0) for d in done],
        "refused": refused,
        "rows": sorted([*row] for row in scan(new_run(lake, "reader"), TABLE).collect()),
        "changes": changes(new_run(lake, "reader"), TABLE, after=1).count(),
        "recorded": sorted(record(run)),
    }
    print(json.dumps(answer))
    stop(spark)


if __name__ == "__main__":
    main(*sys.argv[1:])
