"""From what a user names to sources: a folder, a repository with a revision, an archive, many of them.

The name of the repository is that of the folder (`x` also for a bare `x.git`) or that of the archive without
ending and version (`Django` for `Django-1.4.tar.gz`), so that versions of one project are versions of one
repository. Two sources cannot share a name; `NAME=LOCATION` gives one.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path

from packaging.version import InvalidVersion, Version

from codelake.errors import Unavailable, UsageError
from codelake.extract.sources.git import Repository, bare_repository, repository_above, unknown_revision
from codelake.extract.sources.model import Listing
from codelake.extract.sources.paths import shown
from codelake.extract.sources.revision import open_revision
from codelake.extract.sources.select import Choice
from codelake.extract.sources.source import Source
from codelake.extract.sources.tar import open_tar
from codelake.extract.sources.tree import is_dirty, open_folder, open_working_tree
from codelake.extract.sources.zip import open_zip

MAX_FILE_BYTES = 16 << 20
ARCHIVES = (".zip", ".whl", ".tar.gz", ".tgz")

_ADDRESS = re.compile(r"[a-z+]+://|[\w.-]+@[\w.-]+:")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def open_source(
    location: str | Path,
    *,
    rev: str | None = None,
    name: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    max_file_bytes: int = MAX_FILE_BYTES,
) -> Source:
    """`name` is the repository's in the lake; a location `NAME=LOCATION` that is no file says it too."""
    given = os.fspath(location)
    if name is None and not os.path.lexists(given) and "=" in given:
        name, _, given = given.partition("=")
    text = shown(os.fsencode(given))
    path = _existing(given, text)
    choice = Choice(include, exclude)
    limit = max_file_bytes
    if path.is_file():
        return _archive(path, text, rev, name, choice, limit)
    if not path.is_dir():
        raise _not_a_source(text, "neither a file nor a folder")
    if not os.access(path, os.R_OK | os.X_OK, effective_ids=True):
        do = "Make it readable, or name another."
        raise Unavailable(text, expected="a folder that can be read", found="Permission denied", do=do)
    bare = bare_repository(path)
    repository = bare or repository_above(path)
    if rev is not None:
        return _revision(path, text, repository, rev, name, choice, limit)
    if bare is not None:
        raise UsageError(
            f"{text} is a repository without a working tree",
            expected="a revision to read",
            found="none",
            do="Add --rev HEAD, or another revision.",
        )
    if repository is None or repository.ignores(path):
        opener = partial(open_folder, path, choice)
        return Source(_name(name, path.name, text), "tree", text, None, None, limit, choice, opener, _never)
    commit = repository.commit("HEAD")
    return Source(
        _name(name, path.name, text),
        "tree",
        text,
        commit.id if commit else None,
        commit.committed_at if commit else None,
        limit,
        choice,
        partial(open_working_tree, repository, path),
        partial(is_dirty, repository, path) if commit else _never,
    )


def open_sources(
    locations: Sequence[str | Path],
    *,
    rev: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    max_file_bytes: int = MAX_FILE_BYTES,
) -> list[Source]:
    """Many at once. `@FILE` stands for the locations that a file lists."""
    sources: dict[str, Source] = {}
    for location in _listed(locations):
        source = open_source(location, rev=rev, include=include, exclude=exclude, max_file_bytes=max_file_bytes)
        first = sources.setdefault(source.repo, source)
        if first is not source:
            raise UsageError(
                f"two sources are called {source.repo}",
                expected="a name for each repository",
                found=f"{first.location} and {source.location}",
                do=f"Give one another name: NAME={source.location}",
            )
    return list(sources.values())


def commits_between(location: str | Path, revs: str) -> list[str]:
    """The commits of a range `A..B` of a repository, the oldest first."""
    given = os.fspath(location)
    if not os.path.lexists(given):
        given = given.partition("=")[2] or given
    text = shown(os.fsencode(given))
    path = _existing(given, text)
    repository = bare_repository(path) or repository_above(path) if path.is_dir() else None
    if repository is None:
        raise UsageError(f"{text}: --rev {revs}", expected="a git repository", found="none", do="Name a repository.")
    ends = []
    for rev in revs.split("..", 1):
        commit = repository.commit(rev or "HEAD")
        if commit is None:
            raise unknown_revision(repository, text, rev)
        ends.append(commit.id)
    found = repository.between(*ends)
    if not found:
        raise UsageError(
            f"{text}: --rev {revs}",
            expected="commits that the second has and the first has not",
            found="none",
            do="Name the older one first.",
        )
    return found


def read_list(file: str | Path) -> list[str]:
    """The locations of a list: one a line, from the current folder; empty lines and those with # first are none."""
    try:
        lines = Path(file).read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            f"the list {shown(os.fsencode(file))}",
            expected="a file with one location a line",
            found=error.strerror,
            do="Name a file that can be read.",
        ) from error
    texts = (os.fsdecode(line).strip() for line in lines)
    return [text for text in texts if text and not text.startswith("#")]


def _listed(locations: Sequence[str | Path]) -> Iterator[str | Path]:
    for location in locations:
        if isinstance(location, str) and location.startswith("@"):
            yield from read_list(location[1:])
        else:
            yield location


def _existing(given: str, text: str) -> Path:
    try:
        return Path(given).resolve(strict=True)
    except FileNotFoundError as error:
        if _ADDRESS.match(given):
            do = "Clone it first: codelake reads what is on this machine."
            raise UsageError(text, expected="a folder or an archive", found="an address", do=do) from error
        raise _not_a_source(text, "nothing of that name") from error
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle; a NUL
        raise _not_a_source(text, str(error)) from error


def _not_a_source(text: str, found: str) -> UsageError:
    return UsageError(
        text,
        expected=f"a folder, a git repository or an archive ({', '.join(ARCHIVES)})",
        found=found,
        do="Name one that exists. A single file is built as its folder, with --include.",
    )


def _revision(
    path: Path, text: str, repository: Repository | None, rev: str, name: str | None, choice: Choice, limit: int
) -> Source:
    if repository is None:
        raise UsageError(
            f"{text}: --rev {rev}",
            expected="a git repository",
            found="a folder that is in none",
            do="Leave --rev out to build the folder as it is.",
        )
    commit = repository.commit(rev)
    if commit is None:
        raise unknown_revision(repository, text, rev)
    folder = b"" if path == repository.top else os.fsencode(path.relative_to(repository.top))
    default = repository.name if not folder else path.name
    opener = partial(open_revision, repository, commit.id, folder, text)
    repo = _name(name, default, text)
    return Source(repo, "revision", text, commit.id, commit.committed_at, limit, choice, opener, _never)


def _archive(path: Path, text: str, rev: str | None, name: str | None, choice: Choice, limit: int) -> Source:
    ending = next((ending for ending in ARCHIVES if path.name.lower().endswith(ending)), None)
    if ending is None:
        raise _not_a_source(text, "a file of another kind")
    if rev is not None:
        raise UsageError(
            f"{text}: --rev {rev}",
            expected="a git repository",
            found="an archive, which has no revisions",
            do="Leave --rev out, or name the repository.",
        )
    stem = shown(os.fsencode(path.name[: -len(ending)]))
    default = without_version(stem, is_wheel=ending == ".whl")
    with _opened(path, text) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        before = os.fstat(file.fileno())

    @contextmanager
    def opener() -> Iterator[Listing]:
        with _opened(path, text) as file:
            now = os.fstat(file.fileno())
            if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
                raise Unavailable(text, expected="the archive as it was", found="another", do="Build it again.")
            if ending in (".zip", ".whl"):
                with open_zip(file, text, stem if ending == ".zip" else None, default) as listing:
                    yield listing
            else:
                with open_tar(file, text, stem, default) as unpacked:
                    yield unpacked

    return Source(_name(name, default, text), "archive", text, digest, None, limit, choice, opener, _never)


@contextmanager
def _opened(path: Path, text: str) -> Iterator[BufferedReader]:
    try:
        file = path.open("rb")
    except OSError as error:
        found, do = error.strerror, "Make it readable, or name another."
        raise Unavailable(text, expected="an archive that can be read", found=found, do=do) from error
    with file:
        yield file


def without_version(stem: str, *, is_wheel: bool = False) -> str:
    """`Django` of `Django-1.4`, `attrs` of `attrs-25.1.0-py3-none-any`; other names are as they are."""
    parts = stem.split("-")
    if is_wheel:
        return parts[0]
    for n_parts in range(1, len(parts)):
        rest = "-".join(parts[n_parts:])
        if _is_version(rest) or _COMMIT.fullmatch(rest):
            return "-".join(parts[:n_parts])
    return stem


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _name(name: str | None, default: str, text: str) -> str:
    chosen = shown(os.fsencode(default if name is None else name))
    if not chosen.strip() or any(ord(letter) < 32 for letter in chosen):
        raise UsageError(
            f"the name of {text} in the lake",
            expected="a name",
            found=repr(chosen),
            do=f"Give it one: NAME={text}",
        )
    return chosen


def _never() -> bool:
    return False
