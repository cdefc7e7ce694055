"""Module names from paths alone: of all files of a source, not only of those that are read.

A module's name is its path from the nearest root above it. A folder is a root if it is

- the source's own root;
- an import root, of which everything within is imported by its path: `src` anywhere outside of packages;
  `lib`, `Lib`, `python`, `typings` or `stdlib` directly in a project; a folder that holds a `*.dist-info`, as
  site-packages and wheels do; `purelib` and `platlib` of a wheel's `*.data`;
- a project: it holds a `pyproject.toml`, `setup.py`, `setup.cfg`, `manage.py`, `Pipfile` or typeshed's
  `METADATA.toml`, and is the source's root or has no `__init__.py` (numpy had a `setup.py` in each package,
  pandas ships its pyproject);
- a folder whose name is no identifier, so that it cannot be part of a module's name;
- a folder that holds packages beneath one of the folders that projects keep other code in (`CONTAINERS`):
  Django's tests are run from `tests/` and import `admin_views`, not `tests.admin_views`.

All other folders between a root and a file are packages: regular ones with an `__init__.py` or
`__init__.pyi`, namespace packages (PEP 420) without. So a flat `google/cloud/storage/__init__.py` is
`google.cloud.storage`. No root is within a regular package, but for projects and names that are none.

`__init__` is the package itself, `__main__` is `package.__main__`, a stub has the name of its module, and
`foo-stubs` is `foo` (PEP 561). A file cannot be imported, and has no name, if its own name without ending is
no identifier. Keywords are identifiers here: no statement imports `lambda.py`, but importlib does. For the
same reason a file in a regular package may be called `0001_initial.py` or `unicode10-0-0.py`: Django and rich
import those, and relative imports in them start from their package.

What `pyproject.toml` or `setup.py` say about packages is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from codelake.extract.sources.paths import folders_of
from codelake.extract.sources.select import ENDINGS

_INIT = ("__init__.py", "__init__.pyi")
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg", "manage.py", "Pipfile", "METADATA.toml")
_IMPORT_ROOT = "src"
_IMPORT_ROOTS_OF_PROJECTS = frozenset({"lib", "Lib", "python", "typings", "stdlib"})
_OF_WHEELS = frozenset({"purelib", "platlib"})
_STUBS = "-stubs"
_IMPORTED = re.compile(r"[\w-]+")

_CONTAINERS = """
    apps backend bench benchmark benchmarks bin ci components contrib demo demos dev doc docs etc example
    examples extern external frontend functions infra integration integration_tests lambdas libs notebooks
    packages plugins projects sample samples script scripts server services stubs test testing tests third_party
    tools tutorial tutorials vendor
"""
CONTAINERS = frozenset(_CONTAINERS.split())
"""Names of folders in a project that hold packages but are, without an `__init__.py`, none themselves."""


def module_names(paths: Iterable[str], *, package: str = "") -> dict[str, str | None]:
    """The module of each path. `package` is what the root itself is called if it is a package."""
    paths = list(paths)
    roots = _Roots(paths, package)
    return {path: roots.module(path) for path in paths}


def importable(name: str) -> bool:
    return name.isidentifier() or (name.endswith(_STUBS) and name.removesuffix(_STUBS).isidentifier())


def root_package(parts: Sequence[str], holds: Callable[[Sequence[str], str], bool]) -> str:
    """What a folder is called if it is a package: its name after those of the packages that it is in.

    `parts` are the names of the folder and of those above it, the outermost first; `holds` says whether the
    folder of such parts holds a file. Empty where the name cannot be imported.
    """
    first = len(parts) - 1
    while first > 0 and importable(parts[first - 1]):
        above = parts[:first]
        if not any(holds(above, name) for name in _INIT) or any(holds(above, name) for name in _PROJECT):
            break
        first -= 1
    names = [name.removesuffix(_STUBS) for name in parts[max(first, 0) :]]
    return ".".join(names) if all(name.isidentifier() for name in names) else ""


class _Roots:
    """The folders of a source, and which of them module names start from."""

    def __init__(self, paths: list[str], package: str) -> None:
        self._paths = frozenset(paths)
        self._folders = {
            "",
            *(folder for parent in {_parent(p) for p in paths} for folder in (parent, *_above(parent))),
        }
        self._projects = {folder for folder in self._folders if self._is_project(folder)}
        self._packages = {folder for folder in self._folders if self._is_package(folder, package)}
        self._package = package if "" in self._packages else ""
        self._import_roots = {folder for folder in self._folders if self._is_import_root(folder)}
        self._import_roots |= {_parent(folder) for folder in self._folders if folder.endswith(".dist-info")}
        unnamed = {folder for folder in self._folders if folder and not importable(_name(folder))}
        self._roots = {"", *self._projects, *self._import_roots, *unnamed}
        self._roots |= {_parent(folder) for folder in self._packages if self._in_container(folder)}
        self._names = {folder: self._dotted(folder) for folder in self._folders}

    def module(self, path: str) -> str | None:
        name = _name(path)
        stem, _, ending = name.rpartition(".")
        folder = _parent(path)
        by_importlib = folder in self._packages and _IMPORTED.fullmatch(stem)
        if f".{ending}" not in ENDINGS or not (stem.isidentifier() or by_importlib):
            return None
        package = self._names[folder]
        if name in _INIT:
            return package or None
        return f"{package}.{stem}" if package else stem

    def _dotted(self, folder: str) -> str:
        parts = []
        while folder not in self._roots:
            parts.append(_name(folder).removesuffix(_STUBS))
            folder = _parent(folder)
        if folder == "" and self._package:
            parts.append(self._package)
        return ".".join(reversed(parts))

    def _has(self, folder: str, name: str) -> bool:
        return (f"{folder}/{name}" if folder else name) in self._paths

    def _has_init(self, folder: str) -> bool:
        return any(self._has(folder, name) for name in _INIT)

    def _is_project(self, folder: str) -> bool:
        marked = any(self._has(folder, name) for name in _PROJECT)
        return marked and (folder == "" or not self._has_init(folder))

    def _is_package(self, folder: str, package: str) -> bool:
        named = importable(_name(folder)) if folder else bool(package)
        return named and self._has_init(folder) and folder not in self._projects

    def _in_package(self, folder: str) -> bool:
        return any(above in self._packages for above in (folder, *_above(folder)))

    def _is_import_root(self, folder: str) -> bool:
        if folder == "" or self._in_package(folder):
            return False
        name, parent = _name(folder), _parent(folder)
        return (
            name == _IMPORT_ROOT
            or (name in _IMPORT_ROOTS_OF_PROJECTS and (parent == "" or parent in self._projects))
            or (name in _OF_WHEELS and parent.endswith(".data"))
        )

    def _in_container(self, package: str) -> bool:
        """Whether the folder that holds the package is a root because of where it is."""
        folder = _parent(package)
        if package == "" or folder in self._roots or self._in_package(folder):
            return False
        first = folder
        while (above := _parent(first)) not in self._roots:
            first = above
        return above not in self._import_roots and _name(first) in CONTAINERS


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _above(folder: str) -> list[str]:
    """All folders above one, to the root."""
    return [*folders_of(folder), ""] if folder else []
