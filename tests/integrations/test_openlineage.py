"""OpenLineage events of a real run, to a file and over HTTP, valid by the schemas that OpenLineage publishes.

`openlineage_spec/` has those of the release that the client speaks, from the repository OpenLineage/OpenLineage
(Apache License 2.0), unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from jsonschema import Draft202012Validator
from openlineage.client import OpenLineageClient
from openlineage.client.transport.file import FileConfig, FileTransport
from openlineage.client.transport.http import HttpConfig, HttpTransport
from referencing import Registry, Resource

from codelake.contracts import EVIDENCE
from codelake.contracts.graph import LINKS
from codelake.contracts.sources import FILES
from codelake.delta.lake import Lake
from codelake.delta.run import Run, pin
from codelake.delta.runs import PublishedRun
from codelake.delta.write import commit
from codelake.integrations.openlineage import emit
from codelake.pipeline.manifest import Manifest, commits_of, text_of
from codelake.pipeline.stages import Stage
from tests.delta.history import NEWEST, UNSORTED
from tests.delta.things import THINGS, frame

pytestmark = pytest.mark.slow

SPEC = [json.loads(file.read_text()) for file in (Path(__file__).parent / "openlineage_spec").glob("*.json")]
SCHEMAS: Registry[Any] = Registry().with_resources((one["$id"], Resource.from_contents(one)) for one in SPEC)
LOAD = Stage("load", (UNSORTED,), (THINGS,), lambda _: None)


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


def valid(what: Any, schema: str) -> None:
    checked = Draft202012Validator(
        {"$ref": schema}, registry=SCHEMAS, format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    assert [f"{'/'.join(map(str, e.path))}: {e.message}" for e in checked.iter_errors(what)] == []


def facets(what: Any) -> Iterator[dict[str, Any]]:
    """Every facet, wherever it is."""
    for value in what.values() if isinstance(what, dict) else what if isinstance(what, list) else ():
        if isinstance(value, dict) and "_schemaURL" in value:
            yield value
        yield from facets(value)


def test_openlineage_events_to_a_file_and_over_http(historic: Lake, tmp_path: Path, collector: str) -> None:
    run = published(historic)
    contracts = {table.name: table for table in (THINGS, UNSORTED)}
    file = tmp_path / "events.jsonl"
    to_file = OpenLineageClient(transport=FileTransport(FileConfig(log_file_path=str(file), append=True)))
    to_http = OpenLineageClient(transport=HttpTransport(HttpConfig(url=collector)))
    for client in (to_file, to_http):
        assert emit(historic, run, contracts, client, stages=[LOAD]) == 2
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
    [asserted] = used["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert (asserted["name"], asserted["success"], asserted["content"]) == ("size_positive", True, "size > 0")
    made_of = written["facets"]["columnLineage"]
    assert [(one["name"], one["field"]) for one in made_of["dataset"]] == [("unsorted", "id")]
    assert [event["eventType"] for event in Collector.events] == ["START", "COMPLETE"]
    assert Collector.events[1]["outputs"] == complete["outputs"]
    for event in (start, complete):
        valid(event, event["schemaURL"])
        for facet in facets(event):
            valid(facet, facet["_schemaURL"])
    found = {facet["_schemaURL"].rpartition("/")[2] for facet in facets(complete)}
    assert found == {one["$id"].rpartition("/")[2].removesuffix(".json") for one in SPEC} - {"OpenLineage"}


def test_columns_that_are_carried_over(historic: Lake, tmp_path: Path) -> None:
    """As the stage `link` carries them: named where name and meaning are the same, and only there."""
    run = published(historic)
    file = tmp_path / "events.jsonl"
    client = OpenLineageClient(transport=FileTransport(FileConfig(log_file_path=str(file), append=True)))
    emit(historic, run, {"things": LINKS}, client, stages=[LOAD._replace(reads=(FILES, EVIDENCE), writes=(LINKS,))])
    [_, complete] = map(json.loads, file.read_text().splitlines())
    fields = complete["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert {name: [one["name"] for one in of["inputFields"]] for name, of in fields.items()} == {
        "repo": ["files"],
        "path": ["files"],
        "digest": ["files", "evidence"],
    }
