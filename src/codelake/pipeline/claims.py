"""The stage `claims`: what reports of other tools say of files, in the place of what the lake had from such a report.

A report is about the contents that it was made from, and a SCIP index does not tell which those were. So its claims are
kept with the digest of the content that it was given with, if it fits that content, and are used only while the file
has it. The same report never fits a second content of a file: given again after an edit, it says nothing of that file.
What is not used has a diagnostic. Without a report, and with no claims in the lake, nothing is read or written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame

from codelake.contracts import Table
from codelake.contracts.claims import CLAIMS, ORIGINS
from codelake.contracts.sources import FILES
from codelake.delta.embedded import among, ask
from codelake.delta.run import Run
from codelake.extract.claims import Claimed
from codelake.graph.link.claims import COLUMNS
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.reading import Reading
from codelake.pipeline.rows import commit_rows, frame
from codelake.pipeline.work import Build

OTHER_CLAIMS = "other claims of other tools"
Stale = dict[tuple[str, str], list[str]]
"""By repository and path: what there is to say of claims that are not used."""


def store_claims(build: Build) -> None:
    reading = build.reading
    rows = claims_of(build.run, reading)
    build.stale = stale(reading, rows) if rows else {}
    if reading.reports or reading.forgotten:
        repos = [listed.source.repo for listed in reading.listed]
        commit_rows(build, CLAIMS, [row._asdict() for row in rows], repos)
        if CLAIMS.name in build.versions:
            build.told.why = words(reading, rows, build.stale)
            build.told.n_misses = sum(row.origin in _read(reading) for row in rows)


def claims_of(run: Run, reading: Reading) -> list[Claimed]:
    """What `claims` has to hold of the repositories that are read: of reports that were given what they say now, of
    others what they said before."""
    before = _stored(run, [listed.source.repo for listed in reading.listed])
    if not before and not reading.claimed:
        return []
    known = {(row.repo, row.path, row.origin, row.report_digest): row for row in before}
    digests = _digests(reading)
    found = [row for row in before if row.origin not in _read(reading) and row.origin not in reading.forgotten]
    for row in reading.claimed:
        old = known.get((row.repo, row.path, row.origin, row.report_digest))
        fits_another = old is not None and old.digest not in (None, digests[row.repo, row.path])
        found.append(old if old is not None and fits_another else row)
    return sorted(found)


def changed_claims(run: Run, reading: Reading) -> list[tuple[str, str]]:
    """Repository and path of files of which other things would be claimed."""
    if not reading.reports and not reading.forgotten:
        return []
    digests = _digests(reading)
    before = _stored(run, [listed.source.repo for listed in reading.listed])

    def counting(rows: Iterable[Claimed]) -> set[tuple[str, str, str, str]]:
        fitting = (row for row in rows if row.digest is not None and row.digest == digests.get((row.repo, row.path)))
        return {(row.repo, row.path, row.origin, row.claims_digest) for row in fitting if row.n_claims}

    return sorted({row[:2] for row in counting(before) ^ counting(claims_of(run, reading))})


def stale(reading: Reading, rows: Iterable[Claimed]) -> Stale:
    digests = _digests(reading)
    found: Stale = {}
    for row in rows:
        place = row.repo, row.path
        if place in digests and row.digest != digests[place]:
            why = f": {row.problem}" if row.problem else ""
            found.setdefault(place, []).append(
                f"what {row.tool} says of this file ({row.origin}) is about another content, and is not used{why}"
            )
    return found


def words(reading: Reading, rows: Iterable[Claimed], unused: Stale) -> list[str]:
    found = [f"what {origin} claims is forgotten" for origin in reading.forgotten]
    counts = Counter(row.tool for row in rows if row.origin in _read(reading) and row.n_claims)
    for row_tool, n in sorted(counts.items()):
        found.append(f"{n:,} file(s) of which {row_tool} says something")
    if unused:
        found.append(f"{len(unused):,} file(s) of which claims are about another content")
    for report in reading.reports:
        n = len(set(report.paths) - {file.path for listed in reading.listed for file in listed.files})
        if n:
            found.append(f"{n:,} document(s) of {report.tool} that are no files of the repository")
    return found


def _digests(reading: Reading) -> dict[tuple[str, str], str | None]:
    return {(one.source.repo, file.path): file.digest for one in reading.listed for file in one.files}


def _read(reading: Reading) -> set[str]:
    return {report.origin for report in reading.reports}


def _stored(run: Run, repos: Collection[str]) -> list[Claimed]:
    if is_empty(run, CLAIMS):
        return []
    sql = f"SELECT {', '.join(Claimed._fields)} FROM claims WHERE {among('repo', repos)}"
    return [Claimed(**row) for row in ask(run, (CLAIMS,), sql).to_pylist()]


# for linking -------------------------------------------------------------------------------------


class OfFiles(NamedTuple):
    """Parts of SQL over `files f`, joined with evidence `e`: what is claimed of their present contents."""

    tables: tuple[Table, ...]
    join: str
    digest: str
    columns: tuple[str, ...]
    """Beside that of the digest, with their names."""
    names: tuple[str, ...]


_NONE = OfFiles((), "", "CAST(NULL AS STRING)", (), ())
_ANY = OfFiles(
    (CLAIMS,),
    " ".join(
        f"LEFT JOIN (SELECT * FROM claims WHERE origin = '{origin}' AND n_claims > 0) AS c_{origin} "
        f"ON c_{origin}.repo = f.repo AND c_{origin}.path = f.path AND c_{origin}.digest = f.digest"
        for origin in ORIGINS
    ),
    f"nullif(concat_ws(' ', {', '.join(f'c_{origin}.claims_digest' for origin in ORIGINS)}), '')",
    (
        f"CASE WHEN coalesce({', '.join(f'c_{origin}.origin' for origin in ORIGINS)}) IS NOT NULL THEN e.nodes END "
        "AS nodes",
        *(f"c_{origin}.claims AS {name}" for origin, name in COLUMNS.items()),
    ),
    ("nodes", *COLUMNS.values()),
)


_FRAME = pa.schema(
    [
        *((name, pa.string()) for name in ("repo", "path", "claims_digest")),
        *((name, pa.binary()) for name in COLUMNS.values()),
    ]
)


def claims_of_files(run: Run) -> OfFiles:
    return _NONE if is_empty(run, CLAIMS) else _ANY


def claims_frame(build: Build, run: Run, repos: Collection[str]) -> DataFrame | None:
    """For `codelake.graph.links`."""
    if is_empty(run, CLAIMS):
        return None
    columns = ", ".join(f"c_{origin}.claims AS {name}" for origin, name in COLUMNS.items())
    sql = f"""SELECT f.repo AS repo, f.path AS path, {_ANY.digest} AS claims_digest, {columns}
        FROM files f {_ANY.join} WHERE f.{among("repo", repos)} AND {_ANY.digest} IS NOT NULL"""
    return frame(build, ask(run, (FILES, CLAIMS), sql).cast(_FRAME))
