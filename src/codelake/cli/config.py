"""`codelake config`: the settings and where each value came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from codelake.cli import output
from codelake.cli.options import settings
from codelake.settings import NAMES, Settings, help_of


@click.group()
def config() -> None:
    """The settings."""


@config.command()
def show() -> None:
    """Each setting, its value and where the value came from. Secrets are shown as ***."""
    output.rows(list(_rows(settings())), ["setting", "value", "origin", "help"])


def _rows(current: Settings) -> Iterator[dict[str, Any]]:
    for name in NAMES:
        shown = current.shown(name)
        # A table has one row for each option, since each has its own origin.
        parts = (
            {f"{name}.{key}": value for key, value in shown.items()} if isinstance(shown, Mapping) else {name: shown}
        )
        for part, value in (parts or {name: None}).items():
            yield {"setting": part, "value": value, "origin": current.origin(part), "help": help_of(name)}
