"""Control-flow graphs and reaching definitions of a snippet, as text that a test can read."""

from __future__ import annotations

import textwrap

from codelake.extract.control.reaching import reaching
from codelake.extract.control.statements import control
from codelake.extract.names.scopes import names
from codelake.extract.recover import recovered
from codelake.extract.text import decoded
from codelake.extract.tree import Tree, indexed, names_of, parse


class Graphs:
    def __init__(self, source: str, *, is_broken: bool = False) -> None:
        text = decoded(textwrap.dedent(source).strip("\n").encode())
        assert text is not None
        self.tree: Tree = recovered(text) if is_broken else indexed(parse(text), text)
        names(self.tree)
        self.names = names_of(self.tree)
        self.blocks, self.steps, self.rows = control(self.tree)
        ((self.definitions, self.uses),) = reaching(self.tree)

    def text(self, start: int, end: int) -> str:
        return " ".join(self.tree.text.utf8[start:end].decode().split())

    def block(self, block: int) -> str:
        """The kind of a block, or the source of its steps."""
        nodes = [node for of, node in zip(*self.steps, strict=True) if of == block]
        kind = self.blocks[1][block]
        if kind != "code":
            assert not nodes
            return f"<{kind}>"
        return "; ".join(self.text(self.tree.starts[at], self.tree.ends[at]).split(":")[0] for at in nodes) or "<none>"

    def flows(self, scope: int | None = None, *, exceptions: bool = False) -> list[str]:
        """Each flow of a scope (the last, unless told) as text, in order of the source's blocks; those by exceptions
        or the others."""
        scope = max(self.blocks[0]) if scope is None else scope
        return [
            f"{self.block(src)} -> {self.block(dst)}" if kind in ("next", "exception") else
            f"{self.block(src)} -{kind}> {self.block(dst)}"
            for src, dst, kind in zip(*self.rows, strict=True)
            if self.blocks[0][src] == scope and (kind == "exception") == exceptions
        ]  # fmt: skip

    def reaches(self) -> set[tuple[str, int, int]]:
        """Names, with the lines of a definition and of a use."""
        found = set()
        for definition, use in zip(self.definitions, self.uses, strict=True):
            at, used_at = self.names.reference_nodes[definition], self.names.reference_nodes[use]
            symbol = self.names.reference_symbols[use]
            assert symbol is not None
            lines = int(self.tree.start_lines[at]), int(self.tree.start_lines[used_at])
            found.add((self.names.symbol_names[symbol], *lines))
        return found

    def leaving(self) -> set[int]:
        """The lines of definitions that others see."""
        return {int(self.tree.start_lines[self.names.reference_nodes[each]]) for each in self.tree.leaving}
