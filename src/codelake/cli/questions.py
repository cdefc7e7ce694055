"""Questions about symbols: `find`, `callers`, `callees`, `refs`, `impact`, `neighbors`, `show`, `path`."""

from __future__ import annotations

from typing import Any

import click

from codelake.cli.asking import (
    answer_options,
    answered,
    confidence_option,
    depth_option,
    limit_option,
    opened,
    repo_option,
    walk_options,
)


@click.command()
@click.argument("name")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="only of this kind; may be given several times")
@click.option("--fuzzy", is_flag=True, help="names that differ least from NAME")
@repo_option
@limit_option(100)
@answer_options
def find(name: str, at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """Definitions by name.

    NAME is a qualified name, or the end of one. With * and ? in it, it is a pattern: of names if it has no dot, of
    qualified names if it has one.

    \b
    Examples:
      codelake find Model.save
      codelake find 'get_*' --kind function
      codelake find quieryset --fuzzy
    """
    answered(opened(at).find(name, **options), as_csv=as_csv, as_sql=as_sql)


@click.command()
@walk_options
def callers(symbol: str, at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """Who calls SYMBOL.

    A tree: each caller with the place of its first call, or of its own definition where Python makes the call
    (decorators, operators, properties). SYMBOL is a qualified name (pkg.mod.Class.method), a unique ending of one, or
    an id.

    \b
    Examples:
      codelake callers Model.save
      codelake callers yaml.load --depth 3 --min-confidence 0.9
      codelake callers Model.save --at 2026-01-31 --json
    """
    answered(opened(at).callers(symbol, **options), as_csv=as_csv, as_sql=as_sql)


@click.command()
@walk_options
def callees(symbol: str, at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """What SYMBOL calls.

    A tree: each with the place of its definition. SYMBOL is a qualified name (pkg.mod.Class.method), a unique ending of
    one, or an id.

    \b
    Examples:
      codelake callees Model.save
      codelake callees Model.save --depth 2
    """
    answered(opened(at).callees(symbol, **options), as_csv=as_csv, as_sql=as_sql)


@click.command()
@click.argument("symbol")
@click.option(
    "--role",
    type=click.Choice(["definition", "write", "delete", "import", "read", "name"]),
    help="only such places",
)
@confidence_option
@repo_option
@limit_option(1000)
@answer_options
def refs(symbol: str, role: str | None, at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """Where SYMBOL is defined, written, imported, read or named.

    SYMBOL is a qualified name (pkg.mod.Class.method), a unique ending of one, or an id.

    \b
    Examples:
      codelake refs settings.DEBUG --role write
      codelake refs Model --role import --csv
    """
    answered(opened(at).refs(symbol, role=role or "", **options), as_csv=as_csv, as_sql=as_sql)


@click.command()
@click.argument("symbol")
@depth_option(3)
@confidence_option
@limit_option(1000)
@answer_options
def impact(symbol: str, at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """What may break if SYMBOL changes.

    Callers, overriders, importers and subclasses, and theirs. The tree shows the way that leads to each; with --json it
    is in `route`. A class changes with its methods.

    \b
    Examples:
      codelake impact Model.save
      codelake impact Model --depth 1
    """
    answered(opened(at).impact(symbol, **options), as_csv=as_csv, as_sql=as_sql)


@click.command()
@click.argument("symbol")
@click.option("--edge", "kinds", metavar="KIND", multiple=True, help="only such edges, as CALLS; several if wanted")
@confidence_option
@limit_option(1000)
@answer_options
def neighbors(symbol: str, at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """Every edge of SYMBOL, to it and from it.

    \b
    Examples:
      codelake neighbors Model.save
      codelake neighbors Model --edge INHERITS --edge HAS_METHOD
    """
    answered(opened(at).neighbors(symbol, **options), as_csv=as_csv, as_sql=as_sql)


@click.command()
@click.argument("symbol")
@click.option("--max-lines", type=click.IntRange(1), default=200, show_default=True, help="lines of source at most")
@answer_options
def show(symbol: str, at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """The source of SYMBOL, and how many edges it has.

    With --json also its signature and docstring. The source is that of the run, whatever the working tree has now.

    \b
    Examples:
      codelake show Model.save
      codelake show Model.save --at 8e34f0c
    """
    answered(opened(at).show(symbol, **options), as_csv=as_csv, as_sql=as_sql)


@click.command()
@click.argument("symbol")
@click.argument("target")
@click.option(
    "--by",
    type=click.Choice(["calls", "imports", "inherits", "any"]),
    default="calls",
    show_default=True,
    help="which edges to go by",
)
@depth_option(12)
@confidence_option
@answer_options
def path(symbol: str, target: str, at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """How SYMBOL reaches TARGET: one of the shortest ways.

    \b
    Examples:
      codelake path management.base.BaseCommand.execute connection.cursor
      codelake path app.views app.models --by imports
    """
    answered(opened(at).path(symbol, target, **options), as_csv=as_csv, as_sql=as_sql)
