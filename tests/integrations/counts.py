"""A table that the tests of integrations write to."""

from __future__ import annotations

from codelake.contracts import Column, Table

COUNTS = Table(
    "counts",
    "Things by owner.",
    (Column("owner", "string", "the owner"), Column("n", "bigint", "how many things")),
    key=("owner",),
)
