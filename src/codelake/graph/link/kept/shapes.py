"""Shapes of a unit that stays open: what was seen of slots is seen again only where files or slots have changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from codelake.graph.link.kept.live import Live
from codelake.graph.link.linking import Linking
from codelake.graph.link.shapes import CALLED, KEPT, Shapes


class KeptShapes(Shapes):
    def __init__(self, link: Linking, live: Live) -> None:
        super().__init__(link)
        self._live = live
        self._open: dict[str, set[int]] = {}
        """What `open` said last."""
        self._known: dict[str, set[int]] = {}
        self._called_so: dict[str, set[int]] = defaultdict(set)
        """By name: the slots that are called so."""
        self._kept_in: dict[int, set[int]] = defaultdict(set)
        """By slot that is filled by what is asked of others: those."""
        self._note(self.uses.called, self.uses.kept)
        self._fresh: set[int] = set()
        """Slots of files that were read again."""
        self._left: dict[int, set[str]] = {}
        """By class of such files: the names that it had."""

    def _note(self, called: Mapping[int, str], kept: Mapping[int, int]) -> None:
        for slot, name in called.items():
            self._called_so[name].add(slot)
        for src, slot in kept.items():
            self._kept_in[slot].add(src)

    def leave(self, files: Iterable[int]) -> None:
        """These files are about to be read again."""
        self._fresh, self._left = set(), {}
        for file in files:
            with self.link.program.looking_at(file):
                old = self.read()
            for slot, name in old.called.items():
                del self.uses.called[slot]
                self._called_so[name].discard(slot)
                self._known.pop(name, None)
                self._kept_in[self.uses.kept.pop(slot, slot)].discard(slot)
            for src in old.asked:
                del self.uses.asked[src]
                for known in self._open.values():
                    known.discard(src)
            for value in self._classes_of(file):
                self._left[value] = self.names_of(value)

    def enter(self, files: Iterable[int]) -> None:
        """They were read."""
        for file in files:
            with self.link.program.looking_at(file):
                new = self.read()
            self.uses.asked |= new.asked
            self.uses.called |= new.called
            self.uses.kept |= new.kept
            self._note(new.called, new.kept)
            self._fresh |= {*new.asked, *new.called}
        for value, names in self._left.items():
            if names != self.names_of(value):
                self._has_other_names(value, names)

    def _classes_of(self, file: int) -> list[int]:
        return [
            self.link.defined[number]
            for number, one in enumerate(self.link.program.definitions)
            if one.file == file and one.kind == "class"
        ]

    def _has_other_names(self, value: int, before: set[str]) -> None:
        for name in before:
            self.owners[name].discard(value)
        for name in self.names_of(value):
            self.owners.setdefault(name, set()).add(value)
        self.instances.clear()

    def open(self, which: str) -> Iterable[int]:
        known = self._open.get(which)
        if known is None:
            known = self._open[which] = set(super().open(which))
            return known
        for src in self._changed(which):
            if src in self.uses.asked and self.is_open(src, which):
                known.add(src)
            else:
                known.discard(src)
        return known

    def known(self, names: Collection[str]) -> Mapping[str, Collection[int]]:
        for slot in self._changed(CALLED):
            if slot in self.uses.called:
                self._known.pop(self.uses.called[slot], None)
        for name in names:
            if name not in self._known:
                self._known[name] = {of for slot in self._called_so[name] for of in self.classes_in(slot)}
        return self._known

    def _changed(self, which: str) -> set[int]:
        """Slots that may hold something else than when the unit was linked last, or hang on such."""
        touched = self._live.touched
        changed = {slot.number for slot in touched.slots} if touched is not None else set()
        if which == KEPT:
            changed |= {src for slot in changed if slot in self._kept_in for src in self._kept_in[slot]}
        return changed | self._fresh
