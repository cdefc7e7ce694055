"""`codelake ddl`: a script that registers the lake in a catalogue."""

from __future__ import annotations

import click

from codelake.cli import output
from codelake.cli.opening import lake_without_session
from codelake.cli.options import given
from codelake.contracts import TABLES


@click.command()
@click.option("--schema", required=True, metavar="[CATALOGUE.]SCHEMA", help="where the catalogue is to keep them")
def ddl(schema: str) -> None:
    """Print statements that make a catalogue know the lake.

    Its tables and views, for catalogues of Spark, Databricks or Unity.
    """
    from codelake.integrations.catalogue import registration_script

    script = registration_script(lake_without_session(), TABLES, schema=schema)
    if given().json:
        output.document(script)
    else:
        click.echo(";\n".join(script) + ";")
