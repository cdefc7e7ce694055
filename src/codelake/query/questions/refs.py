"""`refs`: where a symbol is defined, read, written, deleted, imported or named."""

from __future__ import annotations

from codelake.errors import UsageError
from codelake.query.answer import Answer, first, label, place
from codelake.query.engine import Asking
from codelake.query.lookups import Edge, edges_into, nodes
from codelake.query.rows import Row
from codelake.query.symbols import defined, symbol

_ROLES = {"READS": "read", "WRITES": "write", "DELETES": "delete", "IMPORTS": "import", "RESOLVES_TO": "name"}
_ORDER = ("definition", "write", "delete", "import", "read", "name")


def refs(
    engine: Asking, asked: str, *, role: str = "", min_confidence: float = 0.5, repo: str = "", limit: int = 1000
) -> Answer:
    """One row per place. What is read is also named: it is listed once, as a read. An attribute that means a variable
    reads it. What is defined outside of the lake has no place there."""
    if role and role not in _ORDER:
        raise UsageError(f"role {role}", expected=f"one of {', '.join(_ORDER)}", found=role)
    start = symbol(engine, asked)
    found = [
        edge
        for edge in edges_into(engine, (node["node_id"] for node in start), tuple(_ROLES))
        if edge.start_byte is not None and edge.confidence >= min_confidence
    ]
    lines = nodes(engine, (edge.src for edge in found))
    variables = {node["node_id"] for node in start if node["kind"] == "variable"}

    def role_of(edge: Edge) -> str:
        is_attribute = edge.src in lines and lines[edge.src]["kind"] == "attribute"
        return "read" if is_attribute and edge.kind == "RESOLVES_TO" and edge.dst in variables else _ROLES[edge.kind]

    inside = [defined(node) for node in start if node["path"]]
    rows: list[Row] = [{"role": "definition", **_place(node), "confidence": 1.0} for node in inside]
    taken = set()
    for edge in sorted(found, key=lambda edge: _ORDER.index(role_of(edge))):
        where = (edge.repo, edge.path, edge.start_byte, edge.end_byte)
        if where in taken and edge.kind == "RESOLVES_TO":
            continue
        taken.add(where)
        line = lines[edge.src]["start_line"] if edge.src in lines else None
        rows.append(
            {
                "role": role_of(edge),
                "node_id": edge.src,
                "repo": edge.repo,
                "path": edge.path,
                "line": line,
                "place": place(edge.path, line),
                "start_byte": edge.start_byte,
                "end_byte": edge.end_byte,
                "confidence": edge.confidence,
            }
        )
    rows = [row for row in rows if (not role or row["role"] == role) and (not repo or row["repo"] == repo)]
    rows.sort(key=lambda row: (_ORDER.index(row["role"]), row["repo"], row["path"], row["line"] or 0, row["node_id"]))
    shown, note = first(rows, limit)
    columns = ("role", "place", "confidence", "repo")
    return Answer(f"references to {label(start[0])}", columns, shown, note=note)


def _place(node: Row) -> Row:
    return {name: node[name] for name in ("node_id", "repo", "path", "line", "place", "start_byte", "end_byte")}
