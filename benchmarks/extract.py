"""Extraction on Spark into Delta against the same functions in plain processes that write Parquet.

Both use two cores, one after the other in the same run; the start of the session is apart. Printed: CPU of all
processes and wall time, their ratios, lines per CPU-second of the Python workers, the share of each extractor,
and the most memory that a Python worker took.

    python benchmarks/extract.py [FOLDER]

Without a folder: pandas, sympy, Django and SQLAlchemy from PyPI, 1.76 million lines, kept in the cache.
"""

from __future__ import annotations

import gc
import hashlib
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from codelake.contracts import EVIDENCE, TABLES
from codelake.contracts.arrow import arrow_schema
from codelake.contracts.sources import BLOBS
from codelake.delta.create import create_table
from codelake.delta.lake import Lake, create_lake
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.extract.batches import SCHEMA, Batch
from codelake.extract.content import evidence_of
from codelake.extract.extractors import EXTRACTORS
from codelake.extract.guard import BATCH_BYTES, Limits
from codelake.extract.run import evidence
from codelake.extract.tasks import balanced
from codelake.extract.text import decoded
from codelake.extract.tree import indexed, parse
from codelake.session import session, stop
from codelake.settings import load

PACKAGES = ("pandas==2.3.3", "sympy==1.14.0", "Django==5.2.8", "SQLAlchemy==2.0.44")
N_CORES = 2
SHARE_OF = 20
"""The share of each extractor is taken from one content in so many."""


def contents_of(folder: Path) -> dict[str, bytes]:
    found = {}
    for file in sorted(folder.rglob("*.py")):
        raw = file.read_bytes()
        found[hashlib.sha256(raw).hexdigest()] = raw
    return found


def downloaded() -> Path:
    folder = load().cache_dir / "benchmark-sources"
    if not folder.exists():
        with tempfile.TemporaryDirectory() as wheels:
            fetch = ["pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", wheels, *PACKAGES]
            subprocess.run([sys.executable, "-m", *fetch], check=True)
            for wheel in Path(wheels).glob("*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".py")])
    return folder


# plain processes ---------------------------------------------------------------------------------


def write_part(part: list[tuple[str, bytes]], file: str) -> tuple[float, float]:
    """CPU seconds and megabytes of a process that extracts its part into a Parquet file."""
    before = time.process_time()
    gc.freeze()
    gc.disable()
    with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        batch, n_bytes = Batch(), 0
        for digest, raw in part:
            batch.add(digest, evidence_of(raw))
            n_bytes += len(raw)
            if n_bytes >= BATCH_BYTES:
                writer.write_batch(batch.record_batch())
                batch, n_bytes = Batch(), 0
                gc.collect()
        if len(batch):
            writer.write_batch(batch.record_batch())
    return time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def plain(contents: dict[str, bytes], folder: Path) -> tuple[float, float]:
    """CPU and wall seconds of plain processes, each with half of the bytes."""
    parts: list[list[tuple[str, bytes]]] = [[] for _ in range(N_CORES)]
    loads = [0] * N_CORES
    for digest, raw in sorted(contents.items(), key=lambda item: -len(item[1])):
        least = loads.index(min(loads))
        parts[least].append((digest, raw))
        loads[least] += len(raw)
    with multiprocessing.get_context("spawn").Pool(N_CORES) as pool:
        pool.starmap(write_part, [([], str(folder / f"warm{i}")) for i in range(N_CORES)], chunksize=1)
        started = time.perf_counter()
        done = pool.starmap(write_part, [(p, str(folder / f"{i}.parquet")) for i, p in enumerate(parts)], chunksize=1)
        wall = time.perf_counter() - started
    return sum(cpu for cpu, _ in done), wall


def shares(contents: dict[str, bytes]) -> Counter[str]:
    """CPU seconds by extractor."""
    spent: Counter[str] = Counter()
    sys.setrecursionlimit(50_000)
    for raw in list(contents.values())[::SHARE_OF]:
        text = decoded(raw)
        if text is None:
            continue
        at = time.process_time()
        try:
            module = parse(text)
        except (SyntaxError, ValueError):
            continue
        tree = indexed(module, text)
        now = time.process_time()
        spent["parse and index"] += now - at
        for extractor in EXTRACTORS:
            at = now
            extractor.extract(tree)
            now = time.process_time()
            spent[extractor.name] += now - at
    return spent


# Spark -------------------------------------------------------------------------------------------


def stored(lake: Lake, contents: dict[str, bytes]) -> None:
    columns = [list(contents), list(contents.values()), [len(raw) for raw in contents.values()]]
    rows = lake.session.createDataFrame(pa.table(columns, schema=arrow_schema(BLOBS)))
    commit(Run(lake, "store"), BLOBS, rows, mode="append")


def extracted(lake: Lake, contents: dict[str, bytes]) -> None:
    run = Run(lake, "extract", stage="evidence")
    tasks = balanced({digest: len(raw) for digest, raw in contents.items()})
    commit(run, EVIDENCE, evidence(scan(run, BLOBS), tasks, limits=Limits()), mode="append")


def lake_in(folder: Path, spark: object, contents: dict[str, bytes]) -> Lake:
    lake = create_lake(Store(str(folder)), spark)  # type: ignore[arg-type]
    for table in TABLES:
        create_table(lake, table)
    stored(lake, contents)
    return lake


def tree_of(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield from tree_of(int(child))


def cpu_of(pid: int, *, with_children: bool) -> float:
    """CPU seconds of a process, with those of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    ticks = sum(map(int, fields[11:15] if with_children else fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def spent(jvm: int) -> tuple[float, float]:
    """CPU seconds so far: of the JVM, of the Python processes below it."""
    below = [pid for pid in tree_of(jvm) if pid != jvm]
    ended = cpu_of(jvm, with_children=True) - cpu_of(jvm, with_children=False)
    return cpu_of(jvm, with_children=False), ended + sum(cpu_of(pid, with_children=True) for pid in below)


@contextmanager
def most_memory(jvm: int) -> Iterator[list[float]]:
    """The most megabytes that a Python process below the JVM takes meanwhile."""
    most, ended = [0.0], threading.Event()

    def look() -> None:
        while not ended.wait(0.2):
            for pid in list(tree_of(jvm)):
                if pid != jvm:
                    most[0] = max(most[0], _megabytes(pid))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    yield most
    ended.set()
    thread.join()


def _megabytes(pid: int) -> float:
    """None of what the JVM starts besides: for a moment such a process is as large as the JVM."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    if not lines[0].split()[-1].startswith("python"):
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else downloaded()
    contents = contents_of(folder)
    n_lines = sum(raw.count(b"\n") for raw in contents.values())
    print(f"{len(contents):,} contents, {n_lines:,} lines, {sum(map(len, contents.values())) / 1e6:.1f} MB", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        plain_cpu, plain_wall = plain(contents, work)
        print(f"plain   {plain_cpu:7.1f} CPU-s {plain_wall:7.1f} s", flush=True)
        spark = session(load({"master": f"local[{N_CORES}]"}), thorough=True)
        few = dict(list(contents.items())[:20])
        extracted(lake_in(work / "warm", spark, few), few)
        lake = lake_in(work / "lake", spark, contents)
        jvm = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
        jvm_before, python_before = spent(jvm)
        started = time.perf_counter()
        with most_memory(jvm) as most:
            extracted(lake, contents)
        wall = time.perf_counter() - started
        jvm_cpu, python_cpu = (now - then for now, then in zip(spent(jvm), (jvm_before, python_before), strict=True))
        stop(spark)
    cpu = jvm_cpu + python_cpu
    print(f"Spark   {cpu:7.1f} CPU-s {wall:7.1f} s (JVM {jvm_cpu:.1f} CPU-s, Python {python_cpu:.1f})")
    print(f"ratio   {cpu / plain_cpu:7.2f} CPU   {wall / plain_wall:7.2f} wall   (bars 1.6 and 1.8)")
    print(f"lines per CPU-second of the Python workers {n_lines / python_cpu:10,.0f}   (bar 9,000, goal 15,000)")
    print(f"most memory of a Python worker             {most[0]:10,.0f} MB (bar 1,000)")
    found = shares(contents)
    total = sum(found.values())
    print("share   " + ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in found.most_common()))


if __name__ == "__main__":
    main()
