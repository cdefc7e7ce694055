"""A process that asks a lake over and over until a file appears, and prints one JSON document a round: of which run it
saw what. The lake is that of `test_reading_along.py`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import codelake
from codelake.errors import CodelakeError

_NODES = "SELECT name FROM cpg_nodes WHERE starts_with(name, 'gen') AND kind = 'function' ORDER BY name"
_CALLED = "SELECT callee_text FROM calls WHERE starts_with(callee_text, 'gen') ORDER BY callee_text"


def seen(root: str) -> dict[str, Any]:
    lake = codelake.open(root)
    names = [row["name"] for row in lake.sql(_NODES).to_arrow().to_pylist()]
    time.sleep(0.2)  # a table is opened when it is named: here a build, an optimize or a vacuum may come between
    callers = [row["name"] for row in lake.callers(names[0]).rows]
    time.sleep(0.2)
    [shown] = lake.show(names[0]).parts
    called = [row["callee_text"] for row in lake.sql(_CALLED).to_arrow().to_pylist()]
    return {"run": lake.run.run_id, "names": names, "called": called, "callers": callers, "source": shown["source"]}


def main() -> None:
    root, stop = sys.argv[1:]
    while not Path(stop).exists():
        try:
            found = seen(root)
        except CodelakeError as error:
            found = {"error": type(error).__name__, "text": str(error)}
            time.sleep(0.2)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
