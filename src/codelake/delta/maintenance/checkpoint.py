"""A checkpoint made on purpose: readers then need no entry before it."""

from __future__ import annotations

from deltalake.exceptions import DeltaError

from codelake.delta.maintenance.operation import ASKED, Maintained, maintained
from codelake.delta.run import Run
from codelake.errors import Unavailable


def checkpoint(run: Run, name: str, *, reason: str = ASKED, dry_run: bool = False) -> Maintained:
    with maintained(run, name, "checkpoint", reason=reason, dry_run=dry_run) as done:
        log = run.lake.log(name)
        done.metrics["n_entries"] = log.n_entries_since_checkpoint
        if not dry_run:
            try:
                log.delta_table.create_checkpoint()
            except DeltaError as error:
                raise Unavailable(
                    f"table {name}: checkpoint",
                    expected="a table whose features deltalake writes",
                    found=str(error).splitlines()[0],
                    do="Let Spark make one: lower delta.checkpointInterval with `codelake table set`.",
                ) from error
    return done
