"""The one SparkSession: local, on a cluster, or over Spark Connect. Every configuration key is here."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from codelake.errors import SettingsError, Unavailable
from codelake.runtime import archive, gateway, jars, java, reach
from codelake.runtime.java import Java
from codelake.settings import Settings, is_secret

_OUT_OF_MEMORY = 52
"""The code with which Spark exits then."""
_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"

EVERYWHERE = {
    "spark.app.name": "codelake",
    # What makes `format("delta")`, MERGE and the other statements of Delta known to Spark.
    "spark.sql.extensions": _EXTENSION,
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # No Hive: tables are found by their path, and a Derby folder must not appear where codelake runs.
    "spark.sql.catalogImplementation": "in-memory",
    # Times in the lake mean the same on every machine.
    "spark.sql.session.timeZone": "UTC",
    # A progress bar would be written over codelake's own output.
    "spark.ui.showConsoleProgress": "false",
    # DataFrames go to and from Python as Arrow, not as pickled rows.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Of evidence and links a row is a file's, up to megabytes: of the usual 4,096 at once some hundred megabytes would
    # have to be held in one piece. Tables of small rows read as fast.
    "spark.sql.parquet.columnarReaderBatchSize": "256",
    # Delta would keep a list of all files of a small table beside the log. It runs a job for it when a table is made;
    # where the time of the machine is not UTC, two more at every commit, to check the list.
    "spark.databricks.delta.allFilesInCrc.enabled": "false",
    # Delta would refuse versions that are older than the retention, also the last published one, which vacuum keeps.
    # Whether the files of a version are there is looked up before it is read.
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    # On local disks Hadoop writes a file of checksums beside every file, which no other engine reads, and starts a
    # process (chmod) for each of the two. Parquet's pages have checksums of their own.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    # Every column expression would ask the JVM to note the Python line it was made on: about 1 ms each.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # What Spark hides when it prints its configuration or a plan's options: its own list, and SAS and keys.
    "spark.redaction.regex": ("(?i)secret|password|passwd|token|access[.]?key|account[.]?key|credential|sas|signature"),
}

# A server of Spark Connect has its own configuration; these belong to the session.
REMOTE = {
    key: EVERYWHERE[key]
    for key in (
        "spark.sql.session.timeZone",
        "spark.sql.execution.arrow.pyspark.enabled",
        "spark.sql.parquet.columnarReaderBatchSize",
        "spark.databricks.delta.allFilesInCrc.enabled",
        "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration",
    )
}

# For a local master; a cluster's executors have to reach the driver.
LOOPBACK = {
    # Block manager, RPC and file server would otherwise listen on the outer interface.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}

LOCAL = {
    # 200 shuffle tasks are for a cluster; here each costs more to start than to run.
    "spark.sql.shuffle.partitions": "2",
    # Delta reads a table's log in 50 tasks; in one, the first read takes 0.7 s less.
    "spark.databricks.delta.snapshotPartitions": "1",
    # VACUUM lists a table's folders in this many tasks; of its 10,000 all but a few would be empty.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    # It makes a job of every exchange; with two partitions there is nothing to plan anew.
    "spark.sql.adaptive.enabled": "false",
}

JVM_OPTIONS = (
    # With few cores and small heaps, G1's threads only compete with the work.
    "-XX:+UseSerialGC",
    # C1 alone reserves 48 MB for code, which a long session fills; then it would run interpreted.
    "-XX:ReservedCodeCacheSize=256m",
    # The JVM prints its own warnings on standard output, which is for answers.
    "-Xlog:disable",
)
# Most sessions are short: the C2 compiler costs more than it gives back (start 14 CPU-s instead of 28).
QUICK = "-XX:TieredStopAtLevel=1"
# Writing much, C2 more than halves what the JVM needs. Ten times its usual thresholds keep it to the loops that
# matter (start 22 CPU-s). docs/decisions/0012-extraction-on-spark.md
THOROUGH = " ".join(
    (
        "-XX:Tier4InvocationThreshold=50000",
        "-XX:Tier4MinInvocationThreshold=6000",
        "-XX:Tier4CompileThreshold=150000",
        "-XX:Tier4BackEdgeThreshold=400000",
    )
)

# For commits of few rows: the plan takes longer than its run, and compiling it longest of all. One commit that
# replaces rows takes a third less time.
FEW_ROWS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}

# Keys that a setting of codelake decides; given twice, one of them would be ignored.
_DECIDED = {
    "spark.master": "master",
    "spark.remote": "remote",
    "spark.driver.memory": "driver_memory",
    "spark.ui.enabled": "ui",
    "spark.jars.ivySettings": "ivy_settings",
}
# Keys whose value is a list: the operator's comes after ours instead of in its place.
_JOINED = {
    "spark.sql.extensions": ",",
    "spark.driver.extraClassPath": os.pathsep,
    "spark.driver.extraJavaOptions": " ",
    "spark.jars": ",",
}


def session(settings: Settings, conf: Mapping[str, str] | None = None, *, thorough: bool = False) -> SparkSession:
    """A session that runs in this process already is used as it is.

    `conf` is what codelake derives from `store` and `log_store`; like secrets, it is kept off command lines.
    `thorough` is for sessions that will work for minutes: the JVM compiles better, and starts more slowly.
    """
    _check(settings.spark)
    if settings.remote is not None:
        return _remote(settings, settings.remote, {**settings.spark, **(conf or {})})
    if gateway.is_running():
        return _with_delta(SparkSession.builder.getOrCreate())
    if not reach.master(settings.master):
        raise Unavailable(
            f"the Spark master {settings.master} does not answer",
            do="Start it, or correct `master` (--master, CODELAKE_MASTER).",
        )
    found, public = prepare(settings)
    if thorough:
        # Not before: the class archive is the same for both.
        public[archive.OPTIONS] = public[archive.OPTIONS].replace(QUICK, THOROUGH)
    secret = {key: text for key, text in settings.spark.items() if key not in public}
    return gateway.start(public, found, hidden={**secret, **(conf or {})}, verbose=settings.verbose)


def prepare(settings: Settings) -> tuple[Java, dict[str, str]]:
    """The Java and the configuration of a JVM; the first time, jars and class archive are made for it."""
    found = java.find(settings)
    conf = configuration(settings, jars.ready(settings, found))
    if settings.class_archive:
        conf[archive.OPTIONS] += f" {archive.ready(settings, found, conf)}"
    return found, conf


def stop(spark: SparkSession) -> None:
    """Ends the JVM too, whose options are its own; with Spark Connect, only this session."""
    if _is_remote(spark):
        spark.stop()
    else:
        gateway.stop(spark)


@contextmanager
def opened(
    settings: Settings, conf: Mapping[str, str] | None = None, *, thorough: bool = False
) -> Iterator[SparkSession]:
    """A session for a command: stopped at its end, unless it had been running before. Ctrl-C ends it at once."""
    was_running = gateway.is_running()
    spark = session(settings, conf, thorough=thorough)

    def interrupted(*_: object) -> NoReturn:
        # Before anything is unwound: who waits for a table's lock must not get it while a commit goes on.
        abort(spark)
        raise KeyboardInterrupt

    # PySpark's own handler asks the JVM to cancel its jobs and leaves it running. Only a main thread can set one.
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, interrupted) if is_main else None
    try:
        yield spark
    except (ConnectionError, Py4JError) as error:
        if (code := gateway.ended()) is None:
            raise
        gateway.abort()
        raise Unavailable(
            "Spark's JVM has ended",
            found=f"exit code {code}{', as when its memory runs out' if code == _OUT_OF_MEMORY else ''}",
            do="What was published stays. Give it more memory (driver_memory, CODELAKE_DRIVER_MEMORY) and build again.",
        ) from error
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
        if not was_running and (_is_remote(spark) or gateway.is_running()):
            stop(spark)


@contextmanager
def for_few_rows(spark: SparkSession) -> Iterator[None]:
    before = {key: spark.conf.get(key, None) for key in FEW_ROWS}
    for key, text in FEW_ROWS.items():
        spark.conf.set(key, text)
    try:
        yield
    finally:
        for key, was in before.items():
            if was is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, was)


def abort(spark: SparkSession) -> None:
    """Stop what the session does, without waiting for it."""
    if _is_remote(spark):
        threading.Thread(target=spark.interruptAll, daemon=True).start()
    else:
        gateway.abort()


def configuration(settings: Settings, delta: Sequence[Path]) -> dict[str, str]:
    """What the JVM is started with, without secrets and without the class archive."""
    local = settings.master.startswith("local")
    conf = {
        **EVERYWHERE,
        **(LOCAL if local else {}),
        **(LOOPBACK if reach.on_loopback(settings.master) else {}),
    }
    conf["spark.master"] = settings.master
    conf["spark.driver.memory"] = settings.driver_memory
    conf["spark.ui.enabled"] = str(settings.ui).lower()
    # Spark would make a folder spark-warehouse in the current one.
    conf["spark.sql.warehouse.dir"] = str(settings.cache_dir.absolute() / "warehouse")
    # On the class path from the start, the jars need no resolver and are in the class archive.
    conf["spark.driver.extraClassPath"] = os.pathsep.join(map(str, delta))
    if not local:
        # Executors may be on other machines: Spark brings them the jars.
        conf["spark.jars"] = ",".join(map(str, delta))
    log = files("codelake.runtime") / "log4j2.properties"
    conf["spark.driver.extraJavaOptions"] = " ".join((QUICK, *JVM_OPTIONS, f'"-Dlog4j2.configurationFile={log}"'))
    if settings.verbose:
        conf["spark.log.level"] = "WARN"
    for key, text in settings.spark.items():
        if not is_secret("spark", key):
            separator = _JOINED.get(key)
            conf[key] = f"{conf[key]}{separator}{text}" if separator and key in conf else text
    return conf


def _check(extra: Mapping[str, str]) -> None:
    for key in extra:
        if key in _DECIDED:
            raise SettingsError(f"`{key}` in the table `spark`", do=f"Use the setting `{_DECIDED[key]}`.")
        if not key.startswith("spark."):
            raise SettingsError(f"`{key}` in the table `spark`", expected="a key that starts with `spark.`")


def _with_delta(running: SparkSession) -> SparkSession:
    if _EXTENSION not in (running.conf.get("spark.sql.extensions", "") or ""):
        raise Unavailable(
            "this process has a Spark session without Delta",
            do=f"Stop it first, or start it with spark.sql.extensions={_EXTENSION}.",
        )
    return running


def _remote(settings: Settings, url: str, conf: Mapping[str, str]) -> SparkSession:
    shown = f"Spark Connect at {settings.shown('remote')}"
    do = "Start the server, or correct `remote` (--remote, CODELAKE_REMOTE)."
    if not reach.remote(url):
        # PySpark itself would go on trying for ten minutes.
        raise Unavailable(f"{shown} does not answer", do=do)
    try:
        spark: SparkSession = SparkSession.builder.remote(url).getOrCreate()
        for key, text in {**REMOTE, **conf}.items():
            spark.conf.set(key, text)
    except PySparkException as error:
        raise Unavailable(f"{shown}: {error.getCondition() or type(error).__name__}", do=do) from error
    return spark


def _is_remote(spark: SparkSession) -> bool:
    # The kinds of session share an interface and no other mark; importing Connect to ask costs 0.5 s.
    return type(spark).__module__.startswith("pyspark.sql.connect")
