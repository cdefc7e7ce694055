"""What one stub offers: a row for each name, those of classes with the class before a dot."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from codelake.extract.stubs.scope import Scope, dotted, flattened
from codelake.extract.stubs.texts import NOTHING, Texts, joined

Function = ast.FunctionDef | ast.AsyncFunctionDef
_PROPERTIES = ("property", "cached_property", "DynamicClassAttribute", "_magic_enum_attr", "abstractproperty")
_ENUMS = ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum")


class Name(NamedTuple):
    name: str
    kind: str
    """function, method, classmethod, staticmethod, property, variable, class, alias (another name for something) or
    type (another name for a type)."""
    type: str
    """Signatures; of a variable or property its type; of a class its type variables, then its bases; of an alias what
    it means."""


def names_of(scope: Scope, body: Iterable[ast.stmt]) -> dict[str, Name]:
    """Where a name is there for several versions or platforms, the first counts."""
    names = _Names(scope)
    names.read(body, "")
    every = [
        *names.found,
        *(Name(name, "alias", scope.imported[name]) for name in scope.imported.keys() & scope.offered),
    ]
    return {one.name: one for one in reversed(every)}


class _Names:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.found: list[Name] = []

    def read(self, body: Iterable[ast.stmt], owner: str, *, is_enum: bool = False) -> None:
        functions: dict[str, list[Function]] = {}
        for statement in flattened(body):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                if not _is_setter(statement):
                    functions.setdefault(statement.name, []).append(statement)
            elif isinstance(statement, ast.ClassDef):
                self._class(statement, owner)
            elif isinstance(statement, ast.AnnAssign):
                self._variable(statement, owner)
            elif isinstance(statement, ast.Assign):
                self._assigned(statement, owner, is_enum=is_enum)
        for every in functions.values():
            self._function(every, owner)

    def _function(self, every: list[Function], owner: str) -> None:
        first = every[0]
        marks = {dotted(one).rpartition(".")[2] for one in first.decorator_list}
        texts = Texts(self.scope, owner)
        kind = "method" if owner else "function"
        if owner and marks.intersection(_PROPERTIES):
            self._add(owner, first.name, "property", self._result(texts, first))
            return
        for mark in ("classmethod", "staticmethod"):
            kind = mark if owner and mark in marks else kind
        if owner and first.name in ("__new__", "__class_getitem__", "__init_subclass__"):
            kind = "staticmethod" if first.name == "__new__" else "classmethod"
        drops_first = bool(owner) and (kind != "staticmethod" or first.name == "__new__")
        if all(_is_overload(one) for one in every[:1]):
            every = [one for one in every if _is_overload(one)]
        else:
            every = every[:1]
        self._add(owner, first.name, kind, joined(texts.signature(one, drops_first=drops_first) for one in every))

    def _result(self, texts: Texts, one: Function) -> str:
        return texts.signature(one, drops_first=True).partition("->")[2]

    def _class(self, one: ast.ClassDef, owner: str) -> None:
        name = f"{owner}.{one.name}" if owner else one.name
        texts = Texts(self.scope, name)
        bases = [texts.type(base) for base in one.bases]
        plain = [base for base in bases if base.partition("[")[0] not in ("typing.Generic", "typing.Protocol")]
        said = [base for base in bases if base not in plain and "[" in base]
        variables = _variables(said or bases)
        self._add(owner, one.name, "class", f"{','.join(variables)}:{';'.join(one for one in plain if one != NOTHING)}")
        is_enum = any(base.rpartition(".")[2] in _ENUMS for base in plain)
        self.read(one.body, name, is_enum=is_enum)

    def _variable(self, one: ast.AnnAssign, owner: str) -> None:
        if not isinstance(one.target, ast.Name):
            return
        texts = Texts(self.scope, owner)
        said = dotted(one.annotation).rpartition(".")[2]
        if said == "TypeAlias" and one.value is not None:
            self._add(owner, one.target.id, "type", texts.type(one.value))
        elif said == "Final" and one.value is not None:
            self._add(owner, one.target.id, "variable", _of_constant(one.value))
        else:
            self._add(owner, one.target.id, "variable", texts.type(one.annotation))

    def _assigned(self, one: ast.Assign, owner: str, *, is_enum: bool) -> None:
        texts = Texts(self.scope, owner)
        for target in one.targets:
            if not isinstance(target, ast.Name) or target.id in self.scope.variables:
                continue
            if is_enum:
                self._add(owner, target.id, "variable", f"{self.scope.module}.{owner}")
            elif isinstance(one.value, ast.Name | ast.Attribute):
                meant = texts.name(one.value)
                if owner and isinstance(one.value, ast.Name):
                    meant = f"{self.scope.module}.{owner}.{one.value.id}"  # `__radd__ = __add__`
                self._add(owner, target.id, "alias", meant)
            elif isinstance(one.value, ast.Subscript | ast.BinOp):
                self._add(owner, target.id, "type", texts.type(one.value))
            else:
                self._add(owner, target.id, "variable", _of_constant(one.value))

    def _add(self, owner: str, name: str, kind: str, text: str) -> None:
        self.found.append(Name(f"{owner}.{name}" if owner else name, kind, text))


def _variables(bases: list[str]) -> list[str]:
    """The type variables of a class, in their order."""
    found: list[str] = []
    for base in bases:
        found += [word for word in base.replace("[", ",").replace("]", ",").replace("|", ",").split(",") if "~" in word]
    return list(dict.fromkeys(found))


def _of_constant(node: ast.expr) -> str:
    is_constant = isinstance(node, ast.Constant) and node.value not in (None, ...)
    return f"builtins.{type(node.value).__name__}" if is_constant else NOTHING  # type: ignore[attr-defined]


def _is_overload(one: Function) -> bool:
    return any(dotted(mark).rpartition(".")[2] == "overload" for mark in one.decorator_list)


def _is_setter(one: Function) -> bool:
    return any(dotted(mark).endswith((".setter", ".deleter")) for mark in one.decorator_list)
