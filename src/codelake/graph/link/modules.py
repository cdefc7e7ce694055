"""Which file a module is, what an import means, and which names a module offers."""

from __future__ import annotations

import builtins
from functools import cache
from itertools import takewhile

from codelake.graph.link.parts import File, Import
from codelake.graph.link.program import Program
from codelake.ids import file_id

BUILTINS = frozenset(dir(builtins))
_OF_EVERY_MODULE = ("__name__", "__file__", "__doc__", "__package__", "__path__")


class Modules:
    """Modules of a unit by name. Several files may have one name; the nearest to who asks is taken."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.by_name: dict[str, list[int]] = {}
        self.by_path: dict[tuple[str, str], int] = {}
        self.folders: dict[str, str] = {}
        """Names that are the first parts of some module's: packages, also those without an `__init__`, with the id of
        the first folder that is one."""
        self.stubs: dict[str, int] = {}
        """By id of a file: the stub beside it."""
        for number, file in enumerate(program.files):
            self.by_path[file.repo, file.path] = number
            if file.path.endswith(".pyi"):
                self.stubs[file.id.removesuffix("i")] = number
            if file.module is not None:
                self.by_name.setdefault(file.module, []).append(number)
                self._add_folders(file)
        self.names: list[dict[str, int]] = [{} for _ in program.files]
        """By file: its attributes, from name to slot."""
        roots = {program.slot(number, 0): number for number in range(len(program.files))}
        for fact in program.every("bind"):
            if fact.src in roots:
                self.names[roots[fact.src]][fact.key] = fact.dst
        self.stars: list[list[Import]] = [[] for _ in program.files]
        for one in program.imports:
            if one.name == "*":
                self.stars[one.file].append(one)
        self.listed: list[set[str] | None] = [None] * len(program.files)
        """By file: what `__all__` lists, if there is one."""
        self.listed_of: dict[int, list[int]] = {}
        self._read_exports()
        self.found = cache(self._found)

    def _add_folders(self, file: File) -> None:
        parts = (file.module or "").split(".")
        for n in range(1, len(parts)):
            name = ".".join(parts[:n])
            if name not in self.folders:
                depth = len(parts) - n + file.is_package
                self.folders[name] = file_id(file.repo, f"{file.path.rsplit('/', depth)[0]}/")

    def _read_exports(self) -> None:
        for fact in self.program.every("export", "unexport", "export_of"):
            names = self.listed[fact.file]
            if names is None:
                names = self.listed[fact.file] = set()
            if fact.key:
                names.add(fact.key)
        for fact in self.program.every("export_of"):
            self.listed_of.setdefault(fact.file, []).append(fact.src)
        for fact in self.program.every("unexport"):
            (self.listed[fact.file] or set()).discard(fact.key)

    def _found(self, name: str, asking: int) -> int | None:
        """The file of a module, as the file that asks would get it."""
        files = self.by_name.get(name) or self._beside(name, asking)
        if not files:
            return None
        here = self.program.files[asking]

        def far(number: int) -> tuple[object, ...]:
            file = self.program.files[number]
            parts = zip(file.path.split("/"), here.path.split("/"), strict=False)
            near = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], parts))
            return file.repo != here.repo, file.path.endswith(".pyi"), -near, file.path

        return min(files, key=far)

    def _beside(self, name: str, asking: int) -> list[int]:
        """A script finds what lies beside it."""
        here = self.program.files[asking]
        if here.module is not None and "." in here.module:
            return []
        folder = here.path.rpartition("/")[0]
        path = f"{folder}/{name.replace('.', '/')}" if folder else name.replace(".", "/")
        paths = (f"{path}.py", f"{path}/__init__.py")
        return [self.by_path[here.repo, p] for p in paths if (here.repo, p) in self.by_path]

    def is_package(self, name: str) -> bool:
        return name in self.folders

    def target(self, one: Import) -> str | None:
        """The full name of the module that an import names; None if it leaves the top."""
        if not one.level:
            return one.module
        file = self.program.files[one.file]
        if file.module is None:
            return None
        parts = file.module.split(".")
        up = one.level - 1 if file.is_package else one.level
        if up > len(parts):
            return None
        base = parts[: len(parts) - up]
        return ".".join([*base, one.module] if one.module else base)

    def offers(self, file: int, name: str) -> bool:
        """Whether a module has an attribute by its own code or by a star."""
        return name in self.names[file] or any(True for _ in self.bringing(file, name))

    def bringing(self, file: int, name: str, seen: set[tuple[int, str]] | None = None) -> list[str]:
        """The modules whose stars bring a name into a file, the last first. `seen` are those that were asked on the
        way: modules may bring each other's names."""
        if not self.stars[file]:
            return []
        seen = {(file, name)} if seen is None else seen
        found = []
        for one in reversed(self.stars[file]):
            target = self.target(one)
            if target is None:
                continue
            source = self.found(target, file)
            if source is None:
                if not self.is_package(target):
                    found.append(target)  # not of the lake: it may bring anything
            elif self.is_public(source, name, seen):
                found.append(target)
        return found

    def is_public(self, file: int, name: str, seen: set[tuple[int, str]] | None = None) -> bool:
        """Whether a star takes a name from a module."""
        seen = set() if seen is None else seen
        if (file, name) in seen:
            return False
        seen.add((file, name))
        listed = self.listed[file]
        if listed is not None and "*" not in listed:
            if name in listed:
                return True
            if file not in self.listed_of:
                return False
        elif name.startswith("_"):
            return False
        if name in self.names[file]:
            return True
        return any(self.found(target, file) is not None for target in self.bringing(file, name, seen))
