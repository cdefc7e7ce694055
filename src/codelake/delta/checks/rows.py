"""Every row of every data file can be decoded."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet as pq

from codelake.delta.checks.finding import Finding
from codelake.delta.checks.stored import Stored, below, leaves


def rows(table: Stored) -> Iterator[Finding]:
    for one in (table.state.files if table.state else {}).values():
        path = below(one["path"])
        if leaves(one["path"]) or path not in table.data_files:
            continue  # the check of files says so
        try:
            with table.fs.open_input_file(path) as file:
                for _ in pq.ParquetFile(file).iter_batches():
                    pass
        except (ValueError, OSError) as error:
            yield Finding(table.name, "corrupt rows", path, "rows that can be decoded", str(error).splitlines()[0])
