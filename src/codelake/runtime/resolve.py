"""In a child process: a short-lived Spark whose resolver fetches Delta's jars."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from codelake.errors import Unavailable
from codelake.runtime import child, gateway
from codelake.runtime.jars import DELTA

_CONF = {
    "spark.master": "local[1]",
    "spark.app.name": "codelake resolve",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def main() -> None:
    java, conf, to = child.request()
    spark = gateway.start({**_CONF, **conf}, java)
    for jar in DELTA:
        # transitive=false: see DELTA.
        spark.sql(f"ADD JAR ivy://{jar.coordinates}?transitive=false")
    gateway.stop(spark)
    to.mkdir()
    for jar in DELTA:
        resolved = Path(conf["spark.jars.ivy"]) / "jars" / f"io.delta_{jar.file}"
        shutil.copyfile(resolved, to / jar.file)


if __name__ == "__main__":
    try:
        main()
    except (PySparkException, Py4JError, Unavailable) as error:
        # The parent shows the last line.
        sys.exit(gateway.cause(error))
