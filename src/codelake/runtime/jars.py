"""Delta's two jars: resolved once by Spark's own resolver into the cache, then used from there."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from codelake.errors import Damaged
from codelake.runtime import child
from codelake.runtime.java import Java
from codelake.runtime.once import once
from codelake.settings import Settings

DELTA_VERSION = "4.4.0"


@dataclass(frozen=True)
class Jar:
    artifact: str
    sha256: str

    @property
    def coordinates(self) -> str:
        return f"io.delta:{self.artifact}:{DELTA_VERSION}"

    @property
    def file(self) -> str:
        return f"{self.artifact}-{DELTA_VERSION}.jar"


# These two are all that tables on a file system need. What Maven would bring with them (31 more) is in
# Spark already, and on the class path a second Jackson breaks it.
DELTA = (
    Jar("delta-spark_4.2_2.13", "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead"),
    Jar("delta-storage", "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"),
)


_ONLINE = (
    "Maven Central is needed once; for a mirror, set `ivy_settings` (CODELAKE_IVY_SETTINGS). Behind a proxy "
    "with its own certificate, tell Java: JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore=FILE."
)


def folder(settings: Settings) -> Path:
    return settings.cache_dir / f"jars-{DELTA_VERSION}"


def paths(settings: Settings) -> tuple[Path, ...]:
    return tuple(folder(settings) / jar.file for jar in DELTA)


def ready(settings: Settings, java: Java) -> tuple[Path, ...]:
    def resolve(to: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="codelake-ivy-") as ivy:
            # A private Ivy folder: the one of the user may hold other versions, locks or broken downloads.
            # The warehouse too: Spark would make one in the current folder.
            conf = {"spark.jars.ivy": ivy, "spark.sql.warehouse.dir": f"{ivy}/warehouse"}
            if settings.ivy_settings is not None:
                conf["spark.jars.ivySettings"] = str(settings.ivy_settings.absolute())
            child.run(
                "codelake.runtime.resolve",
                java=java,
                conf=conf,
                to=to,
                do=_ONLINE,
            )
        verify(to)

    once(folder(settings), resolve, message=f"resolving the jars of Delta {DELTA_VERSION}")
    return paths(settings)


def verify(held: Path) -> None:
    for jar in DELTA:
        file = held / jar.file
        found = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "no file"
        if found != jar.sha256:
            raise Damaged(
                f"the jar {file}",
                expected=f"SHA-256 {jar.sha256}",
                found=found,
                do=f"Delete {held} and run `codelake setup`; if it recurs, the mirror serves another file.",
            )
