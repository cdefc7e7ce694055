"""The options that every command takes, before or after its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import click

from codelake.hidden import HIDDEN
from codelake.settings import Settings, help_of, load


@dataclass
class Given:
    """What the command line said beside the command itself; `settings` once a command has asked for them."""

    flags: dict[str, Any] = field(default_factory=dict)
    json: bool = False
    quiet: bool = False
    settings: Settings | None = None

    def masked(self, text: str) -> str:
        """Spark and the stores write messages of their own, and may quote what they were given."""
        for secret in self.settings.secrets() if self.settings is not None else ():
            # Most options count as secret, `true` and `10` among them: hiding these would only garble the text.
            if len(secret) >= 4 and secret.lower() not in ("true", "false"):
                text = text.replace(secret, HIDDEN)
        return text


def given() -> Given:
    return click.get_current_context().ensure_object(Given)


def settings() -> Settings:
    said = given()
    if said.settings is None:
        said.settings = load(said.flags)
    return said.settings


def _keep_flag(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value:
        context.ensure_object(Given).flags[str(parameter.name)] = value


def _keep_output(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    # Not given after the command's name, it may still have been given before.
    if value:
        setattr(context.ensure_object(Given), str(parameter.name), True)


def add_to(command: click.Command) -> click.Command:
    command.params.extend(_options())
    if isinstance(command, click.Group):
        for each in command.commands.values():
            add_to(each)
    return command


def _options() -> list[click.Option]:
    def flag(*names: str, **more: Any) -> click.Option:
        setting = names[-1].removeprefix("--")
        return click.Option(names, help=help_of(setting), expose_value=False, callback=_keep_flag, **more)

    def output(name: str, help: str) -> click.Option:
        return click.Option([name], help=help, is_flag=True, expose_value=False, callback=_keep_output)

    return [
        flag("--lake", metavar="DIR-or-URI"),
        flag("--master", metavar="URL"),
        flag("--remote", metavar="URL"),
        flag("-v", "--verbose", is_flag=True),
        output("--json", "one JSON document on standard output"),
        output("--quiet", "no messages on standard error"),
    ]
