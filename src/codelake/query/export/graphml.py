"""GraphML, for NetworkX, Gephi, yEd and others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from codelake.query.export.part import EDGE_COLUMNS, NODE_COLUMNS, Part
from codelake.query.rows import Row

_TYPES = {"start_line": "int", "end_line": "int", "start_byte": "int", "end_byte": "int", "confidence": "double"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(out: Path, part: Part) -> None:
    with out.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for domain, columns in (("node", NODE_COLUMNS[1:]), ("edge", _EDGE_DATA)):
            for name in columns:
                kind = _TYPES.get(name, "string")
                file.write(f'<key id="{domain}_{name}" for="{domain}" attr.name="{name}" attr.type="{kind}"/>\n')
        file.write('<graph edgedefault="directed">\n')
        for row in part.nodes():
            file.write(f"<node id={_attribute(row['node_id'])}>{_data('node', row, NODE_COLUMNS[1:])}</node>\n")
        for number, row in enumerate(part.edges()):
            ends = f"source={_attribute(row['src'])} target={_attribute(row['dst'])}"
            file.write(f'<edge id="e{number}" {ends}>{_data("edge", row, _EDGE_DATA)}</edge>\n')
        file.write("</graph>\n</graphml>\n")


_EDGE_DATA = tuple(name for name in EDGE_COLUMNS if name not in ("src", "dst"))


def _data(domain: str, row: Row, columns: tuple[str, ...]) -> str:
    return "".join(
        f'<data key="{domain}_{name}">{escape(_text(row[name]))}</data>' for name in columns if row[name] is not None
    )


def _attribute(value: str) -> str:
    return quoteattr(_text(value))


def _text(value: Any) -> str:
    """XML has no way to write control characters."""
    return _NOT_XML.sub("\ufffd", str(value))
