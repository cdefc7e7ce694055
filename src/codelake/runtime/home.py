"""Where the installed Spark is."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from codelake.errors import Unavailable


def spark_home() -> Path:
    # Found, not imported: `codelake doctor` asks too, and has no use for half a second of imports.
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise Unavailable("pyspark is not installed", do="Install codelake again, with its dependencies.")
    return Path(spec.origin).parent
