"""CSV for `neo4j-admin database import`: nodes.csv and relationships.csv, with the headers that it reads."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from codelake.query.export.part import EDGE_COLUMNS, NODE_COLUMNS, Part
from codelake.query.rows import Row

_TYPED = {"start_line": "int", "end_line": "int", "start_byte": "int", "end_byte": "int", "confidence": "double"}
_SPECIAL = {"node_id": "node_id:ID", "src": ":START_ID", "dst": ":END_ID"}


def write(out: Path, part: Part) -> None:
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "nodes.csv", NODE_COLUMNS, ":LABEL", part.nodes())
    _write(out / "relationships.csv", EDGE_COLUMNS, ":TYPE", part.edges())


def _write(file: Path, columns: Sequence[str], label: str, rows: Iterator[Row]) -> None:
    names = {**_SPECIAL, "kind": label, **{name: f"{name}:{kind}" for name, kind in _TYPED.items()}}
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([names.get(name, name) for name in columns])
        writer.writerows([row[name] for name in columns] for row in rows)
