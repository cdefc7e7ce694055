"""What extractors may rely on in any tree: CPython's grammar, and places that nest.

The grammar is CPython's own: what it says of each class in its docstring, and what `compile` checks of a tree.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from codelake.extract import tree as trees
from codelake.extract.recover import grammar
from codelake.extract.tree import Tree

_NOT_EMPTY = {
    *(("FunctionDef", "body"), ("AsyncFunctionDef", "body"), ("ClassDef", "body"), ("Lambda", "body"), ("If", "body")),
    *(("For", "body"), ("AsyncFor", "body"), ("While", "body"), ("With", "body"), ("With", "items"), ("Try", "body")),
    *(("AsyncWith", "body"), ("AsyncWith", "items"), ("TryStar", "body"), ("ExceptHandler", "body")),
    *(("match_case", "body"), ("Match", "cases"), ("Assign", "targets"), ("Delete", "targets"), ("Import", "names")),
    *(("ImportFrom", "names"), ("Global", "names"), ("Nonlocal", "names"), ("Set", "elts"), ("ListComp", "generators")),
    *(("Compare", "ops"), ("Compare", "comparators"), ("MatchOr", "patterns")),
}
_TARGETS = {
    *(
        ("Assign", "targets"),
        ("AugAssign", "target"),
        ("AnnAssign", "target"),
        ("For", "target"),
        ("AsyncFor", "target"),
    ),
    *(("comprehension", "target"), ("withitem", "optional_vars"), ("NamedExpr", "target")),
}


def faults(tree: Tree) -> Iterator[str]:
    yield from _grammar(tree)
    yield from _places(tree)


def _shown(node: Any) -> str:
    place = f" at {node.lineno}:{node.col_offset}" if hasattr(node, "lineno") else ""
    return f"{type(node).__name__}{place}"


# Grammar


@cache
def _fields(kind: type) -> tuple[tuple[str, str, str], ...]:
    """(type, quantity, name) of each field of a class, as `If(expr test, stmt* body, stmt* orelse)` says it."""
    if kind in (trees.Error, grammar.Error):
        return (("AST", "*", "body"),)
    signature = re.match(r"\w+\((.*)\)", (kind.__doc__ or "").replace("\n", " "))
    found = [re.fullmatch(r"(\w+)([?*]*) (\w+)", part.strip()) for part in signature[1].split(",")] if signature else []
    return tuple((f[1], f[2], f[3]) for f in found if f)


def _grammar(tree: Tree) -> Iterator[str]:
    if len({id(node) for node in tree.nodes}) != len(tree.nodes):
        yield "a node is in two places"
    for node in tree.nodes:
        for kind, quantity, name in _fields(type(node)):
            value = getattr(node, name, "missing")
            if quantity == "*" or quantity == "?*":
                if not isinstance(value, list):
                    yield f"{_shown(node)}.{name} is no list: {value!r}"
                    continue
                if not value and (type(node).__name__, name) in _NOT_EMPTY:
                    yield f"{_shown(node)}.{name} is empty"
                values = [v for v in value if not (v is None and name in ("keys", "kw_defaults"))]
            else:
                values = [] if value is None and quantity == "?" else [value]
            for one in values:
                if not _fits(one, kind):
                    yield f"{_shown(node)}.{name} is {one!r}, not {kind}"
        yield from _details(node)


def _fits(value: Any, kind: str) -> bool:
    if kind == "identifier":
        return isinstance(value, str) and value != ""
    if kind in ("int", "string"):
        return isinstance(value, int if kind == "int" else str)
    if kind == "constant":
        return isinstance(value, str | bytes | int | float | complex | type(...) | None)
    return isinstance(value, getattr(ast, kind))


def _details(node: Any) -> Iterator[str]:
    kind = type(node).__name__
    if kind == "BoolOp" and len(node.values) < 2:
        yield f"{_shown(node)} of one value"
    elif kind == "Compare" and len(node.ops) != len(node.comparators):
        yield f"{_shown(node)}: operators and terms"
    elif kind == "Dict" and len(node.keys) != len(node.values):
        yield f"{_shown(node)}: keys and values"
    elif kind == "arguments":
        if len(node.defaults) > len(node.posonlyargs) + len(node.args) or len(node.kw_defaults) != len(node.kwonlyargs):
            yield f"{_shown(node)}: defaults"
    elif kind in ("Try", "TryStar") and not node.handlers and not node.finalbody:
        yield f"{_shown(node)} without handlers"
    for name in node._fields:
        wanted = ast.Store if (kind, name) in _TARGETS else ast.Del if (kind, name) == ("Delete", "targets") else None
        if wanted:
            value = getattr(node, name)
            rest = list(value) if isinstance(value, list) else [value]
            while rest:
                target = rest.pop()
                if hasattr(target, "ctx") and not isinstance(target.ctx, wanted):
                    yield f"{_shown(target)} in {kind}.{name} is {type(target.ctx).__name__}"
                rest += target.elts if isinstance(target, ast.Tuple | ast.List) else []


def refused(tree: Tree) -> str | None:
    """Why `compile` would not take the tree for a tree at all. Spoils the tree: errors become other nodes."""
    module: Any = _Whole().visit(tree.module)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(module, "tree", "exec", dont_inherit=True)
    except (TypeError, ValueError) as error:
        if "MatchStar" in str(error):  # where it may stand is a matter of meaning
            return None
        return f"{type(error).__name__}: {error}"
    except (SyntaxError, RecursionError):  # `return` outside of a function, and the like
        return None
    return None


class _Whole(ast.NodeTransformer):
    """Something that CPython knows in the place of errors, and of classes that it does not have yet."""

    def visit_Error(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node, ast.stmt):
            made: Any = ast.If(test=ast.Constant(True), body=node.body or [ast.Pass()], orelse=[])
        else:
            elts = [v for v in node.body if isinstance(getattr(v, "ctx", ast.Load()), ast.Load)]
            made = ast.Subscript(ast.Name("x", ast.Load()), ast.Tuple(elts=elts, ctx=ast.Load()), ast.Load())
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        kind = type(node).__name__
        for name in node._fields:
            ctx = ast.Store if (kind, name) in _TARGETS else ast.Del if (kind, name) == ("Delete", "targets") else None
            if ctx:
                value = getattr(node, name)
                for target in value if isinstance(value, list) else [value]:
                    _store(target, ctx)
                if kind == "NamedExpr" and not isinstance(value, ast.Name):
                    node.target = ast.copy_location(ast.Name("x", ast.Store()), node)  # type: ignore[attr-defined]
                elif (isinstance(value, ast.expr) and not hasattr(value, "ctx")) or (
                    kind in ("AugAssign", "AnnAssign") and isinstance(value, ast.Tuple | ast.List | ast.Starred)
                ):
                    setattr(node, name, ast.copy_location(ast.Name("x", ctx()), value))
                elif isinstance(value, list):
                    value[:] = [t if hasattr(t, "ctx") else ast.copy_location(ast.Name("x", ctx()), t) for t in value]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in ("True", "False", "None"):  # names in Python 2
            node.id += "_"
        return node

    def visit_TypeAlias(self, node: Any) -> ast.AST:
        return ast.copy_location(ast.Pass(), node)

    def visit_TemplateStr(self, node: Any) -> ast.AST:
        return ast.copy_location(ast.Constant(""), node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        """`compile` takes only some expressions for patterns: that is a matter of meaning."""
        return ast.copy_location(ast.MatchValue(value=ast.copy_location(ast.Constant(1), node)), node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        self.generic_visit(node)
        node.keys = [ast.copy_location(ast.Constant(i), node) for i in range(len(node.keys))]
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        self.generic_visit(node)
        node.cls = ast.copy_location(ast.Name("x", ast.Load()), node)
        return node


def _store(target: Any, ctx: type[ast.expr_context]) -> None:
    rest = [target]
    while rest:
        at = rest.pop()
        if isinstance(at, ast.Tuple | ast.List):
            at.elts = [e if hasattr(e, "ctx") else ast.copy_location(ast.Name("x", ctx()), at) for e in at.elts]
            rest += at.elts
        elif isinstance(at, ast.Starred):
            if not hasattr(at.value, "ctx"):
                at.value = ast.copy_location(ast.Name("x", ctx()), at)
            rest.append(at.value)
        if hasattr(at, "ctx"):
            at.ctx = ctx()


# Places


def _places(tree: Tree) -> Iterator[str]:
    starts, ends = tree.starts.tolist(), tree.ends.tolist()
    first, last = starts[0], ends[0]
    before: dict[tuple[int, str], int] = {}
    for at, node in enumerate(tree.nodes):
        start, end = starts[at], ends[at]
        if not first <= start <= end <= last:
            yield f"{_shown(node)} is at {start}-{end}"
        parent, field = tree.parents[at], tree.fields[at]
        if parent < 0:
            continue
        if field != "decorator_list" and not starts[parent] <= start <= end <= ends[parent]:
            yield f"{_shown(node)} is not within {_shown(tree.nodes[parent])}"
        # Of f"{x=}", CPython has the text of the expression first, which starts behind the brace.
        if start < before.get((parent, field), start) and field != "values":
            yield f"{_shown(node)} is before its sibling in {_shown(tree.nodes[parent])}.{field}"
        before[parent, field] = start
