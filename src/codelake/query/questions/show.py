"""`show`: a symbol's source, signature, docstring and how many edges of each kind it has."""

from __future__ import annotations

import ast
from collections import Counter

from codelake.query.answer import Answer, label, place
from codelake.query.engine import Asking
from codelake.query.lookups import edges_out, nodes
from codelake.query.questions.neighbors import around
from codelake.query.rows import Row
from codelake.query.source import content, header, lines_of
from codelake.query.symbols import defined, symbol

_COLUMNS = ("direction", "edge", "n")


def show(engine: Asking, asked: str, *, max_lines: int = 200) -> Answer:
    """Of a name with several definitions, all. Rows count edges; `definitions` has the rest."""
    start = symbol(engine, asked)
    shown = [_definition(engine, node, max_lines) for node in start]
    out, into = around(engine, [node["node_id"] for node in start], (), 0.5)
    counted = Counter([*(("out", edge.kind) for edge in out), *(("in", edge.kind) for edge in into)])
    rows = [{"direction": way, "edge": kind, "n": n} for (way, kind), n in sorted(counted.items())]
    body = "\n\n".join(_drawn(one) for one in shown)
    return Answer(label(start[0]), _COLUMNS, rows, body=body, parts=tuple(shown))


def _definition(engine: Asking, node: Row, max_lines: int) -> Row:
    found = {**defined(node), "end_line": node["end_line"], "signature": "", "docstring": "", "source": [], "n_more": 0}
    if node["start_line"] is None:
        return found
    raw, encoding = content(engine, node["repo"], node["path"])
    lines = lines_of(raw, encoding, node["start_byte"], node["end_byte"])
    own = raw[node["start_byte"] : node["end_byte"]].decode(encoding, "replace")
    signature = header(own) if node["kind"] in ("class", "function") else ""
    return found | {
        "signature": signature,
        "docstring": _docstring(engine, node, raw, encoding),
        "source": lines[:max_lines],
        "n_more": max(0, len(lines) - max_lines),
    }


def _docstring(engine: Asking, node: Row, raw: bytes, encoding: str) -> str:
    found = nodes(engine, (edge.dst for edge in edges_out(engine, [node["node_id"]], ("DOCUMENTED_BY",))))
    for text in found.values():
        literal = raw[text["start_byte"] : text["end_byte"]].decode(encoding, "replace")
        try:
            return str(ast.literal_eval(literal))
        except (SyntaxError, ValueError):  # of another Python: as it is written
            return literal
    return ""


def _drawn(one: Row) -> str:
    head = f"{one['kind']} {one['name']}" + (f"  {place(one['path'], one['line'])}" if one["path"] else "")
    numbered = (f"{number:>6}  {line}" for number, line in enumerate(one["source"], start=one["line"] or 1))
    rest = [f"{'...':>6}  {one['n_more']:,} more lines; see --max-lines"] if one["n_more"] else []
    return "\n".join([head, *numbered, *rest])
