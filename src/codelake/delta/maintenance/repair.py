"""What can be mended without a copy: files that engines do without, or that stand in for nothing, are set aside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from codelake.contracts.operations import MAINTENANCE
from codelake.delta.checks import Finding
from codelake.delta.run import Run

SET_ASIDE = "_set_aside"
"""The folder in the lake's root. Nothing is deleted: who knows better can move a file back."""


def repair(run: Run, name: str, findings: Sequence[Finding], *, dry_run: bool = False) -> list[str]:
    """Move the files that the findings of one table offer to set aside; returns them, below the table's folder."""
    paths = sorted({path for one in findings if one.table == name for path in one.set_aside})
    if dry_run or not paths:
        return paths
    lake = run.lake
    with lake.writing(name):
        stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
        for path in paths:
            lake.move(f"{name}/{path}", f"{SET_ASIDE}/{stamp}/{name}/{path}")
        version = lake.log(name).version
    run.note(
        MAINTENANCE,
        table_name=name,
        operation="repair",
        reason="; ".join(sorted({one.fault for one in findings if one.set_aside})),
        from_version=version,
        version=version,
        options={"set_aside": ", ".join(paths)},
        metrics={"n_files": len(paths)},
        duration_ms=0,
    )
    return paths
