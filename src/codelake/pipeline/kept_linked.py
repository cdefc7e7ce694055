"""Repositories that stay linked between the builds of a session: what is asked of the processes that keep them.

They are asked only what they know: which files there are, under which module names, is as it was when they began, and
no other tool claims anything. Where one is not ready, or cannot say, the repository is linked as a whole.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

import pyarrow as pa

from codelake.contracts.claims import CLAIMS
from codelake.contracts.graph import LINKS
from codelake.delta.run import Run, pin
from codelake.pipeline import here
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.open_units import OpenUnit, OpenUnits, Stamps
from codelake.pipeline.stubs import stored_stubs

_MOST_BYTES = 4 * here.LINKED_HERE
"""Source bytes of all that is kept: each takes up to 0.7 GB of memory."""


def open_unit(units: OpenUnits, run: Run, repo: str, repos: Collection[str], n_bytes: int, made_by: str) -> None:
    """Begin to keep a repository linked that sees those of `repos`, itself among them: `n_bytes` of source."""
    is_much = n_bytes > here.LINKED_HERE or n_bytes + sum(unit.n_bytes for unit in units.units.values()) > _MOST_BYTES
    if is_much or not is_empty(run, CLAIMS):
        return
    rows = here.rows_to_link(run, repo, repos)
    version = pin(run, LINKS).version
    units.units[repo] = OpenUnit(frozenset(repos), made_by, n_bytes, here.stamps(rows), version)
    # It may have been ended, such as for want of memory: then the next build opens another one.
    with suppress(BrokenPipeError), units.taken(repo) as unit:
        unit.send(here.linkable(rows))
        unit.send(stored_stubs(run))


def kept_links(units: OpenUnits, run: Run, repo: str, repos: Collection[str], made_by: str) -> pa.Table | str | None:
    """The links of all files of a repository whose links may be others; or why it is to be linked as a whole, if it is
    kept at all."""
    unit = units.units.get(repo)
    if unit is None:
        return None
    now = here.stamps_of(run, repos)
    is_same = (unit.repos, unit.made_by) == (frozenset(repos), made_by) and is_empty(run, CLAIMS)
    if not is_same or _modules(unit.files) != _modules(now):
        units.end(repo)
        return "files came or went, or tools claim something of them"
    changed = [place for place, file in now.items() if file["link_digest"] != unit.files[place]["link_digest"]]
    try:
        with units.taken(repo):
            if not unit.is_ready():
                return "what keeps it linked is not ready yet"
            rows = here.linkable(here.rows_to_link(run, repo, repos, changed))
            units.asked.add(repo)
            found = unit.ask(rows, whole=unit.version != pin(run, LINKS).version)
            unit.files = now
    except (EOFError, BrokenPipeError):  # it was ended, such as for want of memory; another one will be opened
        return "the process that kept it linked had ended"
    return "what is looked up by name has changed" if found is None else here.stamped(found, now, made_by)


def _modules(files: Stamps) -> dict[tuple[str, str], tuple[str | None, bool]]:
    """By place: the module, and whether the file was read."""
    return {place: (one["module"], one["digest"] is None) for place, one in files.items()}
