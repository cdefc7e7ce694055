"""A contract's layout, in the words that Delta on Spark really honours.

    layout field         what carries it
    partition_by         PARTITIONED BY
    cluster_by           CLUSTER BY (OPTIMIZE then clusters)
    zorder_by            maintenance passes it to OPTIMIZE ZORDER BY
    sort_by              rows sorted in each task before the write; table property codelake.sortedBy
    together_by          rows sorted in each task before the write
    stats                table property delta.dataSkippingStatsColumns
    bloom                table property parquet.bloom.filter.enabled#column
    no_dictionary        table property parquet.enable.dictionary#column
    row_group_bytes      table property parquet.block.size
    file_rows            writer option maxRecordsPerFile
    file_bytes           writer option optimizeWrite, packed to spark.databricks.delta.optimizeWrite.binSize; OPTIMIZE
                         makes no larger ones
    compression          writer option compression

Parquet properties travel as table properties because Delta hands a table's properties, and of a writer's
options only a few, to the Parquet writer. delta/properties.py knows which there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelake.contracts.table import Table
from codelake.delta.features import properties_for
from codelake.delta.properties import OWN, check_properties

if TYPE_CHECKING:  # a table is inspected without loading Spark
    from pyspark.sql import DataFrame

SORTED_BY = f"{OWN}sortedBy"


def table_properties(table: Table) -> dict[str, str]:
    """Every table property that the contract implies."""
    layout = table.layout
    found = {
        "delta.checkpointInterval": str(table.checkpoint_interval),
        "delta.deletedFileRetentionDuration": f"interval {table.retention_days} days",
        "delta.logRetentionDuration": f"interval {table.retention_days} days",
        **properties_for(table.features),
    }
    if table.append_only:
        found["delta.appendOnly"] = "true"
    if layout.stats is not None:
        found["delta.dataSkippingStatsColumns"] = ",".join(layout.stats)
    for name in layout.bloom:
        found[f"parquet.bloom.filter.enabled#{name}"] = "true"
    for name in layout.no_dictionary:
        found[f"parquet.enable.dictionary#{name}"] = "false"
    if layout.row_group_bytes is not None:
        found["parquet.block.size"] = str(layout.row_group_bytes)
    if layout.sort_by:
        found[SORTED_BY] = ",".join(layout.sort_by)
    check_properties(table, table.properties)
    return found | dict(table.properties)


def write_options(table: Table) -> dict[str, str]:
    found = {"compression": table.layout.compression}
    if table.layout.file_rows is not None:
        found["maxRecordsPerFile"] = str(table.layout.file_rows)
    if table.layout.file_bytes is not None:
        found["optimizeWrite"] = "true"
    return found


def write_confs(table: Table) -> dict[str, str]:
    """What only a session's configuration can say."""
    if table.layout.file_bytes is None:
        return {}
    return {"spark.databricks.delta.optimizeWrite.binSize": f"{table.layout.file_bytes}b"}


def laid_out(rows: DataFrame, table: Table) -> DataFrame:
    return rows.sortWithinPartitions(*table.layout.order) if table.layout.order else rows
