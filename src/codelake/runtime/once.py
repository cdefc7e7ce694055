"""Making a file or folder of the cache once, although several processes may want it at the same moment."""

from __future__ import annotations

import fcntl
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from codelake.errors import Unavailable


def once(target: Path, make: Callable[[Path], None], *, message: str) -> Path:
    """`make` fills a path beside `target`, which is then renamed: nobody sees a half-made one."""
    if target.exists():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = target.with_name(f".{target.name}.lock").open("w")
    except OSError as error:
        raise Unavailable(
            f"the cache folder {target.parent} cannot be written: {error.strerror}",
            do="Make it writable, or set `cache_dir` (CODELAKE_CACHE_DIR) to a folder that is.",
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Another process may have made it while this one waited for the lock.
        if not target.exists():
            print(f"preparing Spark, once: {message}", file=sys.stderr, flush=True)
            beside = Path(tempfile.mkdtemp(prefix=".making-", dir=target.parent))
            try:
                make(beside / target.name)
                (beside / target.name).rename(target)
            finally:
                shutil.rmtree(beside)
    return target
