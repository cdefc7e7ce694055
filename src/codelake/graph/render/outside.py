"""What is outside of the lake: its nodes and properties, made of the external symbols of all repositories, so that
each is once in the lake."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from codelake.graph.render.arrays import same
from codelake.graph.render.files import Owners
from codelake.graph.render.nodes import Nodes
from codelake.graph.render.props import Props
from codelake.ids import OUTSIDE, type_id

OF_SYMBOLS = ("symbol_id", "name", "has_type", "kind", "distribution", "version")
"""Columns of external symbols that are rendered."""


def outside(externals: pa.StructArray) -> tuple[Owners, tuple[Nodes, Nodes, Nodes], Props]:
    rows: dict[str, list[Any]] = {}
    columns = (externals.field(name).to_pylist() for name in ("symbol_id", "name", "has_type"))
    for symbol, name, has_type in zip(*columns, strict=True):
        known = rows.setdefault(symbol, [name, False])
        known[1] = known[1] or has_type
    # They belong to no file: one owner, whose repo and path are empty.
    owners = Owners(*(pa.array([""]) for _ in range(3)))
    typed = {symbol: name for symbol, (name, has_type) in rows.items() if has_type}
    names = {symbol: name for symbol, (name, _) in rows.items()}
    return (
        owners,
        (
            Nodes(_owned(1), "repository", pa.array([OUTSIDE]), None, name="outside"),
            _nodes("external_symbol", list(names), names, same(OUTSIDE, len(names), pa.string())),
            _nodes("type", [type_id(symbol) for symbol in typed], typed, pa.array(list(typed), pa.string())),
        ),
        _props(externals, list(names)),
    )


def _owned(n: int) -> Any:
    return np.zeros(n, dtype=np.int64)


def _nodes(kind: str, ids: list[str], names: dict[str, str], parents: Any) -> Nodes:
    return Nodes(
        _owned(len(ids)),
        kind,
        pa.array(ids, pa.string()),
        parents,
        name=pa.array([name.rpartition(".")[2] for name in names.values()], pa.string()),
        qualified=pa.array(list(names.values()), pa.string()),
    )


def _props(externals: pa.StructArray, symbols: list[str]) -> Props:
    """Repositories may declare other versions of a distribution: those are all named."""
    found: dict[str, dict[str, set[str]]] = {key: {} for key in ("kind", "distribution", "version")}
    ids = externals.field("symbol_id").to_pylist()
    for key, values in found.items():
        for symbol, value in zip(ids, externals.field(key).to_pylist(), strict=True):
            if value is not None:
                values.setdefault(symbol, set()).add(value)
    texts = {
        "kind": [min(found["kind"][symbol]) for symbol in symbols],
        "distribution": [_listed(found["distribution"].get(symbol, ())) for symbol in symbols],
        "version": [_listed(found["version"].get(symbol, ())) for symbol in symbols],
    }
    return Props(
        _owned(len(symbols)),
        pa.array(symbols, pa.string()),
        texts={key: pa.array(values, pa.string()) for key, values in texts.items()},
    )


def _listed(values: Iterable[str]) -> str | None:
    return ", ".join(sorted(values)) or None
