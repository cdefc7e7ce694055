"""Processes beside builds, for as long as a session is open: one that extracts, and for each repository one that keeps
it linked.

The latter takes a while to begin with, beside whatever else is done. From then on it says in a moment which links
an edit of a file changes (`kept_linked`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import pyarrow as pa

from codelake.extract.beside import Beside
from codelake.graph.link.kept.serve import READY, WHOLE
from codelake.pipes import Process

_SERVE = "codelake.graph.link.kept.serve"
Stamps = Mapping[tuple[str, str], dict[str, Any]]
"""By repository and path: what the links of a file are made from."""


class OpenUnit(Process):
    def __init__(self, repos: frozenset[str], made_by: str, n_bytes: int, files: Stamps, version: int) -> None:
        super().__init__(_SERVE)
        self.n_bytes = n_bytes
        self.repos, self.made_by = repos, made_by
        self.files = files
        """As the process has them."""
        self.version: int | None = version
        """Of the table `links`, that has what the process says; None where nobody knows."""
        self._is_ready = False

    def is_ready(self) -> bool:
        """Whether it can be asked now."""
        if not self._is_ready and self.has_said:
            self._is_ready = self.receive() == READY
        return self._is_ready

    def ask(self, rows: pa.Table, *, whole: bool) -> pa.Table | None:
        """The links of files that may have changed, or of all; None where the process cannot say."""
        self._is_ready, self.version = False, None
        self.send(rows.replace_schema_metadata(WHOLE if whole else None))
        found = self.receive()
        return found if isinstance(found, pa.Table) else None


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

    @contextmanager
    def taken(self, repo: str) -> Iterator[OpenUnit]:
        """One of them, to be talked to. It ends if that fails or is interrupted: nobody knows what it says next."""
        unit = self.units.pop(repo)
        try:
            yield unit
            self.units[repo] = unit
        finally:
            if repo not in self.units:
                unit.end()

    def end(self, repo: str) -> None:
        self.units.pop(repo).end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.beside.end()
        for repo in tuple(self.units):
            self.end(repo)
