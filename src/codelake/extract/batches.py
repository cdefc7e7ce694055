"""Evidence of many contents as Arrow record batches of the `evidence` contract."""

from __future__ import annotations

import sys
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.arrow_vectors import packed
from codelake.contracts.evidence import EVIDENCE, FIELDS, LINK_INPUT
from codelake.extract.content import Evidence
from codelake.extract.extractors import Values, extractor_version

SCHEMA = arrow_schema(EVIDENCE)


class Batch:
    """Grows content by content; `record_batch` ends it."""

    def __init__(self) -> None:
        self.plain: dict[str, list[Any]] = {c.name: [] for c in EVIDENCE.columns if c.name not in FIELDS}
        self.counts: dict[str, list[int]] = {name: [] for name in FIELDS}
        self.parts: dict[str, list[list[Values]]] = {name: [[] for _ in f] for name, f in FIELDS.items()}

    def __len__(self) -> int:
        return len(self.plain["digest"])

    def add(self, digest: str, found: Evidence) -> None:
        about = found.status, found.reason, found.encoding, found.n_lines
        values = (digest, extractor_version(), *about, _link_digest(found), _needs(found))
        for column, value in zip(self.plain.values(), values, strict=True):
            column.append(value)
        for name, parts in self.parts.items():
            rows = found.columns.get(name)
            self.counts[name].append(len(rows[0]) if rows else 0)
            if rows:
                for part, sequence in zip(parts, rows, strict=True):
                    part.append(sequence)

    def record_batch(self) -> pa.RecordBatch:
        columns = [
            pa.array(self.plain[field.name], field.type)
            if field.name in self.plain
            else packed(self.parts[field.name], self.counts[field.name], FIELDS[field.name])
            for field in SCHEMA
        ]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _link_digest(found: Evidence) -> str:
    hashed = blake2b(digest_size=16)
    for name, fields in LINK_INPUT.items():
        hashed.update(name.encode())
        rows = dict(zip(FIELDS[name], found.columns.get(name, ()), strict=False))
        for values in (rows[field] for field in fields if rows):
            hashed.update(repr(values.tolist() if isinstance(values, np.ndarray) else list(values)).encode())
    return hashed.hexdigest()


def _needs(found: Evidence) -> list[str]:
    rows = dict(zip(FIELDS["imports"], found.columns.get("imports", ()), strict=False))
    pairs = zip(rows.get("module", ()), rows.get("level", ()), strict=True)
    heads = {module.partition(".")[0] for module, level in pairs if module and not level}
    return sorted(heads - sys.stdlib_module_names)
