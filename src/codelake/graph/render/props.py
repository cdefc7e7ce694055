"""Properties of nodes, as one map a node, values as text. What is false or not there is not a property."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.graph.render.arrays import Flags, Places, at, is_any, is_null, pick, same, text, together
from codelake.graph.render.files import Owners
from codelake.graph.render.labels import full_ids
from codelake.graph.render.names import Named


class Props(NamedTuple):
    """Properties of entities of one sort, by key; at least one key."""

    file: Places
    entity: Any
    """Labels, or ids of what is not in the file."""
    texts: dict[str, Any] = {}  # noqa: RUF012
    numbers: dict[str, Any] = {}  # noqa: RUF012
    flags: dict[str, Flags] = {}  # noqa: RUF012


def props(files: Named) -> Iterator[Props]:
    """They are few: modules, definitions, parameters, imports and problems."""
    rows = files.rows
    yield of_files(files, rows, files.all)
    x = files.definitions
    is_async = is_any(x.kind, ["async_function"])
    is_generator = at(files.scopes.is_generator.astype(np.int64), x.body_scope) > 0
    found = np.flatnonzero(is_async | is_generator)
    marks = {"is_async": is_async[found], "is_generator": is_generator[found]}
    yield Props(x.file[found], files.label(x.node[found]), flags=marks)
    x = files.parameters
    yield Props(
        x.file,
        files.label(x.node),
        texts={"kind": x.kind},
        numbers={"position": x.position},
        flags={"has_default": x.default >= 0},
    )
    x = files.imports
    yield Props(
        x.file,
        files.label(x.node),
        texts={"module": x.module, "name": x.name, "as_name": x.as_name},
        numbers={"level": pc.if_else(pc.equal(x.level, 0), pa.scalar(None, x.level.type), x.level)},
        flags={"is_conditional": x.is_conditional, "is_type_checking": x.is_type_checking},
    )
    x = files.problems
    yield Props(x.file, files.problem_labels, texts={"message": x.message})


def of_files(owners: Owners, rows: Any, places: Places) -> Props:
    """Of the files at these places of `rows`."""
    texts = {key: pick(rows.column(key), places) for key in ("encoding", "digest", "status", "module")}
    return Props(places, pick(owners.file_id, places), texts, {"n_bytes": pick(rows.column("n_bytes"), places)})


class Maps(NamedTuple):
    ids: Any
    maps: Any


def rendered(owners: Owners, found: Props) -> Maps:
    n, n_keys = len(found.file), len(found.texts) + len(found.numbers) + len(found.flags)
    # Keys, one after the other: all entities' values of the first, then of the second.
    as_text = [*found.texts.values(), *map(text, found.numbers.values())]
    as_text += [same("true", n, pa.string()) for _ in found.flags]
    is_there = [~is_null(values) for values in (*found.texts.values(), *found.numbers.values())]
    is_there += found.flags.values()
    # Entities, one after the other, and of each the keys that it has.
    shown = np.stack(is_there, axis=1)
    order = (np.arange(n_keys)[None, :] * n + np.arange(n)[:, None])[shown]
    names = pa.array([*found.texts, *found.numbers, *found.flags])
    keys, values = pick(names, order // max(n, 1)), pick(together(as_text, pa.string()), order)
    begin = np.concatenate(([0], np.cumsum(shown.sum(axis=1)))).astype(np.int32)
    ids = full_ids(pick(owners.file_id, found.file), found.entity)
    return Maps(ids, pa.MapArray.from_arrays(pa.array(begin), keys, values))


def with_props(nodes: list[pa.RecordBatch], found: list[Maps]) -> list[pa.RecordBatch]:
    """The nodes with their properties; each entity is one of them."""
    rows = pa.Table.from_batches(nodes)
    ids, maps = (pa.concat_arrays([one[k] for one in found]) for k in range(2))
    places = pc.index_in(rows.column("node_id").combine_chunks(), value_set=ids)
    at_column = rows.schema.get_field_index("props")
    return list(rows.set_column(at_column, rows.schema.field(at_column), maps.take(places)).to_batches())
