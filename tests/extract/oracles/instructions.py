"""CPython's instructions, and which of our steps they are a part of.

A program is compiled from our tree, with the ordinal of each node for its line. So the line of an instruction is
the node that it belongs to, to the letter, whatever the source looks like.
"""

from __future__ import annotations

import ast
import dis
from types import CodeType
from typing import Any

from codelake.extract.control.branching import branching
from codelake.extract.control.reaching import reaching
from codelake.extract.control.statements import control
from codelake.extract.names.scopes import names
from codelake.extract.text import decoded
from codelake.extract.tree import Tree, indexed, names_of, parse

Position = tuple[int, int]
"""A block, and how many of its steps are done."""

# They do nothing, or what they do is not tied to the step that they have the place of.
_WITHOUT_EFFECT = frozenset((
    *("RESUME", "NOP", "POP_TOP", "COPY", "SWAP", "PUSH_NULL", "PRECALL", "KW_NAMES", "MAKE_CELL"),
    *("RETURN_GENERATOR", "COPY_FREE_VARS", "POP_EXCEPT", "PUSH_EXC_INFO", "CHECK_EXC_MATCH", "CHECK_EG_MATCH"),
    *("PREP_RERAISE_STAR", "RERAISE", "RETURN_VALUE", "END_ASYNC_FOR", "ASYNC_GEN_WRAP", "LOAD_CLOSURE"),
    *("MAKE_FUNCTION", "LOAD_BUILD_CLASS", "LIST_TO_TUPLE", "SETUP_ANNOTATIONS"),
))  # fmt: skip
# While the operands of a node with branches are evaluated, these already put them together.
_TOGETHER = frozenset((
    *("BUILD_LIST", "BUILD_SET", "BUILD_MAP", "BUILD_TUPLE", "BUILD_CONST_KEY_MAP", "LIST_APPEND", "LIST_EXTEND"),
    *("SET_ADD", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE", "LOAD_CONST", "LOAD_ASSERTION_ERROR"),
))  # fmt: skip
_STORES = frozenset(("STORE_FAST", "STORE_NAME", "STORE_DEREF"))
_LOADS = frozenset(("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"))
_DELETES = frozenset(("DELETE_FAST", "DELETE_NAME", "DELETE_DEREF"))
_ITERATION = frozenset(("FOR_ITER", "GET_ITER", "GET_AITER", "GET_ANEXT", "SET_ADD", "LIST_APPEND", "MAP_ADD"))
_JUMPS = (ast.Pass, ast.Break, ast.Continue, ast.Return)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Instruction:
    __slots__ = (
        *("deletes", "is_evidence", "is_loop", "is_reraise", "loads"),
        *("node", "opname", "steps", "stores", "symbol"),
    )

    def __init__(self, opname: str, node: int) -> None:
        self.opname, self.node = opname, node
        self.steps: frozenset[Position] = frozenset()
        """The steps that it may be a part of."""
        self.is_evidence = False
        """When it runs, so does one of the steps."""
        self.is_reraise = opname == "RERAISE"
        """It raises what was raised before, of which a tracer is not told."""
        self.is_loop = False
        """It asks for the next item of an asynchronous loop."""
        self.symbol = -1
        self.loads: int | None = None
        self.deletes: int | None = None
        self.stores: tuple[int, ...] | None = None


class Program:
    """A source, its graphs and its code."""

    def __init__(self, source: str, filename: str) -> None:
        text = decoded(source.encode())
        assert text is not None
        self.tree: Tree = indexed(parse(text), text)
        names(self.tree)
        self.names = names_of(self.tree)
        _, (step_blocks, step_nodes), _ = control(self.tree)
        ((definitions, uses),) = reaching(self.tree)
        self.reaches = set(zip(definitions, uses, strict=True))
        assert len(self.reaches) == len(uses)
        assert self.tree.control is not None
        self.control = self.tree.control
        self.branching = branching(self.tree)
        self.steps: dict[int, list[int]] = {}
        """The nodes of a block's steps."""
        self.positions: dict[tuple[int, int], list[Position]] = {}
        """By scope and node."""
        for block, node in zip(step_blocks, step_nodes, strict=True):
            done = self.steps.setdefault(block, [])
            done.append(node)
            self.positions.setdefault((self.control.block_scopes[block], node), []).append((block, len(done)))
        self.flows: dict[int, list[tuple[int, str]]] = {}
        rows = zip(self.control.flow_sources, self.control.flow_targets, self.control.flow_kinds, strict=True)
        for src, dst, kind in rows:
            assert (dst, kind) not in self.flows.get(src, ())
            self.flows.setdefault(src, []).append((dst, kind))
        for node in self.tree.nodes:
            if "lineno" in node._attributes:
                node.lineno = node.end_lineno = node.at + 1
                node.col_offset = node.end_col_offset = 0
        self.code: CodeType = compile(self.tree.module, filename, "exec", dont_inherit=True)
        self.scopes: dict[tuple[int, str], int] = {}
        for scope, (node, kind) in enumerate(zip(self.names.scope_nodes, self.names.scope_kinds, strict=True)):
            if kind in ("function", "class"):
                first = (*node.decorator_list, node)[0]
                self.scopes[first.at, node.name] = scope
            elif kind != "type":
                self.scopes[node.at, _CODE_NAMES[node.__class__]] = scope

    def shown(self, at: int) -> str:
        """The source of a node, in short."""
        if at < 0:
            return "?"
        text = self.tree.text.utf8[self.tree.starts[at] : self.tree.ends[at]].decode()
        return " ".join(text.split())[:60]

    def scope_of(self, code: CodeType) -> int:
        return self.scopes[code.co_firstlineno - 1, code.co_name]

    def instructions(self, code: CodeType) -> list[Instruction]:
        """By offset, halved."""
        scope = self.scope_of(code)
        found: list[Instruction] = []
        extended: list[int] = []
        n_iterations = 0
        raw = list(dis.get_instructions(code, show_caches=True))
        for i, instruction in enumerate(raw):
            if instruction.opname == "CACHE":
                found.append(found[-1])  # where a frame is when a call raises
                continue
            line = instruction.positions.lineno if instruction.positions else None
            made = Instruction(instruction.opname, -1 if line is None else line - 1)
            for before in extended:
                found[before] = made
            found.append(made)
            if instruction.opname == "EXTENDED_ARG":
                extended.append(i)
                continue
            extended = []
            is_of_handler = line is None or _is_of_handler(raw, i)
            self._name(made, scope, instruction.argval, is_of_handler)
            if is_of_handler:
                continue
            if made.opname == "FOR_ITER" or made.opname == "GET_ANEXT":
                n_iterations += 1
            is_ending = made.opname == "LOAD_CONST" and raw[i + 1].opname in ("RETURN_VALUE", "SEND")
            self._place(made, scope, is_ending, n_iterations)
            made.is_reraise = made.opname == "RERAISE" or (made.opname == "RAISE_VARARGS" and not instruction.arg)
        return found

    def _place(self, made: Instruction, scope: int, is_ending: bool, n_iterations: int) -> None:
        node = self.tree.nodes[made.node]
        at, opname = made.node, made.opname
        kind = node.__class__
        is_evidence = opname not in _WITHOUT_EFFECT and "JUMP" not in opname and not is_ending
        if kind in (ast.With, ast.AsyncWith):
            entering = [p for item in node.items for p in self._at(scope, item.context_expr.at)]
            leaving = [p for item in node.items for p in self._at(scope, item.at)]
            is_evidence = is_evidence and opname not in ("LOAD_CONST", *_STORES, *_DELETES)
            if opname.startswith("BEFORE_"):
                found = entering
            else:
                found = leaving if kind is ast.With or opname == "WITH_EXCEPT_START" else entering + leaving
        elif kind in (ast.For, ast.AsyncFor):
            found = self._at(scope, node.iter.at if opname in ("GET_ITER", "GET_AITER") else at)
            is_evidence = is_evidence and (kind is ast.AsyncFor or opname in ("GET_ITER", "FOR_ITER"))
        elif self._is_of_iteration(scope, node, opname):
            # It may have the place of what comes before, such as a condition.
            generators = self.names.scope_nodes[scope].generators
            found = self._at(scope, generators[n_iterations - 1].at) if n_iterations else []
            is_evidence = opname in ("FOR_ITER", "GET_ANEXT")
        elif kind in (ast.Try, ast.TryStar, ast.Match, ast.ExceptHandler) and opname not in _STORES:
            found, is_evidence = [], False
        elif (case := self._case(at)) is not None:
            found = self._of_pattern(scope, case.pattern, opname in _STORES)
        else:
            above = self.tree.nodes[self.tree.parents[at]]
            if above.__class__ is ast.Call and above.func is node and opname == "CALL":
                at = above.at  # the compiler gives a call of a method the line of the method
            if above.__class__ is ast.AugAssign and above.target is node and opname.startswith("STORE_"):
                at = above.at
            found = self._around(scope, at)
            if node in getattr(above, "decorator_list", ()):
                found = found + self._at(scope, above.at)  # where it is called
            if opname == "NOP":
                is_evidence = kind in _JUMPS or (kind is ast.Constant and above.__class__ is ast.Return)
            elif at in self.branching:
                is_evidence = is_evidence and self._is_whole(node, opname)
            elif kind is ast.Return and opname == "LOAD_CONST":
                is_evidence = False
            elif kind is ast.Constant and above.__class__ is ast.Return:
                is_evidence = False  # after what the return passes
            elif kind is ast.Constant and above.at in self.branching:
                is_evidence = is_evidence and bool(self._at(scope, at))
        is_iteration = kind is ast.AsyncFor or self._is_of_iteration(scope, node, opname)
        made.is_loop = is_iteration and opname in ("SEND", "GET_ANEXT")
        made.steps = frozenset(found)
        made.is_evidence = is_evidence and bool(found)

    def _is_whole(self, node: Any, opname: str) -> bool:
        """Whether an instruction of a node with branches is done when all of its operands are."""
        if node.__class__ in (ast.BoolOp, ast.IfExp) or (node.__class__ is ast.Compare and len(node.ops) > 1):
            return False
        return opname not in _TOGETHER

    def _is_of_iteration(self, scope: int, node: Any, opname: str) -> bool:
        """Whether an instruction advances a comprehension, or takes an element of it."""
        if self.names.scope_kinds[scope] != "comprehension":
            return False
        if opname in ("SEND", "YIELD_VALUE", "GET_AWAITABLE", "RESUME"):
            return not isinstance(node, ast.Await | ast.Yield | ast.YieldFrom) and not self._awaits(scope, node)
        return node.at == self.names.scope_nodes[scope].at or opname in _ITERATION

    def _awaits(self, scope: int, node: Any) -> bool:
        """Whether a node is a comprehension within the scope, that is awaited."""
        return node.__class__ in _COMPREHENSIONS and self.names.scope_of[node.at] == scope

    def _at(self, scope: int, at: int) -> list[Position]:
        return self.positions.get((scope, at), [])

    def _around(self, scope: int, at: int) -> list[Position]:
        """The innermost step around a node."""
        while at >= 0:
            found = self._at(scope, at)
            if found or isinstance(self.tree.nodes[at], ast.stmt | ast.ExceptHandler):
                return found
            at = self.tree.parents[at]
        return []

    def _case(self, at: int) -> Any:
        """The case that a node is in the pattern of."""
        while at >= 0 and not isinstance(self.tree.nodes[at], ast.stmt):
            above = self.tree.nodes[self.tree.parents[at]]
            if above.__class__ is ast.match_case:
                return above if above.pattern.at == at else None
            at = above.at
        return None

    def _of_pattern(self, scope: int, pattern: Any, is_store: bool) -> list[Position]:
        """Names are stored when all of a pattern has matched, by instructions that are near to the last of it. The
        compiler may swap them; and alternatives capture the same names. So all show the last of the captures."""
        if is_store:
            captures = [n.at for n in ast.walk(pattern) if getattr(n, "name", None) or getattr(n, "rest", None)]
            return sorted(p for at in captures for p in self._at(scope, at))[-1:]
        while pattern.__class__ is ast.MatchAs and pattern.pattern is not None:
            pattern = pattern.pattern
        return self._at(scope, pattern.at)[:1]

    def _name(self, made: Instruction, scope: int, name: str, is_of_handler: bool) -> None:
        """Which references an instruction does."""
        names, opname = self.names, made.opname
        if opname not in _STORES | _LOADS | _DELETES:
            return
        symbol = names.tables[scope].get(name)
        if symbol is None or (names.symbol_bindings[symbol] not in ("local", "cell") and scope):
            return
        made.symbol = symbol
        if opname in _STORES:
            made.stores = () if is_of_handler else tuple(self._stores_in(made.node, symbol))
            is_implied = name in ("__doc__", "__module__", "__qualname__")  # of a class
            assert made.stores or is_of_handler or is_implied, (name, self.shown(made.node))
        elif opname in _DELETES:
            made.deletes = -1 if is_of_handler else names.deletes[made.node]
        elif name != "__name__":  # which a class looks up to say where it is
            made.loads = names.loads[made.node]
            assert names.reference_symbols[made.loads] == symbol

    def _stores_in(self, at: int, symbol: int) -> list[int]:
        names = self.names
        case = self._case(at)
        if case is not None:
            at = case.pattern.at
        elif at in names.stores:
            return [names.stores[at]] if names.reference_symbols[names.stores[at]] == symbol else []
        elif self.tree.nodes[at].__class__ not in (ast.Import, ast.ImportFrom):
            return []
        below = [node.at for node in ast.walk(self.tree.nodes[at]) if hasattr(node, "at")]
        found = [names.stores[at] for at in below if at in names.stores]
        return [reference for reference in found if names.reference_symbols[reference] == symbol]


def _is_of_handler(raw: list[dis.Instruction], i: int) -> bool:
    """Whether an instruction is one of the three that unbind the name of a handler at its end. They have the place
    of what is before them."""
    for first in (i, i - 1, i - 2):
        three = raw[first : first + 3]
        is_like = [r.opname.partition("_")[0] for r in three] == ["LOAD", "STORE", "DELETE"]
        if is_like and three[1].argval == three[2].argval and len({r.positions for r in three}) == 1:
            return True
    return False


_CODE_NAMES = {
    ast.Module: "<module>",
    ast.Lambda: "<lambda>",
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
