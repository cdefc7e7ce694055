"""Real repositories, made with the git program and nobody's configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from codelake.extract.sources import Source, SourceFile

NOBODY = 65534


@pytest.fixture(autouse=True)
def _configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "somebody@example.org")
        monkeypatch.setenv(f"GIT_{who}_DATE", "2024-05-06T07:08:09+02:00")


def git(folder: Path, *arguments: str | bytes, given: bytes = b"") -> str:
    allow = ["-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *allow, *arguments], cwd=folder, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(errors="surrogateescape").strip()


def write(root: Path, files: Mapping[str, bytes | str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def commit(root: Path) -> str:
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "some change")
    return git(root, "rev-parse", "HEAD")


def repository(root: Path, files: Mapping[str, bytes | str]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet", "--initial-branch", "main")
    write(root, files)
    commit(root)
    return root


def rows(source: Source) -> dict[str, SourceFile]:
    found = list(source.files())
    assert [file.path for file in found] == sorted({file.path for file in found})
    for file in found:
        assert (file.content is None) == (file.reason is not None)
        assert file.content is None or len(file.content) == file.n_bytes
        file.path.encode()
    return {file.path: file for file in found}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user of the machine can reach; pytest's own are closed."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@contextmanager
def forbidden(*paths: Path) -> Iterator[None]:
    """The paths without permissions. They do not stop root, so root is somebody else for a while."""
    modes = [path.stat().st_mode for path in paths]
    for path in paths:
        path.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for path, mode in zip(paths, modes, strict=True):
            path.chmod(mode)
