"""A range of commits, built in order: each is a run of its own, equal to a build of that commit alone, for ever."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
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
from tests.extract.packages import fetched
from tests.lakes import PreparedLake
from tests.properties.edits import edited, write

COMPARED = [table for table in BUILT if table not in (BLOBS, EVIDENCE)]
"""Contents and evidence of other commits stay in the lake."""


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def edits(folder: Path) -> int:
    """Two random edits of a small package, a commit each; how many commits follow the first."""
    write(folder)
    chance = random.Random(10)
    commit_all(folder, "first")
    for _ in range(2):
        commit_all(folder, edited(folder, chance))
    return 2


RELEASES = (
    *("6.7", "7.0", "7.1", "7.1.1", "7.1.2", "8.0.0", "8.0.1", "8.0.2", "8.0.3", "8.0.4", "8.1.0", "8.1.1", "8.1.2"),
    *("8.1.3", "8.1.4", "8.1.5", "8.1.6", "8.1.7", "8.1.8", "8.2.0", "8.2.1"),
)


def releases(folder: Path) -> int:
    """Those of click, a commit each."""
    for release in RELEASES:
        unpacked = fetched(f"click=={release}", folder.parent / release)
        shutil.rmtree(folder / "click", ignore_errors=True)
        shutil.copytree(unpacked / "click", folder / "click")
        commit_all(folder, release)
    return len(RELEASES) - 1


def commit_all(folder: Path, said: str) -> None:
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", said)


def built(lake: Lake, folder: Path, commit: str) -> None:
    build(lake, Reading([open_source(folder, rev=commit)], Progress()), limits=Limits())


def digests(lake: Lake, versions: dict[str, int]) -> dict[str, Digest]:
    return {table.name: embedded_digest(lake.log(table.name, version=versions[table.name])) for table in COMPARED}


@pytest.mark.parametrize("history", [edits, pytest.param(releases, marks=pytest.mark.soak)])
def test_each_commit_is_what_a_build_of_it_alone_would_be(
    prepared_lake: PreparedLake, tmp_path: Path, history: Callable[[Path], int]
) -> None:
    folder = tmp_path / "shop"
    n = history(folder)
    commits = commits_between(folder, f"HEAD~{n}..HEAD")
    assert len(commits) == n > 1
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
