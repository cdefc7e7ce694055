"""Random edits of one file's code that Python still parses: what somebody types between two builds."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=ast.AST)
Edit = Callable[[random.Random, ast.Module, list[str]], None]
"""Changes the lines of a file; the tree says what is in them."""


def code_edited(chance: random.Random, text: str) -> tuple[str, str]:
    """The name of an edit, and what it makes of a text."""
    tree = ast.parse(text)
    while True:
        edit, lines = chance.choice(EDITS), text.split("\n")
        try:
            edit(chance, tree, lines)
            ast.parse("\n".join(lines))
        except (SyntaxError, IndexError):  # there is nothing of its kind, or it broke the code
            continue
        return edit.__name__.strip("_"), "\n".join(lines)


def _comment(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    lines.append(f"# {chance.randrange(100)}\n")


def _more_at_the_end(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    n = chance.randrange(100)
    lines += [f"def more_{n}(value):", "    return value.run(str(value))", ""]


def _class_at_the_end(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    base = chance.choice([*(one.name for one in _all(tree, ast.ClassDef)), "object"])
    n = chance.randrange(100)
    lines += [f"class More{n}({base}):", "    def run(self, other):", "        return other.run(self)", ""]


def _statement(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    """At the beginning of a function: a name that another stands for from then on."""
    first = chance.choice(_functions(tree)).body[0]
    old, new = (chance.choice(_all(tree, ast.Name)).id for _ in range(2))
    lines.insert(first.lineno - 1, " " * first.col_offset + f"{old} = {new}")


def _delete(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    one = chance.choice(_statements(tree))
    lines[_first_line(one) - 1 : one.end_lineno] = [" " * one.col_offset + "pass"]


def _copy(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    """A function once more, under another name."""
    one = chance.choice(_functions(tree))
    copied = [
        line.replace(f"def {one.name}", f"def {one.name}_2", 1) for line in lines[_first_line(one) - 1 : one.end_lineno]
    ]
    lines[one.end_lineno : one.end_lineno] = copied


def _rename(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    one = chance.choice([*_functions(tree), *_all(tree, ast.ClassDef)])
    lines[one.lineno - 1] = lines[one.lineno - 1].replace(f" {one.name}", f" {one.name}_r", 1)


def _other_name(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    """Another name where one is used."""
    one, other = (chance.choice(_all(tree, ast.Name)) for _ in range(2))
    _put(lines, one, other.id)


def _other_argument(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    call = chance.choice([one for one in _all(tree, ast.Call) if one.args])
    _put(
        lines,
        chance.choice(call.args),
        chance.choice(["None", "str", "[print]", *(one.name for one in _functions(tree))]),
    )


def _base(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    one, other = (chance.choice(_all(tree, ast.ClassDef)) for _ in range(2))
    line = lines[one.lineno - 1]
    base = other.name if other.lineno < one.lineno else "object"
    lines[one.lineno - 1] = (
        line.replace(f"{one.name}(", f"{one.name}({base}, ", 1) if "(" in line else line.replace(":", f"({base}):", 1)
    )


def _swap(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    body = chance.choice([one for one in _bodies(tree) if len(one) > 1])
    at = chance.randrange(len(body) - 1)
    (a, b), (c, d) = ((_first_line(one) - 1, one.end_lineno or 0) for one in body[at : at + 2])
    lines[a:d] = [*lines[c:d], *lines[b:c], *lines[a:b]]


def _decorate(chance: random.Random, tree: ast.Module, lines: list[str]) -> None:
    one = chance.choice(_functions(tree))
    by = chance.choice(["staticmethod", "property", "classmethod", "unknown", "__import__('functools').wraps(len)"])
    lines.insert(_first_line(one) - 1, " " * one.col_offset + f"@{by}")


EDITS: tuple[Edit, ...] = (
    *(_comment, _more_at_the_end, _class_at_the_end, _statement, _delete, _copy, _rename, _other_name),
    *(_other_argument, _base, _swap, _decorate),
)


# what is in a tree -------------------------------------------------------------------------------


def _all(tree: ast.AST, kind: type[T]) -> list[T]:
    return [one for one in ast.walk(tree) if isinstance(one, kind)]


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [*_all(tree, ast.FunctionDef), *_all(tree, ast.AsyncFunctionDef)]


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    every = (getattr(one, name, None) for one in ast.walk(tree) for name in ("body", "orelse", "finalbody"))
    return [one for one in every if isinstance(one, list) and one]


def _statements(tree: ast.AST) -> list[ast.stmt]:
    return [one for body in _bodies(tree) for one in body]


def _first_line(one: ast.stmt) -> int:
    return min([one.lineno, *(each.lineno for each in getattr(one, "decorator_list", ()))])


def _put(lines: list[str], one: ast.expr, text: str) -> None:
    """A text in the place of an expression in one line."""
    if one.lineno != one.end_lineno:
        raise IndexError
    line = lines[one.lineno - 1].encode()
    lines[one.lineno - 1] = (line[: one.col_offset] + text.encode() + line[one.end_col_offset :]).decode()
