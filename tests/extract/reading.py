"""Evidence of a snippet, as rows that a test can read."""

from __future__ import annotations

from typing import Any

from codelake.contracts.evidence import FIELDS
from codelake.extract.content import Evidence, evidence_of


class Seen:
    def __init__(self, source: str | bytes) -> None:
        self.raw = source.encode() if isinstance(source, str) else source
        self.evidence: Evidence = evidence_of(self.raw)

    def rows(self, column: str) -> list[dict[str, Any]]:
        rows = zip(*self.evidence.columns[column], strict=True)
        return [dict(zip(FIELDS[column], row, strict=True)) for row in rows]

    def text(self, node: int | None) -> str | None:
        """The source text of a node; of a symbol, its name behind a colon."""
        if node is None:
            return None
        if node < 0:
            return f":{self.rows('symbols')[-1 - node]['name']}"
        found = self.rows("nodes")[node]
        return self.raw[found["start_byte"] : found["end_byte"]].decode(self.evidence.encoding or "utf-8")
