"""Spans against CPython: what a node's span slices out of the raw bytes is what `ast.get_source_segment` gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from unittest import mock

from codelake.extract.text import decoded
from codelake.extract.tree import indexed, parse

# CPython's own function, kept from splitting the same source once a node.
_split_once = lru_cache(maxsize=1)(ast._splitlines_no_ff)


def differences(raw: bytes) -> Iterator[tuple[str, str | None, str]]:
    """(kind of node, what CPython says, what the span holds) where they differ; also raises if CPython refuses."""
    text = decoded(raw)
    assert text is not None
    tree = indexed(parse(text), text)
    with mock.patch("ast._splitlines_no_ff", _split_once):
        for node, start, end in zip(tree.nodes, tree.starts.tolist(), tree.ends.tolist(), strict=True):
            if not hasattr(node, "lineno"):
                continue
            expected = ast.get_source_segment(text.text, node)
            found = raw[start:end].decode(text.encoding)
            if found != expected:
                yield type(node).__name__, expected, found


def n_nodes(raw: bytes) -> int:
    text = decoded(raw)
    assert text is not None
    return sum("lineno" in node._attributes for node in indexed(parse(text), text).nodes)
