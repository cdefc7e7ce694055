"""Many files at once: their nested columns laid end to end, so that one step does what a loop would do for each.

Evidence names things by their place in the file. Here a place is one among all files: `files.symbols.scope` is an
array of places in `files.scopes`. `files.symbols.file` says which file each is in.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from codelake.contracts.arrow_vectors import nested
from codelake.contracts.evidence import FIELDS
from codelake.contracts.graph import LINKED
from codelake.graph.render.arrays import Flags, Places, counted, flags
from codelake.ids import owner_id

NESTED = {
    "nodes": {"parent": "nodes"},
    "scopes": {"node": "nodes", "parent": "scopes"},
    "symbols": {"scope": "scopes", "target": "symbols"},
    "references": {"node": "nodes", "symbol": "symbols"},
    "definitions": {"node": "nodes", "scope": "scopes", "body_scope": "scopes", "docstring": "nodes"},
    "parameters": {"definition": "definitions", "node": "nodes", "default": "nodes"},
    "decorators": {"definition": "definitions", "node": "nodes"},
    "comments": {},
    "imports": {"node": "nodes"},
    "calls": {"node": "nodes"},
    "arguments": {"call": "calls", "node": "nodes"},
    "annotations": {"owner": "nodes"},
    "types": {"annotation": "annotations", "parent": "types"},
    "blocks": {"scope": "scopes"},
    "flows": {"src": "blocks", "dst": "blocks"},
    "reaches": {"definition": "references", "use": "references"},
    "problems": {},
    "link_edges": {"node": "nodes"},
    "link_calls": {"call": "calls"},
    "link_classes": {"definition": "definitions"},
}
"""The nested columns that are rendered, and which of their fields name things by place."""
_PACKED = FIELDS | {f"link_{name}": fields for name, fields in LINKED.items()}


class Column:
    """A nested column. Its fields are attributes: places, flags, and Arrow arrays of everything else."""

    def __init__(self, files: Files, name: str) -> None:
        rows = files.rows.column(name)
        lists = nested(rows, _PACKED[name]) if name in _PACKED else rows
        begin = lists.offsets.to_numpy().astype(np.int64)
        self.begin = begin - begin[0]
        """Where each file's begin, and the end."""
        self._files = files
        self._refers = NESTED[name]
        struct = lists.type.value_type
        arrays = lists.values.slice(int(begin[0]), len(self)).flatten()
        self._fields = {struct.field(k).name: array for k, array in enumerate(arrays)}

    def __len__(self) -> int:
        return int(self.begin[-1])

    @cached_property
    def file(self) -> Places:
        return np.repeat(counted(len(self.begin) - 1), np.diff(self.begin))

    @cached_property
    def number(self) -> Places:
        """The place in its own file."""
        begin: Places = self.begin[self.file]
        return counted(len(self)) - begin

    def __getattr__(self, name: str) -> Any:
        found = self._fields[name]
        if name in self._refers:
            found = self._places(found, getattr(self._files, self._refers[name]))
        elif pa.types.is_boolean(found.type):
            found = flags(found)
        self.__dict__[name] = found
        return found

    def _places(self, values: Any, named: Column) -> Places:
        own = np.asarray(values.fill_null(-1)).astype(np.int64)
        return np.where(own < 0, -1, own + named.begin[self.file])


class Owners:
    """What nodes and edges belong to: files or folders, by repo and path."""

    def __init__(self, repo: Any, path: Any, file_id: Any) -> None:
        self.repo = repo
        self.path = path
        self.file_id = file_id

    @cached_property
    def owner_id(self) -> Any:
        """The folder that each lies in."""
        pairs = zip(self.repo.to_pylist(), self.path.to_pylist(), strict=True)
        return pa.array([owner_id(repo, path) for repo, path in pairs], pa.string())

    @cached_property
    def all(self) -> Places:
        return counted(len(self.repo))


class Files(Owners):
    """Rows of whole files (`codelake.graph.files`)."""

    def __init__(self, rows: pa.RecordBatch) -> None:
        super().__init__(rows.column("repo"), rows.column("path"), rows.column("file_id"))
        self.rows = rows
        self.module = rows.column("module")

    def __getattr__(self, name: str) -> Column:
        if name not in NESTED:
            raise AttributeError(name)
        column = Column(self, name)
        self.__dict__[name] = column
        return column

    def is_first(self, column: Column, places: Places, file: Places) -> Flags:
        """Whether each place is the first of its file."""
        first: Flags = places == column.begin[file]
        return first
