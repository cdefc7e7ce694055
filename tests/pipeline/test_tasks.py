from __future__ import annotations

import random
from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from codelake.extract import tasks
from codelake.extract.guard import Limits
from codelake.extract.run import evidence
from codelake.extract.tasks import Tasks, balanced, portions


def digest(n: int) -> str:
    return f"{n:064x}"


def test_tasks_are_balanced_by_bytes_with_the_largest_first() -> None:
    chance = random.Random(1)
    sizes = {digest(n): int(chance.paretovariate(1.1) * 2000) for n in range(5000)}
    found = balanced(sizes)
    assert sum(found.n_bytes) == sum(sizes.values()) and sum(found.n_contents) == len(sizes)
    assert len(found) > 1 and max(found.n_bytes) < 1.1 * min(found.n_bytes) + max(sizes.values())
    assert found.places[max(sizes, key=lambda d: sizes[d])] == (0, 0)
    for task in range(len(found)):
        ranked = sorted((rank, sizes[d]) for d, (t, rank) in found.places.items() if t == task)
        assert [rank for rank, _ in ranked] == list(range(len(ranked)))
        assert [size for _, size in ranked] == sorted((size for _, size in ranked), reverse=True)


def test_the_order_of_contents_does_not_matter() -> None:
    sizes = {digest(n): n % 7 for n in range(100)}
    assert balanced(sizes) == balanced(dict(reversed(sizes.items())))


@pytest.mark.parametrize(
    ("n_contents", "size", "n_tasks"),
    [(0, 0, 1), (1, 0, 1), (1, 64 << 20, 1), (100_000, 0, 33), (500, 1 << 20, 32), (4000, 1 << 20, 126)],
)
def test_small_builds_have_one_task_and_large_ones_many(n_contents: int, size: int, n_tasks: int) -> None:
    assert abs(len(balanced({digest(n): size for n in range(n_contents)})) - n_tasks) <= n_tasks // 20


def test_portions_are_bounded_in_number_and_bytes() -> None:
    sizes = {digest(n): 10 for n in range(25)}
    assert [len(portion) for portion in portions(sizes, n_contents=10, n_bytes=1000)] == [10, 10, 5]
    assert [len(portion) for portion in portions(sizes, n_contents=100, n_bytes=90)] == [9, 9, 7]
    assert list(portions({}, n_contents=1, n_bytes=1)) == []


def test_one_task_or_four_give_the_same_rows(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {digest(n): f"def f{n}(a):\n    return g(a, {n})\n".encode() for n in range(8)}
    rows = [*contents.items(), *list(contents.items())[:3]]  # three are there twice
    frame = spark.createDataFrame(pa.table({"digest": [d for d, _ in rows], "content": [c for _, c in rows]}))
    one = balanced({d: len(c) for d, c in contents.items()})
    four = replace(one, n_bytes=(0,) * 4, places={d: (rank % 4, rank // 4) for d, (_, rank) in one.places.items()})
    found = [_rows(frame, each) for each in (one, four)]
    assert found[0] == found[1] and len(found[0]) == len(contents)
    assert tasks.N_TASKS and all(row["nodes"] and row["calls"] for row in found[0])


def _rows(frame: object, tasks: Tasks) -> list[dict[str, object]]:
    found = evidence(frame, tasks, limits=Limits()).toArrow().to_pylist()  # type: ignore[arg-type]
    return sorted(found, key=lambda row: str(row["digest"]))
