"""A process without Spark that looks after one table and is killed in the middle: `LAKE vacuum 3` or `cleanup-log 3`
before its fourth deletion, `LAKE checkpoint 4096` by the kernel, when a file that it writes grows beyond so many bytes.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from datetime import timedelta

from codelake.delta.checks.stored import Stored
from codelake.delta.lake import open_lake
from codelake.delta.maintenance.checkpoint import checkpoint
from codelake.delta.maintenance.log_cleanup import cleanup_log
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.run import Run
from codelake.delta.store import Store


def die_at_deletion(number: int) -> None:
    delete, n = Stored.delete, 0

    def dying(self: Stored, path: str) -> None:
        nonlocal n
        if n == number:
            os.kill(os.getpid(), signal.SIGKILL)
        n += 1
        delete(self, path)

    Stored.delete = dying  # type: ignore[method-assign]


def die_at_size(n_bytes: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def main() -> None:
    root, operation, at = sys.argv[1:]
    run = Run(open_lake(Store(root)), "doomed", stage="maintain", pipeline="maintain")
    if operation == "checkpoint":
        die_at_size(int(at))
        checkpoint(run, "things")
    else:
        die_at_deletion(int(at))
        {"cleanup-log": cleanup_log, "vacuum": vacuum}[operation](run, "things", retain=timedelta(0), force=True)


if __name__ == "__main__":
    main()
