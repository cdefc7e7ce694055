"""Writes the archives beside this file: tables as older releases of Delta leave them, each with its rows as that
release reads them back.

    python -m tests.delta.older.write FOLDER    (some 900 MB from PyPI and Maven Central go there; needs Java 17)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
RELEASES = {"1.2.1": "3.2.4", "2.3.0": "3.3.2", "3.2.1": "3.5.3"}
"""Of Delta, with the release of Spark that each was made for."""
_OPENED = (
    "lang",
    "lang.invoke",
    "lang.reflect",
    "io",
    "net",
    "nio",
    "util",
    "util.concurrent",
    "util.concurrent.atomic",
)
_OPEN = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED] + [
    f"--add-opens=java.base/sun.{name}=ALL-UNNAMED" for name in ("nio.ch", "nio.cs", "security.action", "util.calendar")
]
_CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def fetched(folder: Path, delta: str) -> Path:
    """Spark's and Delta's jars, in one folder."""
    spark = RELEASES[delta]
    jars = folder / f"pyspark-{spark}/deps/jars"
    if not jars.is_dir():
        archive = folder / f"pyspark-{spark}.tar.gz"
        if not archive.is_file():
            told = ["download", "--no-deps", "--no-binary", ":all:", "-d", str(folder), f"pyspark=={spark}"]
            subprocess.run([sys.executable, "-m", "pip", *told], check=True)
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    for artifact in (f"delta-{'spark' if delta >= '3' else 'core'}_2.12", "delta-storage"):
        if not (jars / f"{artifact}-{delta}.jar").is_file():
            told = ["dependency:copy", f"-Dartifact=io.delta:{artifact}:{delta}", f"-DoutputDirectory={jars}"]
            subprocess.run(["mvn", "-q", "-B", *told], check=True)
    return jars


def write(folder: Path, delta: str) -> None:
    jars, root = fetched(folder, delta), folder / f"delta-{delta}"
    script = folder / f"{delta}.sql"
    text = (HERE / f"delta-{delta}.sql").read_text().replace("{root}", str(root))
    tables = [line.split("`")[1].rpartition("/")[2] for line in text.splitlines() if line.startswith("CREATE TABLE")]
    for name in tables:  # the same text in every release: what the tests compare
        text += f"INSERT OVERWRITE DIRECTORY '{root}/{name}.rows' USING text "
        text += f"SELECT to_json(struct(*)) FROM delta.`{root}/{name}`;\n"
    script.write_text(text)
    said = [word for pair in (("--conf", f"{k}={v}") for k, v in _CONF.items()) for word in pair]
    driver = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"
    java = ["java", *_OPEN, "-cp", f"{jars}/*", "org.apache.spark.deploy.SparkSubmit", "--master", "local[1]", *said]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(
        [*java, "--class", driver, "spark-internal", "-f", str(script)], check=True, env=environment, cwd=folder
    )
    with tarfile.open(HERE / f"delta-{delta}.tar.gz", "w:gz") as packed:
        packed.add(root, arcname=".")


if __name__ == "__main__":
    for release in RELEASES:
        write(Path(sys.argv[1]).absolute(), release)
