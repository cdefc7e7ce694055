"""Properties of nodes, one a row and as one map an entity. What is false or not there is not a property."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import CPG_PROPS, CPG_PROPS_MAP
from codelake.graph.render.arrays import Flags, Places, at, is_any, is_null, pick, same, text, together
from codelake.graph.render.files import Owners
from codelake.graph.render.labels import full_ids
from codelake.graph.render.names import Named
from codelake.graph.render.nodes import batch

ROWS = arrow_schema(CPG_PROPS)
MAPS = arrow_schema(CPG_PROPS_MAP)


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


def rendered(owners: Owners, found: Props) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """As rows of the two tables."""
    n, n_keys = len(found.file), len(found.texts) + len(found.numbers) + len(found.flags)
    sorts = [*("string" for _ in found.texts), *("int" for _ in found.numbers), *("bool" for _ in found.flags)]
    # Keys, one after the other: all entities' values of the first, then of the second.
    as_text = [*found.texts.values(), *map(text, found.numbers.values())]
    as_text += [same("true", n, pa.string()) for _ in found.flags]
    is_there = [~is_null(values) for values in (*found.texts.values(), *found.numbers.values())]
    is_there += found.flags.values()
    # Entities, one after the other, and of each the keys that it has.
    shown = np.stack(is_there, axis=1)
    order = (np.arange(n_keys)[None, :] * n + np.arange(n)[:, None])[shown]
    key, entity = order // n if n else order, order % n if n else order
    names = pa.array([*found.texts, *found.numbers, *found.flags])
    keys, values = pick(names, key), pick(together(as_text, pa.string()), order)
    ids = full_ids(pick(owners.file_id, found.file), found.entity)
    repo, path = pick(owners.repo, found.file), pick(owners.path, found.file)
    value_type = pick(pa.array(sorts), key)
    numbers = [values.cast(pa.int64()) for values in found.numbers.values()]
    number_at = np.where(is_any(value_type, ["int"]), order - len(found.texts) * n, -1)
    rows = {
        "entity_id": pick(ids, entity),
        "key": keys,
        "value_type": value_type,
        "value_string": pc.if_else(pc.equal(value_type, "string"), values, pa.scalar(None, pa.string())),
        "value_int": pick(together(numbers, pa.int64()), number_at) if numbers else None,
        "value_float": None,
        "value_bool": pc.if_else(pc.equal(value_type, "bool"), True, pa.scalar(None, pa.bool_())),
        "value_json": None,
        "repo": pick(repo, entity),
        "path": pick(path, entity),
    }
    begin = np.concatenate(([0], np.cumsum(shown.sum(axis=1)))).astype(np.int32)
    maps = pa.MapArray.from_arrays(pa.array(begin), keys, values)
    return (
        batch(ROWS, len(order), rows),
        batch(MAPS, n, {"entity_id": ids, "props": maps, "repo": repo, "path": path}),
    )
