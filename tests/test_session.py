from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from codelake.errors import SettingsError, Unavailable
from codelake.session import configuration, session
from codelake.settings import Settings, load

CANARY = "canary-7f3a"
JARS = (Path("/jars/a.jar"), Path("/jars/b.jar"))


def descendants(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
            for child in children.read_text().split():
                yield from descendants(int(child))


def listening_addresses(pids: set[int]) -> set[str]:
    """Of /proc/net/tcp and tcp6, as hexadecimal; state 0A is LISTEN."""
    links = (link.readlink().name for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink())
    sockets = {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:")}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and columns[9] in sockets:
                found.add(columns[1].partition(":")[0])
    return found


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="needs /proc")
def test_all_sockets_listen_on_loopback(spark: SparkSession) -> None:
    # A worker of Python, which has a socket of its own.
    doubled = spark.range(4).mapInArrow(lambda batches: batches, "id long").toArrow()
    assert doubled == pa.table({"id": pa.array(range(4), pa.int64())})
    pids = set(descendants(os.getpid()))
    assert len(pids) >= 3, "Python, the JVM and the daemon of Python's workers"
    found = listening_addresses(pids)
    ipv4, mapped, ipv6 = "0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"
    assert found and found <= {ipv4, mapped, ipv6}


def test_what_a_local_session_is(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.sparkContext.uiWebUrl is None


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_the_jvm_uses_the_class_archive(spark: SparkSession) -> None:
    # Named in an option, it could still be refused, silently: a JVM that uses it has it mapped.
    jvm = [pid for pid in descendants(os.getpid()) if Path(f"/proc/{pid}/comm").read_text() == "java\n"]
    assert any("/spark.jsa" in Path(f"/proc/{pid}/maps").read_text() for pid in jvm)


def test_workers_run_this_python(spark: SparkSession) -> None:
    assert spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).collect() == [sys.executable]


def test_the_session_that_runs_is_used(spark: SparkSession, settings: Settings) -> None:
    assert session(settings).sparkContext is spark.sparkContext


def test_a_cluster_gets_the_jars_and_keeps_its_own_sizes() -> None:
    local = configuration(load({"master": "local[3]"}), JARS)
    cluster = configuration(load({"master": "spark://far:7077"}), JARS)
    assert "spark.jars" not in local and cluster["spark.jars"] == "/jars/a.jar,/jars/b.jar"
    assert local["spark.driver.bindAddress"] == "127.0.0.1"
    assert not {"spark.driver.bindAddress", "spark.sql.shuffle.partitions"} & set(cluster)
    near = configuration(load({"master": "spark://127.0.0.1:7077"}), JARS)
    assert near["spark.driver.bindAddress"] == "127.0.0.1"


def test_lists_of_the_operator_are_added_to_ours() -> None:
    extra = {
        "spark.driver.extraClassPath": "/more.jar",
        "spark.sql.extensions": "a.B",
        "spark.sql.ansi.enabled": "false",
    }
    conf = configuration(load({"spark": extra}), JARS)
    assert conf["spark.driver.extraClassPath"] == "/jars/a.jar:/jars/b.jar:/more.jar"
    assert conf["spark.sql.extensions"] == "io.delta.sql.DeltaSparkSessionExtension,a.B"
    assert conf["spark.sql.ansi.enabled"] == "false"


def test_secrets_are_not_in_the_configuration_of_the_command_line() -> None:
    conf = configuration(load({"spark": {"spark.hadoop.fs.s3a.secret.key": CANARY}}), JARS)
    assert CANARY not in str(conf)


@pytest.mark.parametrize(
    ("key", "says"), [("spark.master", "Use the setting `master`"), ("sql.x", "starts with `spark.`")]
)
def test_keys_that_do_not_belong_in_spark(key: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        session(load({"spark": {key: "x"}}))


def test_a_remote_that_does_not_answer() -> None:
    with pytest.raises(Unavailable) as raised:
        session(load({"remote": f"sc://127.0.0.1:1/;token={CANARY}"}))
    assert "Spark Connect at sc://127.0.0.1:1/;token=*** does not answer" in str(raised.value)


PROGRAM = f"""
import os, sys
from contextlib import suppress
from pathlib import Path
from codelake.errors import Unavailable
from codelake.session import session, stop
from pyspark.errors import PySparkException
from codelake.settings import load

try:
    session(load({{"master": "spark://127.0.0.1:1"}}))
except Unavailable as error:
    print(error)
try:
    bad = {{"spark.driver.extraJavaOptions": "-XX:ReservedCodeCacheSize=banana"}}
    session(load({{"class_archive": False, "spark": bad}}))
except Unavailable as error:
    print(error)

key = "spark.hadoop.fs.s3a.secret.key"
spark = session(load({{"spark": {{key: "{CANARY}"}}}}), {{"spark.hadoop.more": "{CANARY}"}})
# This program, with the canary in it, is an argument of its own process.
own = str(os.getpid())
lines = []
for each in Path("/proc").glob("[0-9]*/cmdline"):
    if each.parent.name != own:
        with suppress(OSError):  # one that has ended meanwhile
            lines.append(each.read_bytes())
print("java", any(b"SparkSubmit" in line for line in lines))
print("exposed", any(b"{CANARY}" in line for line in lines))
conf = spark.sparkContext.getConf()
print("known", conf.get(key) == conf.get("spark.hadoop.more") == "{CANARY}")
try:
    spark.sql("SELECT raise_error('x')").collect()
except PySparkException:
    print("raised")
stop(spark)
"""


@pytest.mark.slow
def test_failures_and_secrets_of_a_new_session() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    master, jvm, *rest = done.stdout.splitlines()
    assert master.startswith("the Spark master spark://127.0.0.1:1 does not answer. Start it")
    assert jvm.startswith("Spark did not start on local[*]: ") and "banana" in jvm
    # On no command line, and yet known to Spark.
    assert rest[:3] == ["java True", "exposed False", "known True"]
    # No log, no stack of the JVM.
    assert done.stderr == ""


KILLED = """
import os, signal
from codelake.errors import Unavailable
from codelake.session import opened
from codelake.settings import load
try:
    with opened(load({"master": "local[2]"})) as spark:
        jvm = spark.sparkContext._gateway.proc
        os.kill(jvm.pid, signal.SIGKILL)
        jvm.wait()
        spark.range(3).collect()
except Unavailable as error:
    print(error)
"""


@pytest.mark.slow
def test_a_jvm_that_ends_is_said_to_have_ended() -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Spark's JVM has ended; found exit code -9. What was published stays.")
