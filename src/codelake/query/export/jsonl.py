"""JSON Lines: nodes.jsonl and edges.jsonl, an object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from codelake.query.export.part import Part
from codelake.query.rows import Row


def write(out: Path, part: Part) -> None:
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "nodes.jsonl", part.nodes())
    _write(out / "edges.jsonl", part.edges())


def _write(file: Path, rows: Iterator[Row]) -> None:
    with file.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
