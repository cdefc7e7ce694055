"""`codelake completion`: the script by which a shell completes commands and options."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """The script that lets a shell complete what is typed.

    \b
    Examples:
      codelake completion bash >> ~/.bashrc
      codelake completion zsh >> ~/.zshrc
      codelake completion fish > ~/.config/fish/completions/codelake.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 - click has a class for each of the choices
    click.echo(made(context.find_root().command, {}, "codelake", "_CODELAKE_COMPLETE").source())
