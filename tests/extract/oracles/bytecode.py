"""References against CPython's compiler: every instruction that loads, stores or deletes a name, an attribute or an
item is a reference at its place, by the opcode that the symbol's binding asks for, and the other way round."""

from __future__ import annotations

import ast
import dis
import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from tests.extract.oracles.reachable import constant, unreachable
from tests.extract.oracles.symtables import Difference, Named, not_evaluated

MADE_BY_THE_COMPILER = {
    "iterator of a comprehension": "`.0`, the iterator that a comprehension is called with",
    "start of a class": "a class body begins with __module__ = __name__ and __qualname__ = ...",
    "class cell": "a class whose methods use super or __class__ ends with __classcell__ = ...",
    "docstring": "__doc__ is stored where the docstring stands",
    "annotation kept": "in modules and classes, an annotation of a name is stored as an item of __annotations__",
    "end of a handler": "`except ... as x` ends with x = None; del x, on each way out",
    "star import": "the names of a star import are not in the file",
    "long f-string": "a text of more than 30 parts is joined by the method of that name",
    "part of a pattern": "patterns take items of sequences, and delete keys of the copy that ** captures",
}
NOT_COMPILED = {
    "declared": "`x: int` without a value stores nothing",
    "annotation not evaluated": "annotations of a function's variables are not evaluated, nor any with the __future__ "
    "of annotations",
    "__debug__": "the compiler puts in its value",
    "item of a constant": "the compiler puts in its value",
    "unreachable": "the compiler leaves out code that no jump leads to: behind return, raise, break, continue, in "
    "branches of constants",
}
KNOWN = MADE_BY_THE_COMPILER | NOT_COMPILED

Place = tuple[int | None, int | None, int | None, int | None]


class Access(NamedTuple):
    scope: int
    opcode: str
    name: str
    place: Place


_ITEM_CONTEXTS = {"BINARY_SUBSCR": "load", "STORE_SUBSCR": "store", "DELETE_SUBSCR": "delete"}
_ITEM_OPCODES = {context: opcode for opcode, context in _ITEM_CONTEXTS.items()}
_OF_FRAME = {f"{word}_{where}" for word in ("LOAD", "STORE", "DELETE") for where in ("FAST", "DEREF")}
_OF_FRAME |= {"LOAD_CLASSDEREF"}
_START_OF_CLASS = {("LOAD_NAME", "__name__"), ("STORE_NAME", "__module__"), ("STORE_NAME", "__qualname__")}
_KEPT = {("LOAD_NAME", "__annotations__"), ("STORE_SUBSCR", "")}
_FUNCTIONS = ("function", "lambda", "comprehension")
_LABELS = {"Lambda": "<lambda>", "ListComp": "<listcomp>", "SetComp": "<setcomp>", "DictComp": "<dictcomp>"}
_LABELS |= {"GeneratorExp": "<genexpr>"}
_PATTERNS = (ast.MatchAs, ast.MatchStar, ast.MatchMapping)


def differences(found: Named) -> Iterator[Difference]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(found.tree.text.text, "file", "exec", dont_inherit=True, optimize=0)
    codes = _Codes(found)
    codes.read(code, 0)
    yield from codes.problems
    expected = _expected(found, codes)
    not_run = unreachable(found.tree.module)
    not_asked = not_evaluated(found.tree.module) | _of_variables(found)
    for scope, node in enumerate(found.nodes):
        if codes.twins[scope] not in codes.seen and node.at not in not_run and node.at not in not_asked:
            yield "scope not compiled", f"{found.scopes['qualified_name'][scope]} {place(node)}"
    for access, nodes in expected.items():
        if access not in codes.accesses:
            for at in nodes:
                yield _kind_of_missing(found, at, not_run, not_asked), f"not in the code: {access}"
    made = _Made(found, codes.twins)
    for access in codes.accesses - expected.keys():
        yield made.kind(access), f"only in the code: {access}"


def place(node: Any) -> Place:
    return (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)


def _placed(node: ast.AST) -> list[Any]:
    return [below for below in ast.walk(node) if hasattr(below, "lineno")]


class _Codes:
    """The code objects of a file, by the scopes that they are of."""

    def __init__(self, found: Named) -> None:
        self.found = found
        self.accesses: set[Access] = set()
        self.seen: set[int] = set()
        self.problems: list[Difference] = []
        self.scopes: dict[tuple[int, str, Place], int] = {}
        self.twins: list[int] = [0]
        """By scope, the first scope at the same place: inside f-strings, CPython before 3.12 may place two so."""
        for scope, node in enumerate(found.nodes[1:], 1):
            label = _LABELS.get(type(node).__name__) or node.name
            key = self.twins[found.scopes["parent"][scope]], label, place(node)
            self.twins.append(self.scopes.setdefault(key, scope))

    def read(self, code: CodeType, scope: int) -> None:
        self.seen.add(scope)
        self.problems += _of_code(self.found, code, scope)
        places = list(code.co_positions())
        for offset, op, arg in dis._unpack_opargs(code.co_code):  # type: ignore[attr-defined]
            opcode, where = dis.opname[op], places[offset // 2]
            if opcode == "LOAD_CONST":
                if isinstance(inner := code.co_consts[arg], CodeType):
                    inner_scope = self.scopes.get((scope, inner.co_name, where))
                    if inner_scope is None:
                        self.problems.append(("code without scope", f"{inner.co_qualname} {where}"))
                    else:
                        self.read(inner, inner_scope)
            elif opcode in _ITEM_CONTEXTS:
                self.accesses.add(Access(scope, opcode, "", where))
            elif opcode == "LOAD_GLOBAL":
                self.accesses.add(Access(scope, opcode, code.co_names[arg >> 1], where))
            elif op in dis.hasname:
                self.accesses.add(Access(scope, opcode.replace("LOAD_METHOD", "LOAD_ATTR"), code.co_names[arg], where))
            elif opcode in _OF_FRAME:
                self.accesses.add(Access(scope, opcode, code._varname_from_oparg(arg), where))  # type: ignore[attr-defined]


def _of_code(found: Named, code: CodeType, scope: int) -> Iterator[Difference]:
    """Parameters, cells, free variables and the kind of code."""
    symbols = found.of_scope[scope]
    bindings: dict[str, set[str]] = defaultdict(set)
    for name, symbol in symbols.items():
        bindings[found.symbols["binding"][symbol]].add(name)
    kind = found.scopes["kind"][scope]
    n_parameters = code.co_argcount + code.co_kwonlyargcount
    n_parameters += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    parameters = set(code.co_varnames[:n_parameters]) - {".0"}
    cells = set(code.co_cellvars) - ({"__class__"} if kind == "class" else set())
    # A class hands on a variable of a function around it even where it has one of the same name itself.
    free = set(code.co_freevars) - (bindings["local"] | bindings["global_explicit"] if kind == "class" else set())
    is_generator = bool(code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR))
    is_coroutine = bool(code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))
    for what, theirs, ours in (
        ("parameters", parameters, {n for n, s in symbols.items() if found.symbols["is_parameter"][s]}),
        ("cells", cells, bindings["cell"]),
        ("free variables", free, bindings["free"]),
        ("is_generator", is_generator, found.scopes["is_generator"][scope]),
        ("is_coroutine", is_coroutine, found.scopes["is_coroutine"][scope]),
    ):
        if theirs != ours:
            yield what, f"{found.scopes['qualified_name'][scope]}: {theirs}, not {ours}"


def _expected(found: Named, codes: _Codes) -> dict[Access, list[int]]:
    """The instructions that the references stand for, each with its nodes."""
    expected: dict[Access, list[int]] = defaultdict(list)
    tree = found.tree
    for at, symbol, context in zip(*found.references.values(), strict=True):
        node = tree.nodes[at]
        scope = codes.twins[found.names.scope_of[at]]
        word = "delete" if context == "delete" else "load" if context == "load" else "store"
        if isinstance(node, ast.arg):
            continue  # checked with the code as a whole
        if isinstance(node, ast.Subscript):
            expected[Access(scope, _ITEM_OPCODES[word], "", place(node))].append(at)
        elif isinstance(node, ast.Attribute):
            name = _private(found, scope, node.attr)
            expected[Access(scope, f"{word.upper()}_ATTR", name, _place_of_attribute(node))].append(at)
        else:
            name = _name(found, at, symbol)
            opcode = _opcode(found, scope, symbol, word)
            places = [place(node)]
            if isinstance(node, ast.alias):
                statement = tree.nodes[tree.parents[at]]
                places = [place(statement)]
                for import_opcode, module in _imports(found, scope, statement, node):
                    expected[Access(scope, import_opcode, module, place(statement))].append(at)
            elif isinstance(node, _PATTERNS):
                places = [
                    p for p in _places_in_case(found, at) if Access(scope, opcode, name, p) in codes.accesses
                ] or places
            for where in places:
                expected[Access(scope, opcode, name, where)].append(at)
    return expected


def _opcode(found: Named, scope: int, symbol: int | None, word: str) -> str:
    if symbol is None:
        return f"{word.upper()}_NONE"
    binding, kind = found.symbols["binding"][symbol], found.scopes["kind"][scope]
    if binding == "global_explicit" or (binding == "global_implicit" and kind in _FUNCTIONS):
        where = "GLOBAL"
    elif binding in ("cell", "free"):
        where = "CLASSDEREF" if kind == "class" and word == "load" else "DEREF"
    else:
        where = "FAST" if kind in _FUNCTIONS else "NAME"
    return f"{word.upper()}_{where}"


def _name(found: Named, at: int, symbol: int | None) -> str:
    node = found.tree.nodes[at]
    written = getattr(node, "id", None) or getattr(node, "rest", None)
    if written is None:
        written = getattr(node, "asname", None) or node.name.partition(".")[0]
    name = _private(found, found.names.scope_of[at], written)
    assert symbol is None or found.symbols["name"][symbol] == name, (name, symbol)
    return name


def _private(found: Named, scope: int, name: str) -> str:
    """As CPython has private names, from the class definitions around a scope."""
    while scope > 0 and not isinstance(found.nodes[scope], ast.ClassDef):
        scope = found.scopes["parent"][scope]
    if scope <= 0 or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    owner = found.nodes[scope].name.lstrip("_")
    return f"_{owner}{name}" if owner else name


def _place_of_attribute(node: ast.Attribute) -> Place:
    """The compiler points to the attribute's name if its expression goes over lines."""
    if node.lineno == node.end_lineno:
        return place(node)
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_lineno, node.end_col_offset - len(node.attr), node.end_col_offset


def _imports(found: Named, scope: int, statement: Any, alias: ast.alias) -> Iterator[tuple[str, str]]:
    """Private names of modules are spelled like other names, unless they have dots; parts of dotted ones are not."""
    if isinstance(statement, ast.ImportFrom):
        yield "IMPORT_NAME", _private(found, scope, statement.module or "")
        yield "IMPORT_FROM", _private(found, scope, alias.name)
    else:
        yield "IMPORT_NAME", _private(found, scope, alias.name)
        if alias.asname:
            for part in alias.name.split(".")[1:]:
                yield "IMPORT_FROM", part


def _places_in_case(found: Named, at: int) -> list[Place]:
    """What a pattern captures is stored when all of it matches: at the place of whichever part was compiled last."""
    while not isinstance(found.tree.nodes[at], ast.match_case):
        at = found.tree.parents[at]
    return [place(part) for part in _placed(found.tree.nodes[at].pattern)]


def _kind_of_missing(found: Named, at: int, not_run: set[int], not_asked: set[int]) -> str:
    node = found.tree.nodes[at]
    if at in found.names.declares:
        return "declared"
    if at in not_asked:
        return "annotation not evaluated"
    if at in not_run:
        return "unreachable"
    if isinstance(node, ast.Name) and node.id == "__debug__":
        return "__debug__"
    if isinstance(node, ast.Subscript) and constant(node) is not None:
        return "item of a constant"
    return "reference without instruction"


def _of_variables(found: Named) -> set[int]:
    """Ordinals of all nodes of annotations of variables in functions."""
    return {
        below.at  # type: ignore[attr-defined]
        for node in ast.walk(found.tree.module)
        if isinstance(node, ast.AnnAssign) and found.scopes["kind"][found.names.scope_of[node.at]] in _FUNCTIONS  # type: ignore[attr-defined]
        for below in ast.walk(node.annotation)
        if hasattr(below, "at")
    }


class _Made:
    """What the compiler makes of its own accord."""

    def __init__(self, found: Named, twins: list[int]) -> None:
        self.found = found
        self.exits: dict[tuple[int, str], set[Place]] = defaultdict(set)
        self.kept: set[tuple[int, Place]] = set()
        self.stars: set[tuple[int, str, Place]] = set()
        self.patterns: set[tuple[int, Place]] = set()
        self.texts: set[tuple[int, Place]] = set()
        for node in found.tree.nodes:
            scope = twins[found.names.scope_of[node.at]]
            if isinstance(node, ast.ExceptHandler) and node.name:
                # It ends where what was compiled last stands, or on its line, or nowhere.
                last = [_place_of_attribute(n) if isinstance(n, ast.Attribute) else place(n) for n in _placed(node)]
                lines = [(n.end_lineno, n.end_lineno, None, None) for n in _placed(node)]
                self.exits[scope, _private(found, scope, node.name)] |= {(None, None, None, None), *last, *lines}
            elif isinstance(node, ast.AnnAssign) and node.simple and found.scopes["kind"][scope] in ("module", "class"):
                self.kept.add((scope, place(node)))
            elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                self.stars.add((scope, node.module or "", place(node)))
            elif _n_parts(node) > 30:
                self.texts.add((scope, place(node)))
            elif isinstance(node, ast.MatchSequence | ast.MatchMapping):
                self.patterns.update((scope, place(part)) for part in _placed(node))

    def kind(self, access: Access) -> str:
        scope, opcode, name, where = access
        opener, kind = self.found.nodes[scope], self.found.scopes["kind"][scope]
        if (opcode, name, where) == ("LOAD_FAST", ".0", place(opener) if scope else None) and kind == "comprehension":
            return "iterator of a comprehension"
        if kind == "class":
            first = min(node.lineno for node in (opener, *opener.decorator_list))
            if (opcode, name) in _START_OF_CLASS and where == (first, first, 0, 0):
                return "start of a class"
            below = [s for s, parent in enumerate(self.found.scopes["parent"]) if parent == scope]
            if (opcode, name) == ("STORE_NAME", "__classcell__") and any(
                "__class__" in self.found.of_scope[inner] for inner in below
            ):
                return "class cell"
        if (
            kind in ("module", "class")
            and name == "__doc__"
            and opcode in ("STORE_NAME", "STORE_GLOBAL")
            and opener.body
        ):
            docstring = opener.body[0]
            if ast.get_docstring(opener, clean=False) is not None and where == place(docstring):
                return "docstring"
        if (scope, where) in self.kept and (opcode, name) in _KEPT:
            return "annotation kept"
        if (scope, name, where) in self.stars and opcode == "IMPORT_NAME":
            return "star import"
        if (scope, where) in self.texts and (opcode, name) == ("LOAD_ATTR", "join"):
            return "long f-string"
        if (scope, where) in self.patterns and opcode in ("BINARY_SUBSCR", "DELETE_SUBSCR"):
            return "part of a pattern"
        if opcode.startswith(("STORE_", "DELETE_")) and where in self.exits.get((scope, name), ()):
            return "end of a handler"
        return "instruction without reference"


def _n_parts(node: Any) -> int:
    """How many texts and values an f-string has; also a `%` of a tuple, which the compiler may turn into one."""
    match node:
        case ast.JoinedStr(values):
            return len(values)
        case ast.BinOp(ast.Constant(str(text)), ast.Mod(), ast.Tuple(elts)):
            return len(elts) + len([piece for piece in text.split("%s") if piece])
    return 0
