"""Cases built in one run, each a repository of its own; and their edges looked up in the graph, in the words of cases.

Beyond what the cases of `tests/cases` use, a term may be an id without what is before `:` (`:`, `:pkg/`, `:pkg/a.py`)
or a qualified name with the rest of a label (`app.f@scope:x`, `app@block:0`). Text in backticks may be a first line
and ` ...`. `x IS kind` says of which kind a node is, `x PARENT_OF y` that it owns another, and `x HAS_NO_TARGET reason`
why a call has none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_NODES
from codelake.delta.lake import Lake
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from tests.cases.truth import Case, Edge

_PLACE = re.compile(r"\d+-\d+:")
_NODES = "SELECT node_id, kind, repo, path, start_byte, end_byte, start_line, parent_id FROM nodes"
_CALLS = "SELECT call_id, repo, reason FROM calls WHERE reason IS NOT NULL"
_EDGES = "SELECT kind, src, dst, repo, origin, method, confidence FROM edges"


def build_cases(lake: Lake, folder: Path, cases: Sequence[Case]) -> dict[str, Looked]:
    """By title: the graph of each case."""
    for number, case in enumerate(cases):
        for path, text in case.files.items():
            file = folder / f"case{number}" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
    sources = open_sources([str(folder / f"case{number}") for number in range(len(cases))])
    build(lake, Reading(sources, Progress()), limits=Limits())
    nodes = _by_repo(lake, CPG_NODES.name, "nodes", _NODES)
    edges = _by_repo(lake, CPG_EDGES.name, "edges", _EDGES)
    calls = _by_repo(lake, CALLS.name, "calls", _CALLS)
    outside = nodes[""]
    return {
        case.title: Looked(case, [*nodes[repo], *outside], edges[repo], calls[repo])
        for case, repo in zip(cases, map("case{}".format, range(len(cases))), strict=True)
    }


def sureness(page: Path) -> set[tuple[str, str, str]]:
    """Kind, origin and method, as the page's table of confidence has them."""
    rows = [line.strip("|").split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")]
    wide = [
        [cell.strip().split(", ") for cell in row[:3]] for row in rows if len(row) == 5 and row[0].strip().isupper()
    ]
    return {
        (kind, origin, method)
        for kinds, origins, methods in wide
        for kind in kinds
        for origin in origins
        for method in methods
    }


def _by_repo(lake: Lake, table: str, name: str, query: str) -> dict[str, list[dict[str, Any]]]:
    rows = pa.table(QueryBuilder().register(name, DeltaTable(lake.uri(table))).execute(query)).to_pylist()
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["repo"]].append(row)
    return found


@dataclass
class Looked:
    """The graph of one case, and the terms that its nodes go by."""

    case: Case
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    """Those without a target."""
    terms: dict[str, set[str]] = field(default_factory=dict)
    """By id."""

    def __post_init__(self) -> None:
        self.modules = {path: module for module, path in self.case.modules().items()}
        self.terms = {node["node_id"]: set(self._terms(node)) for node in self.nodes}
        at_least = [edge for edge in self.edges if edge["confidence"] >= 0.5]
        found = {(edge["kind"], edge["src"], edge["dst"]) for edge in at_least}
        found |= {("PARENT_OF", node["parent_id"], node["node_id"]) for node in self.nodes if node["parent_id"]}
        self.seen = {
            Edge(src, kind, dst) for kind, one, other in found for src in self.terms[one] for dst in self.terms[other]
        }
        self.seen |= {Edge(term, "IS", node["kind"]) for node in self.nodes for term in self.terms[node["node_id"]]}

        self.seen |= {
            Edge(term, "HAS_NO_TARGET", f"`{call['reason']}`")
            for call in self.calls
            for term in self.terms[call["call_id"]]
        }

    def problems(self) -> list[str]:
        missing = [f"missing: {edge}" for edge in self.case.must if edge not in self.seen]
        return missing + [f"wrong: {edge}" for edge in self.case.must_not if edge in self.seen]

    def _terms(self, node: dict[str, Any]) -> Iterator[str]:
        node_id: str = node["node_id"]
        if node_id.startswith("::"):
            yield node_id[2:].removesuffix("@type") or node_id
            return
        yield node_id[node_id.index(":") :]
        file, _, label = node_id.partition("#")
        path = file[file.index(":") + 1 :]
        if label:
            yield from self._terms_in_file(node, path, label)
        elif path.endswith("/"):
            yield path.rstrip("/").replace("/", ".")  # as a namespace package

    def _terms_in_file(self, node: dict[str, Any], path: str, label: str) -> Iterator[str]:
        module = self.modules.get(path) or self.modules.get(path.removesuffix("i"), path)
        if not _PLACE.match(label):
            name = label.removeprefix("<module>")
            full = f"{module}{name}" if name[:1] in ("", ":", "@") else f"{module}.{name}"
            yield full
            yield re.sub("@(scope|type)$", "", full)
        if node["start_line"] is not None or node["kind"] == "type_expression":
            raw = self.case.files[path].encode()
            text = raw[node["start_byte"] : node["end_byte"]].decode()
            line = raw[: node["start_byte"]].count(b"\n") + 1
            for shown in (text, text.partition("\n")[0] + " ..."):
                yield f"`{shown}`"
                yield f"`{shown}`@{line}"
