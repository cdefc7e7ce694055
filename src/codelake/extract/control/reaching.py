"""Reaching definitions: which store of a name may still hold where the name is loaded or deleted.

Within a block, events are followed in order. Between blocks, sets of definitions flow until they settle: bits of
an integer, a run of bits for each symbol that a block loads before it stores. By an exception a block may be left
after any of its steps, so all of its definitions flow there, with all that came in.

What cannot be reached has no definitions, and is none.

Where the code of a module or a class ends, the definitions that still hold are what others see: `tree.leaving`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING

from codelake.extract.control.events import DELETE, LOAD, STORE, Events, events
from codelake.extract.control.graph import EXCEPTION, Control
from codelake.extract.tree import Problem, Tree, names_of

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows
    from codelake.extract.names.scopes import Names

MAX_PAIRS = 1_000_000
"""Between the blocks of a content's scopes. There may be as many as definitions times uses; those of a scope with
which there would be more are left out, and `problems` says so."""

_USES = frozenset((LOAD, DELETE))

_Uses = list[tuple[int, int, int]]
"""Block, symbol, reference."""
_Blocks = dict[int, tuple[dict[int, int], dict[int, int]]]
"""For a block, by symbol: what holds at its end, and what it defines at all. See `_follow`."""


def reaching(tree: Tree) -> tuple[Rows, ...]:
    names = names_of(tree)
    control = tree.control
    if control is None:
        raise AssertionError("the extractor of control flow runs before that of reaching definitions")
    found = events(tree, names, control)
    pairs = _Pairs(tree, found)
    if found.steps:
        several = _bound_several_times(names, found)
        bounds = [*control.parts.items(), (-1, _ends(control))]
        for (scope, part), (_, end) in pairwise(bounds):
            _reach(_Scope(control, part, end), scope, found, pairs, several.get(scope, ()))
    tree.leaving = pairs.leaving
    tree.reaches = pairs.definitions, pairs.uses
    return ((pairs.definitions, pairs.uses),)


def _ends(control: Control) -> tuple[int, int, int, int]:
    return len(control.block_kinds), len(control.step_nodes), len(control.flow_kinds), len(control.written)


def _bound_several_times(names: Names, found: Events) -> dict[int, list[int]]:
    """By module or class, the symbols of which it matters which definition is the last."""
    several: dict[int, list[int]] = {}
    for symbol, definitions in found.definitions.items():
        scope = names.symbol_scopes[symbol]
        if len(definitions) > 1 and names.scope_kinds[scope] in ("module", "class"):
            several.setdefault(scope, []).append(symbol)
    return several


class _Pairs:
    """Pairs of definitions and uses, as they are found."""

    def __init__(self, tree: Tree, found: Events) -> None:
        self.tree = tree
        self.of = found.definitions
        self.definitions: list[int] = []
        self.uses: list[int] = []
        self.leaving: list[int] = []
        self.n_joined = 0
        """Between blocks, so far."""
        self.nodes = names_of(tree).reference_nodes
        self.within = _within_handlers(tree, found.definitions)

    def add(self, symbol: int, bits: int, use: int) -> None:
        of = self.of[symbol]
        within = self.within.get(symbol, _NOWHERE)
        at = self.nodes[use] if use != _LEAVING else _BEHIND
        while bits:
            number = bits.bit_length() - 1
            bits ^= 1 << number
            start, end = within.get(number, _ANYWHERE)
            if not start <= at < end:
                continue
            if use == _LEAVING:
                self.leaving.append(of[number])
            else:
                self.definitions.append(of[number])
                self.uses.append(use)


_NOWHERE: dict[int, tuple[int, int]] = {}
_BEHIND = 1 << 61
_ANYWHERE = 0, 1 << 62
_LEAVING = -1
"""In place of a reference: whoever sees the names of a module or class from outside."""
_EXIT, _RAISE = 1, 2
"""Blocks of every scope, counted from its entry."""


def _within_handlers(tree: Tree, definitions: dict[int, list[int]]) -> dict[int, dict[int, tuple[int, int]]]:
    """By symbol and number, nodes of the innermost handler around a definition that binds the same name.

    Where the handler is left, the name is deleted. So the definition reaches nothing else.
    """
    names = names_of(tree)
    handlers: dict[int, list[tuple[int, int]]] = {}
    for handler in tree.every(ast.ExceptHandler):
        if handler.name is not None:
            symbol = names.reference_symbols[names.stores[handler.at]]
            if symbol is not None and symbol in definitions:
                handlers.setdefault(symbol, []).append((handler.at, _end(tree, handler.at)))
    found: dict[int, dict[int, tuple[int, int]]] = {}
    for symbol, ranges in handlers.items():
        within = found[symbol] = {}
        open_: list[tuple[int, int]] = []
        to_come = ranges[::-1]
        for number, definition in enumerate(definitions[symbol]):
            at = names.reference_nodes[definition]
            while open_ and open_[-1][1] <= at:
                open_.pop()
            if to_come and to_come[-1][0] == at:
                open_.append(to_come.pop())
            if open_:
                within[number] = open_[-1]
    return found


def _end(tree: Tree, at: int) -> int:
    """The ordinal behind a subtree."""
    end = at + 1
    while end < len(tree.nodes) and tree.parents[end] >= at:
        end += 1
    return end


class _Scope:
    """A part of the graphs; blocks are counted from the scope's first, which is its entry."""

    def __init__(self, control: Control, part: tuple[int, ...], end: tuple[int, ...]) -> None:
        self.control = control
        self.first, self.n = part[0], end[0] - part[0]
        self.steps = range(part[1], end[1])
        self.flows = range(part[2], end[2])
        self.written = range(part[3], end[3])

    def successors(self) -> tuple[list[list[int]], list[list[int]]]:
        """From each block, by whatever else and by exceptions. Who leaves by an exception leaves no names behind."""
        others: list[list[int]] = [[] for _ in range(self.n)]
        raised: list[list[int]] = [[] for _ in range(self.n)]
        control, first = self.control, self.first
        for flow in self.flows:
            target = control.flow_targets[flow] - first
            if target != _RAISE:
                into = raised if control.flow_kinds[flow] == EXCEPTION else others
                into[control.flow_sources[flow] - first].append(target)
        return others, raised

    def reachable(self) -> set[int]:
        others, raised = self.successors()
        seen, todo = {0}, [0]
        while todo:
            block = todo.pop()
            new = {*others[block], *raised[block]} - seen
            seen |= new
            todo += new
        return {self.first + block for block in seen}


def _reach(scope: _Scope, number: int, found: Events, pairs: _Pairs, several: Sequence[int]) -> None:
    steps = [step for step in scope.steps if step in found.steps]
    if not steps:
        return
    if number in scope.control.broken:
        reachable = scope.reachable()
        steps = [step for step in steps if scope.control.step_blocks[step] in reachable]
    blocks, open_uses = _follow(scope, steps, found, pairs)
    open_uses += [(_EXIT, symbol, _LEAVING) for symbol in several]
    if not open_uses:
        return
    parameters = found.parameters.get(number, ())
    given = {s for s, _ in parameters if len(found.definitions[s]) == 1 and s not in found.deleted}
    symbols: dict[int, int] = {}
    """Where the bits of a symbol start."""
    width = 0
    for _, symbol, use in open_uses:
        if symbol in given:
            pairs.add(symbol, 1, use)
        elif symbol not in symbols:
            symbols[symbol] = width
            width += len(found.definitions[symbol])
    if symbols:
        at_entry = sum(1 << symbols[s] + k for s, k in parameters if s in symbols)
        ins = _solve(scope, blocks, symbols, width, at_entry, found)
        _join(scope, open_uses, symbols, ins, pairs)


def _follow(scope: _Scope, steps: list[int], found: Events, pairs: _Pairs) -> tuple[_Blocks, _Uses]:
    """Follows each block from its start. Returns what it does, and uses of what comes from before it.

    What holds of a symbol: a bit for each definition, above a bit for what came into the block.
    """
    step_blocks, events_of = scope.control.step_blocks, found.steps
    blocks: _Blocks = {}
    open_uses: _Uses = []
    block = -1
    holds: dict[int, int] = {}
    made: dict[int, int] = {}
    for step in steps:
        if step_blocks[step] != block:
            block = step_blocks[step]
            holds, made = {}, {}
            blocks[block - scope.first] = holds, made
        for _, what, symbol, number in events_of[step]:
            if what in _USES:
                held = holds.get(symbol, 1)
                if held & 1:
                    open_uses.append((block - scope.first, symbol, number))
                if held > 1:
                    pairs.add(symbol, held >> 1, number)
                if what == DELETE:
                    holds[symbol] = 0
            else:
                bit = 2 << number
                holds[symbol] = bit if what == STORE else holds.get(symbol, 1) | bit
                made[symbol] = made.get(symbol, 0) | bit
    return blocks, open_uses


def _solve(
    scope: _Scope, blocks: _Blocks, symbols: dict[int, int], width: int, at_entry: int, found: Events
) -> list[int]:
    """The definitions that come into each block."""
    everything = (1 << width) - 1
    stores, keeps, makes = [0] * scope.n, [everything] * scope.n, [0] * scope.n
    for block, (holds, made) in blocks.items():
        for symbol, held in holds.items():
            if symbol in symbols:
                start = symbols[symbol]
                stores[block] |= held >> 1 << start
                if not held & 1:
                    keeps[block] ^= (1 << len(found.definitions[symbol])) - 1 << start
                makes[block] |= made.get(symbol, 0) >> 1 << start
    stores[0] = at_entry
    others, raised = scope.successors()
    ranks = [0] * scope.n
    order = [0]
    for rank, place in enumerate(scope.written, 1):
        block = scope.control.written[place] - scope.first
        ranks[block] = rank
        order.append(block)
    ins = [0] * scope.n
    seen, waits = bytearray(scope.n), bytearray(scope.n)
    heap = [0]
    while heap:
        block = order[heappop(heap)]
        waits[block] = 0
        came = ins[block]
        for targets, out in (
            (others[block], stores[block] | came & keeps[block]),
            (raised[block], came | makes[block]),
        ):
            for target in targets:
                now = ins[target] | out
                if now != ins[target] or not seen[target]:
                    ins[target] = now
                    seen[target] = 1
                    if not waits[target]:
                        waits[target] = 1
                        heappush(heap, ranks[target])
    return ins


def _join(scope: _Scope, open_uses: _Uses, symbols: dict[int, int], ins: list[int], pairs: _Pairs) -> None:
    joined, leaving = [], []
    n = 0
    for block, symbol, use in open_uses:
        if symbol in symbols:
            bits = ins[block] >> symbols[symbol] & (1 << len(pairs.of[symbol])) - 1
            if use == _LEAVING:
                leaving.append((symbol, bits))
            else:
                n += bits.bit_count()
                joined.append((symbol, bits, use))
    if n > MAX_PAIRS - pairs.n_joined:
        node = names_of(pairs.tree).scope_nodes[scope.control.block_scopes[scope.first]].at
        before = f", with {pairs.n_joined:,} before," if pairs.n_joined else ""
        message = f"{n:,} pairs of definitions and uses{before} are more than {MAX_PAIRS:,}"
        start, end = pairs.tree.starts[node], pairs.tree.ends[node]
        pairs.tree.problems.append(Problem("too large", message, int(start), int(end)))
        # Uses without pairs see what others see, so that is all of them.
        joined = []
        leaving = [(symbol, (1 << len(pairs.of[symbol])) - 1) for symbol, _ in leaving]
    pairs.n_joined += n if joined else 0
    for symbol, bits, use in (*joined, *((symbol, bits, _LEAVING) for symbol, bits in leaving)):
        if bits:
            pairs.add(symbol, bits, use)
