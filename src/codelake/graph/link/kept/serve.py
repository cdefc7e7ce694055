"""A process of its own that keeps a unit linked, and answers what an edit changes.

It reads from its standard input and writes to its standard output: Arrow streams, each behind its length. First come
the rows of the unit and the stubs, then rows of files that have other contents. To each of these there is an answer:
rows of `links`, or nothing where the unit has to be linked anew, which is then done. Whenever it is ready to be asked,
it says so with an empty message. It ends with its input.
"""

from __future__ import annotations

import gc
from typing import BinaryIO

import pyarrow as pa

from codelake.graph.link.kept.unit import Unit, places
from codelake.graph.link.stubs import Stubs
from codelake.pipes import ends, say, send, tables

READY, NO_ANSWER = 0, -1
"""Said in the place of a table."""
WHOLE = {b"whole": b""}
"""Metadata of rows after which all links are asked for, not only those that may have changed."""
_MOST_UPDATES = 200
"""After which the unit is linked anew: what is gone keeps its place in it."""


def serve(asked: BinaryIO, answers: BinaryIO) -> None:
    given = tables(asked)
    rows, stubs = next(given), Stubs(next(given))
    unit, n_updates = _opened(rows, stubs), 0
    say(answers, READY)
    for changed in given:
        rows = _replaced(rows, changed)
        found, n_updates = unit.update(changed), n_updates + 1
        if found is not None and changed.schema.metadata == WHOLE:
            found = unit.all_links()
        if found is None:
            say(answers, NO_ANSWER)
        else:
            send(answers, found)
        if found is None or n_updates == _MOST_UPDATES:
            del unit
            gc.unfreeze()
            gc.collect()  # the next one takes its room
            unit, n_updates = _opened(rows, stubs), 0
        say(answers, READY)


def _opened(rows: pa.Table, stubs: Stubs) -> Unit:
    unit = Unit(rows, stubs)
    gc.freeze()  # millions of objects stay: to go through them now and then takes longer than an update
    return unit


def _replaced(rows: pa.Table, changed: pa.Table) -> pa.Table:
    gone = set(places(changed))
    kept = rows.filter(pa.array([place not in gone for place in places(rows)], pa.bool_()))
    return pa.concat_tables([kept, changed]).combine_chunks()


def main() -> None:
    serve(*ends())


if __name__ == "__main__":
    main()
