"""Operators and comparisons, which call special methods of their operands."""

from __future__ import annotations

from codelake.graph.link.asking import ask_contained, ask_text
from codelake.graph.link.linking import Linking
from codelake.graph.link.protocols import call_outside, call_special, is_of_unit
from codelake.graph.link.values import Kind

OPERATORS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "MatMult": "matmul",
    "Div": "truediv",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitOr": "or",
    "BitXor": "xor",
    "BitAnd": "and",
    "USub": "neg",
    "UAdd": "pos",
    "Invert": "invert",
    "Eq": "eq",
    "NotEq": "ne",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
}


_RANKS = {"bool": 0, "int": 1, "float": 2, "complex": 3}
"""Numbers: an operator gives what the higher operand is."""
_FLOAT = _RANKS["float"]


def operate(link: Linking, scope: int, key: str, operand: int, right: str, dst: int, value: int) -> None:
    """An operator, by its left operand. What operators and comparisons are given is not passed to their methods: they
    take anything, and would hold everything. `right` is the type of the right operand, if that is a constant."""
    kind, _, b = link.values.keys[value]
    name = OPERATORS.get(key.removeprefix("i"))
    if name is None:
        return
    if is_of_unit(link, value):
        names = (f"__i{name}__", f"__{name}__") if key.startswith("i") else (f"__{name}__",)
        any(call_special(link, scope, value, one, dst) for one in names)
    elif kind == Kind.CONTAINER and name in ("add", "mul", "or") and b != "generator":
        link.solver.add(dst, value)  # of two containers the sum is taken for either
        if operand >= 0:
            link.solver.once(("sum", dst), link.waits, operand, _add_container, dst)
    elif kind == Kind.INSTANCE:
        rank = _rank(link, value)
        if rank is not None and _RANKS.get(right, 0) > max(rank, 1):
            link.solver.add(dst, link.builtin(right))
            return
        if rank is not None and operand >= 0:
            link.solver.once(("raised to", dst), link.waits, operand, _raise_to, dst)
        if not call_outside(link, value, f"__{name}__", dst):
            link.solver.add(dst, value)
        if operand >= 0:
            link.solver.once(("reflected", dst), link.waits, operand, _reflect, scope, name, dst)
            if name == "mod" and scope >= 0 and value == link.builtin("str"):
                link.waits(operand, ask_text, scope)


def _rank(link: Linking, value: int) -> int | None:
    kind, of, _ = link.values.keys[value]
    name = str(link.values.keys[of][1]) if kind == Kind.INSTANCE else ""
    return _RANKS.get(name.removeprefix("builtins.")) if name.startswith("builtins.") else None


def _raise_to(link: Linking, dst: int, value: int) -> None:
    """What a number and a float give is a float."""
    if (_rank(link, value) or 0) >= _FLOAT:
        link.solver.add(dst, value)


def _add_container(link: Linking, dst: int, value: int) -> None:
    if link.values.keys[value][0] == Kind.CONTAINER:
        link.solver.add(dst, value)


def _reflect(link: Linking, scope: int, name: str, dst: int, value: int) -> None:
    """The right operand is asked where the left is of a builtin type."""
    call_special(link, scope, value, f"__r{name}__", dst)


def compare(link: Linking, scope: int, key: str, dst: int, value: int) -> None:
    if key not in OPERATORS or not call_special(link, scope, value, f"__{OPERATORS[key]}__", dst):
        link.solver.add(dst, link.builtin("bool"))


def contain(link: Linking, scope: int, left: int, dst: int, value: int) -> None:
    """Whatever `__contains__` gives, Python makes True or False of it."""
    if not call_special(link, scope, value, "__contains__", link.nowhere):
        ask_contained(link, scope, left, value)
    if not link.solver.is_fixed(dst):
        link.solver.add(dst, link.builtin("bool"))
