from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codelake.runtime import jars, java
from codelake.runtime.home import spark_home
from codelake.settings import Settings

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture
def server(settings: Settings, tmp_path: Path) -> Iterator[str]:
    """A real Spark Connect server from the installed PySpark, on loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = java.find(settings)
    conf = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars.ready(settings, found))),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    command = [str(spark_home() / "bin" / "spark-submit"), "--master", "local[2]"]
    for key, value in conf.items():
        command += ["--conf", f"{key}={value}"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    variables = {"JAVA_HOME": str(found.home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | variables, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 90
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None and time.monotonic() < deadline, (tmp_path / "server.log").read_text()[-2000:]
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def test_scans_commits_gates_and_feeds_work_the_same_over_connect(server: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.delta.over_connect", server, str(tmp_path / "lake")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == {
        "versions": [1, 1, 2, 3, 4, 5],
        "repeats": [False, True, False, False, False, False],
        "dropped": [1, 0, 1, 0, 0, 0],
        "refused": ["size_positive", "key (id) is unique", "id is not null"],
        "rows": [[1, "a", 2], [9, "b", 9]],
        "changes": 8,
        "recorded": ["commits", "quality"],
    }
