"""A program in which files can be replaced: what of a file is as it was keeps its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from codelake.graph.link.nested import Numbers
from codelake.graph.link.parts import Fact
from codelake.graph.link.program import Program

GONE = "gone"
"""The kind of a definition, and of a scope, that was there before its file was replaced."""


class _Anew(NamedTuple):
    """The numbers of a file that was replaced, by those that it has by itself."""

    slots: Numbers
    n_nodes: int
    scopes: list[int]


class ChangingProgram(Program):
    def __init__(self, table: pa.Table) -> None:
        self._anew: dict[int, _Anew] = {}
        """By file that was replaced: its numbers."""
        self._made: dict[str, list[Fact]] = {}
        """By kind: all facts, where all were asked for. What is small once is asked for at each edit."""
        super().__init__(table)

    def _facts(self, kind: str, within: slice) -> Iterator[Fact]:
        if within == slice(None) and kind not in self._made:
            self._made[kind] = list(super()._facts(kind, within))
        return iter(self._made[kind][within]) if kind in self._made else super()._facts(kind, within)

    def slot(self, file: int, place: int) -> int:
        known = self._anew.get(file)
        if known is None:
            return super().slot(file, place)
        return int(known.slots[place if place >= 0 else known.n_nodes - 1 - place])

    def slots_of_file(self, file: int) -> Numbers:
        """Slots of its nodes, then of its symbols."""
        known = self._anew.get(file)
        if known is not None:
            return known.slots
        return np.arange(self.bases[file], self.bases[file + 1], dtype=np.int32)

    def scopes_of_file(self, file: int) -> list[int]:
        known = self._anew.get(file)
        if known is not None:
            return known.scopes
        last = self.scope_bases[file + 1] if file + 1 < len(self.scope_bases) else self._n_scopes
        return list(range(int(self.scope_bases[file]), int(last)))

    def replace(self, file: int, new: Program, slots: Numbers, scopes: list[int], definitions: list[int]) -> None:
        """A file gets another content: `new` is that by itself, the others say which numbers it has here."""
        n_local, numbers = int(new.bases[1]), slots.tolist()
        for scope in set(self.scopes_of_file(file)).difference(scopes):
            self.scope_kinds[scope] = GONE
        self.files[file] = new.files[0]
        self._anew[file] = _Anew(slots[:n_local], int(new.n_nodes[0]), scopes)
        self.n_slots = max(self.n_slots, int(slots.max()) + 1)
        same = np.arange(self.n_slots, dtype=np.int32)
        same[: len(self.same)] = self.same
        same[slots[:n_local]] = slots[new.same]
        self.same = same
        self.beside |= {numbers[one]: numbers[beside] for one, beside in new.beside.items()}
        self._replace_scopes(file, new, scopes)
        self._replace_definitions(file, new, numbers, scopes, definitions)
        self._replace_facts(file, new, slots, np.array(scopes, np.int32))
        moved = (one._replace(file=file, slot=numbers[one.slot], scope=scopes[one.scope]) for one in new.imports)
        self.imports = [*(one for one in self.imports if one.file != file), *moved]
        said = (one._replace(file=file, scope=scopes[one.scope]) for one in new.annotations)
        self.annotations = [*(one for one in self.annotations if one.file != file), *said]
        files, places, nodes = self.calls
        self.calls = (
            self._spliced(files, np.full_like(new.calls[0], file), files, file),
            self._spliced(places, new.calls[1], files, file),
            self._spliced(nodes, new.calls[2], files, file),
        )

    def _replace_scopes(self, file: int, new: Program, scopes: list[int]) -> None:
        n = max(scopes) + 1 - len(self.scope_labels)
        for numbers in (self.scope_files, self.scope_nodes, self.scope_parents):
            numbers.extend([-1] * n)
        for texts in (self.scope_kinds, self.scope_labels):
            texts.extend([""] * n)
        for local, scope in enumerate(scopes):
            parent = new.scope_parents[local]
            self.scope_files[scope] = file
            self.scope_kinds[scope], self.scope_labels[scope] = new.scope_kinds[local], new.scope_labels[local]
            self.scope_nodes[scope] = new.scope_nodes[local]
            self.scope_parents[scope] = scopes[parent] if parent >= 0 else -1

    def _replace_definitions(
        self, file: int, new: Program, slots: list[int], scopes: list[int], definitions: list[int]
    ) -> None:
        for number, one in enumerate(self.definitions):
            if one.file == file:
                self.of_slot.pop(one.slot, None)
                self.of_id.pop(one.id, None)
                if number not in definitions:
                    self.definitions[number] = replace(one, kind=GONE, file=-1, slot=-1, owner=-1, parameters=[])
        for scope in [scope for scope in self.of_scope if self.scope_files[scope] == file]:
            del self.of_scope[scope]
        self.definitions.extend([None] * (max(definitions) + 1 - len(self.definitions)))  # type: ignore[list-item]
        for one, number in zip(new.definitions, definitions, strict=True):
            self.definitions[number] = replace(
                one,
                file=file,
                scope=scopes[one.scope] if one.scope >= 0 else -1,
                slot=slots[one.slot],
                owner=definitions[one.owner] if one.owner >= 0 else -1,
                parameters=[each._replace(slot=slots[each.slot]) for each in one.parameters],
            )
            self.of_slot[slots[one.slot]] = self.of_id[one.id] = number
        for local, number in new.of_scope.items():
            self.of_scope[scopes[local]] = definitions[number]

    def _replace_facts(self, file: int, new: Program, slots: Numbers, scopes: Numbers) -> None:
        nothing: Numbers = np.zeros(0, np.int32)
        for kind in {**self._rows, **new._rows}:
            files = self._rows[kind][0] if kind in self._rows else nothing
            of_new = new._rows.get(kind, (nothing,) * 4)
            moved = np.full_like(of_new[0], file), scopes[of_new[1]], slots[of_new[2]], slots[of_new[3]]
            columns = self._rows.get(kind, (nothing,) * 4)
            first, last = np.searchsorted(files, (file, file + 1))
            self._rows[kind] = tuple(self._spliced(*pair, files, file) for pair in zip(columns, moved, strict=True))
            self._keys[kind] = _spliced_keys(self._keys.get(kind), new._keys.get(kind), files, file)
            if kind in self._places or kind in new._places:
                places = self._places.get(kind, nothing), new._places.get(kind, nothing)
                self._places[kind] = self._spliced(*places, files, file)
            if kind in self._made:
                here = slice(int(first), int(first) + len(moved[0]))
                self._made[kind][first:last] = super()._facts(kind, here)
        files = self._imported[0]
        of_new = new._imported
        moved = np.full_like(of_new[0], file), of_new[1], of_new[2], slots[of_new[3]]
        self._imported = tuple(self._spliced(*pair, files, file) for pair in zip(self._imported, moved, strict=True))
        self._imported_keys = _spliced_keys(self._imported_keys, new._imported_keys, files, file)
        bases = {fact.src for fact in self.every("base")}
        self.callees = {fact.dst: fact.src for fact in self.every("call") if fact.dst in bases}

    @staticmethod
    def _spliced(old: Numbers, new: Numbers, files: Numbers, file: int) -> Numbers:
        """Rows of a file in the place of those that there were; `files` are those of the old rows, sorted."""
        first, last = np.searchsorted(files, (file, file + 1))
        return np.concatenate([old[:first], new, old[last:]]).astype(np.int32)


def _spliced_keys(old: pa.Array | None, new: pa.Array | None, files: Numbers, file: int) -> pa.Array:
    first, last = np.searchsorted(files, (file, file + 1))
    parts = [] if old is None else [old[:first], old[last:]]
    return pa.concat_arrays([*parts[:1], *([] if new is None else [new]), *parts[1:]])
