"""Evidence of many contents as Arrow record batches of the `evidence` contract."""

from __future__ import annotations

import sys
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.evidence import EVIDENCE, LINK_INPUT, NESTED
from codelake.extract.content import Evidence
from codelake.extract.extractors import Values, extractor_version

SCHEMA = arrow_schema(EVIDENCE)
_FIELDS = {column.name: [f.name for f in SCHEMA.field(column.name).type.value_type] for column in NESTED}


class Batch:
    """Grows content by content; `record_batch` ends it."""

    def __init__(self) -> None:
        self.plain: dict[str, list[Any]] = {c.name: [] for c in EVIDENCE.columns if c.name not in _FIELDS}
        self.offsets: dict[str, list[int]] = {name: [0] for name in _FIELDS}
        self.parts: dict[str, list[list[Values]]] = {name: [[] for _ in f] for name, f in _FIELDS.items()}

    def __len__(self) -> int:
        return len(self.plain["digest"])

    def add(self, digest: str, found: Evidence) -> None:
        about = found.status, found.reason, found.encoding, found.n_lines
        values = (digest, extractor_version(), *about, _link_digest(found), _needs(found))
        for column, value in zip(self.plain.values(), values, strict=True):
            column.append(value)
        for name, parts in self.parts.items():
            rows = found.columns.get(name)
            offsets = self.offsets[name]
            offsets.append(offsets[-1] + (len(rows[0]) if rows else 0))
            if rows:
                for part, sequence in zip(parts, rows, strict=True):
                    part.append(sequence)

    def record_batch(self) -> pa.RecordBatch:
        columns = []
        for field in SCHEMA:
            if field.name in self.plain:
                columns.append(pa.array(self.plain[field.name], field.type))
                continue
            struct = field.type.value_type
            values = [_array(parts, f.type) for parts, f in zip(self.parts[field.name], struct, strict=True)]
            items = pa.StructArray.from_arrays(values, fields=list(struct))
            columns.append(pa.ListArray.from_arrays(pa.array(self.offsets[field.name], pa.int32()), items, field.type))
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _link_digest(found: Evidence) -> str:
    hashed = blake2b(digest_size=16)
    for name, fields in LINK_INPUT.items():
        hashed.update(name.encode())
        rows = dict(zip(_FIELDS[name], found.columns.get(name, ()), strict=False))
        for values in (rows[field] for field in fields if rows):
            hashed.update(repr(values.tolist() if isinstance(values, np.ndarray) else list(values)).encode())
    return hashed.hexdigest()


def _needs(found: Evidence) -> list[str]:
    rows = dict(zip(_FIELDS["imports"], found.columns.get("imports", ()), strict=False))
    pairs = zip(rows.get("module", ()), rows.get("level", ()), strict=True)
    heads = {module.partition(".")[0] for module, level in pairs if module and not level}
    return sorted(heads - sys.stdlib_module_names)


def _array(parts: list[Values], type: pa.DataType) -> pa.Array:
    if not parts:
        return pa.array([], type)
    if isinstance(parts[0], np.ndarray):
        return pa.array(np.concatenate(parts), type)
    return pa.array(list(chain.from_iterable(parts)), type)
