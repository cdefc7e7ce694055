"""The command line. Commands are registered here, one file per group; an error is a paragraph and a code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from codelake import __version__
from codelake.cli import options
from codelake.cli.options import Given
from codelake.cli.output import as_json
from codelake.errors import CodelakeError, UsageError
from codelake.query.answer import in_lines

COMMANDS: dict[str, str] = {
    **dict.fromkeys(("find", "callers", "callees", "refs", "impact", "neighbors", "show", "path"), "questions"),
    **dict.fromkeys(("hot", "unresolved", "diff"), "overview"),
    **{
        name: name
        for name in ("build", "watch", "plan", "runs", "sql", "export", "mcp", "tables", "table", "check", "maintain")
    },
    **{name: name for name in ("restore", "ddl", "setup", "doctor", "config", "completion")},
    "import-parquet": "import_parquet",
}
"""Every command, and the module of `codelake.cli` that has it under its name."""


class Commands(click.Group):
    """Loads the module of a command when the command is named: a question does not wait for what the others import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # Of a name that there is not, click says which are near: those that it has.
        for name in [cmd_name] if cmd_name in COMMANDS else COMMANDS:
            if name not in self.commands:
                module = import_module(f"codelake.cli.{COMMANDS[name]}")
                self.add_command(options.add_to(getattr(module, name.replace("-", "_"))))
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of a pipe has seen enough. Python would complain once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return code


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="codelake")
def cli() -> None:
    """Python repositories as a code property graph in a lake of Delta tables."""


options.add_to(cli)


def main(arguments: Sequence[str] | None = None) -> None:
    code = run(sys.argv[1:] if arguments is None else arguments)
    if "pyspark" in sys.modules:
        # A session is stopped by what it left to be done at the end.
        sys.exit(code)
    # To take the interpreter and deltalake's threads apart takes a tenth of the time of a question, for nothing.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


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
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
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
        click.echo(in_lines(given.masked(f"codelake: {error}")), err=True)
    return error.exit_code
