"""Hamilton on a lake: a loader of pinned tables, a saver that commits, and a store for cached results.

    import pyarrow as pa
    from hamilton import ad_hoc_utils, driver
    from hamilton.function_modifiers import load_from, source, value

    from codelake.contracts.graph import CPG_EDGES
    from codelake.delta.lake import open_lake
    from codelake.delta.run import Run
    from codelake.delta.store import Store
    from codelake.integrations.hamilton import LakeStore

    @load_from.codelake(run=source("run"), table=value(CPG_EDGES), columns=value("kind"))
    def by_kind(edges: pa.Table) -> pa.Table:
        return edges.group_by("kind").aggregate([([], "count_all")])

    lake = open_lake(Store(".codelake"))
    flow = driver.Builder().with_modules(ad_hoc_utils.create_temporary_module(by_kind))
    flow = flow.with_cache(result_store=LakeStore(lake)).build()
    print(flow.execute(["by_kind"], inputs={"run": Run(lake, "today")})["by_kind"])

Importing this module registers the adapters, as Hamilton has it. All loads of one `Run` read the same versions. The
store keeps results as Arrow files in a folder of the lake that is no table; it may be deleted at any time.

With Hamilton's cache, what is loaded is read each time, from whatever the run has pinned; what follows from it is taken
from the cache where the rows are those that they were.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
from hamilton.caching.fingerprinting import hash_value
from hamilton.caching.stores.base import ResultStore
from hamilton.io.data_adapters import DataLoader, DataSaver
from hamilton.registry import register_adapter

from codelake.contracts.table import Table
from codelake.delta.embedded import ask
from codelake.delta.lake import Lake
from codelake.delta.run import Run, pin
from codelake.delta.write import Mode, commit
from codelake.errors import UsageError

NAME = "codelake"
_FOLDER = "_hamilton"
_KEY = b"codelake"


class _Adapter:
    """What Hamilton asks of a loader and of a saver alike."""

    @classmethod
    def applicable_types(cls) -> Collection[type]:
        return [pa.Table]

    @classmethod
    def name(cls) -> str:
        return NAME


@dataclass
class LakeLoader(_Adapter, DataLoader):  # type: ignore[misc]
    """A table as the run has pinned it; `where` and `columns` are SQL."""

    run: Run
    table: Table
    columns: str = "*"
    where: str = "true"

    def load_data(self, type_: type) -> tuple[pa.Table, dict[str, Any]]:
        sql = f"SELECT {self.columns} FROM {self.table.name} WHERE {self.where}"
        rows = ask(self.run, (self.table,), sql)
        return rows, {"table": self.table.name, "version": pin(self.run, self.table).version, "n_rows": rows.num_rows}


@dataclass
class LakeSaver(_Adapter, DataSaver):  # type: ignore[misc]
    """Rows committed through the gates, once for each run; `options` go to `commit`."""

    run: Run
    table: Table
    mode: Mode = "append"
    options: dict[str, Any] = field(default_factory=dict)

    def save_data(self, data: pa.Table) -> dict[str, Any]:
        rows = self.run.lake.session.createDataFrame(data.combine_chunks())
        done = commit(self.run, self.table, rows, mode=self.mode, txn=self.run.txn, **self.options)
        return {"table": done.table, "version": done.version, "is_repeat": done.is_repeat, **done.metrics}


class LakeStore(ResultStore):  # type: ignore[misc]
    """Results by the version that Hamilton gives them."""

    def __init__(self, lake: Lake) -> None:
        self._files = lake.files
        self._files.create_dir(_FOLDER)

    def set(self, data_version: str, result: Any, **_: Any) -> None:
        rows, rest = result if _is_loaded(result) else (result, None)
        if not isinstance(rows, pa.Table):
            rows, rest = pa.table({}), result
        try:
            told = json.dumps({"is_table": rest is None, "is_loaded": _is_loaded(result), "rest": rest})
        except TypeError as error:
            expected = "an Arrow table, or what JSON can say"
            raise UsageError("result to keep in the lake", expected=expected, found=type(result).__name__) from error
        schema = rows.schema.with_metadata({_KEY: told})
        with self._files.open_output_stream(_path(data_version)) as stream, pa.ipc.new_file(stream, schema) as file:
            file.write_table(rows)

    def get(self, data_version: str, **_: Any) -> Any | None:
        if not self.exists(data_version):
            return None
        with self._files.open_input_file(_path(data_version)) as file:
            rows = pa.ipc.open_file(file).read_all()
        told = json.loads(rows.schema.metadata[_KEY])
        rows = rows.replace_schema_metadata(None)
        if told["is_loaded"]:
            return rows, told["rest"]
        return rows if told["is_table"] else told["rest"]

    def exists(self, data_version: str) -> bool:
        return bool(self._files.get_file_info(_path(data_version)).type == pafs.FileType.File)

    def delete(self, data_version: str) -> None:
        self._files.delete_file(_path(data_version))

    def delete_all(self) -> None:
        self._files.delete_dir_contents(_FOLDER)


def _is_loaded(result: Any) -> bool:
    """What a loader gives: the rows, and a dictionary about them."""
    return isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], pa.Table)


def _path(data_version: str) -> str:
    return f"{_FOLDER}/{data_version.replace('/', '_')}.arrow"


@hash_value.register(Run)  # type: ignore[untyped-decorator]
def _of_run(_: Run, *__: Any, **___: Any) -> str:
    """Never the same: what a run reads is known when it reads, and what it commits it commits once."""
    return uuid.uuid4().hex


@hash_value.register(pa.Table)  # type: ignore[untyped-decorator]
def _of_rows(rows: pa.Table, *_: Any, **__: Any) -> str:
    """By the rows themselves. Hamilton takes all Arrow tables for one."""
    found = hashlib.sha256(rows.schema.serialize())
    for batch in rows.combine_chunks().to_batches():
        found.update(batch.serialize())
    return found.hexdigest()


for _adapter in (LakeLoader, LakeSaver):
    register_adapter(_adapter)
