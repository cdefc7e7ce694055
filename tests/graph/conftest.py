"""One small repository, built once: what the tests of the graph look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from codelake.contracts import Table
from codelake.contracts.graph import CPG_EDGES, CPG_NODES, GRAPH
from codelake.contracts.views import VIEWS
from codelake.delta.embedded import ask
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from tests.lakes import PreparedLake

A = '''"""Doc."""
import os
from typing import Optional
from .b import helper as h

x: int = 1
y = [i for i in range(3)]


class C:
    attr = 1
    __hidden: "Optional[int]" = None

    def __init__(self, p: "Optional[int]" = None, *args, **kw):
        self.z = p

    @property
    def m(self):
        global x
        x = 2
        return self.z

    @staticmethod
    def n(__private):
        def inner():
            return lambda q: q
        yield h(__private, k=os.path.join("a", "b"))


def f(a, b=1):  # comment
    try:
        a = f"{a!r} {b:>{x}}"
    except ValueError as e:
        del b
    match a:
        case [first, *rest]:
            return first, rest
    return C(a).m


def f(c):
    return [f(lambda: d) for d in c]
'''
TREE = {
    "pkg/__init__.py": b"",
    "pkg/a.py": A.encode(),
    "pkg/b.py": "# coding: latin-1\nname = 'é'\ndef helper(v, k=None):\n    return v\n".encode("latin-1"),
    "pkg/empty dir#1/c.py": b"",
    "broken.py": b"def g(:\n    pass\n\ndef h():\n    return 1\n",
    "bytes.py": b"\0\1\2\3" * 100,
    "large.py": b"#" * 3000,
}


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def built(lake: Lake, *locations: str) -> dict[str, Any]:
    reading = Reading(open_sources(list(locations), max_file_bytes=2000), Progress())
    return build(lake, reading, limits=Limits())


@dataclass
class Graph:
    lake: Lake
    folder: Path

    def rows(self, table: Table) -> list[dict[str, Any]]:
        return scan(Run(self.lake, "reader"), table).toArrow().to_pylist()

    def view(self, name: str) -> list[dict[str, Any]]:
        view = next(view for view in VIEWS if view.name == name)
        return ask(Run(self.lake, "reader"), GRAPH, view.embedded_sql).to_pylist()

    @cached_property
    def nodes(self) -> dict[str, dict[str, Any]]:
        return {row["node_id"]: row for row in self.rows(CPG_NODES)}

    @cached_property
    def edges(self) -> list[dict[str, Any]]:
        return self.rows(CPG_EDGES)

    def of_kind(self, kind: str) -> set[tuple[str, str]]:
        """Sources and targets, without the file that all are in."""
        here = "shop:pkg/a.py"
        pairs = {(edge["src"], edge["dst"]) for edge in self.edges if edge["kind"] == kind}
        return {(src.removeprefix(here), dst.removeprefix(here)) for src, dst in pairs if src.startswith(here)}


@pytest.fixture
def lake(prepared_lake: PreparedLake, lake_root: Path) -> Lake:
    return prepared_lake(lake_root)


@pytest.fixture(scope="session")
def graph(prepared_lake: PreparedLake, tmp_path_factory: pytest.TempPathFactory) -> Graph:
    root = tmp_path_factory.mktemp("graph")
    write(root / "shop", TREE)
    lake = prepared_lake(root / "lake")
    built(lake, str(root / "shop"))
    return Graph(lake, root / "shop")
