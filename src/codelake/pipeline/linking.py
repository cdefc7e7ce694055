"""The stage `link`: what the names of a repository mean, across its files and those of the repositories it needs.

A repository is linked when a file of it has changed, or of one that it needs: whichever of the two was built first,
the edges between them are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from codelake.contracts import EVIDENCE
from codelake.contracts.graph import LINKS
from codelake.contracts.sources import FILES
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.extract.extractors import extractor_version
from codelake.graph.links import links, made_from, needs
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.work import Build

Needs = dict[str, set[str]]


def link_files(build: Build) -> None:
    def plan(run: Run) -> Plan:
        files, evidence = scan(run, FILES), present_evidence(run)
        changed, steady = _compared(run, build, files)
        if not changed:
            return None
        needed = _needs(files, evidence) if len(changed | steady) > 1 else {}
        linked = changed | {repo for repo in steady if changed & _reached(needed, repo)}
        pairs = [(repo, seen) for repo in sorted(linked) for seen in sorted({repo} | _reached(needed, repo))]
        units = pa.table({"unit": [unit for unit, _ in pairs], "repo": [repo for _, repo in pairs]})
        rows = links(files, evidence, build.spark.createDataFrame(units), extractor_version())
        if is_empty(run, LINKS):
            return rows, {"mode": "append"}
        return rows, {"mode": "replace", "replacing": [(repo,) for repo in sorted(linked)]}

    build.committed(commit_planned(build.run, LINKS, plan, from_pin=True))


def present_evidence(run: Run) -> DataFrame:
    return scan(run, EVIDENCE, where=f"extractor_version = '{extractor_version()}'")


def _compared(run: Run, build: Build, files: DataFrame) -> tuple[set[str], set[str]]:
    """Repositories of this build that differ from what was linked; and others, that do not. Of those that differ and
    are not built now, the evidence may be of other extractors: they stay as they are until they are built."""
    built = {listed.source.repo for listed in build.reading.listed}
    if is_empty(run, LINKS):
        return built, set()
    now = made_from(files, extractor_version())
    then = scan(run, LINKS).select("repo", "path", "made_from")
    both = now.join(then.withColumnRenamed("made_from", "linked"), on=["repo", "path"], how="full")
    counted = both.groupBy("repo").agg({"repo": "count"}).withColumnRenamed("count(repo)", "n")
    different = both.where("NOT (made_from <=> linked)").select("repo").distinct()
    differing = {row.repo for row in different.collect()}
    everything = {row.repo for row in counted.select("repo").collect()}
    return differing & built, everything - differing


def _needs(files: DataFrame, evidence: DataFrame) -> Needs:
    found: Needs = {}
    for row in needs(files, evidence).collect():
        found.setdefault(row.repo, set()).add(row.needed)
    return found


def _reached(needed: Needs, repo: str) -> set[str]:
    """What it needs, and what that needs."""
    return set(_walked(needed, [repo])) - {repo}


def _walked(needed: Needs, begin: Iterable[str]) -> Iterator[str]:
    waiting, seen = list(begin), set(begin)
    while waiting:
        repo = waiting.pop()
        yield repo
        new = needed.get(repo, set()) - seen
        seen |= new
        waiting += sorted(new)
