"""Control-flow graphs while they grow: blocks, the steps in them, and the flows between them.

Building goes forward through the code. `current` is the block that takes steps, or -1. Then `pending` holds the
flows that wait for the next step to make a block, as (block, kind). Nothing of both: what follows cannot be reached,
and its blocks have no flow into them.

A block is written once, from its first step to its last: when it is left, it is not taken up again. All blocks,
steps and flows of a scope follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NEXT, TRUE, FALSE, EXCEPTION = "next", "true", "false", "exception"
ENTRY, CODE, EXIT, RAISE = "entry", "code", "exit", "raise"

Pending = list[tuple[int, str]]


@dataclass(slots=True)
class Control:
    """The graphs of all scopes of a tree."""

    block_scopes: list[int] = field(default_factory=list)
    block_kinds: list[str] = field(default_factory=list)
    step_blocks: list[int] = field(default_factory=list)
    step_nodes: list[int] = field(default_factory=list)
    flow_sources: list[int] = field(default_factory=list)
    flow_targets: list[int] = field(default_factory=list)
    flow_kinds: list[str] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    """Blocks of code in the order in which they were: as good as topological, but for flows back to loops."""
    parts: dict[int, tuple[int, int, int, int]] = field(default_factory=dict)
    """Where the blocks, steps, flows and written blocks of a scope begin. They end where those of the next do."""
    broken: set[int] = field(default_factory=set)
    """Scopes with code that cannot be reached."""


class Goal:
    """Where a return, break or continue goes to, past `depth` cleanups (`with`, `finally`) that stay open."""

    __slots__ = ("block", "depth", "pending")

    def __init__(self, depth: int, block: int = -1) -> None:
        self.depth, self.block = depth, block
        self.pending: Pending = []
        """Instead of a block, for one that is not there yet."""


class Graph:
    """What grows, and where in the code it is."""

    def __init__(self, branching: set[int]) -> None:
        self.control = Control()
        self.branching = branching
        """Nodes with an expression in them that decides where control goes; see `branching`."""
        self.scope = -1
        self.is_class = False
        self.current = -1
        self.pending: Pending = []
        self.calm = True
        """No step of the current block raises."""
        self.handler = -1
        """The block that an exception goes to."""
        self.handled: set[int] = set()
        """Blocks that an exception goes to."""
        self.cleanups: list[Any] = []
        self.loops: list[tuple[Goal, Goal]] = []
        """For each loop around: where break and continue go to."""
        self.finish = Goal(0)
        """Where return goes to."""
        self.forks: dict[int, set[tuple[int, str]]] = {}
        """Flows from the ends of `finally`: ways that part there may meet in one."""
        self.hulls: list[tuple[int, int]] = []
        """(Step, node): the step is over where that node is, and what follows within is of other blocks."""
        self.places: dict[int, int] = {}
        """Blocks without steps, and the node at whose end they are."""

    def open(self, scope: int, *, is_class: bool, is_resumed: bool) -> None:
        """Starts a scope. What is resumed can be thrown into before it starts."""
        control = self.control
        first = len(control.block_kinds)
        control.parts[scope] = first, len(control.step_nodes), len(control.flow_kinds), len(control.written)
        control.block_kinds += (ENTRY, EXIT, RAISE)
        control.block_scopes += (scope, scope, scope)
        self.scope, self.is_class = scope, is_class
        self.handler = first + 2
        self.finish = Goal(0, first + 1)
        self.current, self.pending = -1, [(first, NEXT)]
        if is_resumed:
            self.flow(first, first + 2, EXCEPTION)

    def close(self) -> None:
        self.jump(self.finish.block)

    def block(self) -> int:
        """A block for later."""
        control = self.control
        block = len(control.block_kinds)
        control.block_kinds.append(CODE)
        control.block_scopes.append(self.scope)
        return block

    def flow(self, source: int, target: int, kind: str) -> None:
        control = self.control
        if source in self.forks:
            if (target, kind) in self.forks[source]:
                return
            self.forks[source].add((target, kind))
        control.flow_sources.append(source)
        control.flow_targets.append(target)
        control.flow_kinds.append(kind)

    def connect(self, pending: Pending, block: int) -> None:
        for source, kind in pending:
            self.flow(source, block, kind)

    def begin(self) -> int:
        """A new current block, after what is pending."""
        block = self.block()
        if self.pending:
            self.connect(self.pending, block)
            self.pending = []
        else:
            self.control.broken.add(self.scope)
        self.control.written.append(block)
        self.current, self.calm = block, True
        return block

    def pause(self) -> Pending:
        """No current block, all is pending."""
        if self.current >= 0:
            self.pending = [(self.current, NEXT)]
            self.current = -1
        return self.pending

    def wait(self, pending: Pending) -> None:
        """Goes on from elsewhere."""
        self.current, self.pending = -1, pending

    def jump(self, block: int) -> None:
        """Ends here, and goes to a block."""
        self.connect(self.pause(), block)
        self.pending = []

    def resume(self, block: int) -> None:
        """Goes on with a block that was made for later."""
        if not self.pause() and block not in self.handled:
            self.control.broken.add(self.scope)  # perhaps: others may have jumped there
        self.jump(block)
        self.control.written.append(block)
        self.current, self.calm = block, True

    def step(self, at: int, raises: bool) -> int:
        block = self.current
        if block < 0:
            block = self.begin()
        control = self.control
        control.step_blocks.append(block)
        control.step_nodes.append(at)
        if raises and self.calm:
            self.excepts()
        return block

    def excepts(self) -> None:
        """The current block may end by an exception."""
        self.calm = False
        self.flow(self.current, self.handler, EXCEPTION)
        self.handled.add(self.handler)
