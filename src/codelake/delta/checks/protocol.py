"""Protocol and metadata: there, understood, and in agreement with what the table uses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from codelake.delta.checks.finding import Finding
from codelake.delta.checks.state import State
from codelake.delta.checks.stored import Stored
from codelake.delta.entries import LOG
from codelake.delta.features import FEATURES, opening_refused

_READER_LIST, _WRITER_LIST = 3, 7
"""From these versions on a protocol lists its features."""


def protocol(table: Stored) -> Iterator[Finding]:
    state = table.state
    if state is None:
        return
    if state.protocol is None:
        yield Finding(table.name, "no protocol", LOG, "a protocol", "none in the whole log")
    else:
        yield from _versions(table, state)
        yield from _used_features(table, state)
    if state.metadata is None:
        yield Finding(table.name, "no metadata", LOG, "metadata", "none in the whole log")
    else:
        yield from _schema(table, state)


def _versions(table: Stored, state: State) -> Iterator[Finding]:
    found = state.protocol or {}
    reader, writer = found.get("minReaderVersion"), found.get("minWriterVersion")
    if not isinstance(reader, int) or not isinstance(writer, int):
        yield Finding(table.name, "bad protocol", LOG, "reader and writer versions", json.dumps(dict(found)))
        return
    if refused := opening_refused(table.name, [{"protocol": found}]):
        yield Finding(
            table.name, "unknown feature", LOG, "features that codelake knows", refused.feature, do=refused.do
        )
    for kind, version, listed in (("reader", reader, _READER_LIST), ("writer", writer, _WRITER_LIST)):
        has_list = isinstance(found.get(f"{kind}Features"), list)
        if (version >= listed) != has_list:
            yield Finding(
                table.name,
                "bad protocol",
                LOG,
                f"{kind} version {version} with{'' if version >= listed else 'out'} a list of features",
                "a list" if has_list else "no list",
            )
    only_writers = set(found.get("readerFeatures") or ()) - set(found.get("writerFeatures") or ())
    if only_writers and writer >= _WRITER_LIST:
        yield Finding(
            table.name, "bad protocol", LOG, "every reader feature among the writer's", ", ".join(sorted(only_writers))
        )


def _used_features(table: Stored, state: State) -> Iterator[Finding]:
    """A feature that is in use and not in the protocol: an engine that does not know of it reads wrong rows."""
    if int((state.protocol or {}).get("minWriterVersion") or 0) < _WRITER_LIST:
        return
    used = {f.name: "the table property" for f in FEATURES.values() if _switched_on(f.properties, state.properties)}
    if any(one.get("deletionVector") for one in state.files.values()):
        used["deletionVectors"] = "deletion vectors"
    for name, by in sorted(used.items()):
        known = FEATURES[name]
        # a preview is switched on by the same property as the feature that followed it
        if known.binds_readers and not {name, f"{name}-preview", name.removesuffix("-preview")} & state.features:
            yield Finding(table.name, "feature not in the protocol", LOG, f"{name} in the protocol", f"{by} without it")


def _switched_on(wanted: tuple[tuple[str, str], ...] | None, properties: dict[str, str]) -> bool:
    return bool(wanted) and all(properties.get(key) == value for key, value in wanted or ())


def _schema(table: Stored, state: State) -> Iterator[Finding]:
    metadata = state.metadata or {}
    fields = schema_fields(state)
    if fields is None:
        yield Finding(table.name, "bad schema", LOG, "a struct as JSON", str(metadata.get("schemaString"))[:100])
        return
    names = {field["name"] for field in fields}
    for column in metadata.get("partitionColumns") or ():
        if column not in names:
            yield Finding(table.name, "bad schema", LOG, f"the partition column {column}", f"only {', '.join(names)}")
    if state.properties.get("delta.columnMapping.mode", "none") != "none":
        for field in fields:
            if "delta.columnMapping.physicalName" not in field.get("metadata", {}):
                yield Finding(table.name, "bad schema", LOG, f"the physical name of {field['name']}", "none")


def schema_fields(state: State) -> list[dict[str, Any]] | None:
    try:
        return [dict(field, name=field["name"]) for field in json.loads(state.metadata["schemaString"])["fields"]]  # type: ignore[index]
    except (ValueError, KeyError, TypeError):
        return None
