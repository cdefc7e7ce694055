"""Edges of files: what the rules say of them, and what the linker found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import CPG_EDGES
from codelake.graph.render.arrays import is_any, is_null, join, pick
from codelake.graph.render.files import Owners
from codelake.graph.render.labels import argument_labels, edge_ids, full_ids, places
from codelake.graph.render.names import Named
from codelake.graph.render.nodes import batch
from codelake.graph.rules import RULES
from codelake.graph.rules.rule import Edges

SCHEMA = arrow_schema(CPG_EDGES)
_LINKED = [kind for rule in RULES if rule.is_linked for kind in rule.kinds]


def edges(files: Named) -> Iterator[pa.RecordBatch]:
    for rule in RULES:
        if rule.edges is not None:
            for found in rule.edges(files):
                yield rendered(files, found, rule.name)
    found = _linked(files)
    yield rendered(files, found, pc.utf8_lower(found.kind))


def rendered(owners: Owners, found: Edges, rule: Any) -> pa.RecordBatch:
    """As rows of the table; what lacks a source or a target left out."""
    if found.src.null_count or found.dst.null_count:
        kept = np.flatnonzero(~(is_null(found.src) | is_null(found.dst)))
        found = Edges(*(_kept(values, kept) for values in found))
        rule = _kept(rule, kept)
    src = full_ids(pick(owners.file_id, found.file), found.src)
    own_place: Any = ""
    if found.has_own_place is not False:
        own_place = places(found.start, found.end)
        if found.has_own_place is not True:
            own_place = pc.if_else(pa.array(found.has_own_place), own_place, "")
    group = None
    if isinstance(found.n, pa.Array):
        is_one = pc.less_equal(found.n, 1)
        group = pc.if_else(is_one, pa.scalar(None, pa.string()), join(src, " ", found.kind, own_place))
    columns = {
        "edge_id": edge_ids(src, found.kind, found.dst, own_place),
        "kind": found.kind,
        "src": src,
        "dst": full_ids(pick(owners.file_id, found.file), found.dst),
        "repo": pick(owners.repo, found.file),
        "path": pick(owners.path, found.file),
        "start_byte": found.start,
        "end_byte": found.end,
        "origin": found.origin,
        "method": found.method,
        "confidence": found.confidence,
        "score": found.score,
        "ambiguity_group": group,
        "rule": rule,
    }
    return batch(SCHEMA, len(found.file), columns)


def _kept(values: Any, kept: Any) -> Any:
    if isinstance(values, pa.Array):
        return values.take(pa.array(kept))
    return values[kept] if isinstance(values, np.ndarray) else values


def _linked(files: Named) -> Edges:
    """What is passed is an argument; the linker knows it by its value."""
    x = files.link_edges
    of_node = files.label(x.node)
    is_passed = pa.array(is_any(x.kind, ["PASSES_TO"]))
    has_source = ~is_null(x.src)
    src = pc.coalesce(files.short(x.file, x.src), pc.if_else(is_passed, argument_labels(of_node), of_node))
    found = Edges(
        x.file,
        x.kind,
        src,
        files.link_short,
        start=pick(files.nodes.start_byte, x.node),
        end=pick(files.nodes.end_byte, x.node),
        has_own_place=has_source & (x.node >= 0) & ~is_any(x.kind, ["HAS_ATTRIBUTE"]),
        origin=x.origin,
        method=x.method,
        confidence=x.confidence,
        score=x.score,
        n=x.n,
    )
    kept = np.flatnonzero(is_any(x.kind, _LINKED))
    return found if len(kept) == len(x) else Edges(*(_kept(values, kept) for values in found))
