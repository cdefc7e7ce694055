"""What commands print: tables that fit a terminal, aligned text for a pipe, or one JSON document."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from codelake.cli.options import given
from codelake.query.answer import CONTROL, aligned, cell, in_lines

Row = Mapping[str, Any]
# How a value looks on a terminal, by column and value: {"state": {"wrong": "red"}}.
Styles = Mapping[str, Mapping[str, str]]
_NAMED = {"name": "cyan", "qualified_name": "cyan"}
"""Columns of names: what one looks for in an answer."""
_UNSEEN = re.compile(f"[{''.join(map(chr, CONTROL.keys() - range(32)))}]")
_TOTALS = (
    *(("files", "files"), ("nodes", "nodes"), ("edges", "edges"), ("calls", "calls")),
    ("unresolved", "of them without a target"),
)


def rows(found: Sequence[Row], columns: Sequence[str], *, styles: Styles | None = None) -> None:
    """JSON gets every field of a row; people get the named columns."""
    if given().json:
        document(list(found))
    elif sys.stdout.isatty():
        _drawn(found, columns, styles or {})
    else:
        click.echo("\n".join(aligned(columns, found)))


def document(value: Any) -> None:
    click.echo(as_json(value))


def as_json(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    # JSON itself escapes what is below 32. What else tells a terminal something can only be inside of texts.
    return text if text.isascii() else _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_words(totals: Mapping[str, int], before: Mapping[str, int]) -> str:
    """How large a graph is, and by how much it grew or shrank."""

    def one(name: str, words: str) -> str:
        n, more = totals[name], totals[name] - before.get(name, totals[name])
        return f"{n:,} {words}" + (f" ({more:+,})" if more else "")

    return ", ".join(one(*each) for each in _TOTALS)


def message(text: str) -> None:
    if not given().quiet:
        click.echo(in_lines(text), err=True)


def _drawn(found: Sequence[Row], columns: Sequence[str], styles: Styles) -> None:
    import shutil

    from codelake.cli.fitting import fitted

    def styled(number: int, text: str, is_head: bool) -> str:
        if is_head:
            return click.style(text, bold=True)
        column = columns[number]
        return click.style(text, styles.get(column, {}).get(text, _NAMED.get(column)))

    cells = [[cell(row.get(column)) for column in columns] for row in found]
    click.echo("\n".join(fitted(columns, cells, shutil.get_terminal_size().columns, styled)))
