"""Progress on a terminal: what it says of work of which nobody knows how long it takes."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.progress import Progress as Bar

from codelake.cli.drawing import _Drawn


def test_the_clock_goes_on_after_what_was_measured() -> None:
    bar = Bar(console=Console(file=StringIO(), force_terminal=True))
    drawn = _Drawn(bar)
    drawn.read("shop", 1000)
    drawn.expect(1, 1000)
    drawn.extracted(1, 1000)
    assert bar.finished
    drawn.stage("link")
    [task] = bar.tasks
    assert (task.description, task.total, task.finished) == ("linking", None, False)
    assert (task.fields["n_files"], task.completed) == (1, 1000)
