"""Contents divided into tasks of about the same size."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

N_TASKS = 32
TASK_BYTES = (2 << 20, 32 << 20)
"""Source bytes of a task: a part of the whole for each of `N_TASKS`, but not less or more than this. Small tasks
keep all cores busy to the end; large ones make fewer files. The number of cores has no part in it."""
_CONTENT_BYTES = 1 << 10
"""What a content costs beside its size, in bytes of source: so that thousands of empty ones are not one task."""


@dataclass(frozen=True)
class Tasks:
    """Which content goes into which task: the largest first, each to the task that has least."""

    n_bytes: tuple[int, ...]
    """Source bytes of each task."""
    n_contents: tuple[int, ...]
    places: Mapping[str, tuple[int, int]] = field(repr=False)
    """Task, and rank within it, by digest."""

    def __len__(self) -> int:
        return len(self.n_bytes)


def balanced(sizes: Mapping[str, int]) -> Tasks:
    """Tasks for contents of these sizes. The same contents give the same tasks everywhere."""
    smallest, largest = TASK_BYTES
    total = sum(sizes.values()) + _CONTENT_BYTES * len(sizes)
    n = max(1, min(len(sizes), -(-total // min(max(total // N_TASKS, smallest), largest))))
    loads = [(0, task) for task in range(n)]
    n_bytes, n_contents = [0] * n, [0] * n
    places = {}
    for digest, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        load, task = loads[0]
        places[digest] = task, n_contents[task]
        n_contents[task] += 1
        n_bytes[task] += size
        heapq.heapreplace(loads, (load + size + _CONTENT_BYTES, task))
    return Tasks(tuple(n_bytes), tuple(n_contents), places)


def portions(sizes: Mapping[str, int], *, n_contents: int, n_bytes: int) -> Iterator[dict[str, int]]:
    """The contents in portions of at most so many, and of about so many bytes."""
    portion: dict[str, int] = {}
    total = 0
    for digest, size in sizes.items():
        portion[digest] = size
        total += size
        if len(portion) == n_contents or total >= n_bytes:
            yield portion
            portion, total = {}, 0
    if portion:
        yield portion
