"""A range of commits, built in order: each is a run of its own, equal to a build of that commit alone, for ever."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from codelake.contracts import EVIDENCE
from codelake.contracts.sources import BLOBS
from codelake.delta.digest import Digest, embedded_digest
from codelake.delta.lake import Lake
from codelake.delta.runs import published_runs
from codelake.extract.guard import Limits
from codelake.extract.sources import commits_between, open_source
from codelake.pipeline.build import BUILT, build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from tests.lakes import PreparedLake
from tests.properties.edits import edited, write

COMPARED = [table for table in BUILT if table not in (BLOBS, EVIDENCE)]
"""Contents and evidence of other commits stay in the lake."""


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def history(folder: Path, n: int, seed: int) -> None:
    write(folder)
    git(folder, "init", "--quiet")
    chance = random.Random(seed)
    for number in range(n + 1):
        said = edited(folder, chance) if number else "first"
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--allow-empty", "-m", said)


def built(lake: Lake, folder: Path, commit: str) -> None:
    build(lake, Reading([open_source(folder, rev=commit)], Progress()), limits=Limits())


def digests(lake: Lake, versions: dict[str, int]) -> dict[str, Digest]:
    return {table.name: embedded_digest(lake.log(table.name, version=versions[table.name])) for table in COMPARED}


@pytest.mark.parametrize(
    ("n", "seed"), [pytest.param(2, 10, marks=pytest.mark.slow), pytest.param(20, 8, marks=pytest.mark.soak)]
)
def test_each_commit_is_what_a_build_of_it_alone_would_be(
    prepared_lake: PreparedLake, tmp_path: Path, n: int, seed: int
) -> None:
    print(f"seed {seed}")
    folder = tmp_path / "shop"
    history(folder, n, seed)
    commits = commits_between(folder, f"HEAD~{n}..HEAD")
    assert len(commits) == n
    lake = prepared_lake(tmp_path / "lake")
    seen = []
    for commit in commits:
        built(lake, folder, commit)
        seen.append(digests(lake, published_runs(lake)[-1].versions))
    runs = published_runs(lake)
    assert len(runs) == n
    for number, (commit, run) in enumerate(zip(commits, runs, strict=True)):
        assert digests(lake, run.versions) == seen[number]  # later builds have not changed it
        if number:  # the first was built into a lake that had nothing else
            anew = prepared_lake(tmp_path / f"anew{number}")
            built(anew, folder, commit)
            assert digests(anew, published_runs(anew)[-1].versions) == seen[number], commit
