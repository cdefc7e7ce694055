"""Rows of `links` from a solved unit."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.arrow_vectors import packed
from codelake.contracts.graph import LINKED, LINKS
from codelake.graph.link.call_edges import add_callers, add_calls, add_implied
from codelake.graph.link.claims import Claims, Disagreement, Placed
from codelake.graph.link.class_edges import add_classes
from codelake.graph.link.found import Edge, Found
from codelake.graph.link.linking import Linking
from codelake.graph.link.name_edges import add_asked_by_name, add_attributes, add_imports
from codelake.graph.link.type_edges import add_types
from codelake.ids import OUTSIDE

COLUMNS = ("repo", "path", "digest", "edges", "calls", "classes", "externals", "disagreements", "found_digest")
"""What linking says of a file; the other columns of `links` say what it was made from."""
SCHEMA = pa.schema([arrow_schema(LINKS).field(name) for name in COLUMNS])
PARTS = (add_calls, add_implied, add_imports, add_attributes, add_asked_by_name, add_classes, add_types, add_callers)
_FILES = 256
"""Of a batch."""


def links(link: Linking, placed: Placed, only: Container[int] | None = None) -> Iterator[pa.RecordBatch]:
    """Rows of the unit's own files, or only of some of them, sorted by path. `placed` is what other tools claim."""
    found, claims = Found(link, only), Claims(link, placed)
    if placed:
        found.weighed = claims.weighed
    for part in PARTS:
        part(found)
    own = [number for number, is_own in enumerate(found.is_own) if is_own]
    for first in range(0, len(own), _FILES):
        yield _batch(found, claims.disagreements, own[first : first + _FILES])


def _batch(found: Found, disagreements: Mapping[int, Sequence[Disagreement]], numbers: Sequence[int]) -> pa.RecordBatch:
    files = [found.program.files[number] for number in numbers]
    edges = [_once(found.edges.pop(number, ())) for number in numbers]
    calls = [found.calls.pop(number, ()) for number in numbers]
    classes = [found.classes.pop(number, ()) for number in numbers]
    disputed = [sorted(disagreements.get(number, ()), key=_disputed) for number in numbers]
    columns = {
        "repo": pa.array([file.repo for file in files]),
        "path": pa.array([file.path for file in files]),
        "digest": pa.array([file.digest for file in files]),
        "edges": _packed("edges", edges),
        "calls": _packed("calls", calls),
        "classes": pa.array([[row._asdict() for row in one] for one in classes], SCHEMA.field("classes").type),
        "externals": pa.array([sorted({e.dst for e in one if e.dst.startswith(OUTSIDE)}) for one in edges]),
        "disagreements": pa.array(
            [[row._asdict() for row in one] for one in disputed], SCHEMA.field("disagreements").type
        ),
        "found_digest": pa.array([found_digest(*one) for one in zip(edges, calls, classes, disputed, strict=True)]),
    }
    return pa.RecordBatch.from_arrays([columns[field.name] for field in SCHEMA], schema=SCHEMA)


def found_digest(*found: Sequence[tuple[Any, ...]]) -> int:
    """Whether two linkings found the same."""
    return int.from_bytes(blake2b(msgspec.msgpack.encode(found), digest_size=8).digest(), "big", signed=True)


NOTHING = found_digest((), (), (), ())
"""Of a file that was not read."""


def _packed(name: str, rows: Sequence[Sequence[tuple[Any, ...]]]) -> pa.Array:
    """Tuples by file, column by column."""
    columns = list(zip(*(row for one in rows for row in one), strict=True)) or [()] * len(LINKED[name])
    return packed([[column] for column in columns], [len(one) for one in rows], LINKED[name])


def _once(edges: Iterable[Edge]) -> list[Edge]:
    """Of edges between the same places the surest, sorted."""
    best: dict[tuple[Any, ...], Edge] = {}
    for edge in edges:
        known = best.setdefault(edge[:4], edge)
        if known is not edge and _order(edge) < _order(known):
            best[edge[:4]] = edge
    return sorted(best.values(), key=_place)


def _disputed(one: Disagreement) -> tuple[Any, ...]:
    return one.start_byte, one.end_byte, one.kind, one.origin


def _place(edge: Edge) -> tuple[str, int, str, str]:
    return edge.kind, edge.node, edge.src or "", edge.dst


def _order(edge: Edge) -> tuple[Any, ...]:
    """Of edges between the same places: the surest first."""
    return -edge.confidence, edge.method, edge.score or 0, edge.n, edge.origin
