"""The page docs/cli.md, from the help of the commands."""

from __future__ import annotations

from collections.abc import Iterator

import click

_HEAD = """# Command line

Every command that exists, as `--help` shows it. This page is made by `python -m codelake.cli.docs` and
checked by the tests. Options may stand before or after a command's name.

Answers go to standard output, messages and errors to standard error. With `--json` an answer is one JSON
document, and an error is one too.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the answer is "no" or "not found" |
| 2 | the command or a setting is wrong |
| 3 | refused by a gate or a guard; nothing was written |
| 4 | conflict: somebody else committed first |
| 5 | damaged or unavailable |
| 130 | interrupted |
"""
_WIDTH = 100


def cli_page(cli: click.Command) -> str:
    return _HEAD + "".join(
        f"\n## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"
        for context in _contexts(cli, "codelake", None)
    )


def _contexts(command: click.Command, name: str, above: click.Context | None) -> Iterator[click.Context]:
    context = click.Context(command, above, info_name=name, terminal_width=_WIDTH, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            if (found := command.get_command(context, below)) is not None:
                yield from _contexts(found, below, context)


if __name__ == "__main__":
    from codelake.cli.main import cli

    click.echo(cli_page(cli), nl=False)
