"""`codelake table`: what is done to one table at a time."""

from __future__ import annotations

import click

from codelake.cli.check import table_check

COMMANDS: tuple[click.Command, ...] = (table_check,)


@click.group()
def table() -> None:
    """Look after tables, one at a time or with --all."""


for _command in COMMANDS:
    table.add_command(_command)
