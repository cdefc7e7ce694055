"""What a build costs, over what it costs to read the same files with `ast`.

CPU of the whole build, all processes, beyond that of a session that starts and commits one row; over the CPU of
`ast.parse` and `ast.walk` on the same files in one plain process, in the same run: the mean of some before the build
and some after it, for what a machine gives in a second changes from minute to minute. With the share of each stage,
the most memory of each process, how many calls have a target, and the size of each table on disk.

    python benchmarks/build.py [FOLDER...]

Without folders: Django, then pandas, sympy, Django and SQLAlchemy together, from PyPI, kept in the cache.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codelake.contracts import TABLES
from codelake.contracts.sources import REPOSITORIES
from codelake.delta.create import create_table
from codelake.delta.lake import Lake, create_lake
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.extract.guard import Limits
from codelake.extract.sources import open_source
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.session import session, stop
from codelake.settings import load
from extract import cpu_of, downloaded, spent, tree_of

_SECONDS = 5
"""Of parsing, at least, before a build and after it."""
BARS = {1: (35, 20), 4: (20, 12)}
"""By number of repositories: the ratio that must hold, and the goal."""


def parsed(folders: list[Path]) -> tuple[float, int]:
    """CPU seconds of `ast.parse` and `ast.walk`, and how many lines."""
    n_lines = 0
    started = time.process_time()
    warnings.simplefilter("ignore")
    for file in (file for folder in folders for file in sorted(folder.rglob("*.py"))):
        raw = file.read_bytes()
        n_lines += raw.count(b"\n")
        try:
            for _ in ast.walk(ast.parse(raw)):
                pass
        except (SyntaxError, ValueError):
            continue
    return time.process_time() - started, n_lines


def parsed_often(folders: list[Path]) -> tuple[list[float], int]:
    """As often as it takes for some seconds."""
    times: list[float] = []
    n_lines = 0
    while sum(times) < _SECONDS:
        seconds, n_lines = parsed(folders)
        times.append(seconds)
    return times, n_lines


class Stages(Progress):
    """CPU seconds of all processes when each stage begins."""

    def __init__(self, jvm: int) -> None:
        self.jvm = jvm
        self.begun: list[tuple[str, float]] = []

    def stage(self, name: str) -> None:
        self.begun.append((name, total(self.jvm)))


def total(jvm: int) -> float:
    """Of this process, the JVM and all below it."""
    return cpu_of(os.getpid(), with_children=False) + sum(spent(jvm))


@contextmanager
def most_memory(jvm: int) -> Iterator[Counter[str]]:
    """The most megabytes of the JVM, of a Python worker, and of this process."""
    most: Counter[str] = Counter()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.2):
            for pid in [os.getpid(), *tree_of(jvm)]:
                name = "driver" if pid == os.getpid() else "JVM" if pid == jvm else "worker"
                most[name] = max(most[name], _megabytes(pid, name))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    yield most
    ended.set()
    thread.join()


def _megabytes(pid: int, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    if name == "worker" and not lines[0].split()[-1].startswith("python"):
        return 0  # what the JVM starts besides: for a moment such a process is as large as the JVM
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0)


def built(folders: list[Path], root: Path) -> dict[str, object]:
    n_bytes = sum(file.stat().st_size for folder in folders for file in folder.rglob("*.py"))
    spark = session(load({"master": "local[2]"}), thorough=n_bytes >= 32 << 20)
    jvm: int = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    one = create_lake(Store(str(root / "one")), spark)
    create_table(one, REPOSITORIES)
    row = spark.sql(
        "SELECT 'r' AS repo, 'tree' AS source, CAST(NULL AS string) AS revision, false AS is_dirty, "
        "CAST(NULL AS timestamp) AS committed_at"
    )
    commit(Run(one, "one"), REPOSITORIES, row, mode="append")
    lake = create_lake(Store(str(root / "lake")), spark)
    progress = Stages(jvm)
    before, started = total(jvm), time.perf_counter()
    with most_memory(jvm) as most:
        build(lake, Reading([open_source(folder) for folder in folders], progress), limits=Limits(), progress=progress)
    progress.stage("end")
    wall = time.perf_counter() - started
    stages = {"tables": progress.begun[0][1] - before}
    for (name, at), (_, until) in zip(progress.begun, progress.begun[1:], strict=False):
        stages[name] = until - at
    answer = {"cpu": total(jvm) - before, "wall": wall, "stages": stages, "memory": dict(most), "calls": calls(lake)}
    stop(spark)
    return answer


def calls(lake: Lake) -> dict[str, float]:
    where = lake.uri("calls")
    found = lake.session.read.format("delta").load(where)
    rows = {
        row["reason"]: row["n"] for row in found.groupBy("reason").count().withColumnRenamed("count", "n").collect()
    }
    n = sum(rows.values())
    return {str(reason or "with a target"): rows[reason] / n for reason in rows}


def sizes(root: Path) -> dict[str, int]:
    return {
        table.name: sum(file.stat().st_size for file in (root / "lake" / table.name).rglob("*") if file.is_file())
        for table in TABLES
    }


def measure(folders: list[Path]) -> None:
    before, n_lines = parsed_often(folders)
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, __file__, "--build", scratch, *map(str, folders)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        answer = json.loads(done.stdout.splitlines()[-1])
        on_disk = sizes(Path(scratch))
    after, _ = parsed_often(folders)
    plain = statistics.mean([*before, *after])
    bar, goal = BARS.get(len(folders), (0, 0))
    memory = ", ".join(f"{name} {megabytes:,} MB" for name, megabytes in answer["memory"].items())
    print(f"{n_lines:,} lines: {', '.join(folder.name for folder in folders)}")
    print(f"ast     {plain:7.1f} CPU-s, from {min(before + after):.1f} to {max(before + after):.1f}")
    print(f"build   {answer['cpu']:7.1f} CPU-s {answer['wall']:7.1f} s")
    print(f"ratio   {answer['cpu'] / plain:7.1f}   (bar {bar}, goal {goal})")
    for name, seconds in answer["stages"].items():
        print(f"  {name:12} {seconds:7.1f} CPU-s {seconds / plain:6.1f}")
    print(f"memory  {memory}   (bar 2,500 MB)")
    print("calls   " + ", ".join(f"{name} {share:.1%}" for name, share in sorted(answer["calls"].items())))
    whole = sum(on_disk.values())
    print(f"size    {whole / 1e6:.1f} MB, {whole / 1e3 / n_lines:.3f} MB per 1,000 lines   (bar 0.3, goal 0.15)")
    for name, n_bytes in sorted(on_disk.items(), key=lambda item: -item[1]):
        print(f"  {name:18} {n_bytes / 1e6:7.2f} MB")


def main() -> None:
    if sys.argv[1:2] == ["--build"]:
        print(json.dumps(built([Path(folder) for folder in sys.argv[3:]], Path(sys.argv[2]))))
        return
    if sys.argv[1:]:
        measure([Path(folder) for folder in sys.argv[1:]])
        return
    with tempfile.TemporaryDirectory() as scratch:
        names = ("pandas", "sympy", "django", "sqlalchemy")
        for name in names:  # as in a repository: the package in a folder
            shutil.copytree(downloaded() / name, Path(scratch) / name / name)
        measure([Path(scratch) / "django"])
        measure([Path(scratch) / name for name in names])


if __name__ == "__main__":
    main()
