"""A local file system that pauses inside Delta's commit, between "does the entry exist?" and the rename.

Spark ships a Java compiler (Janino), so the class is compiled from the text below and no JDK is needed.
While the file that the variable PAUSE_FILE names exists, every rename of a log entry says so
in `<file>.waiting` and waits for as many milliseconds as the file says, or until the file is gone.
"""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

CLASS = "org.apache.hadoop.fs.local.PausingLocalFs"

_SOURCE = """
package org.apache.hadoop.fs.local;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

public class PausingLocalFs extends org.apache.hadoop.fs.DelegateToFileSystem {
    PausingLocalFs(java.net.URI uri, org.apache.hadoop.conf.Configuration conf)
            throws IOException, java.net.URISyntaxException {
        super(uri, new Raw(), conf, "file", false);
    }

    public int getUriDefaultPort() { return -1; }

    public boolean isValidName(String name) { return true; }

    public static class Raw extends org.apache.hadoop.fs.RawLocalFileSystem {
        public boolean rename(Path from, Path to) throws IOException {
            File pause = new File(System.getenv("PAUSE_FILE"));
            if (pause.exists() && to.getParent().getName().equals("_delta_log") && to.getName().endsWith(".json")) {
                java.io.BufferedReader reader = new java.io.BufferedReader(new java.io.FileReader(pause));
                long left = Long.parseLong(reader.readLine().trim());
                reader.close();
                new File(pause.getPath() + ".waiting").createNewFile();
                while (left > 0 && pause.exists()) {
                    try { Thread.sleep(10); } catch (InterruptedException e) { break; }
                    left -= 10;
                }
            }
            return super.rename(from, to);
        }
    }
}
"""


def compile_into(spark: SparkSession, jar: Path) -> None:
    compiler = spark._jvm.org.codehaus.janino.SimpleCompiler()  # type: ignore[union-attr]
    compiler.cook(_SOURCE)
    with zipfile.ZipFile(jar, "w") as made:
        for name, code in dict(compiler.getBytecodes()).items():
            made.writestr(name.replace(".", "/") + ".class", bytes(code))


def spark_options(jar: Path) -> dict[str, str]:
    """Neither class path nor options of the JVM are others: the class archive that there is serves it too."""
    return {"spark.hadoop.fs.AbstractFileSystem.file.impl": CLASS, "spark.jars": str(jar)}


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path.name}"
        time.sleep(0.05)
