"""Hamilton, Ibis, DataFusion, OpenLineage and catalogues on a real lake, with the real packages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import ibis
import pyarrow as pa
import pytest
from datafusion import SessionContext
from hamilton import driver
from openlineage.client import OpenLineageClient
from openlineage.client.transport.file import FileConfig, FileTransport
from openlineage.client.transport.http import HttpConfig, HttpTransport

from codelake.contracts.views import View
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.run import Run, pin
from codelake.delta.runs import PublishedRun
from codelake.delta.write import commit
from codelake.errors import ContractBroken, UsageError
from codelake.integrations.catalogue import registration_script
from codelake.integrations.datafusion import register, register_changes
from codelake.integrations.hamilton import LakeStore
from codelake.integrations.ibis import read, write
from codelake.integrations.openlineage import emit
from codelake.pipeline.manifest import Manifest, commits_of, text_of
from tests.delta.history import NEWEST, PUBLISHED, UNSORTED
from tests.delta.things import THINGS, frame, stored
from tests.integrations import dataflow
from tests.integrations.counts import COUNTS

pytestmark = pytest.mark.slow

BY_OWNER = [("o0", 2), ("o1", 3), ("o2", 3), ("o3", 1)]


def test_hamilton(historic: Lake) -> None:
    create_table(historic, COUNTS)
    run = Run(historic, "hamilton", stage="counts", pipeline="hamilton")
    store = LakeStore(historic)
    flow = driver.Builder().with_modules(dataflow).with_cache(result_store=store).build()
    found = flow.execute(["counts", "saved"], inputs={"run": run})
    assert found["saved"]["version"] == 1 and run.pinned_versions["things"] == NEWEST
    assert stored(historic, COUNTS) == BY_OWNER
    again = flow.execute(["saved"], inputs={"run": run})
    assert historic.log("counts").version == 1, "a run commits once"
    assert again["saved"]["version"] == 1


def test_the_store_of_results(historic: Lake) -> None:
    store, rows = LakeStore(historic), pa.table({"a": [1, 2]})
    assert store.get("v1") is None
    store.set("v1", rows)
    assert store.exists("v1") and store.get("v1") == rows
    with pytest.raises(UsageError, match="an Arrow table"):
        store.set("v2", object())
    for plain in ((rows, {"version": 3}), {"n": 1}, [1, None]):
        store.set("v4", plain)
        assert store.get("v4") == plain
    store.delete("v1")
    store.set("v3", rows)
    store.delete_all()
    assert not store.exists("v1") and not store.exists("v3") and "_hamilton" not in historic.table_names()


def test_ibis_reads_at_pins_and_writes_through_the_gates(historic: Lake) -> None:
    create_table(historic, COUNTS)
    run = Run(historic, "ibis", stage="counts")
    pin(run, UNSORTED, at=1)
    counts = read(run, THINGS, columns=["owner"]).group_by("owner").agg(n=ibis._.count()).order_by("owner")
    assert [tuple(row.values()) for row in counts.to_pyarrow().to_pylist()] == BY_OWNER
    assert read(run, UNSORTED, where="id > 1").count().to_pyarrow().as_py() == 2, "as it was at version 1"
    assert run.pinned_versions == {"things": NEWEST, "unsorted": 1}
    assert write(run, COUNTS, counts, mode="overwrite").version == 1
    assert stored(historic, COUNTS) == BY_OWNER
    with pytest.raises(ContractBroken):
        write(run, COUNTS, counts.mutate(owner=ibis.null(str)), mode="overwrite")


def test_datafusion(historic: Lake) -> None:
    context = SessionContext()
    assert register(context, historic, "things") == NEWEST
    assert register(context, historic, "things", at=PUBLISHED, name="before") == PUBLISHED
    register_changes(context, historic, "things", after=NEWEST - 1)
    rows = context.sql(
        "SELECT (SELECT count(*) FROM things) AS a, (SELECT count(*) FROM before) AS b, "
        "(SELECT max(id) FROM things_changes) AS c"
    ).to_pylist()
    assert list(rows[0].values()) == [9, 9, 2]
    kinds = context.sql("SELECT _change_type AS kind FROM things_changes").to_pylist()
    assert Counter(row["kind"] for row in kinds) == {"delete": 1}


def test_a_catalogue_comes_to_know_the_lake(historic: Lake) -> None:
    view = View("owners", "Owners.", ("owner",), "SELECT DISTINCT owner FROM things")
    lost = View("lost", "On a table that is not there.", ("x",), "SELECT x FROM nowhere")
    script = registration_script(historic, (THINGS, UNSORTED, COUNTS), schema="graph", views=(view, lost))
    assert len(script) == 4
    spark = historic.session
    for statement in script:
        spark.sql(statement)
    assert spark.sql("SELECT count(*) AS n FROM graph.owners").collect()[0].n == 4
    assert spark.sql("SELECT count(*) AS n FROM graph.things").collect()[0].n == 9
    spark.sql("DROP SCHEMA graph CASCADE")
    assert historic.exists("things"), "only the catalogue forgot it"
    assert "`main`.`graph`.`things`" in registration_script(historic, (THINGS,), schema="main.graph", views=())[1]


# OpenLineage -------------------------------------------------------------------------------------


class Collector(BaseHTTPRequestHandler):
    events: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        self.events.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Collector)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def published(lake: Lake) -> PublishedRun:
    """A run that reads unsorted and writes things."""
    run = Run(lake, "lineage", stage="load", pipeline="build")
    pin(run, UNSORTED)
    now = datetime.now(UTC)
    done = commit(run, THINGS, frame(lake, [(90, "z", 1), (91, "z", 2)]), mode="append")
    manifest = Manifest(
        run_id=run.run_id,
        pipeline="build",
        code_version="0.1.0",
        started_at=now,
        seconds=1.0,
        repositories=[],
        pins={"unsorted": 2},
        versions={"things": done.version},
        stages=[],
        commits=commits_of(run),
    )
    return PublishedRun(run.run_id, now, "build", {"things": done.version}, text_of(manifest))


def test_openlineage_events_to_a_file_and_over_http(historic: Lake, tmp_path: Path, collector: str) -> None:
    run = published(historic)
    contracts = {table.name: table for table in (THINGS, UNSORTED)}
    file = tmp_path / "events.jsonl"
    to_file = OpenLineageClient(transport=FileTransport(FileConfig(log_file_path=str(file), append=True)))
    to_http = OpenLineageClient(transport=HttpTransport(HttpConfig(url=collector)))
    assert emit(historic, run, contracts, to_file) == emit(historic, run, contracts, to_http) == 2
    start, complete = (json.loads(line) for line in file.read_text().splitlines())
    assert [start["eventType"], complete["eventType"]] == ["START", "COMPLETE"]
    assert start["run"]["runId"] == complete["run"]["runId"]
    [used] = complete["inputs"]
    assert (used["name"], used["facets"]["version"]["datasetVersion"]) == ("unsorted", "2")
    [written] = complete["outputs"]
    assert written["facets"]["version"]["datasetVersion"] == str(NEWEST + 1)
    assert [f["name"] for f in written["facets"]["schema"]["fields"]] == ["id", "owner", "size"]
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 2
    [check] = complete["run"]["facets"]["test"]["tests"]
    assert (check["name"], check["status"], check["severity"]) == ("things.size_positive", "pass", "error")
    for facet in (*complete["run"]["facets"].values(), *written["facets"].values(), *written["outputFacets"].values()):
        assert facet["_producer"] and facet["_schemaURL"].startswith("https://openlineage.io/spec/facets/")
    assert [event["eventType"] for event in Collector.events] == ["START", "COMPLETE"]
    assert Collector.events[1]["outputs"] == complete["outputs"]
