"""Is a table what it should be? Every check reads the folder itself, so that no engine's tolerance hides a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from codelake.contracts.operations import OPERATIONS
from codelake.contracts.table import Table
from codelake.delta.checks.checkpoints import checkpoints
from codelake.delta.checks.checksums import checksums
from codelake.delta.checks.contents import contents, two_engines
from codelake.delta.checks.deletion_vectors import deletion_vectors
from codelake.delta.checks.drifted import drifted
from codelake.delta.checks.files import files
from codelake.delta.checks.finding import Finding
from codelake.delta.checks.log_entries import log_entries, versions_add_up
from codelake.delta.checks.protocol import protocol
from codelake.delta.checks.published import published
from codelake.delta.checks.rows import rows
from codelake.delta.checks.stored import Stored
from codelake.delta.lake import Lake

Check = Callable[[Stored], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (log_entries, versions_add_up, checkpoints, protocol, files, deletion_vectors)
"""What reads the log, the footers of files and the deletion vectors."""

THOROUGH: tuple[Check, ...] = (checksums, rows)
"""What reads every byte."""


def check_table(
    lake: Lake, name: str, contract: Table | None = None, *, thorough: bool = False, engines: bool = False
) -> list[Finding]:
    """`thorough` reads every row; `engines` compares what Spark and deltalake read, and needs a session."""
    table = Stored(lake.store, name)
    found = [one for check in CHECKS + (THOROUGH if thorough else ()) for one in check(table)]
    if any(one.level == "fault" for one in found):
        return found  # an engine asked about a damaged table gives an answer about the damage
    if contract is not None:
        found += drifted(lake, contract)
        if thorough:
            found += contents(lake, contract)
    if engines:
        found += two_engines(lake, name)
    return found


def check_lake(
    lake: Lake, contracts: Mapping[str, Table], *, thorough: bool = False, engines: bool = False
) -> list[Finding]:
    """Every table, then the record of runs against them."""
    found: list[Finding] = []
    for name in lake.table_names():
        found += check_table(lake, name, contracts.get(name), thorough=thorough, engines=engines)
    damaged = {one.table for one in found if one.level == "fault"}
    if not damaged & {table.name for table in OPERATIONS}:
        found += published(lake)
    return found


__all__ = ["CHECKS", "THOROUGH", "Finding", "check_lake", "check_table"]
