"""What a name means in a stub."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

NEWEST = (3, 14)
"""Where versions of Python differ, this one is read; what only others have is read behind it."""
_PLATFORM = "linux"
_VARIABLES = ("TypeVar", "ParamSpec", "TypeVarTuple")
_BUILTINS = frozenset(dir(builtins)) | {"function", "ellipsis"}


class Scope:
    def __init__(self, module: str, body: list[ast.stmt], *, is_package: bool) -> None:
        self.module, self._is_package = module, is_package
        self.imported: dict[str, str] = {}
        """Names that imports bind, and what they mean."""
        self.offered: set[str] = set()
        """Those that others may import from here: `import a as a`, or listed in `__all__`."""
        self.stars: list[str] = []
        self.variables: set[str] = set()
        """Type variables."""
        self.own: set[str] = set()
        for statement in flattened(body):
            self._read(statement)

    def _read(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import):
            for one in statement.names:
                name = one.name if one.asname else one.name.partition(".")[0]
                self._bind(one, name)
        elif isinstance(statement, ast.ImportFrom):
            source = self._source(statement)
            for one in statement.names:
                if one.name == "*":
                    self.stars.append(source)
                else:
                    self._bind(one, f"{source}.{one.name}")
        elif isinstance(statement, ast.Assign) and (variable := _type_variable(statement)):
            self.variables.add(variable)
        elif isinstance(statement, ast.Assign):
            self.own.update(target.id for target in statement.targets if isinstance(target, ast.Name))
            self._list(statement.targets[0], statement.value)
        elif isinstance(statement, ast.AugAssign):
            self._list(statement.target, statement.value)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            self.own.add(statement.target.id)
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            self.own.add(statement.name)

    def _bind(self, one: ast.alias, means: str) -> None:
        name = one.asname or one.name.partition(".")[0]
        self.imported.setdefault(name, means)
        if one.asname == one.name:
            self.offered.add(name)

    def _list(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(value, ast.List | ast.Tuple):
            self.offered.update(str(one.value) for one in value.elts if isinstance(one, ast.Constant))

    def _source(self, statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        parts = self.module.split(".")
        base = parts[: len(parts) - statement.level + self._is_package]
        return ".".join([*base, statement.module] if statement.module else base)

    def full(self, name: str) -> str:
        """What a name at the top of the module means; a type variable begins with ~."""
        if name in self.variables or name == "AnyStr":
            return f"~{name}"
        if name in self.own:
            return f"{self.module}.{name}"
        found = self.imported.get(name)
        if found is not None:
            return f"~{name}" if found.startswith("_typeshed._T") else found
        return f"builtins.{name}" if name in _BUILTINS else f"{self.module}.{name}"


def _type_variable(statement: ast.Assign) -> str | None:
    call = statement.value
    is_one = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _VARIABLES
    target = statement.targets[0]
    return target.id if is_one and isinstance(target, ast.Name) else None


def dotted(node: ast.expr) -> str:
    """A name with its attributes; of a call or an item, what it is of."""
    parts = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript | ast.Starred):
            node = node.value
        else:
            return ""
    return ".".join([node.id, *reversed(parts)])


def flattened(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, those of the newest Python first, then those that only others have."""
    behind: list[ast.stmt] = []
    yield from _taken(body, behind)
    while behind:
        waiting, behind = behind, []
        yield from _taken(waiting, behind)


def _taken(body: Iterable[ast.stmt], behind: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.If):
            holds = _holds(statement.test)
            yield from _taken(statement.body if holds else statement.orelse, behind)
            behind += statement.orelse if holds else statement.body
        else:
            yield statement


def _holds(test: ast.expr) -> bool:
    """Of the newest Python on Linux."""
    if isinstance(test, ast.BoolOp):
        every = all if isinstance(test.op, ast.And) else any
        return every(_holds(one) for one in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return not _holds(test.operand)
    if not isinstance(test, ast.Compare):
        return True
    left, operator, right = dotted(test.left), test.ops[0], ast.literal_eval(test.comparators[0])
    if left == "sys.platform":
        return bool(right == _PLATFORM) == isinstance(operator, ast.Eq)
    if left == "sys.version_info":
        return bool(right <= NEWEST) == isinstance(operator, ast.GtE)
    return True
