"""The linker on sources, without Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from codelake.contracts.arrow_vectors import with_lists
from codelake.contracts.evidence import LINK_INPUT
from codelake.contracts.graph import LINKED
from codelake.extract.batches import Batch
from codelake.extract.content import evidence_of
from codelake.extract.stubs.typeshed import stubs
from codelake.graph.link.kernel import link
from codelake.graph.link.stubs import Stubs
from tests.cases.truth import Case

_FILE = pa.schema(
    [
        ("repo", pa.string()),
        ("path", pa.string()),
        ("module", pa.string()),
        ("is_own", pa.bool_()),
        ("digest", pa.string()),
    ]
)
Row = dict[str, Any]


def unit(files: Mapping[str, str], *, repo: str = "r", modules: Mapping[str, str] | None = None) -> pa.Table:
    """The kernel's input for files by path. Modules are named by paths, unless `modules` (by path) says otherwise."""
    batch, rows = Batch(), []
    for path, text in files.items():
        raw = text.encode()
        digest = hashlib.sha256(raw).hexdigest()
        batch.add(digest, evidence_of(raw))
        module = module_of(path) if modules is None else modules.get(path)
        rows.append({"repo": repo, "path": path, "module": module, "is_own": True, "digest": digest})
    table = pa.Table.from_pylist(rows, _FILE)
    evidence = pa.Table.from_batches([batch.record_batch()])
    for name in LINK_INPUT:
        table = table.append_column(name, evidence.column(name))
    return table


def module_of(path: str) -> str:
    return path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")


def unit_of_case(case: Case) -> pa.Table:
    named = {path: module for module, path in case.modules().items()}
    paths = sorted(path for path in case.files if path.endswith((".py", ".pyi")))
    modules = {path: named.get(path) or named.get(path.removesuffix("i"), "") for path in paths}
    return unit({path: case.files[path] for path in paths}, modules=modules)


def linked(files: Mapping[str, str], **options: Any) -> list[Row]:
    """Rows of `links`."""
    return rows_of(unit(files, **options))


def shipped_stubs() -> Stubs:
    """What typeshed says."""
    return Stubs(stubs())


def rows_of(table: pa.Table, *, backwards: bool = False) -> list[Row]:
    found: list[Row] = with_lists(link(table, shipped_stubs(), backwards=backwards), LINKED).to_pylist()
    return found


def shuffled(table: pa.Table) -> pa.Table:
    """The same files, the last first."""
    return table.take(list(range(table.num_rows))[::-1])


def edges(rows: list[Row], kind: str, *, at_least: float = 0.5) -> set[tuple[str, str]]:
    """Source and target of edges between what has a name."""
    every = (edge for row in rows for edge in row["edges"])
    return {(e["src"], e["dst"]) for e in every if e["kind"] == kind and e["src"] and e["confidence"] >= at_least}


def calls(rows: list[Row]) -> list[Row]:
    return [call for row in rows for call in row["calls"]]
