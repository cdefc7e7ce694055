"""WHAT is stored: every table of the lake, declared once. No I/O here.

The declarations are loaded when one of them is asked for: a question needs the kinds of edges and no contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codelake.contracts.evidence import EVIDENCE
    from codelake.contracts.graph import GRAPH
    from codelake.contracts.operations import OPERATIONS
    from codelake.contracts.sources import SOURCES
    from codelake.contracts.table import Check, Column, Layout, Reference, Table
    from codelake.contracts.tables import TABLES

__all__ = ["EVIDENCE", "GRAPH", "OPERATIONS", "SOURCES", "TABLES", "Check", "Column", "Layout", "Reference", "Table"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from codelake.contracts import tables

    return getattr(tables, name)
