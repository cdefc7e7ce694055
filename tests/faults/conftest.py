from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.faults import pausing

ROOT = Path(__file__).parents[2]


class Worker:
    """A writer in a process of its own, with a JVM of its own."""

    def __init__(self, jar: Path, pause: Path) -> None:
        self.pause = pause
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.faults.worker",
                json.dumps({"spark": pausing.spark_options(jar)}),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PAUSE_FILE": str(pause)},
        )
        self._jvm: int | None = None
        """Not its number, which another process may have when it is long dead."""

    def wait_ready(self) -> None:
        self._jvm = os.pidfd_open(self.answer()["jvm"])

    def ask(self, **request: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request, default=str) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the worker ended with code {self._process.wait()}")
        return dict(json.loads(line))

    def kill(self, *which: str) -> None:
        """As the kernel's out-of-memory killer would."""
        if "jvm" in which and self._jvm is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._jvm, signal.SIGKILL)
        if "python" in which:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        self.kill("python", "jvm")
        if self._jvm is not None:
            os.close(self._jvm)
            self._jvm = None


@pytest.fixture(scope="session")
def pausing_jar(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    jar = tmp_path_factory.mktemp("classes") / "pausing.jar"
    pausing.compile_into(spark, jar)
    return jar


@pytest.fixture(scope="module")
def start_workers(pausing_jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., list[Worker]]]:
    started: list[Worker] = []

    def start(n: int) -> list[Worker]:
        folder = tmp_path_factory.mktemp("pause")
        new = [Worker(pausing_jar, folder / "pause") for _ in range(n)]
        started.extend(new)
        for worker in new:
            worker.wait_ready()
        return new

    yield start
    for worker in started:
        worker.close()
