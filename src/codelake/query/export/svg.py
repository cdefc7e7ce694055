"""A picture of a small neighbourhood or tree of calls: columns by how far a node is from the first, edges as arrows."""

from __future__ import annotations

import html
from collections import defaultdict
from itertools import islice
from pathlib import Path

from codelake.errors import Refused
from codelake.query.export.part import Part
from codelake.query.rows import Row

MOST = 300
"""Nodes of a picture that somebody still looks at."""
_WIDTH, _HEIGHT, _GAP = 230, 22, 90
_ARROW = (
    '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0,0 L8,4 L0,8 z" fill="#999"/></marker></defs>'
)


def write(out: Path, part: Part) -> None:
    out.write_text(picture(part), encoding="utf-8")


def picture(part: Part) -> str:
    nodes = list(islice(part.nodes(), MOST + 1))
    if len(nodes) > MOST:
        do = "Name a symbol with --around, or choose a smaller --depth."
        raise Refused("a picture", expected=f"{MOST} nodes at most", found="more", do=do)
    edges = list(part.edges())
    columns = _columns([row["node_id"] for row in nodes], edges)
    known = {row["node_id"]: row for row in nodes}
    at = {
        node_id: (number * (_WIDTH + _GAP) + 10, place * (_HEIGHT + 8) + 10)
        for number, column in enumerate(columns)
        for place, node_id in enumerate(column)
    }
    width = len(columns) * (_WIDTH + _GAP) + 20
    height = max((len(column) for column in columns), default=1) * (_HEIGHT + 8) + 20
    lines = [_line(row, at) for row in edges]
    boxes = [_box(known[node_id], x, y) for node_id, (x, y) in at.items()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">',
            _ARROW,
            *lines,
            *boxes,
            "</svg>",
        ]
    )


def _columns(ids: list[str], edges: list[Row]) -> list[list[str]]:
    """Nodes by the steps from the one with most edges: what leads to it on its left, what it leads to on its right.
    What hangs together with none of these has its own such node."""
    out, into = defaultdict(set), defaultdict(set)
    for edge in edges:
        out[edge["src"]].add(edge["dst"])
        into[edge["dst"]].add(edge["src"])
    place: dict[str, int] = {}
    for first in sorted(ids, key=lambda node_id: (len(out[node_id]) + len(into[node_id]), node_id), reverse=True):
        level = [] if first in place else [first]
        place.setdefault(first, 0)
        while level:
            following = []
            for node_id in level:
                for other, step in (
                    *((one, 1) for one in sorted(out[node_id])),
                    *((one, -1) for one in sorted(into[node_id])),
                ):
                    if other not in place:
                        place[other] = place[node_id] + step
                        following.append(other)
            level = following
    found = defaultdict(list)
    for node_id in ids:
        found[place[node_id]].append(node_id)
    return [found[number] for number in sorted(found)]


def _line(row: Row, at: dict[str, tuple[int, int]]) -> str:
    (x1, y1), (x2, y2) = at[row["src"]], at[row["dst"]]
    start, end = (x1 + _WIDTH, x2) if x1 <= x2 else (x1, x2 + _WIDTH)
    middle = _HEIGHT // 2
    return (
        f'<line x1="{start}" y1="{y1 + middle}" x2="{end}" y2="{y2 + middle}" stroke="#999" marker-end="url(#to)">'
        f"<title>{html.escape(row['kind'])} {row['confidence']:g}</title></line>"
    )


def _box(row: Row, x: int, y: int) -> str:
    label = str(row["qualified_name"] or row["name"] or row["kind"])
    shown = label if len(label) <= 34 else "…" + label[-33:]
    return (
        f"<g><title>{html.escape(row['kind'])} {html.escape(row['node_id'])}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="3" fill="#f4f4f4" stroke="#555"/>'
        f'<text x="{x + 6}" y="{y + 15}" font-size="11">{html.escape(shown)}</text></g>'
    )
