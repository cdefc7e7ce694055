"""What a build would do, and why. Nothing is written and no Spark is started: sources are read, and compared with the
lake as it is.

What a changed file means to others is known only once it is linked. The plan names the files that have changed; the
files that they reach are named by the build, in the table `stages`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from codelake.contracts import EVIDENCE, TABLES
from codelake.contracts.graph import CPG_NODES, LINKS
from codelake.contracts.sources import BLOBS, FILES
from codelake.delta.drift import drift
from codelake.delta.embedded import among, ask
from codelake.delta.identity import newest_own_commit
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.runs import last_published
from codelake.extract.guard import Limits
from codelake.pipeline import manifest
from codelake.pipeline.claims import OTHER_CLAIMS, changed_claims, claims_of, stale, words
from codelake.pipeline.fingerprints import Fingerprint, changed_parts
from codelake.pipeline.lookup import PRESENT, is_empty, rows_of
from codelake.pipeline.reading import Reading
from codelake.pipeline.stages import fingerprints
from codelake.pipeline.stubs import lacking_stubs


class Changed(NamedTuple):
    repo: str
    path: str
    why: str


class Step(NamedTuple):
    stage: str
    fingerprint: str
    n: int
    """Contents, files, or packages of stubs."""
    why: tuple[str, ...]
    files: tuple[Changed, ...] = ()


class Planned(NamedTuple):
    steps: tuple[Step, ...]
    """Those that have something to do."""
    metadata: tuple[str, ...]
    """Tables that are not there, or not as their contracts say, in words."""


def plan(lake: Lake, reading: Reading, *, limits: Limits) -> Planned:
    for _ in reading.chunks():
        pass  # digests are all that is needed
    metadata = tuple(_metadata(lake))
    known = fingerprints(limits)
    if any(not lake.exists(table.name) for table in TABLES):
        return Planned(_first(reading, known), metadata)
    run = Run(lake, "plan", pipeline="plan")
    changed = _changed(run, reading)
    found = {"contents": _contents(run, reading), "evidence": _evidence(run, reading)}
    claimed = tuple(Changed(*place, OTHER_CLAIMS) for place in changed_claims(run, reading))
    found["claims"] = _claims(run, reading, claimed)
    found["files"] = _counted(changed)
    found["stubs"] = (0, ()) if (lacking := lacking_stubs(run)) is None else (1, (lacking,))
    there = {one[:2] for one in changed}
    linked = (*changed, *(one for one in claimed if one[:2] not in there))
    found |= dict.fromkeys(("link", "graph"), _counted(linked))
    for stage, is_other in (("link", _linked_otherwise), ("graph", _rendered_otherwise)):
        if is_other(run, known[stage].text):
            found[stage] = _all_of_them(run, found[stage])
    before = last_published(run)
    parts = {one.name: one.parts for one in manifest.read(before.manifest).stages} if before else {}
    steps = []
    for name, (n, why) in found.items():
        told = changed_parts(parts[name], known[name].parts) if name in parts else []
        if why:
            of_stage = {"claims": claimed, "files": changed}.get(name, linked)
            steps.append(Step(name, known[name].text, n, (*told, *why), of_stage if name in _OF_FILES else ()))
    return Planned(tuple(steps), metadata)


def _first(reading: Reading, known: Mapping[str, Fingerprint]) -> tuple[Step, ...]:
    files = tuple(Changed(one.source.repo, file.path, "new file") for one in reading.listed for file in one.files)
    counts = {
        **dict.fromkeys(_OF_CONTENTS, (len(reading.sizes), ())),
        **({"claims": (len(reading.claimed), ())} if reading.reports else {}),
        "files": (len(files), files),
        "stubs": (1, ()),
        **dict.fromkeys(("link", "graph"), (len(files), files)),
    }
    why = ("the lake has nothing yet",)
    return tuple(Step(name, known[name].text, n, why, listed) for name, (n, listed) in counts.items())


_OF_CONTENTS = ("contents", "evidence")
_OF_FILES = ("claims", "files", "link", "graph")
Found = tuple[int, tuple[str, ...]]
"""How many, and why."""


def _metadata(lake: Lake) -> Iterable[str]:
    for table in TABLES:
        if not lake.exists(table.name):
            yield f"table {table.name} will be created"
        else:
            yield from (f"table {table.name}: {one}" for one in drift(table, lake.log(table.name)))


def _contents(run: Run, reading: Reading) -> Found:
    there = {row["digest"] for row in rows_of(run, BLOBS, reading.sizes)}
    n = len(reading.sizes.keys() - there)
    return n, (f"{n:,} content(s) that the lake does not have",) if n else ()


def _evidence(run: Run, reading: Reading) -> Found:
    there = {row["digest"] for row in rows_of(run, EVIDENCE, reading.sizes, where=PRESENT)}
    n = len(reading.sizes.keys() - there)
    return n, (f"{n:,} content(s) without evidence of these extractors",) if n else ()


def _claims(run: Run, reading: Reading, claimed: tuple[Changed, ...]) -> Found:
    if not claimed:
        return 0, ()
    rows = claims_of(run, reading)
    return len(claimed), tuple(words(reading, rows, stale(reading, rows)))


def _changed(run: Run, reading: Reading) -> tuple[Changed, ...]:
    repos = [listed.source.repo for listed in reading.listed]
    sql = f"SELECT repo, path, digest, module FROM files WHERE {among('repo', repos)}"
    rows = [] if is_empty(run, FILES) else ask(run, (FILES,), sql).to_pylist()
    old = {(row["repo"], row["path"]): (row["digest"], row["module"]) for row in rows}
    new = {(one.source.repo, file.path): (file.digest, file.module) for one in reading.listed for file in one.files}
    found = []
    for repo, path in sorted(old.keys() | new.keys()):
        before, now = old.get((repo, path)), new.get((repo, path))
        if before is None:
            found.append(Changed(repo, path, "new file"))
        elif now is None:
            found.append(Changed(repo, path, "gone"))
        elif before != now:
            found.append(Changed(repo, path, "changed content" if before[0] != now[0] else "another module"))
    return tuple(found)


def _counted(changed: Iterable[Changed]) -> Found:
    counts = Counter(one.why for one in changed)
    return sum(counts.values()), tuple(f"{n:,} file(s): {why}" for why, n in sorted(counts.items()))


def _linked_otherwise(run: Run, now: str) -> bool:
    rows = [] if is_empty(run, LINKS) else ask(run, (LINKS,), "SELECT DISTINCT made_by FROM links").to_pylist()
    return any(row["made_by"] != now for row in rows)


def _rendered_otherwise(run: Run, now: str) -> bool:
    last = newest_own_commit(run.lake.log(CPG_NODES.name), stage="graph")
    return last is not None and last.own["fingerprint"] != now


def _all_of_them(run: Run, found: Found) -> Found:
    [row] = ask(run, (LINKS,), "SELECT count(*) AS n FROM links").to_pylist()
    return row["n"], (*found[1], f"all {row['n']:,} file(s) of the lake, because what the stage does has changed")
