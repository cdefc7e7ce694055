"""Keep the graph of a folder up to date while its files change.

Events only say where to look. Whether there is something to build is decided by the source itself, listed anew: a path
counts if a build would read it, or did. So what git ignores, a virtual environment, a lake and what is excluded build
nothing; a changed `.gitignore` or a commit does. Events that arrive during a build are kept for the next one, and a
file that was half written is read again when the rest of it is there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import watchfiles

from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.runs import PublishedRun, last_published
from codelake.errors import CodelakeError, Unavailable
from codelake.extract.guard import Limits
from codelake.extract.sources import Source
from codelake.extract.sources.paths import folders_of, shown
from codelake.pipeline.build import build, create_tables
from codelake.pipeline.difference import Difference, difference
from codelake.pipeline.open_units import OpenUnits
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading

_QUIET_MS = 200
"""Without an event, after which a batch is complete."""
_LONGEST_MS = 2_000
"""That a batch may take where there is always another event."""
_WAIT_MS = 500
"""For the first event, before the first build begins; later on, how often nothing is said."""
_COMMITTED = ".git/logs/HEAD"
"""Git adds a line to it when another commit is checked out or made."""
_NEVER_READ = {".git", "__pycache__"}


class Update(NamedTuple):
    """What one build did."""

    summary: dict[str, Any]
    difference: Difference | None
    """None where nothing was published."""


class _Listed(NamedTuple):
    """A source as it was listed last."""

    revision: str | None
    paths: frozenset[str]


def watch(
    lake: Lake,
    folder: Path,
    opened: Callable[[], Source],
    *,
    limits: Limits,
    progress: Callable[[], AbstractContextManager[Progress]],
) -> Iterator[Update | CodelakeError]:
    """The first build, whatever it finds, then those that have changed something; of a build that failed, its error.
    It ends with an exception: a KeyboardInterrupt, or that the folder is gone."""
    create_tables(lake)
    with OpenUnits() as open_units:
        yield from _updates(lake, folder, opened, limits, progress, open_units)


def _updates(
    lake: Lake,
    folder: Path,
    opened: Callable[[], Source],
    limits: Limits,
    progress: Callable[[], AbstractContextManager[Progress]],
    open_units: OpenUnits,
) -> Iterator[Update | CodelakeError]:
    published = _published(lake)
    built: _Listed | None = None
    for is_first, changed in _batches(folder.resolve(), lake):
        if not folder.is_dir():
            raise Unavailable(str(folder), expected="the folder that is watched", found="nothing", do="Watch another.")
        try:
            source = opened()
            listed = _listed(source)
            if listed == built and not _is_touched(listed, changed):
                continue
            with progress() as shown_progress:
                reading = Reading([source], shown_progress)
                summary = build(lake, reading, limits=limits, progress=shown_progress, open_units=open_units)
            before, published = published, _published(lake)
            update = Update(summary, _difference(lake, before, published))
        except CodelakeError as error:
            built = None  # the next event builds, wherever it is from
            yield error
            continue
        built = listed
        if is_first or update.difference is not None:
            yield update


def _batches(root: Path, lake: Lake) -> Iterator[tuple[bool, set[str]]]:
    """Paths within the root, of events that came close together. The first batch, which may be empty, comes when
    nothing can be missed any more."""
    own = lake.store.path.resolve() if lake.store.is_local else None

    def counts(_: watchfiles.Change, path: str) -> bool:
        if own is not None and Path(path).is_relative_to(own):
            return False
        within = _within(root, path)
        return within == _COMMITTED or _NEVER_READ.isdisjoint(within.split("/"))

    is_first = True
    try:
        for events in watchfiles.watch(
            root,
            watch_filter=counts,
            step=_QUIET_MS,
            debounce=_LONGEST_MS,
            rust_timeout=_WAIT_MS,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            if events or is_first:
                yield is_first, {_within(root, path) for _, path in events}
                is_first = False
    except OSError as error:
        do = "Where too many folders are watched, raise the limit (fs.inotify.max_user_watches) or watch a smaller one."
        raise Unavailable(f"the events of {root}", found=str(error), do=do) from error


def _within(root: Path, path: str) -> str:
    return shown(os.fsencode(os.path.relpath(path, root)))


def _listed(source: Source) -> _Listed:
    with source.read() as opened:
        return _Listed(source.revision, opened.paths())


def _is_touched(listed: _Listed, changed: Iterable[str]) -> bool:
    """Whether it is one of these paths that a build reads. A folder that was moved into place is one for all in it."""
    counting = {place for path in listed.paths for place in (path, *folders_of(path), ".")}
    return not counting.isdisjoint(changed)


def _published(lake: Lake) -> PublishedRun | None:
    return last_published(Run(lake, "watch", stage="watch"))


def _difference(lake: Lake, before: PublishedRun | None, after: PublishedRun | None) -> Difference | None:
    if after is None or (before is not None and before.run_id == after.run_id):
        return None
    return difference(lake, before, after)
