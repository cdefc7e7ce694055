"""A table that differs from its contract: not damage, but its readers and writers expect something else."""

from __future__ import annotations

from collections.abc import Iterator

from codelake.contracts.table import Table
from codelake.delta.checks.finding import Finding
from codelake.delta.drift import drift
from codelake.delta.lake import Lake


def drifted(lake: Lake, contract: Table) -> Iterator[Finding]:
    for one in drift(contract, lake.log(contract.name)):
        yield Finding(
            contract.name,
            "drift",
            f"{one.kind} {one.name}",
            one.expected,
            one.found,
            level="note",
            do="`codelake build` brings tables to their contracts.",
        )
