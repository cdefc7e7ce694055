"""The class archive (AppCDS): made once, it saves the JVM most of the work of loading Spark and Delta.

A JVM refuses an archive that was made by another version or for another class path and goes on without
it, slowly and silently. So everything that it compares is in the archive's name.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from codelake.errors import Unavailable
from codelake.runtime import child
from codelake.runtime.home import spark_home
from codelake.runtime.java import Java
from codelake.runtime.once import once
from codelake.settings import Settings

OPTIONS = "spark.driver.extraJavaOptions"
CLASS_PATH = "spark.driver.extraClassPath"
_OFF = "Run `codelake doctor`; to go on without the archive, set CODELAKE_CLASS_ARCHIVE=false."
_UNUSED_DAYS = 30


def ready(settings: Settings, java: Java, conf: Mapping[str, str]) -> str:
    """The JVM option that uses the archive for a JVM started with `conf`."""

    def make(to: Path) -> None:
        to.mkdir()
        options = [conf[OPTIONS], f'"-XX:ArchiveClassesAtExit={to / "spark.jsa"}"']
        if base is not None:
            options.append(f'"-XX:SharedArchiveFile={base}"')
        # On a cluster too, what is trained is the driver's JVM; it needs no executors for it.
        training = {**conf, OPTIONS: " ".join(options), "spark.master": "local[*]"}
        child.run("codelake.runtime.training", java=java, conf=training, to=to / "spark.jsa", do=_OFF)
        _forget(folder)

    base = _base(settings, java)
    folder = path(settings, java, conf)
    once(folder, make, message="archiving the classes of Spark and Delta, for faster starts (about a minute)")
    os.utime(folder)
    layers = [str(layer) for layer in (base, folder / "spark.jsa") if layer is not None]
    return f'"-XX:SharedArchiveFile={os.pathsep.join(layers)}"'


def path(settings: Settings, java: Java, conf: Mapping[str, str]) -> Path:
    """`classes-<family>-<key>`: a family is one Java, Spark and way to start them; one key is current."""
    spark = spark_home()
    entries = [*map(Path, conf[CLASS_PATH].split(os.pathsep)), *sorted((spark / "jars").iterdir())]
    # The JVM compares size and time of each jar, not its content.
    stats = [(entry, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries if entry.exists()]
    family = _digest(java.home, spark, conf[OPTIONS], conf[CLASS_PATH])
    return settings.cache_dir / f"classes-{family}-{_digest(java.version, *stats)}"


def _base(settings: Settings, java: Java) -> Path | None:
    """The archive of the JDK's own classes, on which ours is a layer, where the JDK does not bring one."""
    if (java.home / "lib" / "server" / "classes.jsa").exists():
        return None

    def dump(to: Path) -> None:
        command = [str(java.binary), "-Xshare:dump", "-XX:+UseSerialGC", f"-XX:SharedArchiveFile={to}"]
        dumped = subprocess.run(command, capture_output=True, text=True)
        if dumped.returncode != 0:
            raise Unavailable(f"{java} cannot make a class archive (exit code {dumped.returncode})", do=_OFF)

    # Apart from the layer on it, which records this path: it has to have its last name before training.
    name = f"base-{_digest(java.home, java.version)}.jsa"
    return once(settings.cache_dir / name, dump, message="archiving the classes of Java")


def _forget(current: Path) -> None:
    """Archives that the new one replaces, and those that nobody used for long: each takes 200 MB."""
    family = current.name.rpartition("-")[0]
    long_ago = time.time() - _UNUSED_DAYS * 24 * 3600
    for other in current.parent.glob("classes-*-*"):
        if other != current and (other.name.startswith(f"{family}-") or other.stat().st_mtime < long_ago):
            # A running JVM keeps the archive that it has mapped.
            shutil.rmtree(other)


def _digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:12]
