"""One store policy for both engines, and secrets that stay secret."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.create import create_table
from codelake.delta.lake import create_lake, open_lake
from codelake.delta.record import create_operations, record
from codelake.delta.scan import scan
from codelake.delta.store import _DATA_OPTIONS, _LOG_OPTIONS, SCHEMES, Store
from codelake.delta.write import commit
from codelake.errors import CodelakeError, SettingsError, Unavailable, UsageError
from codelake.hidden import PUBLIC_STORE_OPTIONS
from tests.delta.things import THINGS, frame, new_run

CANARY = "canary-7f3a91"


def test_the_same_policy_drives_both_engines() -> None:
    store = Store(
        "s3a://bucket/lake",
        options={
            "access_key": "A",
            "secret_key": "S",
            "endpoint": "http://127.0.0.1:9",
            "path_style": "true",
            "allow_http": "true",
        },
        log_options={"table": "locks", "region": "eu-west-1"},
    )
    assert store.hadoop_conf() == {
        "spark.hadoop.fs.s3a.access.key": "A",
        "spark.hadoop.fs.s3a.secret.key": "S",
        "spark.hadoop.fs.s3a.endpoint": "http://127.0.0.1:9",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName": "locks",
        "spark.io.delta.storage.S3DynamoDBLogStore.ddb.region": "eu-west-1",
        "spark.delta.logStore.s3a.impl": "io.delta.storage.S3DynamoDBLogStore",
    }
    found = store.deltalake_options()
    assert (found["AWS_ACCESS_KEY_ID"], found["AWS_SECRET_ACCESS_KEY"]) == ("A", "S")
    assert (found["AWS_ENDPOINT_URL"], found["AWS_ALLOW_HTTP"]) == ("http://127.0.0.1:9", "true")
    assert found["DELTA_DYNAMO_TABLE_NAME"] == "locks" and found["AWS_S3_LOCKING_PROVIDER"] == "dynamodb"


def test_one_driver_is_the_log_stores_assumption_without_a_coordinator() -> None:
    assert Store("s3://b/l").hadoop_conf() == {
        "spark.delta.logStore.s3a.impl": "io.delta.storage.S3SingleDriverLogStore"
    }


@pytest.mark.parametrize("root", ["s3a://b/l", "abfss://c@a.dfs.core.windows.net/l", "gs://b/l", "hdfs://n/l"])
def test_local_only_refuses_remote_lakes(root: str) -> None:
    assert not Store(root).is_local
    with pytest.raises(UsageError, match="local_only"):
        Store(root, local_only=True)


def test_a_store_that_cannot_be_reached_is_no_bug() -> None:
    """Without `allow_http` its client refuses the endpoint before it connects."""
    options = {"access_key": "A", "secret_key": CANARY, "endpoint": "http://127.0.0.1:9", "region": "r"}
    with pytest.raises(Unavailable) as raised:
        open_lake(Store("s3a://b/l", options=options))
    said = str(raised.value)
    assert said.startswith(
        "lake s3a://b/l; expected a store that can be reached; found Generic S3 error: URL scheme is"
    )
    assert CANARY not in said


def test_an_unknown_place_or_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="ftp://"):
        Store("ftp://host/lake")
    with pytest.raises(SettingsError, match=r"store.access_key"):
        Store("s3a://b/l", options={"acces_key": "x"})
    with pytest.raises(SettingsError, match="no options"):
        Store("/tmp/x", options={"access_key": "x"})


def test_the_policy_is_part_of_a_runs_identity_and_secrets_are_not() -> None:
    one = Store("s3a://b/l", options={"secret_key": "one", "region": "r"})
    assert one.identity == Store("s3a://b/l", options={"secret_key": "two", "region": "r"}).identity
    assert one.identity != Store("s3a://b/l", options={"secret_key": "one", "region": "q"}).identity
    assert Store("/a/lake").identity == Store("/b/lake").identity, "a lake that was moved is the same lake"


def test_no_secret_in_any_text_a_store_gives_away() -> None:
    for scheme in SCHEMES[:3]:
        secret = {k: CANARY for k in _DATA_OPTIONS[scheme] if k not in PUBLIC_STORE_OPTIONS}
        logs = {k: CANARY for k in _LOG_OPTIONS.get(scheme, {}) if k not in PUBLIC_STORE_OPTIONS}
        store = Store(f"{scheme}://bucket/lake", options={**secret}, log_options=logs)
        assert CANARY not in repr(store) + str(store) + store.identity
        assert CANARY in json.dumps(store.hadoop_conf()) and CANARY in json.dumps(store.deltalake_options())
        for broken in ({"root": "ftp://x"}, {"options": {**secret, "nope": CANARY}}, {"local_only": True}):
            with pytest.raises(CodelakeError) as caught:
                Store(**{"root": store.root, "options": secret, "log_options": logs, **broken})  # type: ignore[arg-type]
            assert CANARY not in str(caught.value) + repr(caught.value)


@pytest.mark.slow
def test_a_canary_in_the_session_reaches_no_table_commit_log_or_error(lake_root: Path, spark: SparkSession) -> None:
    """Credentials set in a session that works on a lake; then every byte below the lake, and all that was logged."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    key = "fs.s3a.secret.key"
    spark.conf.set(key, CANARY)
    try:
        lake = create_lake(Store(str(lake_root)), spark)
        create_operations(lake)
        create_table(lake, THINGS)
        run = new_run(lake)
        commit(run, THINGS, frame(lake, [(1, "a", 1)]), mode="append", txn=run.txn)
        commit(run, THINGS, mode="update", values={"size": "size + 1"}, where="id = 1")
        scan(run, THINGS, where="size > 0").collect()
        with pytest.raises(CodelakeError) as caught:
            commit(run, THINGS, frame(lake, [(1, "a", -1)]), mode="append")
        record(run)
    finally:
        spark.conf.unset(key)
        logging.getLogger().removeHandler(handler)
    assert CANARY not in str(caught.value) + stream.getvalue()
    written = [p for p in lake_root.rglob("*") if p.is_file()]
    assert len(written) > 10
    assert [p for p in written if CANARY.encode() in p.read_bytes()] == []


def test_the_lake_package_needs_no_spark_to_read_logs(lake_root: Path, spark: SparkSession) -> None:
    lake = create_lake(Store(str(lake_root)), spark)
    create_table(lake, THINGS)
    code = (
        "import sys; from codelake.delta.store import Store; from codelake.delta.lake import open_lake;"
        f"print(open_lake(Store({str(lake_root)!r})).log('things').version, 'pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "False"]
