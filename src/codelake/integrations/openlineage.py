"""OpenLineage events of published runs: what was read at which versions, what was written, with schema, statistics, the
columns it was made of, and the checks that the rows passed.

    from openlineage.client import OpenLineageClient
    from openlineage.client.transport.file import FileConfig, FileTransport

    from codelake.contracts import TABLES
    from codelake.delta.lake import open_lake
    from codelake.delta.runs import published_runs
    from codelake.delta.store import Store
    from codelake.integrations.openlineage import emit

    lake = open_lake(Store(".codelake"))
    client = OpenLineageClient(transport=FileTransport(FileConfig(log_file_path="events.jsonl", append=True)))
    emit(lake, published_runs(lake)[-1], {table.name: table for table in TABLES}, client)

The client decides where they go: a file, HTTP, or whatever else OpenLineage has a transport for.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    column_lineage_dataset,
    data_quality_assertions_dataset,
    dataset_version_dataset,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
    schema_dataset,
    test_run,
)

from codelake import __version__
from codelake.contracts.table import Column, Table
from codelake.contracts.types import DataType, parse_type
from codelake.delta.lake import Lake
from codelake.delta.runs import PublishedRun
from codelake.pipeline.manifest import Committed, Manifest, read
from codelake.pipeline.stages import STAGES, Stage

PRODUCER = "https://github.com/codelake"
_RUNS = uuid.UUID("6f1d1f6e-7d0a-5f43-9a57-0d3f1a2f9c11")
"""OpenLineage wants a UUID for a run: that of codelake's own id, below this one."""
_ROWS = ("numOutputRows", "numTargetRowsInserted", "numUpdatedRows")


def events(
    lake: Lake, run: PublishedRun, contracts: Mapping[str, Table], *, stages: Sequence[Stage] = STAGES
) -> list[RunEvent]:
    """START, with what was read; COMPLETE, with what was written."""
    manifest = read(run.manifest)
    run_id = str(uuid.uuid5(_RUNS, run.run_id))
    engine = processing_engine_run.ProcessingEngineRunFacet(
        version=manifest.code_version, name="codelake", openlineageAdapterVersion=__version__
    )
    commits = _last_commits(manifest)
    checks = [check for one in commits if one.table in contracts for check in _checks(one, contracts[one.table])]
    began = Run(runId=run_id, facets={"processing_engine": engine})
    ended = Run(runId=run_id, facets={"processing_engine": engine, "test": test_run.TestRunFacet(tests=checks)})
    job = Job(
        namespace=_namespace(lake),
        name=run.pipeline,
        facets={"jobType": job_type_job.JobTypeJobFacet(processingType="BATCH", integration="CODELAKE", jobType="RUN")},
    )
    inputs = [_input(lake, name, version, contracts) for name, version in sorted(manifest.pins.items())]
    outputs = [_output(lake, one, contracts, stages) for one in commits]
    began_at, ended_at = manifest.started_at.isoformat(), run.recorded_at.isoformat()
    told: dict[str, Any] = {"job": job, "producer": PRODUCER, "inputs": inputs}
    return [
        RunEvent(run=began, eventType=RunState.START, eventTime=began_at, outputs=[], **told),
        RunEvent(run=ended, eventType=RunState.COMPLETE, eventTime=ended_at, outputs=outputs, **told),
    ]


def emit(
    lake: Lake,
    run: PublishedRun,
    contracts: Mapping[str, Table],
    client: OpenLineageClient,
    *,
    stages: Sequence[Stage] = STAGES,
) -> int:
    found = events(lake, run, contracts, stages=stages)
    for event in found:
        client.emit(event)
    return len(found)


def _checks(one: Committed, contract: Table) -> list[test_run.TestExecution]:
    """The contract's checks. One that fails blocks the commit, so what is here has passed or was let pass."""
    return [
        test_run.TestExecution(
            name=f"{one.table}.{check.name}",
            status="fail" if one.gates.get(check.name) else "pass",
            severity="error" if check.action == "fail" else "warn",
            content=check.expression,
            contentType="sql",
        )
        for check in contract.all_checks
    ]


def _last_commits(manifest: Manifest) -> list[Committed]:
    """The last commit of the run to each table."""
    return [one for _, one in sorted({one.table: one for one in manifest.commits}.items())]


def _input(lake: Lake, name: str, version: int, contracts: Mapping[str, Table]) -> InputDataset:
    facets = _facets(lake, name, version, contracts)
    enforced = contracts[name].all_checks if name in contracts else ()
    assertions = [
        data_quality_assertions_dataset.Assertion(
            assertion="custom_sql",
            success=True,  # the table's own constraint: no row that breaks it can be in it
            severity="error",
            name=check.name,
            content=check.expression,
            contentType="sql",
        )
        for check in enforced
        if check.action == "fail"
    ]
    facet = data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(assertions=assertions)
    return InputDataset(
        namespace=_namespace(lake), name=name, facets=facets, inputFacets={"dataQualityAssertions": facet}
    )


def _output(lake: Lake, one: Committed, contracts: Mapping[str, Table], stages: Sequence[Stage]) -> OutputDataset:
    facets = _facets(lake, one.table, one.version, contracts)
    if one.table in contracts:
        facets["columnLineage"] = _column_lineage(lake, one, contracts[one.table], stages)
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
        rowCount=sum(one.metrics.get(name, 0) for name in _ROWS),
        size=one.metrics.get("numOutputBytes"),
        fileCount=one.metrics.get("numFiles"),
    )
    return OutputDataset(
        namespace=_namespace(lake), name=one.table, facets=facets, outputFacets={"outputStatistics": statistics}
    )


def _facets(lake: Lake, name: str, version: int, contracts: Mapping[str, Table]) -> dict[str, DatasetFacet]:
    facets: dict[str, DatasetFacet] = {
        "version": dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=str(version))
    }
    if name in contracts:
        facets["schema"] = schema_dataset.SchemaDatasetFacet(
            fields=[_field(c.name, parse_type(c.type), c.meaning) for c in contracts[name].columns]
        )
    return facets


def _column_lineage(
    lake: Lake, one: Committed, contract: Table, stages: Sequence[Stage]
) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    """Columns that are carried over: in what the stage reads they have the same name, and the same meaning or a place
    in the key. Which rows there are follows from those keys. What else is made of them is the stage's code, and not
    told."""
    reads = [table for stage in stages if stage.name == one.stage for table in stage.reads if table not in stage.writes]

    def field(table: Table, column: str, kind: str, subtype: str) -> column_lineage_dataset.InputField:
        how = column_lineage_dataset.Transformation(type=kind, subtype=subtype)
        return column_lineage_dataset.InputField(_namespace(lake), table.name, column, [how])

    fields = {}
    for column in contract.columns:
        inputs = [field(table, column.name, "DIRECT", "IDENTITY") for table in reads if _carries(table, column)]
        if inputs:
            fields[column.name] = column_lineage_dataset.Fields(inputFields=inputs)
    keys = [field(table, column, "INDIRECT", "JOIN") for table in reads for column in table.key]
    return column_lineage_dataset.ColumnLineageDatasetFacet(fields=fields, dataset=keys)


def _carries(table: Table, column: Column) -> bool:
    return any(
        (one.name, one.type, one.semantic) == (column.name, column.type, column.semantic)
        and (one.semantic is not None or one.name in table.key)
        for one in table.columns
    )


def _field(name: str, parsed: DataType, meaning: str | None = None) -> schema_dataset.SchemaDatasetFacetFields:
    inner: list[schema_dataset.SchemaDatasetFacetFields] = []
    if parsed.name == "struct":
        inner = [_field(n, t) for n, t in zip(parsed.names, parsed.items, strict=True)]
    elif parsed.name == "array":
        inner = [_field("_element", parsed.items[0])]
    elif parsed.name == "map":
        inner = [_field("key", parsed.items[0]), _field("value", parsed.items[1])]
    return schema_dataset.SchemaDatasetFacetFields(name=name, type=str(parsed), description=meaning, fields=inner)


def _namespace(lake: Lake) -> str:
    """Where the lake lies, as OpenLineage names datasets: without the lake's own folder a name would not be unique."""
    return f"file://{lake.uri('')}".rstrip("/") if lake.store.is_local else lake.store.root.rstrip("/")
