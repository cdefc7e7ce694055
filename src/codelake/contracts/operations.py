"""What was done to the lake, as tables of the lake. Rows are collected during a run and written in one
append per table at its end (codelake.delta.record)."""

from __future__ import annotations

from codelake.contracts.semantic import RUN_ID, TABLE_NAME, TABLE_VERSION
from codelake.contracts.table import Column, Layout, Table, Upkeep

_RUN = Column("run_id", "string", "the run that did it", RUN_ID)
_AT = Column("recorded_at", "timestamp", "when it was done, UTC")
_TABLE = Column("table_name", "string", "the table it was done to", TABLE_NAME)

SNAPSHOTS = Table(
    name="snapshots",
    meaning="One row per pin: which version of which table a run read, and under which protocol.",
    columns=(
        _RUN,
        _AT,
        _TABLE,
        Column("version", "bigint", "the pinned version", TABLE_VERSION),
        Column("committed_at", "timestamp", "when that version was committed, UTC"),
        Column("asked", "string", "what was asked for: latest, version N, or a time"),
        Column("table_uuid", "string", "Delta's id of the table; another one means the table was made anew"),
        Column("min_reader_version", "int", "protocol: lowest reader version"),
        Column("min_writer_version", "int", "protocol: lowest writer version"),
        Column("features", "array<string>", "protocol: the table's features, sorted"),
        Column("n_files", "bigint", "data files in that version"),
        Column("n_bytes", "bigint", "bytes of those files"),
        Column("n_rows", "bigint", "rows by the files' statistics, less deleted ones", nullable=True),
    ),
    key=("run_id", "table_name", "version"),
    key_scope="write",
    layout=Layout(stats=("run_id", "recorded_at", "table_name", "version")),
    append_only=True,
)

COMMITS = Table(
    name="commits",
    meaning="One row per commit: what a run wrote, by which stage, from which pins, with Delta's own metrics.",
    columns=(
        _RUN,
        _AT,
        _TABLE,
        Column("version", "bigint", "the version this commit made", TABLE_VERSION),
        Column("mode", "string", "append, overwrite, replace, merge, update or delete"),
        Column("stage", "string", "the stage that wrote"),
        Column("commit_id", "string", "name of the commit, also in the Delta log; a repeat has the first one's"),
        Column("app", "string", "the application id that makes the commit idempotent", nullable=True),
        Column("app_version", "bigint", "the application's growing version", nullable=True),
        Column("is_repeat", "boolean", "the commit had been made before by the same app and version"),
        Column("fingerprint", "string", "fingerprint of the stage's plan", nullable=True),
        Column("pins", "map<string,bigint>", "table and version of each input"),
        Column("n_attempts", "int", "attempts until it was committed, conflicts included"),
        Column("metrics", "map<string,bigint>", "Delta's operation metrics: rows, files, bytes"),
        Column("gates", "map<string,bigint>", "rows that broke a rule whose action is drop or warn"),
        Column("duration_ms", "bigint", "from the call to the version, gates included"),
    ),
    layout=Layout(stats=("run_id", "recorded_at", "table_name", "version")),
    append_only=True,
)

SCANS = Table(
    name="scans",
    meaning="One row per scan: what was read at which pin, which files the filter could touch, how it was shaped.",
    columns=(
        _RUN,
        _AT,
        _TABLE,
        Column("version", "bigint", "the pinned version", TABLE_VERSION),
        Column("stage", "string", "the stage that read"),
        Column("filter", "string", "the filter, as SQL", nullable=True),
        Column("n_files", "bigint", "files of the version"),
        Column("n_candidates", "bigint", "files that the filter can touch"),
        Column("n_pruned", "bigint", "files that partition values and statistics rule out"),
        Column("n_bytes", "bigint", "bytes of the candidates"),
        Column("n_rows", "bigint", "rows of the candidates by their statistics", nullable=True),
        Column("from_version", "bigint", "change feed: first version read", nullable=True),
        Column("options", "map<string,string>", "effective options: columns, casts, defaults, renames, files"),
    ),
    layout=Layout(stats=("run_id", "recorded_at", "table_name", "version")),
    append_only=True,
)

QUALITY = Table(
    name="quality",
    meaning="One row per rule that was broken: by a commit's gate, or by the graph itself.",
    columns=(
        _RUN,
        _AT,
        _TABLE,
        Column("rule", "string", "the gate or graph rule"),
        Column("action", "string", "fail, drop or warn; empty where the graph was measured"),
        Column("entity_id", "string", "the row concerned: its key, or an id", nullable=True),
        Column("issue", "string", "what was wrong with it"),
        Column("n", "bigint", "how many rows; a row of its own each up to the sample, the rest counted"),
        Column("n_before", "bigint", "how many when the graph was last measured; NULL the first time", nullable=True),
    ),
    layout=Layout(stats=("run_id", "recorded_at", "table_name", "rule")),
    append_only=True,
)

STAGES = Table(
    name="stages",
    meaning="One row per stage of a run: why it ran, what it could take from before, which files a change reached.",
    columns=(
        _RUN,
        _AT,
        Column("stage", "string", "name of the stage"),
        Column("fingerprint", "string", "what it does: code, contracts and settings, its own and of stages before it"),
        Column("cache", "string", "how what it reads again is kept: plain (not at all), disk or delta"),
        Column("why", "array<string>", "why it had something to do, in words; empty where it had nothing"),
        Column("n_hits", "bigint", "contents or files that were as they had to be"),
        Column("n_misses", "bigint", "contents or files that were made anew"),
        Column(
            "impacts",
            "array<struct<repo:string,path:string,reason:string,symbol:string,hop:int>>",
            "files that a change reached: why, because of which symbol, over how many others",
        ),
        Column("duration_ms", "bigint", "how long it took"),
    ),
    key=("run_id", "stage"),
    key_scope="write",
    layout=Layout(stats=("run_id", "recorded_at", "stage")),
    append_only=True,
)

RUNS = Table(
    name="runs",
    meaning="One row per published run: the versions of all tables that belong together. Readers open tables at the "
    "versions of the last one, and so never see half a run.",
    columns=(
        _RUN,
        Column("recorded_at", "timestamp", "when it was published, UTC"),
        Column("pipeline", "string", "what ran: build, maintain, restore"),
        Column("started_at", "timestamp", "when it began, UTC"),
        Column(
            "repositories",
            "array<struct<repo:string,source:string,revision:string,is_dirty:boolean>>",
            "the repositories it brought up to date, each with its kind of source and git revision",
        ),
        Column("versions", "map<string,bigint>", "table and version: how a reader opens every table but this one"),
        Column("pins", "map<string,bigint>", "table and version: what the run began from"),
        Column("manifest", "string", "all that is known of the run, as JSON: docs/manifest.schema.json"),
    ),
    key=("run_id",),
    key_scope="write",
    layout=Layout(stats=("run_id", "recorded_at", "pipeline")),
    # every reader opens it first
    upkeep=Upkeep(small_files=10),
    append_only=True,
)

MAINTENANCE = Table(
    name="maintenance",
    meaning="One row per operation that looked after a table: what was done, and why.",
    columns=(
        _RUN,
        _AT,
        _TABLE,
        Column("operation", "string", "optimize, vacuum, checkpoint, cleanup-log, set, enable, drop-feature, repair"),
        Column("reason", "string", "what the policy found, or `asked`"),
        Column("from_version", "bigint", "the newest version before", TABLE_VERSION),
        Column("version", "bigint", "the newest version after; the same where nothing was committed", TABLE_VERSION),
        Column("options", "map<string,string>", "how it was done"),
        Column("metrics", "map<string,bigint>", "files, bytes, rows and entries that it touched"),
        Column("duration_ms", "bigint", "from the call to the end"),
    ),
    layout=Layout(stats=("run_id", "recorded_at", "table_name", "operation")),
    append_only=True,
)

LOADS = Table(
    name="loads",
    meaning="One row per Parquet file that `codelake import-parquet` meant to import, and one when that was done.",
    columns=(
        _RUN,
        _AT,
        _TABLE,
        Column("source", "string", "the folder or file that was named"),
        Column("path", "string", "the file, below the source"),
        Column("n_bytes", "bigint", "its size"),
        Column("modified_at", "timestamp", "when it was last written, UTC"),
        Column("batch", "bigint", "files of one batch are committed together"),
        Column("status", "string", "planned or imported"),
        Column("n_rows", "bigint", "its rows"),
        Column("digest", "string", "digest of its rows, as the table has them"),
        Column("version", "bigint", "the version that holds them; NULL while planned", TABLE_VERSION, nullable=True),
    ),
    layout=Layout(stats=("run_id", "recorded_at", "table_name", "source", "path")),
    append_only=True,
)

OPERATIONS = (SNAPSHOTS, COMMITS, SCANS, QUALITY, STAGES, RUNS, MAINTENANCE, LOADS)
