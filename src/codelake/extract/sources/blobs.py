"""The bytes of git objects, from one `git cat-file --batch` process for all of them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from types import TracebackType
from typing import IO, cast

from codelake.extract.sources.git import Repository, environment, require_git
from codelake.extract.sources.model import Reason, Unread, too_large
from codelake.extract.sources.paths import shown

_CHUNK = 1 << 16


class Blobs:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._process: subprocess.Popen[bytes] | None = None
        # A file, not a pipe: nobody reads it while git writes.
        self._stderr: IO[bytes] = tempfile.TemporaryFile()
        self._n_said = 0

    def __enter__(self) -> Blobs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()
        self._stderr.close()

    def read(self, blob: str, limit: int) -> bytes | Unread:
        size, content = self._ask(blob, limit)
        if size is None or (size <= limit and len(content) < size):
            return Unread(Reason.UNREADABLE, self._said(blob))
        return too_large(size, limit) if size > limit else content

    def head(self, blob: str, n_bytes: int) -> bytes:
        return self._ask(blob, n_bytes)[1]

    def _ask(self, blob: str, n_kept: int) -> tuple[int | None, bytes]:
        """The size of a blob and its first bytes; what git gives beyond these is dropped."""
        process = self._started()
        self._n_said = os.fstat(self._stderr.fileno()).st_size
        asked, answers = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        try:
            asked.write(f"{blob}\n".encode())
            asked.flush()
        except BrokenPipeError:
            self._stop()
            return None, b""
        answer = answers.readline().split()
        if len(answer) != 3:
            if not answer:
                self._stop()
            return None, b""
        size = int(answer[2])
        kept = answers.read(min(size, n_kept))
        left = size + 1 - len(kept)  # with the end of line after the content
        while left and (dropped := answers.read(min(left, _CHUNK))):
            left -= len(dropped)
        if left:
            self._stop()  # git dies of an object that is damaged; the next one gets a new process
        return size, kept if answer[1] == b"blob" else b""

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            require_git(self._repository.top)
            self._process = subprocess.Popen(
                self._repository.command("cat-file", "--batch"),
                cwd=self._repository.top,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=environment({}),
            )
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.communicate()

    def _said(self, blob: str) -> str:
        """Of the object asked for last. Not by `read`: the place in the file is git's too."""
        said = os.pread(self._stderr.fileno(), _CHUNK, self._n_said)
        lines = shown(said).strip().splitlines()
        return f"git cannot read {blob}: {lines[0] if lines else 'the repository does not have it'}"
