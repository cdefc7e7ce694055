"""Which distributions a repository needs, from its metadata files alone, and under which names they are imported.

A distribution that several files name has one row: of the file that knows most. A lock file's version is the one
that is used; a version that a file pins by `==` is the one that is asked for; others only name it. Among
files that know as much, the first of `FORMATS` counts, then the first by path. Where one file has several
versions, for several platforms, the highest counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from codelake.extract.sources.imported import import_names
from codelake.extract.sources.locks import read_packages, read_pipfile_lock
from codelake.extract.sources.projects import read_core_metadata, read_pyproject, read_setup_cfg, read_setup_py
from codelake.extract.sources.requirements import read_requirements
from codelake.extract.sources.stated import Malformed, Reader, Stated

__all__ = ["FORMATS", "Distribution", "MetadataProblem", "distributions", "format_of", "import_names"]

LARGEST = 1 << 20
LARGEST_LOCK = 16 << 20
"""In bytes. Metadata is read by the one process that drives the build, however many repositories it builds."""


@dataclass(frozen=True, slots=True)
class Distribution:
    name: str
    """Normalised: `ruamel-yaml` of `ruamel.yaml`."""
    version: str | None
    """None where no file has an exact one."""
    declared_in: str
    """The path of the file that the version is from, or that names it."""

    @property
    def import_names(self) -> tuple[str, ...]:
        return import_names(self.name)


@dataclass(frozen=True, slots=True)
class MetadataProblem:
    """What is wrong with a metadata file: one for each file."""

    path: str
    message: str


class Format(NamedTuple):
    pattern: str
    """Of paths from the root of the source; `*` is within one part of them."""
    is_lock: bool
    read: Reader

    def matches(self, path: str) -> bool:
        parts, wanted = path.split("/"), self.pattern.split("/")
        return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


FORMATS: tuple[Format, ...] = (
    Format("uv.lock", True, read_packages),
    Format("poetry.lock", True, read_packages),
    Format("pdm.lock", True, read_packages),
    Format("Pipfile.lock", True, read_pipfile_lock),
    Format("*.dist-info/METADATA", False, read_core_metadata),
    Format("PKG-INFO", False, read_core_metadata),
    Format("pyproject.toml", False, read_pyproject),
    Format("setup.cfg", False, read_setup_cfg),
    Format("setup.py", False, read_setup_py),
    Format("requirements.txt", False, read_requirements),
    Format("requirements*.txt", False, read_requirements),
    Format("requirements/*.txt", False, read_requirements),
)


def format_of(path: str) -> Format | None:
    """The format of a path that is metadata of its repository."""
    if path.count("/") > 1:
        return None  # most paths: they need not be compared with every pattern
    return next((each for each in FORMATS if each.matches(path)), None)


def distributions(files: Mapping[str, bytes]) -> tuple[list[Distribution], list[MetadataProblem]]:
    """Sorted by name, and by path. Files that are no metadata say nothing."""
    problems: list[MetadataProblem] = []
    best: dict[str, tuple[int, Distribution]] = {}
    own: set[str] = set()
    found = [(FORMATS.index(known), path, known) for path in files if (known := format_of(path))]
    for _, path, known in sorted(found, key=lambda each: each[:2]):
        stated = Stated()
        try:
            _refuse_size(len(files[path]), known)
            known.read(files[path], stated)
        except Malformed as error:
            stated.say(str(error))
        except RecursionError:
            stated.say("nested too deeply")
        own |= stated.own
        if stated.wrong is not None:
            problems.append(MetadataProblem(path, _said(stated.wrong, stated.n_wrong)))
        for name, version in stated.versions.items():
            rank = 0 if version is None else 2 if known.is_lock else 1
            if name not in best or rank > best[name][0]:
                best[name] = rank, Distribution(name, version, path)
    needed = [distribution for name, (_, distribution) in sorted(best.items()) if name not in own]
    return needed, sorted(problems, key=lambda problem: problem.path)


def _refuse_size(n_bytes: int, known: Format) -> None:
    if n_bytes > (limit := LARGEST_LOCK if known.is_lock else LARGEST):
        raise Malformed(f"{n_bytes:,} bytes are more than the {limit:,} that are read of metadata")


def _said(wrong: str, n_wrong: int) -> str:
    more = f"; {n_wrong - 1:,} more like it" if n_wrong > 1 else ""
    # What a file holds may be no text at all; tables hold UTF-8.
    return (wrong + more).encode(errors="backslashreplace").decode().replace("\0", "\\0")
