"""Few contents extracted in one process beside this one: to start Spark for them would take longer than the work.

It reads contents from its standard input and writes evidence to its standard output, each as an Arrow stream. There
they go through what Spark's workers put them through.
"""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.evidence import EVIDENCE
from codelake.errors import Unavailable
from codelake.extract.content import evidence_of
from codelake.extract.extraction import Extraction
from codelake.extract.extractors import extractor_version
from codelake.extract.guard import Limits

# -P: the current folder is often somebody's repository, and its modules are not ours to import.
_COMMAND = (sys.executable, "-P", "-m", "codelake.extract.beside")


def evidence_beside(contents: pa.Table, *, limits: Limits) -> pa.Table:
    """The evidence of `contents` (digest, content)."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, contents.schema) as writer:
        writer.write_table(contents)
    asked = msgspec.json.encode(limits).decode()
    child = subprocess.run([*_COMMAND, asked], input=memoryview(sink.getvalue()), capture_output=True, check=False)
    if child.returncode != 0:
        said = child.stderr.decode(errors="replace").strip().splitlines()
        raise Unavailable(
            f"extraction of {contents.num_rows} contents",
            found=said[-1] if said else f"exit code {child.returncode}",
            do="Nothing was committed. Build again.",
        )
    return pa.ipc.open_stream(child.stdout).read_all()


def main() -> None:
    limits = msgspec.json.decode(sys.argv[1], type=Limits)
    contents = pa.ipc.open_stream(sys.stdin.buffer)
    with pa.ipc.new_stream(sys.stdout.buffer, arrow_schema(EVIDENCE)) as writer:
        for batch in Extraction(limits, evidence_of, extractor_version())(iter(contents)):
            writer.write_batch(batch)


if __name__ == "__main__":
    main()
