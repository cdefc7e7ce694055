"""Which run a question is about. A run that was published names the version of every table; readers open those, and
so never see half a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from codelake.delta.reading import Reader, engine_failures, text
from codelake.errors import NotFound, UsageError
from codelake.query.rows import Row, rows_of

RUNS = "runs"
BEFORE = "before_"
"""What the names of an earlier run's tables begin with."""
# As a number, for the reason that `Reader.greatest` has.
_AT = "CAST(recorded_at AS BIGINT) AS microseconds"
_LISTED = f"SELECT run_id, {_AT}, repositories FROM runs ORDER BY recorded_at, run_id"
_ONE = f"SELECT run_id, {_AT}, repositories, versions FROM runs"
_LAST = f"{_ONE} WHERE {{}} ORDER BY recorded_at DESC, run_id DESC LIMIT 1"
_EPOCH = datetime.fromtimestamp(0, UTC)
_FORMS = "a run, the number of a run, a git revision that was built, TABLE=VERSION or a time (ISO 8601, UTC)"


class PublishedRun(NamedTuple):
    run_id: str
    recorded_at: datetime
    repositories: Sequence[Mapping[str, Any]]
    """repo, source, revision and is_dirty of each."""
    versions: Mapping[str, int]


def published(reader: Reader, at: str | datetime | None = None) -> PublishedRun:
    """The last published run, or the one that `at` means."""
    try:
        reader.register(RUNS)
    except NotFound as error:
        raise error if error.what.startswith("lake") else _none_yet(reader) from error
    if at is None:
        for row in _rows(reader, _LAST.format(reader.greatest(RUNS, "recorded_at"))):
            return _published(row)
    listed = _rows(reader, _LISTED)
    if at is None or not listed:
        raise _none_yet(reader)
    asked = at.isoformat(timespec="microseconds") if isinstance(at, datetime) else at.strip()
    for form in _READINGS:
        if (run_id := form(reader, listed, asked)) is not None:
            return _published(_rows(reader, f"{_ONE} WHERE run_id = {text(run_id)}")[0])
    raise NotFound(
        f"no published run for `{asked}`",
        expected=_FORMS,
        found=f"runs from {listed[0]['run_id']} to {listed[-1]['run_id']}",
        do="Type `codelake runs` for those there are.",
    )


def _none_yet(reader: Reader) -> NotFound:
    return NotFound(
        f"lake {reader.store.root}",
        expected="a published run",
        found="none yet",
        do="Build something first: `codelake build PATH`.",
    )


def _by_run(_: Reader, listed: Sequence[Row], at: str) -> str | None:
    return next((row["run_id"] for row in listed if row["run_id"] == at), None)


def _by_number(_: Reader, listed: Sequence[Row], at: str) -> str | None:
    """From 1 on; -1 is the last, -2 the one before."""
    if not re.fullmatch(r"-?\d{1,6}", at):
        return None
    place = int(at) - 1 if int(at) > 0 else len(listed) + int(at)
    if int(at) == 0 or not 0 <= place < len(listed):
        raise NotFound(f"run number {at}", expected=f"1 to {len(listed)}, or -1 for the last", found="no such run")
    return str(listed[place]["run_id"])


def _by_table_version(reader: Reader, listed: Sequence[Row], at: str) -> str | None:
    """The first run that showed a table at a version."""
    name, equals, version = at.partition("=")
    if not equals or not version.isdigit():
        return None
    for row in listed:
        versions = dict(_rows(reader, f"{_ONE} WHERE run_id = {text(row['run_id'])}")[0]["versions"])
        if versions.get(name) == int(version):
            return str(row["run_id"])
    from codelake.query.catalogue import known  # it loads all contracts: only for what is misspelt

    known(name)
    raise NotFound(f"table {name}, version {version}", expected="a version that a run published", found="none such")


def _by_revision(_: Reader, listed: Sequence[Row], at: str) -> str | None:
    """The last run that was made of a commit, whose name may be shortened."""
    if not re.fullmatch(r"[0-9a-f]{4,64}", at):
        return None
    found = {one["revision"] for row in listed for one in row["repositories"] if (one["revision"] or "").startswith(at)}
    if len(found) > 1:
        raise UsageError(f"revision {at}", expected="one revision", found=", ".join(sorted(found)))
    of_it = [row for row in listed if any(one["revision"] in found for one in row["repositories"])] if found else []
    return str(of_it[-1]["run_id"]) if of_it else None


def _by_time(_: Reader, listed: Sequence[Row], at: str) -> str | None:
    from codelake.delta.moments import moment  # only who names a time needs it, and commands start often

    if (until := moment(at)) is None:
        return None
    before = [row for row in listed if row["recorded_at"] <= until]
    if not before:
        first = listed[0]["recorded_at"].isoformat()
        raise NotFound(f"time {at}", expected=f"a time from {first} on", found="no run had been published by then")
    return str(before[-1]["run_id"])


_READINGS: tuple[Callable[[Reader, Sequence[Row], str], str | None], ...] = (
    _by_run,
    _by_number,
    _by_table_version,
    _by_revision,
    _by_time,
)


def _rows(reader: Reader, sql: str) -> list[Row]:
    with engine_failures():
        found = list(rows_of(reader.execute(sql).read_all()))
    return [{**row, "recorded_at": _EPOCH + timedelta(microseconds=row.pop("microseconds"))} for row in found]


def _published(row: Row) -> PublishedRun:
    return PublishedRun(row["run_id"], row["recorded_at"], row["repositories"], dict(row["versions"]))
