"""The stage `graph`: files whose links have changed, rendered as nodes, edges and facts.

All tables are rendered at once and committed side by side, nodes last: how far the feeds of `links` and of external
symbols were read for the nodes says how far the whole graph is. A build that dies before that renders the same files
again.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from codelake.contracts import Table
from codelake.contracts.graph import CPG_NODES, EXTERNAL_SYMBOLS, LINKS, RENDERED
from codelake.contracts.sources import DISTRIBUTIONS, FILES
from codelake.delta.changes import changes_here, cursor, window
from codelake.delta.embedded import among, ask
from codelake.delta.identity import newest_own_commit
from codelake.delta.maintenance.optimize import leaves_no_vectors, purge
from codelake.delta.modes import replace_condition
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run, pin
from codelake.delta.scan import scan
from codelake.delta.together import together
from codelake.graph.externals import Declared, external_symbols
from codelake.graph.rendered import rendered, rendered_whole, rows_of
from codelake.pipeline import here
from codelake.pipeline.linking import present_evidence
from codelake.pipeline.lookup import at, is_empty
from codelake.pipeline.rows import commit_rows, few_rows, frame
from codelake.pipeline.work import Build, Place, Places

_PART_BYTES = 4 << 20
"""Source bytes whose evidence and links one task holds."""
_HANDED = 32 << 20
"""Source bytes of files whose evidence and links are handed to Spark."""
_COMPARED = 5_000
"""Rows that are compared with the stored ones."""


def render_graph(build: Build) -> None:
    run = build.run
    files, folders = _linked_since(build)
    repos = sorted({place[0] for place in files} | {listed.source.repo for listed in build.reading.listed})
    commit_rows(build, EXTERNAL_SYMBOLS, list(_externals(run, repos)), repos)
    places = Places(files, folders, _is_new(run, EXTERNAL_SYMBOLS))
    contents = _contents(run, places.files)
    build.told.n_misses, n_bytes = len(contents), sum(n for _, n in contents)
    if not places.all:
        return
    build.rendered = places
    if n_bytes <= here.RENDERED_HERE:
        found = here.rendered(run, places)
        others = {name: rows for name, rows in found.items() if not _is_there(run, name, places, rows)}
        with few_rows(build):
            _commit_all(build, places, others)
        return
    places, contents = _or_all(run, places, contents)
    packed = _packed(build, places, contents)
    packed.persist(StorageLevel.DISK_ONLY)
    try:
        _commit_all(build, places, {table.name: rows_of(packed, table) for table in RENDERED})
    finally:
        packed.unpersist()


def _commit_all(build: Build, places: Places, rows: Mapping[str, DataFrame | pa.Table]) -> None:
    others = [table for table in RENDERED if table is not CPG_NODES and table.name in rows]
    together(partial(_commit, build, table, places, rows[table.name]) for table in others)
    _commit(build, CPG_NODES, places, rows[CPG_NODES.name])


def _is_there(run: Run, name: str, places: Places, rows: pa.Table) -> bool:
    """Whether a small table, such as of the classes of an edited file, would come out as it is. Nodes are always
    committed: they say how far the graph is."""
    table = next(table for table in RENDERED if table.name == name)
    if table is CPG_NODES or rows.num_rows > _COMPARED:
        return False
    if is_empty(run, table):
        return bool(rows.num_rows == 0)
    columns = ", ".join(table.column_names)
    old = ask(run, (table,), f"SELECT {columns} FROM {name} WHERE {at(places.all)} LIMIT {_COMPARED + 1}").to_pylist()
    return sorted(map(repr, old)) == sorted(map(repr, rows.to_pylist()))


# what has changed ----------------------------------------------------------------------------------


def _linked_since(build: Build) -> tuple[list[Place], list[Place]]:
    """Files whose links have changed since the graph was last committed, and what is around those that came or went.
    Whole repositories where what the stage does has changed."""
    run = build.run
    if is_empty(run, LINKS):
        return [], []
    last = newest_own_commit(run.lake.log(CPG_NODES.name), stage=run.stage)
    if last is None or last.own["fingerprint"] != build.fingerprint:
        every: list[Place] = [
            (row["repo"],) for row in ask(run, (LINKS,), "SELECT DISTINCT repo FROM links").to_pylist()
        ]
        build.told.why.append("nothing is rendered yet" if last is None else "what rendering does has changed")
        return every, every
    after = cursor(run, reader=run.stage, source=LINKS, into=CPG_NODES)
    if after is None or window(run, LINKS, after=after).is_empty:
        return [], []
    kinds, moved = _changes(run, after)
    build.told.why.append(f"{len(kinds):,} file(s) with other links")
    if moved:
        build.told.why.append(f"{len(moved):,} file(s) that came, went or could not be read")
    return sorted(kinds), sorted({*moved, *(folder for place in moved for folder in _folders(*place))})


def _changes(run: Run, after: int) -> tuple[dict[Place, set[str]], set[Place]]:
    """Files with what happened to their links, and those that are new, gone or not read."""
    kinds: dict[Place, set[str]] = {}
    moved: set[Place] = set()
    for row in changes_here(run, LINKS, ("repo", "path", "digest"), after=after).to_pylist():
        kinds.setdefault((row["repo"], row["path"]), set()).add(row["_change_type"])
        if row["digest"] is None:
            moved.add((row["repo"], row["path"]))
    return kinds, moved | {place for place, found in kinds.items() if len(found) == 1}


def _folders(repo: str, path: str) -> Iterator[Place]:
    """The repository itself, whose path is empty, and the folders down to a file."""
    for end in (0, *(place + 1 for place, letter in enumerate(path) if letter == "/")):
        yield repo, path[:end]


def _is_new(run: Run, table: Table) -> bool:
    """Whether it has changed since the graph was last committed."""
    return cursor(run, reader=run.stage, source=table, into=CPG_NODES) != pin(run, table).version


def _externals(run: Run, repos: Iterable[str]) -> Iterator[Any]:
    within = among("repo", repos)
    used = f"SELECT DISTINCT repo, unnest(externals) AS id FROM links WHERE {within}"
    named = f"SELECT repo, unnest(import_names) AS offered, name, version FROM distributions WHERE {within}"
    pairs = [] if is_empty(run, LINKS) else ask(run, (LINKS,), used).to_pylist()
    declared = [] if is_empty(run, DISTRIBUTIONS) else ask(run, (DISTRIBUTIONS,), named).to_pylist()
    yield from external_symbols(((row["repo"], row["id"]) for row in pairs), [Declared(**row) for row in declared])


# rows --------------------------------------------------------------------------------------------


Content = tuple[tuple[str, str], int]
"""Repository and path of a file, and how many bytes it has."""


def _contents(run: Run, places: Iterable[Place]) -> list[Content]:
    """The files with a content in these places, sorted."""
    sql = f"SELECT repo, path, n_bytes FROM files WHERE digest IS NOT NULL AND ({at(places)}) ORDER BY repo, path"
    return [((row["repo"], row["path"]), row["n_bytes"]) for row in ask(run, (FILES,), sql).to_pylist()]


def _begins(contents: Sequence[Content], n_parts: int) -> list[tuple[str, str]]:
    """Where all parts but the first begin, so that they have about the same number of bytes."""
    ends = list(accumulate(n for _, n in contents))
    at = sorted({bisect(ends, ends[-1] * part // n_parts) for part in range(1, n_parts)})
    return [contents[place][0] for place in at if 0 < place < len(contents)]


def _or_all(run: Run, places: Places, contents: list[Content]) -> tuple[Places, list[Content]]:
    """Where most of the graph is another, all of it is written anew: that takes less than to find the rows of thousands
    of files and to mark them as deleted, and what is looked up afterwards is not slowed down by the marks."""
    every: list[Place] = [(row["repo"],) for row in ask(run, (FILES,), "SELECT DISTINCT repo FROM files").to_pylist()]
    there = _contents(run, every)
    if 2 * sum(n for _, n in contents) <= sum(n for _, n in there):
        return places, contents
    return Places(every, every, outside=True, is_all=True), there


def _packed(build: Build, places: Places, contents: Sequence[Content]) -> DataFrame:
    """What is not large is handed to Spark: for each scan of a table Delta would look for its files in jobs of its own,
    several times."""
    run, n_bytes = build.run, sum(n for _, n in contents)
    begins = _begins(contents, max(-(-n_bytes // _PART_BYTES), 2))
    if n_bytes <= _HANDED:
        packed = rendered_whole(frame(build, here.whole_files(run, places.files)), begins=begins)
    else:
        links = scan(run, LINKS, where=replace_condition(LINKS, places.files))
        packed = rendered(frame(build, here.listed(run, places.files)), present_evidence(run), links, begins=begins)
    beside = list(here.rendered_beside(run, places))
    return packed.unionAll(frame(build, pa.Table.from_batches(beside))) if beside else packed


def _commit(build: Build, table: Table, places: Places, rows: DataFrame | pa.Table) -> None:
    """What was rendered in the place of all that the table has of these places."""

    def plan(run: Run) -> Plan:
        if is_empty(run, table):
            return rows, {"mode": "append"}
        if places.is_all:
            return rows, {"mode": "overwrite"}
        # Here, what is around was rendered for these places only; in Spark for whole repositories.
        is_more = places.around and isinstance(rows, DataFrame)
        kept = rows.where(replace_condition(table, places.all)) if is_more else rows
        return kept, {"mode": "replace", "replacing": places.all}

    read = {one.name: build.run.pins[one.name].version for one in (LINKS, EXTERNAL_SYMBOLS)}
    build.committed(commit_planned(build.run, table, plan, from_pin=True, cursors=read, fingerprint=build.fingerprint))
    if isinstance(rows, DataFrame) and leaves_no_vectors(build.run.lake, table):
        # Under another name: what a stage committed last says what it has read, and how.
        purged = purge(replace(build.run, stage="maintain"), table)
        if purged is not None and purged.version != purged.from_version:
            build.moved(table.name, purged.version)
