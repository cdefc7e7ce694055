"""The extractors, all fed by one parse, in the order in which they run."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from codelake.extract.annotations import annotated
from codelake.extract.calls import calls
from codelake.extract.comments import comments
from codelake.extract.control.reaching import reaching
from codelake.extract.control.statements import control
from codelake.extract.definitions import definitions
from codelake.extract.flow import facts
from codelake.extract.imports import imports
from codelake.extract.names.scopes import names
from codelake.extract.syntax import nodes
from codelake.extract.tree import Tree

Values = Sequence[Any] | np.ndarray[Any, Any]
Rows = tuple[Values, ...]
"""One nested column of one content: as many parallel sequences as its struct has fields, in that order."""


class Extractor(NamedTuple):
    name: str
    version: int
    """Grows when the same content would give other evidence."""
    columns: tuple[str, ...]
    """The columns of `evidence` that it fills."""
    extract: Callable[[Tree], tuple[Rows, ...]]
    """One Rows a column, in the order of `columns`."""


EXTRACTORS: tuple[Extractor, ...] = (
    Extractor("names", 2, ("scopes", "symbols", "references"), names),
    Extractor("syntax", 3, ("nodes",), nodes),
    Extractor("definitions", 1, ("definitions", "parameters", "decorators"), definitions),
    Extractor("comments", 1, ("comments",), comments),
    Extractor("imports", 1, ("imports",), imports),
    Extractor("calls", 1, ("calls", "arguments"), calls),
    Extractor("annotations", 2, ("annotations", "types"), annotated),
    Extractor("control", 2, ("blocks", "steps", "flows"), control),
    Extractor("reaching", 2, ("reaches",), reaching),
    Extractor("flow", 8, ("facts",), facts),
)


@cache
def extractor_version() -> str:
    """What evidence is keyed by beside the content: the extractors' versions and the grammars they read with."""
    parts = [f"{e.name}={e.version}" for e in EXTRACTORS]
    parts += [f"python={sys.version_info.major}.{sys.version_info.minor}"]
    parts += [f"{name}={version(name)}" for name in ("tree-sitter", "tree-sitter-python")]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]
