"""Programs at random, of what scopes are made of: few names, bound and used in all ways, deeply nested."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator

_NAMES = ("a", "b", "c", "d", "__p", "_C__p", "super", "__class__")


def programs(seed: int, n: int) -> Iterator[str]:
    """The first `n` that CPython compiles."""
    rng = random.Random(seed)
    while n:
        head = rng.choice(["", "", "from __future__ import annotations\n"])
        source = head + _Program(rng).block(0, "module", rng.randint(2, 6))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(source, "program", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        n -= 1
        yield source


class _Program:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def name(self) -> str:
        return self.rng.choices(_NAMES, (6, 6, 6, 4, 2, 1, 1, 1))[0]

    def block(self, depth: int, kind: str, n: int, *, is_new_scope: bool = False) -> str:
        indent = "    " * depth
        lines = []
        if is_new_scope and self.rng.random() < 0.3:
            lines.append(f"{self.rng.choice(['global', 'nonlocal'])} {self.name()}")
        lines += [self.statement(depth, kind) for _ in range(n)]
        return "".join(f"{indent}{line}\n" for line in lines)

    def inner(self, depth: int, kind: str = "") -> str:
        """The body of a statement; without a kind, in the same scope."""
        n = self.rng.randint(1, 3)
        return "\n" + self.block(depth + 1, kind, n, is_new_scope=bool(kind)).rstrip("\n")

    def statement(self, depth: int, kind: str) -> str:
        name, value, indent = self.name(), self.value(2), "    " * depth
        simple = [
            lambda: f"{name} = {value}",
            lambda: f"{self.target()} = {value}",
            lambda: f"{self.target()} += {value}",
            lambda: f"{name}: {value}",
            lambda: f"({name}): {value}",
            lambda: f"{name}: {value} = {self.value(1)}",
            lambda: f"{name}.x: {value}",
            lambda: f"del {name}",
            lambda: f"import {name}.{self.name()}",
            lambda: f"import m.{self.name()} as {name}",
            lambda: f"from m import x as {name}, {self.name()}",
            lambda: f"{value}",
            lambda: f"return {value}" if kind == "function" else "pass",
        ]
        nested = [
            lambda: (
                f"@{value}\n{indent}def {name}({self.parameters()}) -> {self.value(1)}:{self.inner(depth, 'function')}"
            ),
            lambda: f"def {name}({self.parameters()}):{self.inner(depth, 'function')}",
            lambda: f"async def {name}():{self.inner(depth, 'function')}\n{indent}    await {self.value(1)}",
            lambda: f"class {self.rng.choice(['C', '_C', '_', name])}({value}):{self.inner(depth, 'class')}",
            lambda: f"for {self.target()} in {value}:{self.inner(depth)}\n{indent}else:{self.inner(depth)}",
            lambda: f"while {value}:{self.inner(depth)}",
            lambda: f"if {value}:{self.inner(depth)}\n{indent}else:{self.inner(depth)}",
            lambda: f"with {value} as {self.target()}:{self.inner(depth)}",
            lambda: (
                f"try:{self.inner(depth)}\n{indent}except {value} as {name}:{self.inner(depth)}\n"
                f"{indent}else:{self.inner(depth)}\n{indent}finally:{self.inner(depth)}"
            ),
            lambda: f"match {value}:\n{indent}    case {self.pattern(2)} if {self.value(1)}:{self.inner(depth + 1)}",
        ]
        return self.rng.choice(simple if depth > 2 or self.rng.random() < 0.55 else nested)()

    def parameters(self) -> str:
        made = [n for n in _NAMES[:5] if self.rng.random() < 0.3]
        plain = [self.rng.choice([n, f"{n}: {self.value(1)}"]) for n in made[:2]]
        named = [f"{n}: {self.value(1)} = {self.value(1)}" for n in made[2:]]
        return ", ".join([*plain, *self.rng.choice([[], ["*args"]]), *named])

    def target(self) -> str:
        return self.rng.choice([self.name(), self.name(), f"{self.name()}.x", f"{self.name()}[{self.value(1)}]"])

    def pattern(self, depth: int) -> str:
        if not depth:
            return self.rng.choice([self.name(), "_", "1", f"{self.name()}.x"])
        return self.rng.choice(
            [
                f"[{self.pattern(depth - 1)}, *{self.name()}]",
                f"[{self.pattern(depth - 1)}, *_]",
                f"{{'k': {self.pattern(depth - 1)}, **{self.name()}}}",
                f"{self.name()}(k={self.pattern(depth - 1)})",
                f"({self.pattern(depth - 1)}) as {self.name()}",
            ]
        )

    def value(self, depth: int) -> str:
        name = self.name()
        if not depth:
            return self.rng.choice([name, name, "1"])
        one, other = self.value(depth - 1), self.value(depth - 1)
        loop = f"for {self.name()} in {self.name()} if {other} for {self.name()} in {self.value(0)}"
        return self.rng.choice(
            [
                name,
                f"{name}.x.__y",
                f"{name}[{one}]",
                f"f({one}, k={other})",
                f"({name} := {one})",
                f"(lambda {self.name()}={one}: {other})",
                f"[{name} {loop}]",
                f"{{{one} {loop}}}",
                f"{{{one}: {name} {loop}}}",
                f"list({name} {loop})",
                f"({one} if {other} else {name})",
                f"({one} and {other})",
                f"f'{{{name}}} {{{self.name()}!r:{{{name}}}}}'",
            ]
        )
