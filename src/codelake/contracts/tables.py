"""Every table of the lake, and what their declarations are written with."""

from codelake.contracts.claims import CLAIMS
from codelake.contracts.evidence import EVIDENCE
from codelake.contracts.graph import GRAPH
from codelake.contracts.operations import OPERATIONS
from codelake.contracts.sources import SOURCES
from codelake.contracts.stubs import STUBS
from codelake.contracts.table import Check, Column, Layout, Reference, Table

TABLES: tuple[Table, ...] = (*SOURCES, EVIDENCE, STUBS, CLAIMS, *GRAPH, *OPERATIONS)

__all__ = ["EVIDENCE", "GRAPH", "OPERATIONS", "SOURCES", "TABLES", "Check", "Column", "Layout", "Reference", "Table"]
