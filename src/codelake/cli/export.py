"""`codelake export`: the graph for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from codelake.cli import output
from codelake.cli.asking import at_option, opened
from codelake.cli.options import given


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["graphml", "neo4j", "parquet", "jsonl", "dot", "svg"]),
    default="graphml",
    show_default=True,
    help="neo4j, parquet and jsonl make a folder",
)
@click.option("--around", metavar="SYMBOL", default="", help="only what lies near this symbol")
@click.option("--tree", type=click.Choice(["callers", "callees"]), help="of that, only who calls it or what it calls")
@click.option("--depth", type=click.IntRange(1, 10), default=1, show_default=True, help="how near, in steps")
@click.option("--symbols", is_flag=True, help="only what has a name, and the edges between such")
@at_option
def export(out: Path, form: str, around: str, tree: str | None, depth: int, symbols: bool, at: str | None) -> None:
    """Write the graph of a run for other tools.

    It is written to OUT as it is read: memory stays flat, however large it is. svg is a picture, for small
    neighbourhoods and trees of calls. OUT must not be there yet.

    \b
    Examples:
      codelake export graph.graphml --symbols
      codelake export import/ --format neo4j
      codelake export save.svg --format svg --around Model.save
      codelake export tree.svg --format svg --around Model.save --tree callers --depth 3
    """
    from codelake.query.export import export as write

    lake = opened(at)
    n_nodes, n_edges = write(
        lake.engine, out, format=form, around=around, tree=tree or "", depth=depth, symbols=symbols
    )
    done = {"out": str(out), "run_id": lake.run.run_id, "n_nodes": n_nodes, "n_edges": n_edges}
    if given().json:
        output.document(done)
    else:
        click.echo(f"{out}: {n_nodes:,} nodes, {n_edges:,} edges of run {lake.run.run_id}")
