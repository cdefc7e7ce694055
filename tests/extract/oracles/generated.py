"""Random programs: functions of all kinds, whatever the grammar allows, that end. They run in a `World`."""

from __future__ import annotations

import random
from collections.abc import Callable

_NAMES = ("u", "v", "w", "x")


class Generated:
    """The source of a program, from a seed."""

    def __init__(self, seed: int, *, n_functions: int = 2, size: int = 30) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.kind = "def"
        self.loops = 0
        self.is_star = False
        self.left = 0
        for number in range(n_functions):
            self.function(f"run{number}", size, 0)
        self.source = "\n".join(self.lines) + "\n"

    def odds(self, share: float) -> bool:
        return self.random.random() < share

    def name(self) -> str:
        return self.random.choice(_NAMES)

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def function(self, name: str, size: int, depth: int) -> None:
        before = self.kind, self.loops, self.is_star, self.left
        self.kind = self.random.choice(("def", "def", "def", "yield", "async", "async yield" if depth else "async"))
        self.loops, self.is_star, self.left = 0, False, size
        parameters = self.random.choice(("", "u=1", "u=2, *v, w=3, **x", f"v={self.expression(1, '')}"))
        self.add(depth, f"{'async ' if 'async' in self.kind else ''}def {name}({parameters}):")
        if self.odds(0.8):
            self.add(depth + 1, "u = v = w = x = g()")
        if "yield" in self.kind:
            self.add(depth + 1, "yield")
        self.body(depth + 1, 4)
        self.kind, self.loops, self.is_star, self.left = before

    def body(self, depth: int, n: int) -> None:
        start = len(self.lines)
        for _ in range(self.random.randint(1, n)):
            if self.left > 0:
                self.left -= 1
                self.statement(depth)
        if len(self.lines) == start:
            self.add(depth, "pass")

    def statement(self, depth: int) -> None:
        simple: tuple[Callable[[int], None], ...] = (
            self.assign,
            self.assign,
            self.augment,
            self.call,
            self.leave,
            self.delete,
        )
        compound: tuple[Callable[[int], None], ...] = (
            *(self.if_, self.if_, self.while_, self.for_, self.try_, self.try_, self.try_, self.with_, self.match_),
            *(self.def_, self.class_),
        )
        self.random.choice(compound if depth < 7 and self.odds(0.5) else simple)(depth)

    # Expressions. `kind` says what may wait in them; empty in what another frame evaluates.

    def expression(self, depth: int, kind: str | None = None) -> str:
        kind = self.kind if kind is None else kind
        e = lambda: self.expression(depth - 1, kind)  # noqa: E731
        inner = lambda: self.expression(1, "")  # noqa: E731
        if depth <= 0:
            return self.random.choice((self.name(), self.name(), "c()", "c()", "g()", "1", "0", f"g({self.name()})"))
        made = self.random.choice((
            lambda: f"({e()} and {e()})",
            lambda: f"({e()} or {e()} or {e()})",
            lambda: f"({e()} if {e()} else {e()})",
            lambda: f"(not {e()})",
            lambda: f"(g({e()}) == {e()} != {e()})",
            lambda: f"g({e()}, *[{e()}], k={e()})",
            lambda: f"({self.name()} := {e()})" if kind else e(),
            lambda: f"[{e()}, {e()}]",
            lambda: f"({e()}, *[{e()}])",
            lambda: "{" + f"g(): {e()}, 2: {e()}" + "}",
            lambda: f"[{e()}][g()]",
            lambda: "f'" + "{" + self.expression(0, "") + "!r}{" + self.expression(0, "") + "}'",
            lambda: f"[{inner()} for {self.name()} in it({inner()}) if {inner()}]",
            lambda: f"(lambda u=({e()}): {inner()})()",
            lambda: f"(await aw({e()}))" if "async" in kind else f"g({e()})",
            lambda: f"(yield {e()})" if "yield" in kind else f"g({e()}).a",
        ))  # fmt: skip
        return made()

    def target(self) -> str:
        return self.random.choice((
            *[self.name] * 4,
            lambda: f"({self.name()}, {self.name()})",
            lambda: f"g({self.expression(1)}).a",
            lambda: f"g()[{self.expression(1)}]",
            lambda: f"({self.name()}, g()[{self.expression(2)}])",
        ))()  # fmt: skip

    # Statements.

    def assign(self, depth: int) -> None:
        form = self.random.choice(
            ("{t} = g({e})", "{t} = g({e})", "{t} = {t2} = g({e})", "{n} = {e}", "{n}: int = {e}", "u, v = {e}, {e2}")
        )
        parts = {
            "t": self.target(),
            "t2": self.target(),
            "n": self.name(),
            "e": self.expression(2),
            "e2": self.expression(1),
        }
        self.add(depth, form.format(**parts))

    def augment(self, depth: int) -> None:
        target = self.random.choice((self.name(), "g().a", f"g()[{self.expression(1)} and 0]"))
        self.add(depth, f"{target} += g({self.expression(2)})")

    def call(self, depth: int) -> None:
        self.add(
            depth, self.random.choice((f"g({self.expression(2)})", self.expression(2), "import os.path as u", "pass"))
        )

    def delete(self, depth: int) -> None:
        self.add(
            depth, self.random.choice((f"del {self.name()}", f"assert {self.expression(2)}, {self.expression(1)}"))
        )

    def leave(self, depth: int) -> None:
        ways = ["raise E1", f"raise E2({self.expression(1)}) from None"]
        if not self.is_star:
            ways.append("return" if self.kind == "async yield" else f"return {self.expression(1)}")
            if self.loops:
                ways += ["break", "continue"] * 2
        if self.odds(0.7):
            self.add(depth, f"if {self.expression(1)}:")
            depth += 1
        self.add(depth, self.random.choice(ways))

    def if_(self, depth: int) -> None:
        self.add(depth, f"if {self.expression(2)}:")
        self.body(depth + 1, 3)
        for _ in range(self.random.randrange(3)):
            self.add(depth, f"elif {self.expression(1)}:")
            self.body(depth + 1, 2)
        self.orelse(depth)

    def orelse(self, depth: int, share: float = 0.4) -> None:
        if self.odds(share):
            self.add(depth, "else:")
            self.body(depth + 1, 2)

    def loop(self, depth: int, head: str) -> None:
        self.add(depth, head)
        before = self.is_star
        self.loops, self.is_star = self.loops + 1, False
        self.body(depth + 1, 4)
        self.loops, self.is_star = self.loops - 1, before
        self.orelse(depth)

    def while_(self, depth: int) -> None:
        if self.is_star:
            return self.call(depth)
        return self.loop(depth, f"while not done() and {self.expression(2)}:")

    def for_(self, depth: int) -> None:
        if self.is_star:
            return self.call(depth)
        if "async" in self.kind and self.odds(0.5):
            return self.loop(depth, f"async for {self.target()} in ait(g({self.expression(1)})):")
        return self.loop(depth, f"for {self.target()} in it(g({self.expression(1)})):")

    def with_(self, depth: int) -> None:
        is_async = "async" in self.kind and self.odds(0.5)
        managers = []
        for _ in range(self.random.randint(1, 2)):
            manager = f"{'acm' if is_async else 'cm'}(g({self.expression(1)}))"
            managers.append(manager + (f" as {self.target()}" if self.odds(0.6) else ""))
        self.add(depth, f"{'async ' if is_async else ''}with {', '.join(managers)}:")
        self.body(depth + 1, 3)

    def try_(self, depth: int) -> None:
        n = self.random.randrange(3)
        star = "*" if self.odds(0.15) else ""
        self.add(depth, "try:")
        self.body(depth + 1, 3)
        for _ in range(n):
            kind = self.random.choice(("E1", "E2", "(E1, ValueError)", "Exception", "f(E1)", "(E1 if c() else E2)"))
            kind = "ValueError" if star and kind == "Exception" else kind
            self.add(depth, f"except{star} {kind}{f' as {self.name()}' if self.odds(0.5) else ''}:")
            before = self.is_star, self.loops
            self.is_star = self.is_star or bool(star)
            self.body(depth + 1, 3)
            self.is_star, self.loops = before
        if n and not star and self.odds(0.3):
            self.add(depth, "except:")
            self.body(depth + 1, 2)
        if n:
            self.orelse(depth, 0.3)
        if not n or self.odds(0.4):
            self.add(depth, "finally:")
            self.body(depth + 1, 3)

    def match_(self, depth: int) -> None:
        self.add(depth, f"match {self.random.choice((self.expression(2), '[g(), g()]'))}:")
        patterns = (
            "1",
            "None",
            "[u, v]",
            "[u, *w]",
            "{'a': x, **v}",
            "int() as w",
            "True | 0",
            "[v, 1] | [1, v]",
            "str(x)",
        )
        for _ in range(self.random.randint(1, 3)):
            guard = f" if {self.expression(1)}" if self.odds(0.4) else ""
            self.add(depth + 1, f"case {self.random.choice(patterns)}{guard}:")
            self.body(depth + 2, 2)
        if self.odds(0.4):
            self.add(depth + 1, f"case {self.random.choice(('_', 'u', '(1 | _) as v'))}:")
            self.body(depth + 2, 2)

    def def_(self, depth: int) -> None:
        if self.odds(0.3):
            self.add(depth, f"@{self.random.choice(('deco', '(deco if c() else f)'))}")
        name = self.name()
        self.function(name, 6, depth)
        self.add(depth, f"f({name})")

    def class_(self, depth: int) -> None:
        before = self.kind, self.loops, self.is_star
        self.add(depth, f"class {self.name()}({self.random.choice(('', 'object if c() else object'))}):")
        self.kind, self.loops, self.is_star = "", 0, True
        self.body(depth + 1, 3)
        self.kind, self.loops, self.is_star = before
