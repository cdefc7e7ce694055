"""A repository gives the same files as a tree, a revision, a bare repository, a clone or an archive."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codelake.extract.sources import Source, SourceFile, open_source
from tests.extract.sources.conftest import commit, git, repository, rows

FILES: dict[str, bytes | str] = {
    "pyproject.toml": "",
    "README.md": "read me",
    "src/pkg/__init__.py": "",
    "src/pkg/mod.py": "x = 1\r\n",
    "src/pkg/mod.pyi": "x: int",
    "src/pkg/latin.py": b"# coding: latin-1\n# \xe9\n",
    "src/pkg/nul.py": b"a\0b",
    "src/pkg/no_newline.py": "y = 2",
    "src/pkg/data.json": "{}",
    "src/pkg/lfs.py": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
    "src/pkg/large.py": "#" * 5000,
    "tests/app/__init__.py": "",
    "tests/runtests.py": "1",
    "tests/data/weird \n\"name'.py": "2",
    "ünï/cödé.py": "3",
    "bin/tool": "#!/usr/bin/env python3\nprint(1)\n",
    "bin/shell": "#!/bin/sh\n",
    "bin/zipapp": b"#!/usr/bin/env python3\nPK\x03\x04\0\0",
    "my-script.py": "4",
    "a-b/c.py": "5",
    "a/c.py": "6",
    "a.py": "7",
    "a\\b.py": "8",
    "deep/" * 40 + "end.py": "9",
    "long/" + "n" * 120 + ".py": "10",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("equal") / "repo"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        for who in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{who}_NAME", "x")
            patch.setenv(f"GIT_{who}_EMAIL", "x")
        repository(root, FILES)
        (Path(os.fsdecode(os.fsencode(root) + b"/src/pkg/\xe9t\xe9.py"))).write_text("11")
        for link, target in {
            "link.py": "a.py",
            "src/linked": "pkg",
            "src/pkg/broken.py": "nowhere.py",
            "bin/alias": "tool",
            "bin/other": "shell",
        }.items():
            (root / link).symlink_to(target)
        commit(root)
    return root


def tree(repo: Path, to: Path) -> Path:
    return repo


def copied(repo: Path, to: Path) -> Path:
    """A folder without git."""
    shutil.copytree(repo, to / "repo", symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return to / "repo"


def bare(repo: Path, to: Path) -> Path:
    git(to, "clone", "--quiet", "--bare", str(repo), "repo.git")
    return to / "repo.git"


def shallow(repo: Path, to: Path) -> Path:
    git(to, "clone", "--quiet", "--depth=1", f"file://{repo}", "repo")
    return to / "repo"


def worktree(repo: Path, to: Path) -> Path:
    git(to, "clone", "--quiet", str(repo), "main")
    git(to / "main", "worktree", "add", "--quiet", "--detach", str(to / "repo"))
    return to / "repo"


def tar(repo: Path, to: Path) -> Path:
    git(repo, "archive", f"--output={to / 'repo.tar.gz'}", "HEAD")
    return to / "repo.tar.gz"


def sdist(repo: Path, to: Path) -> Path:
    git(repo, "archive", "--prefix=repo-1.4/", f"--output={to / 'repo-1.4.tgz'}", "HEAD")
    return to / "repo-1.4.tgz"


def packed(repo: Path, to: Path) -> Path:
    """By the tar program, with names like ./a.py, and without git."""
    subprocess.run(["tar", "-czf", to / "repo.tar.gz", "--exclude=.git", "."], cwd=repo, check=True)
    return to / "repo.tar.gz"


def zipped(repo: Path, to: Path) -> Path:
    git(repo, "archive", f"--output={to / 'repo.zip'}", "HEAD")
    return to / "repo.zip"


def zip_with_folder(repo: Path, to: Path) -> Path:
    git(repo, "archive", "--prefix=repo-main/", f"--output={to / 'repo.zip'}", "HEAD")
    return to / "repo.zip"


Way = Callable[[Path, Path], Path]
TREES: list[Way] = [tree, copied, shallow, worktree]
REVISIONS: list[Way] = [tree, bare, shallow, worktree]
ARCHIVES: list[Way] = [tar, sdist, packed, zipped, zip_with_folder]


def listed(source: Source) -> list[SourceFile]:
    return list(rows(source).values())


@pytest.fixture(scope="module")
def expected(repo: Path) -> list[SourceFile]:
    return listed(open_source(repo, max_file_bytes=4000))


def test_the_tree_has_all_of_it(expected: list[SourceFile]) -> None:
    found = {file.path: (file.module, file.reason) for file in expected}
    assert found.pop("src/pkg/\\xe9t\\xe9.py") == (None, None)
    assert found.pop("link.py") == ("link", "symbolic link")
    assert found.pop("src/linked") == (None, "symbolic link")
    assert found.pop("src/pkg/broken.py") == ("pkg.broken", "symbolic link")
    assert found.pop("bin/alias") == (None, "symbolic link")
    assert found.pop("src/pkg/lfs.py") == ("pkg.lfs", "git-lfs pointer")
    assert found.pop("src/pkg/large.py") == ("pkg.large", "too large")
    assert {path for path, (_, reason) in found.items() if reason} == set()
    python = {path for path in FILES if path.endswith((".py", ".pyi"))} | {"bin/tool"}
    assert set(found) == python - {"src/pkg/lfs.py", "src/pkg/large.py"}
    assert found["src/pkg/mod.pyi"] == ("pkg.mod", None)
    assert found["tests/runtests.py"] == ("runtests", None)


@pytest.mark.parametrize("way", TREES)
def test_as_a_tree(way: Way, repo: Path, expected: list[SourceFile], tmp_path: Path) -> None:
    source = open_source(way(repo, tmp_path), max_file_bytes=4000)
    assert (source.repo, source.kind) == ("repo", "tree")
    assert listed(source) == expected
    assert not source.is_dirty


@pytest.mark.parametrize("way", REVISIONS)
def test_as_a_revision(way: Way, repo: Path, expected: list[SourceFile], tmp_path: Path) -> None:
    source = open_source(way(repo, tmp_path), rev="HEAD", max_file_bytes=4000)
    assert (source.repo, source.kind) == ("repo", "revision")
    assert listed(source) == expected


@pytest.mark.parametrize("way", ARCHIVES)
def test_as_an_archive(way: Way, repo: Path, expected: list[SourceFile], tmp_path: Path) -> None:
    source = open_source(way(repo, tmp_path), max_file_bytes=4000)
    assert (source.repo, source.kind) == ("repo", "archive")
    assert listed(source) == expected


@pytest.mark.parametrize("way", [tree, bare, tar, zipped])
def test_patterns_are_the_same_everywhere(way: Way, repo: Path, tmp_path: Path) -> None:
    rev = "HEAD" if way in (tree, bare) else None
    source = open_source(way(repo, tmp_path), rev=rev, include=["src/", "*.json"], exclude=["m*.py"])
    paths = [file.path for file in source.files()]
    assert "src/pkg/data.json" in paths and "src/pkg/mod.pyi" in paths and "a.py" not in paths
    assert "src/pkg/mod.py" not in paths


def test_a_root_that_is_a_package(tmp_path: Path) -> None:
    made = repository(tmp_path / "pkg", {"__init__.py": "", "sub/__init__.py": "", "sub/mod.py": ""})
    modules = {"__init__.py": "pkg", "sub/__init__.py": "pkg.sub", "sub/mod.py": "pkg.sub.mod"}
    git(made, "archive", f"--output={tmp_path / 'pkg-2.0.zip'}", "HEAD")
    for source in (open_source(made), open_source(made, rev="main"), open_source(tmp_path / "pkg-2.0.zip")):
        assert {file.path: file.module for file in source.files()} == modules
    for source in (open_source(made / "sub"), open_source(made / "sub", rev="main")):
        assert [file.module for file in source.files()] == ["pkg.sub", "pkg.sub.mod"]
