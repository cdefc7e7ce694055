"""The flow facts of a link unit: all files in one numbering of slots, definitions and scopes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.graph.link.nested import Nested, Numbers
from codelake.graph.link.parts import Annotation, Definition, Fact, File, Import, Parameter, fact_of
from codelake.ids import file_id

_WITH_NODES = ("definitions", "parameters", "imports", "annotations", "types")
_DECIDING = ("narrow", "narrow_class", "known")
_ABOUT_DST = ("load_attribute", "write_attribute", "delete_attribute", "call", "global", "store")
"""Facts that are about the node `dst`, whatever fills its slot."""
_DIVERTED = ("copy", "global", "load_attribute", "load_item", "unpack", "unpack_rest", "match_argument")


class Program:
    """Rows of one unit, read column by column. Slots are nodes of files, then their symbols."""

    def __init__(self, table: pa.Table) -> None:
        self.only: int | None = None
        """The file whose facts, imports, annotations and definitions are looked at; None for all."""
        columns = (table.column(name).to_pylist() for name in ("repo", "path", "module", "digest", "is_own"))
        self.files = [File(r, p, m, d, o, file_id(r, p)) for r, p, m, d, o in zip(*columns, strict=True)]
        facts = Nested(table, "facts")
        self._place_slots(facts, [Nested(table, n) for n in _WITH_NODES])
        self._read_scopes(Nested(table, "scopes"))
        self._read_definitions(Nested(table, "definitions"))
        self._read_parameters(Nested(table, "parameters"))
        self._read_facts(facts)
        self.imports = list(self._imports(Nested(table, "imports")))
        self.annotations = list(self._annotations(Nested(table, "annotations"), Nested(table, "types")))
        calls = Nested(table, "calls")
        self.calls = calls.files, calls.places, calls.numbers("node")
        """File, place in the evidence, and node of every call."""

    # slots -----------------------------------------------------------------------------------------

    def _place_slots(self, facts: Nested, others: list[Nested]) -> None:
        n_files = len(self.files)
        nodes = np.ones(n_files, np.int32)
        symbols = np.zeros(n_files, np.int32)
        for name in ("dst", "src"):
            values = facts.numbers(name)
            np.maximum.at(nodes, facts.files, values + 1)
            np.maximum.at(symbols, facts.files, -values)
        for other in others:
            for name in ("node", "owner"):
                if name in other.names:
                    np.maximum.at(nodes, other.files, other.numbers(name) + 2)
            if "symbol" in other.names:
                np.maximum.at(symbols, other.files, other.numbers("symbol") + 1)
        self.n_nodes = nodes
        self.bases = np.concatenate([[0], np.cumsum(nodes + symbols)]).astype(np.int32)
        self.n_slots = int(self.bases[-1])

    def slots_of(self, files: Numbers, places: Numbers) -> Numbers:
        """Slots of nodes, and of symbols, which are negative."""
        bases = self.bases[files]
        slots: Numbers = np.where(places >= 0, bases + places, bases + self.n_nodes[files] - 1 - places)
        return slots

    def slot(self, file: int, place: int) -> int:
        base = int(self.bases[file])
        return base + place if place >= 0 else base + int(self.n_nodes[file]) - 1 - place

    # scopes and definitions ------------------------------------------------------------------------

    def _read_scopes(self, rows: Nested) -> None:
        self.scope_bases, self._n_scopes = rows.starts, len(rows.files)
        starts = rows.starts[rows.files]
        parents = rows.numbers("parent")
        self.scope_files = rows.files.tolist()
        self.scope_kinds = rows.texts("kind")
        self.scope_labels = rows.texts("label")
        self.scope_nodes = rows.numbers("node").tolist()
        self.scope_parents = np.where(parents < 0, -1, parents + starts).tolist()
        self._flags = rows.booleans("is_generator"), rows.booleans("is_coroutine")

    def _read_definitions(self, rows: Nested) -> None:
        files = rows.files.tolist()
        scopes = np.where(rows.is_null("scope"), -1, rows.numbers("scope") + self.scope_bases[rows.files]).tolist()
        body_scopes = (rows.numbers("body_scope") + self.scope_bases[rows.files]).tolist()
        slots = self.slots_of(rows.files, rows.numbers("node")).tolist()
        places = rows.places.tolist()
        columns = rows.numbers("node").tolist(), rows.texts("kind"), rows.texts("name")
        self.definitions: list[Definition] = []
        self.of_scope: dict[int, int] = {}
        self.of_slot: dict[int, int] = {}
        self.definition_bases = rows.starts
        generators, coroutines = self._flags
        for row, (node, kind, name) in enumerate(zip(*columns, strict=True)):
            file, body = files[row], body_scopes[row]
            label = self.scope_labels[body] if kind != "module" else "<module>"
            self.of_scope[body] = self.of_slot[slots[row]] = row
            self.definitions.append(
                Definition(
                    file,
                    places[row],
                    node,
                    "function" if kind == "async_function" else kind,
                    name,
                    label,
                    scopes[row],
                    slots[row],
                    f"{self.files[file].id}#{label}",
                    bool(generators[body]),
                    bool(coroutines[body]),
                )
            )
        self.of_id = {one.id: number for number, one in enumerate(self.definitions)}
        for definition in self.definitions:
            if definition.kind != "module":
                owner = self.around(definition.scope)
                if owner.kind == "class":
                    definition.owner = self.of_slot[owner.slot]

    def around(self, scope: int) -> Definition:
        """The innermost module, class, function or lambda whose code a scope's is."""
        while scope not in self.of_scope:
            scope = self.scope_parents[scope]
        return self.definitions[self.of_scope[scope]]

    def _read_parameters(self, rows: Nested) -> None:
        owners = (rows.numbers("definition") + self.definition_bases[rows.files]).tolist()
        slots = self.slots_of(rows.files, rows.numbers("node")).tolist()
        for owner, name, kind, slot in zip(owners, rows.texts("name"), rows.texts("kind"), slots, strict=True):
            self.definitions[owner].parameters.append(Parameter(name, kind, slot))

    # facts -----------------------------------------------------------------------------------------

    def _read_facts(self, rows: Nested) -> None:
        """Aliases become one slot; the other facts are kept by kind."""
        kinds = pc.dictionary_encode(rows.column("kind"))
        codes = kinds.indices.to_numpy(zero_copy_only=False)
        names = kinds.dictionary.to_pylist()
        dst = self.slots_of(rows.files, rows.numbers("dst"))
        src = self.slots_of(rows.files, rows.numbers("src"))
        scopes = rows.numbers("scope") + self.scope_bases[rows.files]
        same = np.arange(self.n_slots, dtype=np.int32)
        if "alias" in names:
            is_alias = codes == names.index("alias")
            same[dst[is_alias]] = src[is_alias]
            for _ in range(40):  # a loop may alias names in a circle, which hold nothing
                further = same[same]
                if np.array_equal(further, same):
                    break
                same = further
        self.same = same
        dst = self._divert(same[dst], codes, names)
        keys = rows.column("key").fill_null("")
        self._rows: dict[str, tuple[Numbers, ...]] = {}
        self._keys: dict[str, pa.Array] = {}
        self._places: dict[str, Numbers] = {}
        for code, name in enumerate(names):
            if name == "alias":
                continue
            at = np.flatnonzero(codes == code)
            columns = rows.files[at], scopes[at], dst[at], same[src[at]]
            self._rows[name] = tuple(column.astype(np.int32) for column in columns)
            self._keys[name] = keys.take(pa.array(at))
            if name in _ABOUT_DST:
                self._places[name] = rows.numbers("dst")[at]
            elif name in ("argument", "element", "elements_of"):
                self._places[name] = rows.numbers("src")[at]
        bases = {fact.src for fact in self.every("base")}
        self.callees = {fact.dst: fact.src for fact in self.every("call") if fact.dst in bases}
        """By slot of a base class: what a call calls that gives it."""
        self._keep_imported_names(rows, codes, names, keys, same[src])

    def _divert(self, dst: Numbers, codes: Any, names: list[str]) -> Numbers:
        """A slot that a test narrows, or that is known from a store, is filled by that alone; what else would come
        into it goes to a slot beside it."""
        deciding = np.isin(codes, [code for code, name in enumerate(names) if name in _DECIDING])
        diverted = np.isin(codes, [code for code, name in enumerate(names) if name in _DIVERTED])
        slots = np.unique(dst[deciding])
        beside = np.full(self.n_slots, -1, np.int32)
        beside[slots] = np.arange(self.n_slots, self.n_slots + len(slots), dtype=np.int32)
        self.beside: dict[int, int] = dict(zip(slots.tolist(), beside[slots].tolist(), strict=True))
        """By slot that is filled by a test or a store: the slot of what else would come into it."""
        self.n_slots += len(slots)
        found: Numbers = np.where(diverted & (beside[dst] >= 0), beside[dst], dst)
        return found

    def every(self, *kinds: str) -> Iterator[Fact]:
        """The facts of these kinds. They are many: they are made when they are asked for."""
        return chain.from_iterable(self._facts(kind, self._within(kind)) for kind in kinds if kind in self._rows)

    def of_files(self, kind: str, files: Iterable[range]) -> Iterator[Fact]:
        """The facts of a kind of these files."""
        return chain.from_iterable(self._facts(kind, within) for within in self._slices(kind, files))

    def _facts(self, kind: str, within: slice) -> Iterator[Fact]:
        columns = (column[within].tolist() for column in self._rows[kind])
        return map(fact_of, zip(*columns, self._keys[kind][within].to_pylist(), strict=True))

    def into(self, kind: str, slots: Collection[int], *, by: Literal["dst", "src"] = "dst") -> Iterator[Fact]:
        """The facts of a kind whose dst, or src, is one of these, in all files; without making the others."""
        if kind not in self._rows:
            return
        is_one = np.zeros(self.n_slots + 1, bool)
        wanted = np.fromiter(slots, np.int64, len(slots))
        is_one[wanted[wanted < self.n_slots]] = True  # no fact of a file fills what came up while solving
        at = np.flatnonzero(is_one[np.minimum(self._rows[kind][2 if by == "dst" else 3], self.n_slots)])
        columns = (column[at].tolist() for column in self._rows[kind])
        yield from map(fact_of, zip(*columns, self._keys[kind].take(pa.array(at)).to_pylist(), strict=True))

    def placed(self, kind: str) -> Iterator[tuple[int, Fact]]:
        """Facts with the node that each is about. Of arguments and elements: what is passed, held."""
        if kind in self._places:
            yield from zip(self._places[kind][self._within(kind)].tolist(), self.every(kind), strict=True)

    def placed_of_files(self, kind: str, files: Iterable[range]) -> Iterator[tuple[int, Fact]]:
        """The same, of these files."""
        for within in self._slices(kind, files) if kind in self._places else ():
            yield from zip(self._places[kind][within].tolist(), self._facts(kind, within), strict=True)

    def _slices(self, kind: str, files: Iterable[range]) -> Iterator[slice]:
        for one in files if kind in self._rows else ():
            yield _slice(self._rows[kind][0], one)

    def _within(self, kind: str) -> slice:
        """The facts of the file that is looked at, or all."""
        if self.only is None:
            return slice(None)
        return _slice(self._rows[kind][0], range(self.only, self.only + 1))

    @contextmanager
    def looking_at(self, file: int) -> Iterator[None]:
        self.only = file
        try:
            yield
        finally:
            self.only = None

    def kinds(self) -> Collection[str]:
        return self._rows.keys()

    def every_import(self) -> Iterator[Import]:
        return (one for one in self.imports if self.only is None or one.file == self.only)

    def every_annotation(self) -> Iterator[Annotation]:
        return (one for one in self.annotations if self.only is None or one.file == self.only)

    def definitions_from(self, first: int) -> Iterator[tuple[int, Definition]]:
        return enumerate(self.definitions[first:], first)

    def every_definition(self) -> Iterator[tuple[int, Definition]]:
        return (pair for pair in enumerate(self.definitions) if self.only is None or pair[1].file == self.only)

    def imported_names(self, files: Iterable[range]) -> Iterator[Fact]:
        """Where names are loaded in these files that an import binds: file, node, and the slot that they mean."""
        for one in files:
            within = _slice(self._imported[0], one)
            columns = (column[within].tolist() for column in self._imported)
            yield from map(Fact, *columns, self._imported_keys[within].to_pylist())

    def call_places(self, files: Iterable[range]) -> Iterator[tuple[int, int, int]]:
        """Of the calls of these files: the file, the place in the evidence, the node."""
        for one in files:
            within = _slice(self.calls[0], one)
            yield from zip(*(column[within].tolist() for column in self.calls), strict=True)

    def _keep_imported_names(self, rows: Nested, codes: Any, names: list[str], keys: pa.Array, src: Numbers) -> None:
        is_named = pc.not_equal(keys, "").to_numpy(zero_copy_only=False)
        wanted = [code for code, name in enumerate(names) if name in ("alias", "copy")]
        at = np.flatnonzero(np.isin(codes, wanted) & is_named)
        columns = rows.files[at], rows.numbers("scope")[at], rows.numbers("dst")[at], src[at]
        self._imported: tuple[Numbers, ...] = columns
        self._imported_keys: pa.Array = keys.take(pa.array(at))

    def _imports(self, rows: Nested) -> Iterator[Import]:
        columns = rows.files.tolist(), rows.numbers("node").tolist(), self.slots_of(rows.files, rows.numbers("node"))
        scopes = rows.numbers("scope") + self.scope_bases[rows.files]
        texts = (rows.column(name).to_pylist() for name in ("module", "name", "as_name"))
        numbers = columns[2].tolist(), scopes.tolist(), rows.numbers("level").tolist()
        yield from map(Import, columns[0], columns[1], *numbers, *texts)

    def _annotations(self, rows: Nested, types: Nested) -> Iterator[Annotation]:
        parts: dict[tuple[int, int], list[dict[str, Any]]] = {}
        every = zip(types.files.tolist(), types.places.tolist(), types.dicts(), strict=True)
        for file, place, part in every:
            parts.setdefault((file, part["annotation"]), []).append({**part, "place": place})
        scopes = rows.numbers("scope") + self.scope_bases[rows.files]
        columns = rows.files.tolist(), rows.places.tolist(), rows.numbers("owner").tolist(), scopes.tolist()
        for file, place, owner, scope, role in zip(*columns, rows.texts("role"), strict=True):
            yield Annotation(file, owner, scope, role, parts.get((file, place), []))


def _slice(files: Numbers, of: range) -> slice:
    """Where the rows of a range of files are, among rows sorted by file."""
    first, last = np.searchsorted(files, (of.start, of.stop))
    return slice(int(first), int(last))
