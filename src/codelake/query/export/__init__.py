"""The graph for other tools: written as it is read, so that memory stays flat. One file per format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from codelake.errors import Refused, Unavailable, UsageError
from codelake.query.engine import Engine
from codelake.query.export import dot, graphml, jsonl, neo4j, parquet, svg
from codelake.query.export.part import Part, near, whole

Writer = Callable[[Path, Part], None]
FORMATS: dict[str, Writer] = {
    "graphml": graphml.write,
    "neo4j": neo4j.write,
    "parquet": parquet.write,
    "jsonl": jsonl.write,
    "dot": dot.write,
    "svg": svg.write,
}
"""`neo4j`, `parquet` and `jsonl` make a folder, with nodes and edges apart; the others one file."""


def export(
    engine: Engine,
    out: Path,
    *,
    format: str,
    around: str = "",
    tree: str = "",
    depth: int = 1,
    symbols: bool = False,
) -> tuple[int, int]:
    """Writes the graph, or what lies within `depth` steps of a symbol; with `tree`, who calls it or what it calls.
    `symbols`: only what has a name, and edges between such. Returns how many nodes and edges there are."""
    if tree and not around:
        raise UsageError("a tree of calls", expected="the symbol that it begins with", found="none", do="Say --around.")
    if out.exists() and (out.is_file() or any(out.iterdir())):
        raise Refused(f"export to {out}", expected="nothing there yet", found="something", do="Name another place.")
    part = near(engine, around, depth, tree) if around else whole(engine, symbols=symbols)
    try:
        FORMATS[format](out, part)
    except OSError as error:
        raise Unavailable(
            f"export to {out}", expected="a place that can be written to", found=error.strerror
        ) from error
    return part.n_nodes, part.n_edges


__all__ = ["FORMATS", "Part", "export"]
