"""The repositories of a run, by their names."""

from __future__ import annotations

from codelake.errors import NotFound
from codelake.query.engine import Asking

LISTED = "SELECT DISTINCT repo FROM repositories ORDER BY repo"


def refuse_unknown(engine: Asking, repo: str) -> None:
    there = [row["repo"] for row in engine.ask(LISTED, "repositories")]
    if repo in there:
        return
    from difflib import get_close_matches  # only for what is misspelt, and commands start often

    near = get_close_matches(repo, there, 3)
    raise NotFound(
        f"repository {repo}",
        expected=f"one of {', '.join(there)}",
        found="none of that name in this run",
        do=f"Did you mean {' or '.join(near)}?" if near else "",
    )
