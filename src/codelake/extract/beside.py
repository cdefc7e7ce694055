"""Few contents extracted in one process beside this one: to start Spark for them would take longer than the work.

It reads contents from its standard input and writes evidence to its standard output. There they go through what Spark's
workers put them through. It takes as long to begin as to extract, so it is started before it is needed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import BinaryIO, cast

import msgspec
import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.evidence import EVIDENCE
from codelake.errors import Unavailable
from codelake.extract.content import evidence_of
from codelake.extract.extraction import Extraction
from codelake.extract.extractors import extractor_version
from codelake.extract.guard import Limits
from codelake.pipes import receive, send

# -P: the current folder is often somebody's repository, and its modules are not ours to import.
_COMMAND = (sys.executable, "-P", "-m", "codelake.extract.beside")
_LIMITS = b"limits"


class Beside:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self._process is None:
            # Ctrl-C is for this process, which then ends that one.
            self._process = subprocess.Popen(
                _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0
            )

    def evidence(self, contents: pa.Table, *, limits: Limits) -> pa.Table:
        """Of `contents` (digest, content)."""
        self.start()
        process = cast("subprocess.Popen[bytes]", self._process)
        try:
            asked = contents.replace_schema_metadata({_LIMITS: msgspec.json.encode(limits)})
            send(cast(BinaryIO, process.stdin), asked)
            return cast(pa.Table, receive(cast(BinaryIO, process.stdout)))
        except (EOFError, BrokenPipeError) as error:
            self.end()
            raise Unavailable(
                f"extraction of {contents.num_rows} contents",
                found=f"the process that extracts has ended, exit code {process.returncode}",
                do="Nothing was committed. Build again.",
            ) from error

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    while True:
        try:
            contents = cast(pa.Table, receive(sys.stdin.buffer))
        except EOFError:
            return
        limits = msgspec.json.decode(contents.schema.metadata[_LIMITS], type=Limits)
        batches = Extraction(limits, evidence_of, extractor_version())(iter(contents.to_batches()))
        send(answers, pa.Table.from_batches(batches, arrow_schema(EVIDENCE)))


if __name__ == "__main__":
    main()
