"""Facts as they are gathered: rows of the column `facts`. See docs/flow-facts.md for the kinds."""

from __future__ import annotations

import ast
from typing import Any

from codelake.extract.names.symbols import mangled
from codelake.extract.tree import Tree, names_of

ANY = "*"
"""The key where it is not a constant."""
_MAX_KEY = 100
_MAX_INDEX = 1 << 63
"""Python refuses to write out integers of thousands of digits."""


class Facts:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.kinds: list[str] = []
        self.dsts: list[int] = []
        self.srcs: list[int] = []
        self.keys: list[str | None] = []
        names = names_of(tree)
        self.scope_of, self.privates = names.scope_of, names.privates

    def add(self, kind: str, dst: int, src: int, key: str | None = None) -> None:
        self.kinds.append(kind)
        self.dsts.append(dst)
        self.srcs.append(src)
        self.keys.append(key)

    def attribute(self, at: int, name: str) -> str:
        """An attribute as Python spells it: private names of a class are mangled."""
        return mangled(self.privates[self.scope_of[at]], name) if name[:2] == "__" else name

    def store(self, target: Any, src: int) -> None:
        """A value goes into a target of an assignment."""
        kind = target.__class__
        if kind is ast.Attribute:
            name = self.attribute(target.at, target.attr)
            self.add("store_attribute", target.value.at, src, name)
            self.add("write_attribute", target.at, target.value.at, name)
        elif kind is ast.Subscript:
            key = key_of(target.slice)
            self.add("store_item", target.value.at, src, key)
            if key == ANY:
                self.add("key", target.value.at, target.slice.at)
        else:
            self.add("copy", target.at, src)
            self.unpack(target, self.tree.nodes[src])

    def unpack(self, target: Any, value: Any = None) -> None:
        """A value is in a target; if that is a tuple or a list, its items go on. Behind a star, items are counted from
        the end, or from the start where the value is written out."""
        if target.__class__ is not ast.Tuple and target.__class__ is not ast.List:
            return
        shift, more = 0, ""
        for number, item in enumerate(target.elts):
            if item.__class__ is ast.Starred:
                length = _length(value)
                shift = (0 if length is None else length) - len(target.elts)
                more = "" if length is None else f":{number + shift + 1}"
                self.add("unpack_rest", item.value.at, target.at, f"{number}{more}")
                item = item.value
            else:
                self.add("unpack", item.at, target.at, str(number + shift))
            if item.__class__ is ast.Attribute or item.__class__ is ast.Subscript:
                self.store(item, item.at)
            else:
                self.unpack(item)

    def fill(self, target: Any) -> None:
        """A value came into the slot of a target by itself (of a loop, of `with`); pass it on."""
        if target.__class__ is ast.Attribute or target.__class__ is ast.Subscript:
            self.store(target, target.at)
        else:
            self.unpack(target)

    def match(self, pattern: Any) -> None:
        """A pattern's slot is what it is matched with; pass it on to the patterns in it."""
        at, kind = pattern.at, pattern.__class__
        if kind is ast.MatchAs and pattern.pattern is not None:
            self.add("copy", pattern.pattern.at, at)
            self.match(pattern.pattern)
        elif kind is ast.MatchOr:
            for each in pattern.patterns:
                self.add("copy", each.at, at)
                self.match(each)
        elif kind is ast.MatchSequence:
            for number, each in enumerate(pattern.patterns):
                is_rest = each.__class__ is ast.MatchStar
                self.add("unpack_rest" if is_rest else "unpack", each.at, at, str(number))
                self.match(each)
        elif kind is ast.MatchMapping:
            for key, each in zip(pattern.keys, pattern.patterns, strict=True):
                self.add("load_item", each.at, at, key_of(key))
                self.match(each)
        elif kind is ast.MatchClass:
            self.add("narrow", at, pattern.cls.at)
            for number, each in enumerate(pattern.patterns):
                self.add("match_argument", each.at, at, str(number))
                self.match(each)
            for name, each in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
                self.add("load_attribute", each.at, at, name)
                self.match(each)


def _length(value: Any) -> int | None:
    """How many items a display has, if none of them is spread."""
    if value.__class__ is not ast.Tuple and value.__class__ is not ast.List:
        return None
    return None if any(item.__class__ is ast.Starred for item in value.elts) else len(value.elts)


def key_of(node: Any) -> str:
    """A constant key as Python writes it; `:` for a slice, with its start if that is known; ANY for what is not."""
    kind = node.__class__
    if kind is ast.Constant:
        value = node.value
        if value.__class__ in (str, bytes):
            return repr(value) if len(value) <= _MAX_KEY else ANY
        return repr(value) if value.__class__ in (int, bool) and value < _MAX_INDEX else ANY
    if kind is ast.UnaryOp and node.op.__class__ is ast.USub and node.operand.__class__ is ast.Constant:
        value = node.operand.value
        return f"-{value!r}" if value.__class__ is int and value < _MAX_INDEX else ANY
    if kind is not ast.Slice:
        return ANY
    start = key_of(node.lower) if node.lower is not None and node.step is None else ""
    return f"{start}:" if start.isdigit() else ":"


def written(text: str) -> str:
    """Text of a constant as UTF-8 can hold it: a lone surrogate becomes the escape that it is in source code."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
