"""The table properties that Delta and Parquet know, and what each may be.

Delta refuses an unknown `delta.` property; an unknown `parquet.` one it would keep and nobody would honour, and a value
that is none it would keep until the next write fails of it. So all of that is looked at here, before anything is done.
What raises a table's protocol by its number is no property of a contract: features do that, by their names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from codelake.contracts.table import Table
from codelake.errors import ContractBroken

OWN = "codelake."
INTERVAL = re.compile(r"(?:interval\s+)?(\d+)\s+(second|minute|hour|day|week)s?", re.IGNORECASE)

_FORMS: tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...] = (
    (
        "true or false",
        re.compile("true|false", re.IGNORECASE),
        (
            "delta.appendOnly",
            "delta.autoOptimize.autoCompact",
            "delta.autoOptimize.optimizeWrite",
            "delta.checkpoint.writeStatsAsJson",
            "delta.checkpoint.writeStatsAsStruct",
            "delta.enableChangeDataFeed",
            "delta.enableDeletionVectors",
            "delta.enableExpiredLogCleanup",
            "delta.enableInCommitTimestamps",
            "delta.enableRowTracking",
            "delta.enableTypeWidening",
            "delta.randomizeFilePrefixes",
            "parquet.bloom.filter.enabled",
            "parquet.column.statistics.enabled",
            "parquet.enable.dictionary",
            "parquet.page.write-checksum.enabled",
        ),
    ),
    (
        "a whole number from 1 on",
        re.compile(r"[1-9]\d*"),
        (
            "delta.checkpointInterval",
            "parquet.block.size",
            "parquet.bloom.filter.expected.ndv",
            "parquet.bloom.filter.max.bytes",
            "parquet.columnindex.truncate.length",
            "parquet.compression.codec.zstd.level",
            "parquet.dictionary.page.size",
            "parquet.page.row.count.limit",
            "parquet.page.size",
            "parquet.statistics.truncate.length",
        ),
    ),
    (
        "such as `interval 30 days`",
        INTERVAL,
        (
            "delta.deletedFileRetentionDuration",
            "delta.logRetentionDuration",
            "delta.setTransactionRetentionDuration",
        ),
    ),
    ("a number of columns, or -1 for all", re.compile(r"-1|\d+"), ("delta.dataSkippingNumIndexedCols",)),
    ("a share of 1, such as 0.01", re.compile(r"0?\.\d+"), ("parquet.bloom.filter.fpp",)),
    ("classic or v2", re.compile("classic|v2"), ("delta.checkpointPolicy",)),
    ("none, name or id", re.compile("none|name|id"), ("delta.columnMapping.mode",)),
    ("Serializable", re.compile("Serializable"), ("delta.isolationLevel",)),
    ("PARQUET_1_0 or PARQUET_2_0", re.compile("v[12]|PARQUET_[12]_0"), ("parquet.writer.version",)),
    ("a text", re.compile(".+"), ("delta.dataSkippingStatsColumns", "delta.parquet.format.version")),
)
_KNOWN = {name: (expected, form) for expected, form, names in _FORMS for name in names}


def check_properties(table: Table, properties: Mapping[str, str]) -> None:
    for name, value in properties.items():
        base, _, column = name.partition("#")
        if base.startswith(OWN):
            raise _refused(table, name, "a property that is nobody's own", "one that codelake sets from the contract")
        if base not in _KNOWN or (column and not base.startswith("parquet.")):
            near = get_close_matches(base, _KNOWN, 1)
            such = f", such as {near[0]}" if near else ""
            raise _refused(table, name, f"a property that Delta or Parquet knows{such}", name)
        if column and column.split(".")[0] not in table.column_names:
            raise _refused(table, name, f"one of the columns {', '.join(table.column_names)} behind #", column)
        expected, form = _KNOWN[base]
        if not form.fullmatch(value):
            raise _refused(table, name, expected, value)


def _refused(table: Table, name: str, expected: str, found: str) -> ContractBroken:
    what = f"table {table.name}, property {name}"
    return ContractBroken(what, expected=expected, found=found, do="Nothing was written.")
