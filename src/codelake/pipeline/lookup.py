"""Which contents a table knows: asked once for many of them, not one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from codelake.contracts import Table
from codelake.contracts.arrow_vectors import with_lists
from codelake.contracts.vectors import Fields
from codelake.delta.embedded import among, any_of, ask, text
from codelake.delta.run import Run, pinned_log
from codelake.extract.extractors import extractor_version
from codelake.pipeline.work import Place

Row = dict[str, Any]
PRESENT = f"extractor_version = {text(extractor_version())}"
"""A condition: a row of evidence is of the present extractors."""
_MANY = 500
"""Digests from which on a table's column is read, instead of looking for each of them."""


def rows_of(
    run: Run,
    table: Table,
    digests: Collection[str],
    *columns: str,
    where: str = "true",
    packed: Mapping[str, Fields] = MappingProxyType({}),
) -> list[Row]:
    """`columns` of the rows that have one of the digests, at the run's pin. Some of them may be `packed`."""
    if not digests or is_empty(run, table):
        return []
    asked = among("digest", digests) if len(digests) < _MANY else "true"
    found = ask(run, (table,), f"SELECT {', '.join(('digest', *columns))} FROM {table.name} WHERE {where} AND {asked}")
    wanted = set(digests)
    return [row for row in with_lists(found, packed).to_pylist() if row["digest"] in wanted]


def at(places: Iterable[Place]) -> str:
    """A condition: a row's repo and path are one of these."""
    paths: dict[str, list[str]] = {}
    whole = {place[0] for place in places if len(place) == 1}
    for repo, path in (place for place in places if place[0] not in whole):
        paths.setdefault(repo, []).append(path)
    within = [f"(repo = {text(repo)} AND {among('path', found)})" for repo, found in paths.items()]
    return any_of([among("repo", sorted(whole)), *within])


def is_empty(run: Run, table: Table) -> bool:
    """Known from the log: a first build need not ask for what cannot be there."""
    return bool(pinned_log(run, table).files.num_rows == 0)
