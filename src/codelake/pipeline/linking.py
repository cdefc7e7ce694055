"""The stage `link`: what the names of a repository mean, across its files and those of the repositories it needs.

A repository is linked when what linking reads of one of its files has changed, or of a file of one that it needs:
whichever of the two was built first, the edges between them are there. An edit that linking does not see, such as of
a comment, links nothing. Only the links that come out differently are committed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import reduce
from typing import NamedTuple, TypeAlias

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts import EVIDENCE
from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import LINKS
from codelake.contracts.sources import FILES
from codelake.delta.create import sql_text
from codelake.delta.embedded import among, ask, text
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run, pin
from codelake.delta.scan import scan
from codelake.graph.link.stubs import Stubs
from codelake.graph.links import links
from codelake.pipeline import here
from codelake.pipeline.claims import OTHER_CLAIMS, claims_frame, claims_of_files
from codelake.pipeline.impact import impacts
from codelake.pipeline.kept_linked import kept_links, open_unit
from codelake.pipeline.lookup import PRESENT, at, is_empty
from codelake.pipeline.rows import frame
from codelake.pipeline.stubs import stored_stubs
from codelake.pipeline.work import Build, Impact

Needs = dict[str, set[str]]
File = tuple[str, str]
"""Repository and path."""
_GONE = "gone"


class Difference(NamedTuple):
    """A file that is not as it was linked."""

    repo: str
    path: str
    digest: str | None
    why: str
    """Empty where linking would see no difference."""


def link_files(build: Build) -> None:
    linked_repos: set[str] = set()
    build.open_units.asked.clear()
    with ExitStack() as until_committed:

        def plan(run: Run) -> Plan:
            found = differences(run, build.fingerprint)
            build.told.impacts = [Impact(one.repo, one.path, one.why or "changed content", None, 0) for one in found]
            if not found:
                return None
            units = _units(run, {one.repo for one in found if one.why})
            linked_repos.update(units)
            build.told.why = _words(found, units)
            if is_empty(run, LINKS):
                return _linked(build, run, units, ()), {"mode": "append"}
            until_committed.close()
            same = [one for one in found if not one.why]
            unseen = [one for one in same if one.repo not in units]
            rows, files = [_restamped(run, unseen)] if unseen else [], [one[:2] for one in unseen]
            if units:
                linked = _linked(build, run, units, same)
                if isinstance(linked, DataFrame):
                    until_committed.callback(linked.persist(StorageLevel.DISK_ONLY).unpersist)
                differing = _differing(run, linked, units)
                build.told.impacts += impacts(run, _edges_of(linked), differing, {one[:2] for one in found})
                rows.append(_some(linked, differing))
                files += differing
            gone = [one[:2] for one in found if one.why == _GONE]
            return _union(build, rows), {"mode": "replace", "replacing": sorted({*files, *gone})}

        done = commit_planned(build.run, LINKS, plan, from_pin=True)
        if done is not None:
            build.open_units.committed(linked_repos, pin(build.run, LINKS).version, done.version)
        build.committed(done)
    build.told.n_misses = len(build.told.impacts)


def keep_linked(build: Build, made_by: str) -> None:
    """From now on edits of what was built are linked in a moment, where that is not too large."""
    run, lacking = build.run, {listed.source.repo for listed in build.reading.listed} - build.open_units.units.keys()
    needed = _needs(run) if lacking else {}
    for repo in sorted(lacking):
        repos = set(_walked(needed, [repo]))
        open_unit(build.open_units, run, repo, repos, _n_bytes(run, {repo: repos}), made_by)


def _words(found: Sequence[Difference], units: Collection[str]) -> list[str]:
    counted = Counter(one.why or "changed content that linking does not see" for one in found)
    words = [f"{n:,} file(s): {why}" for why, n in sorted(counted.items())]
    return [*words, f"repositories to link: {', '.join(sorted(units))}"] if units else words


def differences(run: Run, made_by: str) -> list[Difference]:
    """Files of the lake that are not as they were linked, or not by this version (`made_by`)."""
    present = f"(SELECT digest, link_digest FROM evidence WHERE {PRESENT})"
    claims = claims_of_files(run)
    now = f"""SELECT f.repo AS repo, f.path AS path, f.digest AS digest, f.module AS module,
            e.link_digest AS link_digest, {claims.digest} AS claims_digest
        FROM files f LEFT JOIN {present} e ON e.digest = f.digest {claims.join}"""
    if is_empty(run, LINKS):
        sql = f"SELECT repo, path, digest FROM ({now}) AS n ORDER BY repo, path"
        rows = ask(run, (FILES, EVIDENCE, *claims.tables), sql)
        return [Difference(**row, why="new file") for row in rows.to_pylist()]
    sql = f"""SELECT coalesce(n.repo, l.repo) AS repo, coalesce(n.path, l.path) AS path, n.digest AS digest, CASE
            WHEN l.repo IS NULL THEN 'new file'
            WHEN n.repo IS NULL THEN '{_GONE}'
            WHEN l.made_by <> {text(made_by)} THEN 'what linking does has changed'
            WHEN n.module IS DISTINCT FROM l.module THEN 'another module'
            WHEN n.link_digest IS DISTINCT FROM l.link_digest THEN 'changed content'
            WHEN n.claims_digest IS DISTINCT FROM l.claims_digest THEN '{OTHER_CLAIMS}'
            ELSE '' END AS why
        FROM ({now}) AS n FULL OUTER JOIN links l ON l.repo = n.repo AND l.path = n.path
        WHERE l.repo IS NULL OR n.repo IS NULL OR l.made_by <> {text(made_by)} OR (n.module IS DISTINCT FROM l.module)
            OR (n.digest IS DISTINCT FROM l.digest) OR (n.claims_digest IS DISTINCT FROM l.claims_digest)
        ORDER BY 1, 2"""
    return [Difference(**row) for row in ask(run, (FILES, EVIDENCE, LINKS, *claims.tables), sql).to_pylist()]


def present_evidence(run: Run) -> DataFrame:
    return scan(run, EVIDENCE, where=PRESENT)


# units -------------------------------------------------------------------------------------------


def _units(run: Run, changed: set[str]) -> dict[str, set[str]]:
    """The repositories to link, each with those that it sees: the changed ones, and those that need them."""
    if not changed:
        return {}
    needed = _needs(run)
    seen = {repo: set(_walked(needed, [repo])) for repo in (*needed, *changed)}
    return {repo: others for repo, others in sorted(seen.items()) if changed & others}


def seen_by(run: Run, repos: Iterable[str]) -> list[str]:
    """These repositories, and those that they see."""
    return sorted(_walked(_needs(run), repos))


def _needs(run: Run) -> Needs:
    """By repository, the others that it needs: an absolute import begins with a top-level module of theirs, and with
    none of its own."""
    wanted = f"""SELECT DISTINCT repo, head FROM (
        SELECT f.repo AS repo, unnest(e.needs) AS head FROM files f JOIN evidence e ON e.digest = f.digest AND {PRESENT}
        ) AS w"""
    offered = "SELECT DISTINCT repo, split_part(module, '.', 1) AS head FROM files WHERE module IS NOT NULL"
    by_head: dict[str, set[str]] = {}
    for row in ask(run, (FILES,), offered).to_pylist():
        by_head.setdefault(row["head"], set()).add(row["repo"])
    needs: Needs = {}
    for row in ask(run, (FILES, EVIDENCE), wanted).to_pylist():
        others = by_head.get(row["head"], set())
        if row["repo"] not in others:
            needs.setdefault(row["repo"], set()).update(others)
    return needs


def _walked(needed: Needs, begin: Iterable[str]) -> Iterator[str]:
    """What it needs, and what that needs; itself first."""
    waiting, seen = list(begin), set(begin)
    while waiting:
        repo = waiting.pop()
        yield repo
        new = needed.get(repo, set()) - seen
        seen |= new
        waiting += sorted(new)


# rows --------------------------------------------------------------------------------------------

Linked: TypeAlias = pa.Table | DataFrame
"""Rows of `links`: here, or with Spark."""


def _linked(build: Build, run: Run, units: dict[str, set[str]], same: Sequence[Difference]) -> Linked:
    """`same` are files whose content is another, and for linking the same: a repository that stayed linked gives only
    the files whose links may be others."""
    found: list[pa.Table] = []
    whole: Needs = {}
    for unit, repos in units.items():
        rows = kept_links(build.open_units, run, unit, repos, build.fingerprint)
        if isinstance(rows, pa.Table):
            given = set(_places(rows))
            unseen = [one for one in same if one.repo == unit and one[:2] not in given]
            found += [rows, _restamped(run, unseen)] if unseen else [rows]
            build.told.why.append(f"{unit} stayed linked: {rows.num_rows:,} file(s) looked at")
            continue
        whole[unit] = repos
        if rows is not None:
            build.told.why.append(f"{unit} is linked as a whole: {rows}")
    if not whole:
        return pa.concat_tables(found)
    stubs = Stubs(stored_stubs(run))
    if _n_bytes(run, whole) <= here.LINKED_HERE:
        others = (here.linked(run, unit, repos, stubs, build.fingerprint) for unit, repos in whole.items())
        return pa.concat_tables([*found, *others])
    seen = sorted(set().union(*whole.values()))
    pairs = [(unit, repo) for unit, repos in whole.items() for repo in sorted(repos)]
    table = pa.table({"unit": [unit for unit, _ in pairs], "repo": [repo for _, repo in pairs]})
    files = scan(run, FILES, where=f"repo IN ({', '.join(map(sql_text, seen))})")
    units_and_repos = build.spark.createDataFrame(table)
    claims = claims_frame(build, run, seen)
    rows = links(files, present_evidence(run), units_and_repos, stubs, build.fingerprint, claims)
    return rows.unionByName(frame(build, pa.concat_tables(found))) if found else rows


def _n_bytes(run: Run, units: Needs) -> int:
    """Of all that these repositories see."""
    seen = sorted(set().union(*units.values()))
    sizes = ask(run, (FILES,), f"SELECT repo, sum(n_bytes) AS n FROM files WHERE {among('repo', seen)} GROUP BY repo")
    by_repo: dict[str, int] = {row["repo"]: row["n"] for row in sizes.to_pylist()}
    return sum(by_repo.get(repo, 0) for repos in units.values() for repo in repos)


def _differing(run: Run, linked: Linked, units: Iterable[str]) -> list[File]:
    """Files whose links are not those that are stored, or were made from something else."""
    columns = ["repo", "path", "digest", "module", "link_digest", "claims_digest", "made_by", "found_digest"]
    sql = f"SELECT {', '.join(columns)} FROM links WHERE {among('repo', units)}"
    old = {(row["repo"], row["path"]): row for row in ask(run, (LINKS,), sql).to_pylist()}
    new = linked.select(columns) if isinstance(linked, pa.Table) else linked.select(*columns).toArrow()
    return [(row["repo"], row["path"]) for row in new.to_pylist() if old.get((row["repo"], row["path"])) != row]


def _some(linked: Linked, files: Collection[File]) -> Linked:
    """Of these files only."""
    if isinstance(linked, DataFrame):
        pairs = pa.table(
            {"repo": pa.array([r for r, _ in files], pa.string()), "path": pa.array([p for _, p in files], pa.string())}
        )
        return linked.join(
            F.broadcast(linked.sparkSession.createDataFrame(pairs)), on=["repo", "path"], how="left_semi"
        )
    wanted = set(files)
    return linked.filter(pa.array([place in wanted for place in _places(linked)], pa.bool_()))


def _places(rows: pa.Table) -> Iterator[File]:
    return zip(rows.column("repo").to_pylist(), rows.column("path").to_pylist(), strict=True)


def _edges_of(linked: Linked) -> Callable[[Collection[File]], pa.Table]:
    def edges(files: Collection[File]) -> pa.Table:
        found = _some(linked, files)
        return found if isinstance(found, pa.Table) else found.select("repo", "path", "edges").toArrow()

    return edges


def _restamped(run: Run, found: Sequence[Difference]) -> pa.Table:
    """The links of files whose content is another, and for linking the same."""
    digests = {one[:2]: one.digest for one in found}
    sql = f"SELECT {', '.join(LINKS.column_names)} FROM links WHERE {at(digests)}"
    rows = ask(run, (LINKS,), sql).cast(arrow_schema(LINKS))
    column = rows.schema.get_field_index("digest")
    stamps = pa.array([digests[one] for one in _places(rows)], pa.string())
    return rows.set_column(column, rows.schema.field(column), stamps)


def _union(build: Build, rows: Sequence[Linked]) -> Linked:
    here = [one for one in rows if isinstance(one, pa.Table)]
    if len(here) == len(rows):
        return pa.concat_tables(here)
    frames = [frame(build, one) if isinstance(one, pa.Table) else one for one in rows]
    return reduce(DataFrame.unionByName, frames)
