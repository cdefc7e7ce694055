"""Starting and ending the JVM of a session."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from codelake.errors import Unavailable
from codelake.runtime.home import spark_home
from codelake.runtime.java import Java

_GRACE = 1.0
"""Seconds in which a JVM may remove its temporary files before it is killed."""
_NOISE = ("WARNING:", "Picked up ", "Using Spark's default", "Setting default log level")


def start(
    conf: Mapping[str, str], java: Java, *, hidden: Mapping[str, str] | None = None, verbose: bool = False
) -> SparkSession:
    """A session in a new JVM. `hidden` is configuration that must not be on a command line."""
    output: IO[bytes] | None = None if verbose else tempfile.TemporaryFile()
    # Standard output is for answers: what a JVM says goes where messages go, or nowhere.
    streams = {"stdout": output or sys.stderr.fileno(), "stderr": output}
    with _environment(_variables(conf, java)):
        try:
            # Every process of the machine can read the arguments of the JVM; `hidden` goes over the
            # authenticated gateway instead, when the JVM is up.
            gateway = launch_gateway(_spark_conf(conf), streams)  # type: ignore[no-untyped-call]
            SparkContext(conf=_spark_conf({**conf, **(hidden or {})}), gateway=gateway)
        except (PySparkException, Py4JError) as error:
            _end_jvm()
            raise Unavailable(
                f"Spark did not start on {conf['spark.master']}: {_reason(error, output)}",
                do="Run `codelake doctor`, or the same command with -v for the JVM's own messages.",
            ) from error
        return SparkSession.builder.getOrCreate()


def is_running() -> bool:
    return SparkContext._active_spark_context is not None


def ended() -> int | None:
    """The exit code of a JVM that has ended by itself."""
    gateway = SparkContext._gateway
    code: int | None = None if gateway is None else gateway.proc.poll()
    return code


def stop(spark: SparkSession) -> None:
    """Ends the JVM too: a later session has its own options, which only a new JVM takes."""
    spark.stop()
    _end_jvm()


def abort() -> None:
    """End the JVM now, whatever it does. Delta's commits are atomic, and Python workers die with the JVM."""
    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    # Py4J tells its own logger, and the root's, of every connection that it loses now.
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(lambda record: "py4j" not in record.pathname)
    gateway.proc.terminate()
    try:
        gateway.proc.wait(_GRACE)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()


def _end_jvm() -> None:
    # PySpark keeps the gateway for the life of the process and has no public way to give it up.
    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def _spark_conf(conf: Mapping[str, str]) -> SparkConf:
    return SparkConf(loadDefaults=False).setAll(list(conf.items()))


def _variables(conf: Mapping[str, str], java: Java) -> dict[str, str]:
    variables = {
        "JAVA_HOME": str(java.home),
        # Another Spark of the machine would be another version.
        "SPARK_HOME": str(spark_home()),
        # A virtual environment that is not activated: workers would use the Python of the PATH.
        "PYSPARK_PYTHON": conf.get("spark.pyspark.python", sys.executable),
        # spark-submit first runs a small JVM that only prints a command line; this halves its time.
        "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    if "spark.driver.bindAddress" in conf:
        # Spark asks for its own address before it reads the configuration.
        variables["SPARK_LOCAL_IP"] = conf["spark.driver.bindAddress"]
    return variables


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def cause(error: Exception) -> str:
    """The first line of a Java exception is its message; the rest is its stack."""
    lines = [line for line in str(error).splitlines() if line and not line.startswith("An error occurred")]
    return lines[0].lstrip(": ") if lines else type(error).__name__


def _reason(error: Exception, output: IO[bytes] | None) -> str:
    if output is None or isinstance(error, Py4JError):
        return cause(error)
    output.seek(0)
    # The cause comes first; after it, Java and spark-submit add general remarks and their usage.
    lines = output.read().decode(errors="replace").splitlines()
    causes = [line.strip() for line in lines if line.strip() and not line.startswith(_NOISE)]
    return causes[0] if causes else str(error)
