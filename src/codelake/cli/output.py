"""What commands print: tables that fit a terminal, aligned text for a pipe, or one JSON document."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from codelake.cli.options import given

Row = Mapping[str, Any]
# How a value looks on a terminal, by column and value: {"state": {"wrong": "red"}}.
Styles = Mapping[str, Mapping[str, str]]
_NAMED = {"name": "cyan", "qualified_name": "cyan"}
"""Columns of names: what one looks for in an answer."""


def rows(found: Sequence[Row], columns: Sequence[str], *, styles: Styles | None = None) -> None:
    """JSON gets every field of a row; people get the named columns."""
    if given().json:
        document(list(found))
    elif sys.stdout.isatty():
        _drawn(found, columns, styles or {})
    else:
        _aligned(found, columns)


def document(value: Any) -> None:
    click.echo(as_json(value))


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def message(text: str) -> None:
    if not given().quiet:
        click.echo(text, err=True)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _drawn(found: Sequence[Row], columns: Sequence[str], styles: Styles) -> None:
    # Only a terminal needs rich, and importing it takes longer than all the rest of a short command.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in found:
        cells = [(column, _text(row.get(column))) for column in columns]
        # Text, not str: what is in a cell is data, and [brackets] in it are not markup.
        table.add_row(
            *(Text(cell, style=styles.get(column, {}).get(cell, _NAMED.get(column, ""))) for column, cell in cells)
        )
    Console().print(table)


def _aligned(found: Sequence[Row], columns: Sequence[str]) -> None:
    lines = [list(columns), *([_text(row.get(column)) for column in columns] for row in found)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
