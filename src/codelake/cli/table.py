"""`codelake table`: what is done to one table at a time."""

from __future__ import annotations

import click

from codelake.cli.check import table_check
from codelake.cli.maintain import (
    table_checkpoint,
    table_cleanup_log,
    table_drop_feature,
    table_enable,
    table_optimize,
    table_set,
    table_vacuum,
)
from codelake.cli.restore import table_export, table_restore, table_verify

COMMANDS: tuple[click.Command, ...] = (
    table_check,
    table_optimize,
    table_vacuum,
    table_checkpoint,
    table_cleanup_log,
    table_set,
    table_enable,
    table_drop_feature,
    table_restore,
    table_export,
    table_verify,
)


@click.group()
def table() -> None:
    """Look after tables, one at a time or with --all."""


for _command in COMMANDS:
    table.add_command(_command)
