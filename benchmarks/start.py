"""Process start to first Delta row: our session against PySpark with delta-spark's own defaults.

Each measurement is a fresh process that starts a session, creates a small table and reads one row. The two
alternate, so that a busy machine is busy for both. Run: `python benchmarks/start.py [repetitions]`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

BAR, GOAL = 0.4, 0.3

OURS = """
from codelake.session import session
from codelake.settings import load

spark = session(load())
"""

THEIRS = """
from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

builder = (
    SparkSession.builder.appName("start")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
)
spark = configure_spark_with_delta_pip(builder).getOrCreate()
"""

FIRST_ROW = """
import sys
spark.range(1).write.format("delta").save(sys.argv[1] + "/table")
print(spark.read.format("delta").load(sys.argv[1] + "/table").first().id, flush=True)
"""


def seconds_to_first_row(program: str) -> float:
    with tempfile.TemporaryDirectory(prefix="codelake-start-") as folder:
        command = [sys.executable, "-c", program + FIRST_ROW, folder]
        started = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert child.stdout is not None
        row = child.stdout.readline()
        elapsed = time.perf_counter() - started
        # What comes after the row, stopping Spark, is not counted.
        if child.wait() != 0 or row != b"0\n":
            sys.exit(f"the program failed with exit code {child.returncode}:\n{program}{FIRST_ROW}")
    return elapsed


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    # Not measured: jars resolved, class archive made, files in the page cache.
    for program in (OURS, THEIRS):
        seconds_to_first_row(program)
    measured: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(repetitions):
        measured["ours"].append(seconds_to_first_row(OURS))
        measured["theirs"].append(seconds_to_first_row(THEIRS))
    for name, times in measured.items():
        print(f"{name:7} median {statistics.median(times):5.1f} s   all {' '.join(f'{t:.1f}' for t in times)}")
    ratio = statistics.median(measured["ours"]) / statistics.median(measured["theirs"])
    print(f"ratio   {ratio:.2f}   (bar {BAR}, goal {GOAL})")


if __name__ == "__main__":
    main()
