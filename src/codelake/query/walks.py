"""Walks through the graph, level by level: each level is a few look-ups for all of its nodes, and a node is entered
once, by the shortest way. What comes back is a tree in the order in which it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from codelake.query.rows import Row


class Step(NamedTuple):
    """From a node that is known to the next one."""

    of: str
    node_id: str
    how: str
    confidence: float
    method: str
    sites: tuple[int, ...] = ()
    """Lines where it happens."""


Take = Callable[[Sequence[str]], Iterable[Step]]
"""The steps from all nodes of a level."""


class Reached(NamedTuple):
    step: Step
    depth: int
    route: tuple[str, ...]
    """Ids from the start to the node itself."""


def walk(start: Sequence[str], take: Take, *, depth: int, limit: int) -> tuple[list[Reached], bool]:
    """What is reached in at most `depth` steps, as a tree; and whether more than `limit` nodes would be."""
    seen = set(start)
    below: dict[str, list[Step]] = {}
    level: list[str] = list(start)
    n, is_cut = 0, False
    for _ in range(depth):
        following: list[str] = []
        for step in _best(take(level)):
            if step.node_id in seen:
                continue
            if n == limit:
                is_cut = True
                break
            seen.add(step.node_id)
            n += 1
            below.setdefault(step.of, []).append(step)
            following.append(step.node_id)
        if not following or is_cut:
            break
        level = following
    return [each for root in start for each in _drawn(root, below, 1, (root,))], is_cut


def _best(steps: Iterable[Step]) -> list[Step]:
    """The surest way to each node first; what is equally sure by its ids, so that every engine gives the same tree."""
    return sorted(steps, key=lambda step: (-step.confidence, step.node_id, step.how, step.of))


def _drawn(node_id: str, below: dict[str, list[Step]], depth: int, route: tuple[str, ...]) -> Iterator[Reached]:
    for step in sorted(below.get(node_id, ()), key=lambda step: (step.how, step.node_id)):
        way = (*route, step.node_id)
        yield Reached(step, depth, way)
        yield from _drawn(step.node_id, below, depth + 1, way)


def reached_row(reached: Reached, node: Row) -> Row:
    step = reached.step
    return {
        "depth": reached.depth,
        "how": step.how,
        **node,
        "confidence": step.confidence,
        "method": step.method,
        "of": step.of,
        "sites": list(step.sites),
        "route": list(reached.route),
    }
