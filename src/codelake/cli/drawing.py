"""Progress on a terminal: files, bytes and the time that remains. On anything else, nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from codelake.pipeline.progress import Progress

_SAID = {
    "session": "starting Spark",
    "contents": "storing contents",
    "evidence": "looking for new contents",
    "claims": "reading reports",
    "files": "publishing",
    "stubs": "reading stubs",
    "link": "linking",
    "graph": "rendering",
    "quality": "measuring",
}


@contextmanager
def drawn(*, quiet: bool) -> Iterator[Progress]:
    if quiet or not sys.stderr.isatty():
        yield Progress()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[n_files]:,} files"),
        DownloadColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Drawn(bar)


class _Drawn(Progress):
    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._n_files = self._n_bytes = 0
        self._task = bar.add_task("reading", total=None, n_files=0)

    def stage(self, name: str) -> None:
        if self._bar.finished:  # the clock of what is done stands still
            self._bar.remove_task(self._task)
            self._task = self._bar.add_task("", total=None, n_files=self._n_files, completed=self._n_bytes)
        self._bar.update(self._task, description=_SAID.get(name, name))

    def read(self, repo: str, n_bytes: int) -> None:
        self._n_files += 1
        self._n_bytes += n_bytes
        self._bar.update(self._task, description=f"reading {repo}", n_files=self._n_files, completed=self._n_bytes)

    def expect(self, n_files: int, n_bytes: int) -> None:
        self._bar.remove_task(self._task)
        self._task = self._bar.add_task("extracting", total=n_bytes, n_files=0)

    def extracted(self, n_files: int, n_bytes: int) -> None:
        self._bar.update(self._task, n_files=n_files, completed=n_bytes)
