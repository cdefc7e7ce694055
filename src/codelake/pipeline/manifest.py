"""A run's manifest: all that is known of it, as one typed record. `docs/manifest.schema.json` is made from this:

python -m codelake.pipeline.manifest > docs/manifest.schema.json
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import msgspec

from codelake.contracts.operations import COMMITS
from codelake.delta.run import Run


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the run."""

    table: str
    version: int
    mode: str
    stage: str
    fingerprint: str | None
    n_attempts: int
    metrics: dict[str, int]
    gates: dict[str, int]
    """Rows that broke a rule whose action is drop or warn."""
    duration_ms: int


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """One stage: what it was run for, how long it took."""

    name: str
    fingerprint: str
    parts: dict[str, str]
    """What is in the fingerprint, by name."""
    why: list[str]
    """In words; empty where there was nothing to do."""
    n_hits: int
    n_misses: int
    seconds: float


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    repo: str
    source: str
    revision: str | None
    is_dirty: bool


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    pipeline: str
    code_version: str
    started_at: datetime
    seconds: float
    store: str = ""
    """A digest of where the lake lies and of how it is reached, without secrets."""
    limits: dict[str, float] = {}
    """What the extraction of one file could take; empty where nothing was extracted."""
    totals: dict[str, int] = {}
    """What the lake has: files, nodes, edges, calls, and those of them without a target. Empty if nothing was built."""
    repositories: list[Repository]
    pins: dict[str, int]
    """Table and version: what the run began from."""
    versions: dict[str, int]
    """Table and version: what the run left, its own commits among them."""
    stages: list[Stage]
    commits: list[Committed]


def commits_of(run: Run) -> list[Committed]:
    """What the run has committed so far. To be asked before it is recorded."""
    return [
        Committed(
            table=row["table_name"],
            **{name: row[name] for name in Committed.__struct_fields__ if name != "table"},
        )
        for row in run.rows.get(COMMITS.name, ())
    ]


def text_of(manifest: Manifest) -> str:
    return msgspec.json.encode(manifest).decode()


def read(text: str) -> Manifest:
    return msgspec.json.decode(text, type=Manifest)


def schema() -> dict[str, Any]:
    return msgspec.json.schema(Manifest)


if __name__ == "__main__":
    print(json.dumps(schema(), indent=2, sort_keys=True))
