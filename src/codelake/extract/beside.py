"""Few contents extracted in one process beside this one: to start Spark for them would take longer than the work.

It reads contents from its standard input and writes evidence to its standard output. There they go through what Spark's
workers put them through. It takes as long to begin as to extract, so it stays for the next time.
"""

from __future__ import annotations

from typing import cast

import msgspec
import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.evidence import EVIDENCE
from codelake.errors import Unavailable
from codelake.extract.content import evidence_of
from codelake.extract.extraction import Extraction
from codelake.extract.extractors import extractor_version
from codelake.extract.guard import Limits
from codelake.pipes import Process, ends, send, tables

_LIMITS = b"limits"


class Beside:
    def __init__(self) -> None:
        self._process: Process | None = None

    def evidence(self, contents: pa.Table, *, limits: Limits) -> pa.Table:
        """Of `contents` (digest, content)."""
        # Out of the way while it is asked: if that is interrupted, nobody takes its answer for that to the next one.
        process, self._process = self._process or Process("codelake.extract.beside"), None
        try:
            process.send(contents.replace_schema_metadata({_LIMITS: msgspec.json.encode(limits)}))
            found = cast(pa.Table, process.receive())
            self._process = process
        except (EOFError, BrokenPipeError) as error:
            raise Unavailable(
                f"extraction of {contents.num_rows} contents",
                found="the process that extracts has ended",
                do="Nothing was committed. Build again.",
            ) from error
        finally:
            if self._process is None:
                process.end()
        return found

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


def main() -> None:
    asked, answers = ends()
    for contents in tables(asked):
        limits = msgspec.json.decode(contents.schema.metadata[_LIMITS], type=Limits)
        batches = Extraction(limits, evidence_of, extractor_version())(iter(contents.to_batches()))
        send(answers, pa.Table.from_batches(batches, arrow_schema(EVIDENCE)))


if __name__ == "__main__":
    main()
