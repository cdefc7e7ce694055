"""The change feed as a Structured Streaming source, for tables that are declared unbounded.

A stream reads what is new since its checkpoint, to the present, and ends (`availableNow`). Each micro-batch goes to a
function that commits it; the batch's number is the version of the stream's application, so that a batch which is
handed over twice, after a crash between its commit and the checkpoint, is committed once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.table import Table
from codelake.delta.changes import CHANGE_COLUMNS, require_feed
from codelake.delta.engine import ENGINE_ERRORS, engine_errors, translated
from codelake.delta.run import Run, Txn
from codelake.delta.schema import named
from codelake.errors import CodelakeError, UsageError

Commit = Callable[[DataFrame, Txn], object]
"""Brings a micro-batch of changes into a table; the transaction goes to `commit`."""


def changes_stream(run: Run, source: Table, *, after: int = 0) -> DataFrame:
    """A streaming DataFrame: the contract's columns, and what happened to each row, in which version and when."""
    if not source.unbounded:
        raise UsageError(
            f"stream of {source.name}",
            expected="a contract that says unbounded",
            found="one that does not",
            do="Declare it, or read a window of the change feed.",
        )
    log = run.lake.log(source.name)
    require_feed(log, after + 1, log.version)
    with engine_errors(f"stream of {source.name}, from version {after + 1} on"):
        feed = (
            run.lake.session.readStream.format("delta")
            .option("readChangeFeed", "true")
            .option("startingVersion", after + 1)
            .load(run.lake.uri(source.name))
        )
        return feed.select(*(named(F.col(f"`{c.name}`"), c) for c in source.columns), *CHANGE_COLUMNS)


def run_stream(run: Run, name: str, rows: DataFrame, commit: Commit, *, checkpoint: Path | str) -> int:
    """Everything up to now, then end. `name` and `checkpoint` belong together for ever; returns the batches done."""
    done = 0
    refused: list[CodelakeError] = []

    def hand_over(batch: DataFrame, number: int) -> None:
        nonlocal done
        try:
            commit(batch, Txn(f"stream/{name}", number + 1))
        except CodelakeError as error:
            refused.append(error)
            raise
        done += 1

    try:
        query = (
            rows.writeStream.foreachBatch(hand_over)
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    except ENGINE_ERRORS as error:
        # Spark hands back the text of what was raised on its side of the fence, and not what it was
        raise (refused[0] if refused else translated(f"stream {name}", error)) from error
    return done
