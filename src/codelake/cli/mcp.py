"""`codelake mcp`: the questions as tools for coding assistants."""

from __future__ import annotations

from importlib.util import find_spec

import click

from codelake.cli.options import settings
from codelake.errors import Unavailable


@click.command()
def mcp() -> None:
    """Serve the questions to a coding assistant.

    It is a server of the Model Context Protocol over standard input and output, and only reads. Each answer is that of
    the last published run, or of the one that an assistant asks for.

    \b
    Examples:
      codelake mcp --lake ~/lakes/work
    """
    if find_spec("mcp") is None:
        raise Unavailable("the package mcp is not installed", do="Install it: `pip install 'codelake[mcp]'`.")
    from codelake.delta.store import Store
    from codelake.query.mcp import server

    current = settings()
    store = Store(current.lake, options=current.store, log_options=current.log_store, local_only=current.local_only)
    server(store).run("stdio")
