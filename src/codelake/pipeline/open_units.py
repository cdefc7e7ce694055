"""Processes beside builds, for as long as a session is open: one that extracts, and for each repository one that keeps
it linked.

The latter takes a while to begin with, beside whatever else is done. From then on it says in a moment which links
an edit of a file changes (`kept_linked`).
"""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Self, cast

import pyarrow as pa

from codelake.extract.beside import Beside
from codelake.graph.link.kept.serve import READY, WHOLE
from codelake.pipes import receive, send

# -P: the current folder is often somebody's repository, and its modules are not ours to import.
_SERVE = (sys.executable, "-P", "-m", "codelake.graph.link.kept.serve")
Stamps = Mapping[tuple[str, str], dict[str, Any]]
"""By repository and path: what the links of a file are made from."""


class OpenUnit:
    def __init__(self, repos: frozenset[str], made_by: str, files: Stamps, version: int) -> None:
        self.repos, self.made_by = repos, made_by
        self.files = files
        """As the process has them."""
        self.version: int | None = version
        """Of the table `links`, that has what the process says; None where nobody knows."""
        # Ctrl-C is for this process, which then ends that one.
        # Without a buffer here, what has been said can be seen by `select`.
        self._process = subprocess.Popen(
            _SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0
        )
        self._is_ready = False

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_ready(self) -> bool:
        """Whether it can be asked now."""
        if not self._is_ready and select.select([self._answers], [], [], 0)[0]:
            self._is_ready = receive(self._answers) == READY
        return self._is_ready

    def ask(self, rows: pa.Table, *, whole: bool) -> pa.Table | None:
        """The links of files that may have changed, or of all; None where the process cannot say."""
        self._is_ready, self.version = False, None
        self.give(rows.replace_schema_metadata(WHOLE if whole else None))
        found = receive(self._answers)
        return found if isinstance(found, pa.Table) else None

    def give(self, rows: pa.Table) -> None:
        send(cast(BinaryIO, self._process.stdin), rows)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def _answers(self) -> BinaryIO:
        return cast(BinaryIO, self._process.stdout)


@dataclass
class OpenUnits:
    units: dict[str, OpenUnit] = field(default_factory=dict)
    """By repository."""
    asked: set[str] = field(default_factory=set)
    """Repositories whose links were asked for since linking began."""
    beside: Beside = field(default_factory=Beside)

    def committed(self, linked: Collection[str], before: int, after: int) -> None:
        """Version `after` of the table `links` came after `before`, with other links of these repositories."""
        for repo, unit in self.units.items():
            if repo in self.asked if repo in linked else unit.version == before:
                unit.version = after

    def end(self, repo: str) -> None:
        self.units.pop(repo).end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.beside.end()
        for repo in tuple(self.units):
            self.end(repo)
