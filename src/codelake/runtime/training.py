"""In a child process: use Spark and Delta as a session would, so that the classes are in the archive."""

from __future__ import annotations

import sys
import tempfile

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from codelake.errors import Unavailable
from codelake.runtime import child, gateway


def main() -> None:
    java, conf, _ = child.request()
    spark = gateway.start(conf, java)
    with tempfile.TemporaryDirectory(prefix="codelake-training-") as folder:
        _use(spark, f"{folder}/t")
    # The JVM writes the archive on its way out, and `stop` waits for that.
    gateway.stop(spark)


def _use(spark: SparkSession, table: str) -> None:
    rows = spark.range(20).select("id", F.col("id").cast("string").alias("name"), F.array("id").alias("ids"))
    rows.write.format("delta").option("delta.enableDeletionVectors", "true").save(table)
    rows.write.format("delta").mode("append").save(table)
    rows.write.format("delta").mode("overwrite").option("replaceWhere", "id < 20").save(table)
    spark.sql(f"DELETE FROM delta.`{table}` WHERE id = 3")
    spark.sql(f"UPDATE delta.`{table}` SET name = 'x' WHERE id = 4")
    spark.sql(
        f"MERGE INTO delta.`{table}` t USING (SELECT 5L id, 'y' name, array(1L) ids) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    spark.sql(f"DESCRIBE HISTORY delta.`{table}`").collect()
    spark.sql(f"DESCRIBE DETAIL delta.`{table}`").collect()
    now = spark.read.format("delta").load(table)
    before = spark.read.format("delta").option("versionAsOf", 0).load(table)
    now.join(before.select("id"), "id").groupBy("name").agg(F.count("*"), F.max("id")).orderBy("name").collect()
    now.where("name like '1%'").toArrow()
    spark.createDataFrame(pa.table({"id": [1], "name": ["z"]})).join(now, "id", "left_anti").count()


if __name__ == "__main__":
    try:
        main()
    except (PySparkException, Py4JError, Unavailable) as error:
        # The parent shows the last line.
        sys.exit(gateway.cause(error))
