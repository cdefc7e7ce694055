"""Git, asked in a way that runs nothing of the repository's own.

A repository's configuration can name programs: hooks, a file system monitor, filters, a command to reach the
remote with. Here its own settings are overridden for all of them, nothing is fetched, and no lock is taken.
The repository is named outright, so that git neither searches for another nor asks whose it is
(`safe.directory`), and `core.worktree` cannot point elsewhere.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import IO, cast

from codelake.errors import Unavailable, UsageError
from codelake.extract.sources.paths import shown

# The first that takes settings from GIT_CONFIG_COUNT; `-c` splits names that have a = in them.
_OLDEST = (2, 31)
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
_VARIABLES = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # Objects that a partial clone has not fetched: git from 2.45 obeys the first, any git the second.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.untrackedCache": "false",
    "safe.directory": "*",
    "safe.bareRepository": "all",
    "status.submoduleSummary": "false",
}
_FILTER = re.compile(rb"filter\.(.*)\.(?:clean|smudge|process|required)", re.DOTALL)
_COMMITTER = re.compile(rb"^committer .* (-?\d+) [+-]\d{4}$", re.MULTILINE)
_CHUNK = 1 << 16
_VERSION = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True)
class Commit:
    id: str
    committed_at: datetime | None
    """None where the commit names a time that does not exist."""


@dataclass(frozen=True)
class Repository:
    git_dir: Path
    top: Path
    """The folder of the working tree; of a bare repository, its own."""

    @property
    def is_bare(self) -> bool:
        return self.git_dir == self.top

    @property
    def name(self) -> str:
        """Of its folder: `x` for `x`, `x.git` and `x/.git`."""
        folder = self.top.parent if self.top.name == ".git" else self.top
        return shown(os.fsencode(folder.name)).removesuffix(".git")

    def command(self, *arguments: str) -> list[str]:
        tree = [] if self.is_bare else [f"--work-tree={self.top}"]
        return ["git", "--no-pager", f"--git-dir={self.git_dir}", *tree, *arguments]

    def run(
        self,
        *arguments: str,
        cwd: Path | None = None,
        given: bytes = b"",
        settings: Mapping[str, str] | None = None,
        accepted: tuple[int, ...] = (0,),
    ) -> subprocess.CompletedProcess[bytes]:
        require_git(self.top)
        done = subprocess.run(
            self.command(*arguments),
            cwd=cwd or self.top,
            input=given,
            capture_output=True,
            env=environment(settings or {}),
            check=False,
        )
        if done.returncode not in accepted:
            raise self.failed(arguments[0], done.stderr)
        return done

    def stream(self, *arguments: str) -> Iterator[bytes]:
        """What `-z` divides, as it comes."""
        require_git(self.top)
        with (
            tempfile.TemporaryFile() as stderr,
            subprocess.Popen(
                self.command(*arguments),
                cwd=self.top,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=environment({}),
            ) as process,
        ):
            try:
                rest = b""
                while chunk := cast(IO[bytes], process.stdout).read(_CHUNK):
                    *whole, rest = (rest + chunk).split(b"\0")
                    yield from whole
                if process.wait() != 0:
                    stderr.seek(0)
                    raise self.failed(arguments[0], stderr.read())
            finally:
                process.kill()

    def failed(self, command: str, stderr: bytes) -> Unavailable:
        lines = shown(stderr).strip().splitlines()
        return Unavailable(
            f"{shown(os.fsencode(self.git_dir))}: git {command}",
            expected="a repository that git can read",
            found=lines[0] if lines else "no answer",
            do="`git fsck` says what is wrong with it; a folder without .git is read without git.",
        )

    def commit(self, rev: str) -> Commit | None:
        """What a name stands for; None if it names no commit."""
        if "\n" in rev:
            return None
        # On standard input no name is taken for an option. A tag is followed by its id: in `:/text^{commit}`
        # all of it would be the text.
        named = self.run("cat-file", "--batch-check", given=os.fsencode(rev) + b"\n").stdout.split()
        if len(named) != 3 or named[1] not in (b"commit", b"tag"):
            return None
        answer = self.run("cat-file", "--batch", given=named[0] + b"^{commit}\n").stdout
        first, _, content = answer.partition(b"\n")
        words = first.split()
        if len(words) != 3:
            return None
        return Commit(words[0].decode(), _committed_at(content.partition(b"\n\n")[0]))

    def between(self, first: str, last: str) -> list[str]:
        """The commits that `last` has and `first` has not, parents before their children. Both are ids."""
        listed = self.run("rev-list", "--reverse", "--topo-order", last, f"^{first}", "--")
        return listed.stdout.decode().split()

    @property
    def is_shallow(self) -> bool:
        return self.run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    @property
    def is_partial(self) -> bool:
        pattern = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        return self.run("config", "--get-regexp", pattern, accepted=(0, 1)).returncode == 0

    def ignores(self, folder: Path) -> bool:
        """Whether a folder of the working tree is one that git ignores."""
        if folder == self.top:
            return False
        return self.run("check-ignore", "--quiet", ".", cwd=folder, accepted=(0, 1)).returncode == 0

    def differs(self, folder: Path) -> bool:
        """Whether tracked files in the folder differ from the commit. Filters are off: git hashes bytes as they lie."""
        found = self.run("config", "--null", "--name-only", "--get-regexp", r"^filter\.", accepted=(0, 1)).stdout
        names = {os.fsdecode(key[1]) for name in found.split(b"\0") if (key := _FILTER.fullmatch(name))}
        filters = {f"filter.{name}.{key}": "" for name in names for key in ("clean", "smudge", "process")}
        required = {f"filter.{name}.required": "false" for name in names}
        arguments = ("--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames", "--", ".")
        return self.run("status", *arguments, cwd=folder, settings=filters | required).stdout != b""


def repository_above(folder: Path) -> Repository | None:
    """The repository whose working tree holds the folder, which is absolute."""
    for top in (folder, *folder.parents):
        if os.path.lexists(top / ".git"):
            return Repository(top / ".git", top)
    return None


def bare_repository(folder: Path) -> Repository | None:
    is_bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
    return Repository(folder, folder) if is_bare else None


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Of a git process. What a hook or a shell has set about some other repository is left out."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    given = list((_SETTINGS | dict(settings)).items())
    counted = {"GIT_CONFIG_COUNT": str(len(given))}
    for number, (name, value) in enumerate(given):
        counted |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | _VARIABLES | counted


@cache
def _git_version() -> str | None:
    try:
        done = subprocess.run(["git", "version"], capture_output=True, env=environment({}), check=False)
    except FileNotFoundError:
        return None
    return done.stdout.decode(errors="replace").strip()


def require_git(folder: Path) -> None:
    version = _git_version()
    found = _VERSION.search(version or "")
    if found and (int(found[1]), int(found[2])) >= _OLDEST:
        return
    raise Unavailable(
        f"{shown(os.fsencode(folder))} is a git repository",
        expected=f"git {_OLDEST[0]}.{_OLDEST[1]} or newer to read it with",
        found=version or "no program of that name",
        do="Install git, or build an archive of the repository (git archive), which needs none.",
    )


def unknown_revision(repository: Repository, location: str, rev: str) -> UsageError:
    known = "The clone is shallow: `git fetch --unshallow` gets what is missing. " if repository.is_shallow else ""
    return UsageError(
        f"{location}: --rev {rev}",
        expected="a commit, a branch or a tag",
        found="no commit of that name",
        do=f"{known}`git log --all --oneline` lists commits.",
    )


def records(output: bytes) -> Iterator[bytes]:
    """What `-z` divides."""
    return (record for record in output.split(b"\0") if record)


def _committed_at(header: bytes) -> datetime | None:
    found = _COMMITTER.search(header)
    if found is None:
        return None
    try:
        return datetime.fromtimestamp(int(found[1]), UTC)
    except (OverflowError, ValueError, OSError):
        return None
