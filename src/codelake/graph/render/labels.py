"""Labels and ids as `codelake.ids` writes them, for whole arrays. The tests compare the two."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from codelake.graph.render.arrays import Flags, is_any, join, text


def place_labels(start: Any, end: Any, kind: Any) -> Any:
    return join("#", text(start), "-", text(end), ":", kind)


def scope_labels(scope: Any) -> Any:
    return join("#", _scope_words(scope), "@scope")


def binding_labels(scope_label: Any, name: Any) -> Any:
    """From the scope's own label, which is made once for all its names."""
    return join(scope_label, ":", name)


def variable_labels(scope: Any, name: Any) -> Any:
    return join("#", scope, ":", name)


def block_labels(scope: Any, kind: Any, number: Any) -> Any:
    word = pc.if_else(pa.array(is_exit(kind)), "@exit:", "@block:")
    return join("#", _scope_words(scope), word, text(number))


def is_exit(kind: Any) -> Flags:
    return is_any(kind, ["exit", "raise"])


def argument_labels(value: Any) -> Any:
    return join(value, "@argument")


def type_ids(owner: Any) -> Any:
    return join(owner, "@type")


def diagnostic_labels(start: Any, end: Any, number: Any) -> Any:
    return join(place_labels(start, end, "diagnostic"), ":", text(number))


def full_ids(file_id: Any, short: Any) -> Any:
    """The id that a label or an id stands for."""
    is_label = pc.starts_with(short, "#")
    whole = join(file_id, short)
    return whole if pc.all(is_label).as_py() in (True, None) else pc.if_else(is_label, whole, short)


def edge_ids(src: Any, kind: Any, short_dst: Any, place: Any) -> Any:
    """`short_dst` is a label where the target is in the source's file; `place` is empty where it is the source's."""
    return join(src, " ", kind, " ", short_dst, place)


def places(start: Any, end: Any) -> Any:
    """As the ids of edges have them."""
    return join("@", text(start), "-", text(end))


def _scope_words(scope: Any) -> Any:
    return pc.if_else(pc.equal(scope, ""), "<module>", scope)
