"""The command line. Commands are registered here, one file a group; an error is a paragraph and a code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from codelake import __version__
from codelake.cli import options
from codelake.cli.build import build
from codelake.cli.check import check
from codelake.cli.completion import completion
from codelake.cli.config import config
from codelake.cli.ddl import ddl
from codelake.cli.doctor import doctor
from codelake.cli.export import export
from codelake.cli.import_parquet import import_parquet
from codelake.cli.maintain import maintain
from codelake.cli.mcp import mcp
from codelake.cli.options import Given
from codelake.cli.output import as_json
from codelake.cli.overview import diff, hot, unresolved
from codelake.cli.plan import plan
from codelake.cli.questions import callees, callers, find, impact, neighbors, path, refs, show
from codelake.cli.restore import restore
from codelake.cli.runs import runs
from codelake.cli.setup import setup
from codelake.cli.sql import sql
from codelake.cli.table import table
from codelake.cli.tables import tables
from codelake.cli.watch import watch
from codelake.errors import CodelakeError, UsageError

COMMANDS: tuple[click.Command, ...] = (
    *(build, watch, plan, runs),
    *(find, callers, callees, refs, impact, neighbors, show, path),
    *(hot, unresolved, diff, sql, export, mcp),
    *(tables, table, check, maintain, restore, import_parquet, ddl),
    *(setup, doctor, config, completion),
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="codelake")
def cli() -> None:
    """Python repositories as a code property graph in a lake of Delta tables."""


for _command in COMMANDS:
    cli.add_command(_command)
options.add_to(cli)


def main(arguments: Sequence[str] | None = None) -> None:
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    given = Given(json="--json" in arguments)
    try:
        # https://no-color.org: any value but an empty one means no colours, on terminals too.
        color = False if os.environ.get("NO_COLOR") else None
        code = cli.main(list(arguments), prog_name="codelake", standalone_mode=False, obj=given, color=color)
        # Not standalone, click returns the code of `context.exit` instead of raising it.
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, click.Abort):
        return 130
    except BrokenPipeError:
        # The reader of a pipe has seen enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except click.ClickException as error:
        return _report(given, _as_usage_error(error))
    except CodelakeError as error:
        return _report(given, error)
    except Exception as error:  # noqa: BLE001 - the one place: what nobody expected is a bug, said in one paragraph
        what = f"this is a bug in codelake: {type(error).__name__}: {_first_line(error)}"
        bug = CodelakeError(what, do="Run it again with -v for the traceback, and report both.")
        return _report(given, bug, error)


def _as_usage_error(error: click.ClickException) -> UsageError:
    what, asks, nearest = error.format_message().partition(" Did you mean ")
    context = getattr(error, "ctx", None)
    see = f"See `{context.command_path} --help`." if context is not None else ""
    return UsageError(what, do=f"{asks.lstrip()}{nearest} {see}".strip())


def _first_line(error: Exception) -> str:
    # An exception from the JVM carries its stack in the message.
    return str(error).strip().partition("\n")[0]


def _report(given: Given, error: CodelakeError, cause: Exception | None = None) -> int:
    if given.flags.get("verbose"):
        click.echo(given.masked("".join(traceback.format_exception(cause or error))), err=True)
    if given.json:
        # Standard output is for answers, and this is none.
        click.echo(given.masked(as_json(error.as_dict())), err=True)
    else:
        click.echo(given.masked(f"codelake: {error}"), err=True)
    return error.exit_code
