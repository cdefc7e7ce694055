"""Labels, and what names stand for: worked out once, for all rules to use.

A label begins with `#` and tells things of one file apart; the id is the file's id with the label behind it. A thing
is what a symbol that means itself stands for: a parameter, a variable, classes and functions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.graph.render.arrays import Flags, Places, at, counted, is_any, join, pick, text
from codelake.graph.render.files import Files
from codelake.graph.render.labels import (
    binding_labels,
    block_labels,
    diagnostic_labels,
    place_labels,
    scope_labels,
    variable_labels,
)

STORES = ("Name", "ExceptHandler", "MatchAs", "MatchStar", "MatchMapping")
"""Kinds of nodes that store a name and are no definition, parameter or import."""
_PARAMETERS = ("arg", "TypeVar", "TypeVarTuple", "ParamSpec")
_DEFINERS = ("module", "class", "function", "lambda")
_DEEPEST = 8
"""Doublings: 256 comprehensions within each other are left behind. Python refuses more than 100."""


class Things(NamedTuple):
    """By symbol that means itself."""

    is_any: Flags
    label: Any
    """Of the variable, parameter or type parameter; NULL for none of them."""
    is_variable: Flags
    store: Places
    """The node that stores it first, if it is a variable."""
    begin: Places
    """Where the classes and functions that define it begin in `definitions`; below 0 where there are none."""
    n: Places
    definitions: Places
    """Their nodes."""


class Named(Files):
    """Files, and the names of what is in them."""

    @cached_property
    def own_labels(self) -> Any:
        """Of nodes: NULL where the label is the place."""
        return join("#", self.nodes.label)

    @cached_property
    def labels(self) -> Any:
        nodes = self.nodes
        return pc.coalesce(self.own_labels, place_labels(nodes.start_byte, nodes.end_byte, nodes.kind))

    def label(self, nodes: Places) -> Any:
        return pick(self.labels, nodes)

    @cached_property
    def scope_labels(self) -> Any:
        return scope_labels(self.scopes.label)

    @cached_property
    def binding_labels(self) -> Any:
        return binding_labels(pick(self.scope_labels, self.symbols.scope), self.symbols.name)

    @cached_property
    def block_labels(self) -> Any:
        """Blocks are numbered from the first entry of their scope."""
        blocks = self.blocks
        entries = np.flatnonzero(is_any(blocks.kind, ["entry"]))[::-1]
        first = np.full(len(self.scopes), -1)
        first[blocks.scope[entries]] = entries
        number = pa.array(counted(len(blocks)) - at(first, blocks.scope))
        return block_labels(pick(self.scopes.label, blocks.scope), blocks.kind, number)

    @cached_property
    def type_labels(self) -> Any:
        """Of types in quotes with escapes, only the place of the whole is known: all but the first have numbers."""
        types = self.types
        plain = place_labels(types.start_byte, types.end_byte, "type")
        starts, ends = np.asarray(types.start_byte), np.asarray(types.end_byte)
        is_same = np.zeros(len(types), dtype=np.bool_)
        is_same[1:] = (starts[1:] == starts[:-1]) & (ends[1:] == ends[:-1]) & (types.file[1:] == types.file[:-1])
        return join(plain, pc.if_else(pa.array(is_same), join("~", text(pa.array(types.number))), ""))

    @cached_property
    def problem_labels(self) -> Any:
        problems = self.problems
        return diagnostic_labels(problems.start_byte, problems.end_byte, pa.array(problems.number))

    @cached_property
    def definers(self) -> Places:
        """By scope, the node of the nearest module, class, function or lambda whose code it is."""
        scopes = self.scopes
        up = np.where(is_any(scopes.kind, _DEFINERS), counted(len(scopes)), scopes.parent)
        for _ in range(_DEEPEST):
            up = at(up, up)
        return at(scopes.node, up)

    @cached_property
    def is_store(self) -> Flags:
        """Of nodes."""
        return is_any(self.nodes.kind, STORES)

    @cached_property
    def things(self) -> Things:
        references, symbols, nodes = self.references, self.symbols, self.nodes
        target = at(symbols.target, references.symbol)
        is_bound = is_any(references.context, ["store", "declare"]) & (target >= 0)
        bound = np.flatnonzero(is_bound)
        bound = bound[~is_any(nodes.kind, ["alias"])[references.node[bound]]]
        key, node = target[bound], references.node[bound]
        is_plain = self.is_store[node]
        # By symbol: classes, functions and parameters first, then what only stores it.
        order = np.lexsort((node, is_plain, key))
        key, node, is_plain = key[order], node[order], is_plain[order]
        begin = np.searchsorted(key, counted(len(symbols)))
        count = np.bincount(key, minlength=len(symbols))
        n_plain = np.bincount(key[is_plain], minlength=len(symbols))
        n_others = count - n_plain
        first = np.where(count > 0, at(node, np.where(count > 0, begin, -1)), -1)
        is_parameter = (n_others > 0) & is_any(nodes.kind, _PARAMETERS)[first] if len(nodes) else n_others > 0
        is_variable = ~is_parameter & (n_plain > 0)
        variables = variable_labels(pick(self.scopes.label, symbols.scope), symbols.name)
        label = pc.if_else(
            pa.array(is_parameter),
            pick(self.own_labels, np.where(is_parameter, first, -1)),
            pc.if_else(pa.array(is_variable), variables, pa.scalar(None, pa.string())),
        )
        defined = ~is_parameter & (n_others > 0)
        return Things(
            is_any=count > 0,
            label=label,
            is_variable=is_variable,
            store=at(node, np.where(is_variable, begin + n_others, -1)),
            begin=np.where(defined, begin, -1),
            n=np.where(defined, n_others, 0),
            definitions=node,
        )

    @cached_property
    def meant(self) -> Places:
        """By reference, the symbol that it means."""
        return at(self.symbols.target, self.references.symbol)

    @cached_property
    def meant_labels(self) -> Any:
        """By reference, the label of the variable or parameter."""
        return pick(self.things.label, self.meant)

    @cached_property
    def annotated(self) -> Places:
        """By annotation of a variable, the symbol of that. The targets of annotated assignments are references, in
        the same order as the annotations."""
        references, nodes, annotations = self.references, self.nodes, self.annotations
        is_stored = is_any(references.context, ["store", "declare"])
        is_target = is_any(nodes.field, ["target"]) & (nodes.parent >= 0)
        is_target &= is_any(nodes.kind, ["AnnAssign"])[nodes.parent]
        targets = np.flatnonzero(is_stored & is_target[references.node]) if len(nodes) else counted(0)
        wanted = np.flatnonzero(is_any(annotations.role, ["variable"]))
        n_targets, n_wanted = (
            np.bincount(file, minlength=len(self.repo)) for file in (references.file[targets], annotations.file[wanted])
        )
        file = annotations.file[wanted]
        rank = counted(len(wanted)) - (np.cumsum(n_wanted) - n_wanted)[file]
        place = np.where(rank < n_targets[file], (np.cumsum(n_targets) - n_targets)[file] + rank, -1)
        found = at(targets, place)
        is_right = at(references.node, found) == annotations.owner[wanted] + 1
        symbol = np.full(len(annotations), -1)
        symbol[wanted] = np.where(is_right, at(references.symbol, found), -1)
        return symbol

    @cached_property
    def attributes(self) -> tuple[Places, Any, Places]:
        """Attributes that are only stored on instances, by file, label, and the node of the first store: the linker
        names them, as variables of their class."""
        own = pick(self.things.label, np.flatnonzero(self.things.is_variable))
        file = self.symbols.file[self.things.is_variable]
        known = set(zip(file.tolist(), own.to_pylist(), strict=True))
        named = np.flatnonzero(is_any(self.link_edges.kind, ["HAS_ATTRIBUTE"]))
        pairs = zip(self.link_edges.file[named].tolist(), pick(self.link_short, named).to_pylist(), strict=True)
        stores = dict(zip(pairs, self.link_edges.node[named].tolist(), strict=True))
        found = [pair for pair in stores if pair[1].startswith("#") and pair not in known]
        return (
            np.array([file for file, _ in found], dtype=np.int64),
            pa.array([label for _, label in found], pa.string()),
            np.array([stores[pair] for pair in found], dtype=np.int64),
        )

    @cached_property
    def link_short(self) -> Any:
        """Targets of the linker's edges: labels instead of ids in the same file."""
        return self.short(self.link_edges.file, self.link_edges.dst)

    def short(self, file: Places, ids: Any) -> Any:
        prefixes = [f"{own}#" for own in self.file_id.to_pylist()]
        found = [
            one[len(prefixes[place]) - 1 :] if one is not None and one.startswith(prefixes[place]) else one
            for place, one in zip(file.tolist(), ids.to_numpy(zero_copy_only=False).tolist(), strict=True)
        ]
        return pa.array(found, pa.string())
