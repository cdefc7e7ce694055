"""The metadata files of a source, read, and what they declare. The same for every kind of source.

They lie at the source's root, which is the one folder of an sdist, or in a wheel's `*.dist-info`. Exclude patterns
hold for them; include patterns say which files count as Python, and not what the repository needs.
"""

from __future__ import annotations

from typing import NamedTuple

from codelake.extract.sources.distributions import (
    LARGEST_LOCK,
    Distribution,
    MetadataProblem,
    distributions,
    format_of,
)
from codelake.extract.sources.files import content_of
from codelake.extract.sources.model import Entry, Kind, Listing, Unread
from codelake.extract.sources.paths import shown
from codelake.extract.sources.select import Choice


class Declared(NamedTuple):
    """What a repository's metadata says."""

    distributions: list[Distribution]
    problems: list[MetadataProblem]


def metadata_entries(listing: Listing, choice: Choice) -> dict[str, Entry]:
    """By path."""
    entries = {shown(entry.path): entry for entry in listing.entries if entry.kind is not Kind.FOLDER}
    return {path: entry for path, entry in entries.items() if format_of(path) and not choice.excludes(path)}


def declared(listing: Listing, choice: Choice, *, max_file_bytes: int) -> Declared:
    contents: dict[str, bytes] = {}
    unread: list[MetadataProblem] = []
    for path, entry in sorted(metadata_entries(listing, choice).items()):
        if entry.kind is Kind.LINK:
            unread.append(MetadataProblem(path, f"a symbolic link to {shown(entry.target)}, which is not followed"))
        elif entry.kind is not Kind.FILE:
            unread.append(MetadataProblem(path, entry.problem or str(entry.reason)))
        elif isinstance(content := content_of(listing, entry, min(max_file_bytes, LARGEST_LOCK)), Unread):
            unread.append(MetadataProblem(path, content.problem))
        else:
            contents[path] = content
    found, problems = distributions(contents)
    return Declared(found, sorted([*problems, *unread], key=lambda problem: problem.path))
