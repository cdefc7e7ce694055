"""Point look-ups that questions are made of: nodes by their ids, edges by either end. Each is a list of ids, so that
statistics and sorting decide what is read; nothing here joins.

The texts run in Spark as in deltalake's engine. `cpg_edges_by_dst` keeps edges as lists, which no two engines unnest
alike: they come back whole and are sorted out in Python.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from codelake.delta.reading import text
from codelake.ids import path_of
from codelake.query.engine import Asking
from codelake.query.rows import Row

NODE = "node_id, kind, name, qualified_name, repo, path, start_line, end_line, start_byte, end_byte"
NODES = f"SELECT {NODE} FROM cpg_nodes WHERE {{kinds}}{{paths}}node_id IN ({{ids}})"
OUT = (
    "SELECT src, kind, dst, repo, path, start_byte, end_byte, confidence, method FROM cpg_edges "
    "WHERE {paths}src IN ({ids}) AND kind IN ({kinds})"
)
INTO = "SELECT node_id, repo, path, edges FROM cpg_edges_by_dst WHERE {where}node_id IN ({ids})"
WHERE_INTO = "SELECT DISTINCT repo, path FROM cpg_edges_by_dst WHERE node_id IN ({ids})"
SITES = "SELECT call_id, caller, start_line FROM calls WHERE {paths}call_id IN ({ids})"
MADE = "SELECT caller, target, start_line FROM calls WHERE {paths}caller IN ({ids}) AND target IS NOT NULL"

_AT_ONCE = 2000
"""Ids in one list: more make the text longer than the look-up."""


class Edge(NamedTuple):
    src: str
    kind: str
    dst: str
    repo: str
    path: str
    start_byte: int | None
    end_byte: int | None
    confidence: float
    method: str


def nodes(engine: Asking, ids: Iterable[str], kinds: Collection[str] = ()) -> dict[str, Row]:
    """By id. An id that names no node is left out. Who knows of which kinds they are says so: most nodes are syntax,
    and their long ids need not be looked at then."""
    only = f"kind IN ({quoted(kinds)}) AND " if kinds else ""
    found = (row for part in _parts(ids) for row in engine.ask(NODES.format(**part, kinds=only), "cpg_nodes"))
    return {row["node_id"]: row for row in found}


def edges_out(engine: Asking, ids: Iterable[str], kinds: Collection[str]) -> list[Edge]:
    listed = quoted(kinds)
    rows = (row for part in _parts(ids) for row in engine.ask(OUT.format(**part, kinds=listed), "cpg_edges"))
    return sorted(Edge(**{**row, "confidence": sure(row["confidence"])}) for row in rows)


def edges_into(engine: Asking, ids: Iterable[str], kinds: Collection[str]) -> list[Edge]:
    """Only of kinds that `contracts/kinds.py` marks as looked up by their target."""
    rows = (row for part in _parts(ids) for row in _into(engine, part["ids"]))
    return sorted(
        Edge(
            src=edge["other"],
            kind=edge["kind"],
            dst=row["node_id"],
            repo=row["repo"],
            path=row["path"],
            start_byte=edge["start_byte"],
            end_byte=edge["end_byte"],
            confidence=sure(edge["confidence"]),
            method=edge["method"],
        )
        for row in rows
        for edge in row["edges"]
        if edge["kind"] in kinds
    )


def _into(engine: Asking, ids: str) -> list[Row]:
    """The lists of edges are most of what is in that table. Where it is read as a whole, a fifth is read if files are
    chosen by repository and path, too."""
    where = ""
    if engine.reads_whole("cpg_edges_by_dst"):
        places = engine.ask(WHERE_INTO.format(ids=ids), "cpg_edges_by_dst")
        if not places:
            return []
        if len(places) <= _AT_ONCE and all(None not in place.values() for place in places):
            where = " AND ".join(f"{name} IN ({quoted(row[name] for row in places)})" for name in ("repo", "path"))
            where += " AND "
    return engine.ask(INTO.format(where=where, ids=ids), "cpg_edges_by_dst")


def call_sites(engine: Asking, ids: Iterable[str]) -> dict[str, Row]:
    """Of calls, by id: whose code calls, and on which line."""
    found = (row for part in _parts(ids) for row in engine.ask(SITES.format(**part), "calls"))
    return {row["call_id"]: row for row in found}


def calls_made(engine: Asking, ids: Iterable[str]) -> dict[tuple[str, str], list[int]]:
    """Lines on which callers call their targets, by both."""
    lines: dict[tuple[str, str], list[int]] = {}
    for part in _parts(ids):
        for row in engine.ask(MADE.format(**part), "calls"):
            lines.setdefault((row["caller"], row["target"]), []).append(row["start_line"])
    return {ends: sorted(found) for ends, found in lines.items()}


def quoted(values: Iterable[str]) -> str:
    return ", ".join(text(value) for value in sorted(set(values)))


def sure(confidence: float) -> float:
    """Stored in 32 bits: 0.95 and not 0.949999988079071."""
    return round(confidence, 4)


def _parts(ids: Iterable[str]) -> Iterator[dict[str, str]]:
    """What is filled into a text, for so many ids at once. Rows lie by path: where the ids tell it, it is asked for."""
    wanted = sorted(set(ids))
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        paths = {path_of(one) for one in part}
        known = quoted(path for path in paths if path is not None)
        yield {"ids": quoted(part), "paths": "" if None in paths else f"path IN ({known}) AND "}
