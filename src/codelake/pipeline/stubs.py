"""The stage `stubs`: what typeshed says of the standard library, read anew only when it is of another version."""

from __future__ import annotations

import pyarrow as pa

from codelake.contracts.stubs import STUBS
from codelake.delta.embedded import ask
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.extract.stubs.typeshed import stubs, stubs_version
from codelake.graph.link.stubs import COLUMNS
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.rows import few_rows
from codelake.pipeline.work import Build


def store_stubs(build: Build) -> None:
    def plan(run: Run) -> Plan:
        lacking = lacking_stubs(run)
        if lacking is None:
            return None
        build.told.why, build.told.n_misses = [lacking], stubs().num_rows
        return stubs(), {"mode": "append" if is_empty(run, STUBS) else "overwrite"}

    with few_rows(build):
        build.committed(commit_planned(build.run, STUBS, plan, from_pin=True))


def lacking_stubs(run: Run) -> str | None:
    """Why stubs are to be read, in words."""
    stored = [] if is_empty(run, STUBS) else ask(run, (STUBS,), "SELECT DISTINCT version FROM stubs").to_pylist()
    if [row["version"] for row in stored] == [stubs_version()]:
        return None
    return f"stubs of {stubs_version()} are not in the lake"


def stored_stubs(run: Run) -> pa.Table:
    """What the linker reads of them."""
    return ask(run, (STUBS,), f"SELECT {', '.join(COLUMNS)} FROM stubs")
