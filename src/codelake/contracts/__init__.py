"""WHAT is stored: every table of the lake, declared once. No I/O here."""

from codelake.contracts.operations import OPERATIONS
from codelake.contracts.table import Check, Column, Layout, Reference, Table

TABLES: tuple[Table, ...] = (*OPERATIONS,)

__all__ = ["OPERATIONS", "TABLES", "Check", "Column", "Layout", "Reference", "Table"]
