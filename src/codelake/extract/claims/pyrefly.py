"""What pyrefly says that calls call: what `pyrefly check --report-pysa DIR --report-pysa-format json` writes.

Of its reports it is the one that has call targets. It is made for Pysa and carries a version, 1; another one is
refused. Lines and columns count from 1, columns in bytes of UTF-8. A file may be there under several names of modules:
all of them are read. Of a class that is called, pyrefly names `__init__` and `__new__`; codelake's target is the class.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from codelake.errors import UsageError
from codelake.extract.claims.report import Document, Occurrence
from codelake.ids import external_id, file_id

_PROJECT = "pyrefly.pysa.json"
_VERSION = 1
_PLACE = re.compile(r"(\d+):(\d+)-(\d+):(\d+)")


class _Module(msgspec.Struct):
    module_id: int
    module_name: str
    info_filename: str
    source_path: dict[str, Any]


class _Project(msgspec.Struct):
    format_version: int
    modules: dict[str, _Module]


class _Defined(msgspec.Struct):
    name: str
    parent: Any
    name_location: str | None = None
    """None for what pyrefly made up, such as the `__init__` of a dataclass."""


class _Definitions(msgspec.Struct):
    function_definitions: dict[str, _Defined] = {}
    class_definitions: dict[str, _Defined] = {}

    def names(self, one: _Defined) -> tuple[str, ...]:
        """From the module down."""
        if not isinstance(one.parent, dict):
            return (one.name,)
        [(kind, inner)] = one.parent.items()
        if kind == "Class":
            around = self.class_definitions[str(inner["class_id"])]
        else:
            around = self.function_definitions[f"F:{inner['func_def_index']}"]
        return (*self.names(around), one.name)


class _Class(msgspec.Struct):
    module_id: int
    class_id: int


class _Target(msgspec.Struct):
    target: Any
    receiver_class: _Class | None = None


class _Call(msgspec.Struct):
    call_targets: list[_Target] = []
    init_targets: list[_Target] = []


class _At(msgspec.Struct):
    Call: _Call | None = None


class _Calls(msgspec.Struct):
    call_graphs: dict[str, dict[str, _At]]


Read = TypeVar("Read")


class PyreflyReport:
    origin = "pyrefly"
    tool = "pyrefly"

    def __init__(self, location: str, root: Path) -> None:
        self.location = location
        self._folder = Path(location)
        project = self._read(self._folder / _PROJECT, _Project)
        if project.format_version != _VERSION:
            raise self._refused(f"a report of version {_VERSION}", f"version {project.format_version}")
        self._modules = {one.module_id: one for one in project.modules.values()}
        self._paths: dict[str, list[_Module]] = {}
        self._path_of: dict[int, str] = {}
        hashed = sha256()
        for one in sorted(self._modules.values(), key=lambda module: module.info_filename):
            path = _within(root, one)
            if path is not None:
                self._paths.setdefault(path, []).append(one)
                self._path_of[one.module_id] = path
                for name in ("definitions", "call_graphs"):
                    hashed.update(self._bytes(self._folder / name / one.info_filename))
        self.digest = hashed.hexdigest()
        self._defined = lru_cache(maxsize=512)(self._definitions)

    @property
    def paths(self) -> Collection[str]:
        return self._paths

    def document(self, repo: str, path: str) -> Document:
        return Document("utf-8", self._checked(repo, path))

    def _checked(self, repo: str, path: str) -> Iterator[Occurrence]:
        try:
            yield from self._occurrences(repo, path)
        except KeyError as error:
            raise self._refused("definitions of all that it names", f"none of {error}, for {path}") from error

    def _occurrences(self, repo: str, path: str) -> Iterator[Occurrence]:
        for module in self._paths[path]:
            defined = self._defined(module.module_id)
            for one in (*defined.function_definitions.values(), *defined.class_definitions.values()):
                if one.name_location is not None:
                    yield _occurrence(self._place(one.name_location), None, one.name)
            calls = self._read(self._folder / "call_graphs" / module.info_filename, _Calls)
            for graph in calls.call_graphs.values():
                for place, at in graph.items():
                    if at.Call is not None and "|" not in place:  # others are calls that nobody wrote
                        for target in self._targets(repo, at.Call):
                            yield _occurrence(self._place(place), target)

    def _targets(self, repo: str, call: _Call) -> Iterator[str]:
        for one in call.init_targets:
            if one.receiver_class is not None:
                of = one.receiver_class
                yield self._id(repo, of.module_id, self._defined(of.module_id).class_definitions[str(of.class_id)])
        for one in call.call_targets:
            [found] = one.target.values() if isinstance(one.target, dict) else [None]
            if isinstance(found, dict) and "function_id" in found:
                function = self._defined(found["module_id"]).function_definitions.get(found["function_id"])
                if function is not None:
                    yield self._id(repo, found["module_id"], function)

    def _id(self, repo: str, module_id: int, one: _Defined) -> str:
        names = ".".join(self._defined(module_id).names(one))
        path = self._path_of.get(module_id)
        if path is not None:
            return f"{file_id(repo, path)}#{names}"
        return external_id(f"{self._modules[module_id].module_name}.{names}")

    def _definitions(self, module_id: int) -> _Definitions:
        return self._read(self._folder / "definitions" / self._modules[module_id].info_filename, _Definitions)

    def _place(self, text: str) -> tuple[int, ...]:
        found = _PLACE.fullmatch(text)
        if found is None:
            raise self._refused("places such as 3:5-3:9", text)
        return tuple(int(one) - 1 for one in found.groups())

    def _read(self, path: Path, type_: type[Read]) -> Read:
        try:
            return msgspec.json.decode(self._bytes(path), type=type_)
        except msgspec.DecodeError as error:
            raise self._refused("a report of pyrefly", f"{path.name}: {error}") from error

    def _bytes(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            expected = f"a folder that `pyrefly check --report-pysa` wrote, with {path.name}"
            raise self._refused(expected, error.strerror or str(error)) from error

    def _refused(self, expected: str, found: str) -> UsageError:
        return UsageError(
            f"--pyrefly {self.location}",
            expected=expected,
            found=found,
            do="Write it with `pyrefly check --report-pysa DIR --report-pysa-format json`.",
        )


def open_pyrefly(location: str, root: Path) -> PyreflyReport:
    """`root` is the folder of the repository: the report has absolute paths."""
    found = PyreflyReport(location, root)
    if not found.paths:
        raise UsageError(f"--pyrefly {location}", expected=f"files below {root}", found="none of them")
    return found


def _within(root: Path, module: _Module) -> str | None:
    path = module.source_path.get("FileSystem")
    if not isinstance(path, str) or not Path(path).is_relative_to(root):
        return None
    return Path(path).relative_to(root).as_posix()


def _occurrence(place: tuple[int, ...], target: str | None, text: str | None = None) -> Occurrence:
    return Occurrence((place[0], place[1]), (place[2], place[3]), "call" if target else "name", target, text)
