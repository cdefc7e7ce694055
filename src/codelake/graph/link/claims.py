"""What other tools claim, set against what was found here: better evidence wins.

- Nothing was found: what is claimed is taken.
- What is claimed was found too, or a method that overrides it: both agree, and that candidate is as sure as the surer
  of the two says.
- Something else was found: whoever is surer is believed, and at a tie codelake. The disagreement is noted, and so is a
  claim that names something which no file of the lake has.

Claims are weighed where edges are made. They are no values: nothing flows on from them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from codelake.contracts.arrow_vectors import fields_of
from codelake.contracts.claims import CLAIM_FIELDS, ORIGINS
from codelake.contracts.evidence import FIELDS
from codelake.graph.link.found import Candidates
from codelake.graph.link.linking import Linking
from codelake.graph.link.targets import MAX_TARGETS, Target, confidence
from codelake.graph.link.values import Kind
from codelake.ids import OUTSIDE

COLUMNS = {origin: f"claims_{origin}" for origin in ORIGINS}
"""By origin: the column of the kernel's input that has its claims, beside `nodes` of the same files."""
CLAIM = 0.9
"""How sure a claim is: surer than what was found among several or guessed, less sure than a name or an import."""
_ORDINAL = re.compile(r"~\d+")
_BUILTIN = re.compile(r"::builtins\.\w+")
"""No attribute is one: scip-python takes `self.type` for the builtin of that name."""
_CALLED = ("class", "function", "lambda")
_PROTOCOLS = ("typing.Protocol", "typing._Protocol", "typing_extensions.Protocol")


class Claim(NamedTuple):
    origin: str
    start_byte: int
    end_byte: int
    targets: tuple[str, ...]


class Disagreement(NamedTuple):
    kind: str
    origin: str
    start_byte: int
    end_byte: int
    own: str | None
    claimed: str
    verdict: str
    """taken, kept (what was found here) or unknown (what is claimed is not in the lake)."""


Place = tuple[int, str, int]
"""File, kind of edge and node."""
Placed = dict[Place, list[Claim]]


def placed_claims(table: pa.Table) -> Placed:
    """The claims of a unit's files, by the node that each is about."""
    found: Placed = {}
    for origin, name in COLUMNS.items():
        if name not in table.column_names:
            continue
        for file, packed in enumerate(table.column(name).to_pylist()):
            if packed:
                nodes = _Nodes(table, file)
                for place, claim in _of_file(origin, packed, nodes):
                    found.setdefault((file, *place), []).append(claim)
    return found


class _Nodes:
    """The nodes of a file that claims can be about, by their spans."""

    def __init__(self, table: pa.Table, file: int) -> None:
        rows = fields_of(_one(table, "nodes", file), FIELDS["nodes"])
        columns = (rows[name].to_pylist() for name in ("kind", "start_byte", "end_byte"))
        self.names: dict[tuple[int, int], int] = {}
        self.attributes: dict[int, int] = {}
        """By their ends, which are those of their names."""
        self.calls: dict[tuple[int, int], int] = {}
        for node, (kind, start, end) in enumerate(zip(*columns, strict=True)):
            if kind == "Name":
                self.names[start, end] = node
            elif kind == "Attribute":
                self.attributes[end] = node
            elif kind == "Call":
                self.calls[start, end] = node
        calls = fields_of(_one(table, "calls", file), FIELDS["calls"])
        self.callers = dict(zip(calls["function"].to_pylist(), calls["node"].to_pylist(), strict=True))
        """By node that is called: the call."""


def _one(table: pa.Table, name: str, row: int) -> pa.Array:
    return pa.array([table.column(name)[row].as_py()], pa.binary())


def _of_file(origin: str, packed: bytes, nodes: _Nodes) -> Iterator[tuple[tuple[str, int], Claim]]:
    rows = fields_of(pa.array([packed], pa.binary()), CLAIM_FIELDS)
    targets: dict[tuple[int, int, str], list[str]] = defaultdict(list)
    for start, end, kind, target in zip(*(column.to_pylist() for column in rows.values()), strict=True):
        targets[start, end, kind].append(target)
    for (start, end, kind), every in targets.items():
        claim = Claim(origin, start, end, tuple(every))
        if kind == "call":
            call = nodes.calls.get((start, end))
        else:
            node = nodes.names.get((start, end))
            if node is None:
                node = nodes.attributes.get(end)
                every = [target for target in every if not _BUILTIN.fullmatch(target)]
                claim = claim._replace(targets=tuple(every))
            if node is None or not every:
                continue
            yield ("RESOLVES_TO", node), claim
            call = nodes.callers.get(node)
        if call is not None:
            yield ("CALLS", call), claim


def _leaves_out(own: str, claimed: str) -> bool:
    """Whether a claimed id is one that was found, without some of the names in it: scip-python calls a function within
    a method `C.inner`, and not `C.method.inner`."""
    (file, _, label), (other, _, shorter) = own.partition("#"), claimed.partition("#")
    names = iter(_ORDINAL.sub("", label).split("."))
    return (
        file == other
        and label.rpartition(".")[2] == shorter.rpartition(".")[2]
        and all(name in names for name in shorter.split("."))
    )


def _is_same(own: str, claimed: str) -> bool:
    if own == claimed:
        return True
    # one thing has many names outside: os.path.join, posixpath.join
    is_outside = own.startswith(OUTSIDE) and claimed.startswith(OUTSIDE)
    return is_outside and own.rpartition(".")[2] == claimed.rpartition(".")[2]


def _raised(one: Target, claim: Claim) -> Target:
    return one if one.sure >= CLAIM else one._replace(method=claim.origin, sure=CLAIM)


class Claims:
    def __init__(self, link: Linking, placed: Placed) -> None:
        self._link, self._placed = link, placed
        self.disagreements: dict[int, list[Disagreement]] = defaultdict(list)
        self._files = {file.id: number for number, file in enumerate(link.program.files)}
        self._known: dict[tuple[str, str, bool], list[Target]] = {}
        self._labels: dict[str, list[int]] | None = None

    def weighed(self, file: int, kind: str, node: int, found: Candidates) -> Candidates:
        """What a place means, after all."""
        for claim in self._placed.get((file, kind, node), ()):
            found = self._weighed(file, kind, claim, found)
        return found

    def _weighed(self, file: int, kind: str, claim: Claim, found: Candidates) -> Candidates:
        is_called = kind == "CALLS"
        claimed = [one for target in claim.targets for one in self._targets(claim.origin, target, is_called)]
        own = found.targets if found.rivals <= MAX_TARGETS else []
        if not claimed:
            is_other = is_called and any(self._targets(claim.origin, one, False) for one in claim.targets)
            is_meant = any(_leaves_out(one.id, other) for one in own for other in claim.targets)
            if not is_other and not is_meant:  # what is there and is not called, such as a variable, is no target
                self._note(file, kind, claim, found, "unknown")
            return found
        if not own or found.best is None:
            return Candidates(claimed)
        same = {one.id for one in own if any(_is_same(one.id, other.id) for other in claimed)}
        if any(one.sure < CLAIM for one in own if one.id in same):
            return Candidates(_raised(one, claim) if one.id in same else one for one in own)
        if same or any(self._narrows(one.id, other.id) for one in own for other in claimed):
            return found
        is_taken = confidence(CLAIM, len(claimed)) > confidence(found.best.sure, found.rivals)
        self._note(file, kind, claim, found, "taken" if is_taken else "kept")
        return Candidates(claimed) if is_taken else found

    def _note(self, file: int, kind: str, claim: Claim, found: Candidates, verdict: str) -> None:
        own = found.best.id if found.best is not None and found.rivals <= MAX_TARGETS else None
        place = claim.start_byte, claim.end_byte
        self.disagreements[file].append(Disagreement(kind, claim.origin, *place, own, min(claim.targets), verdict))

    def _narrows(self, own: str, claimed: str) -> bool:
        """Whether what was found takes the place of what is claimed: a class below, a method that overrides another or
        does what a protocol asks for. Tools name what is declared, codelake what comes."""
        program = self._link.program
        a, b = program.of_id.get(own), program.of_id.get(claimed)
        if a is None or b is None:
            (own, _, name), (claimed, _, other_name) = own.rpartition(":"), claimed.rpartition(":")
            a, b = program.of_id.get(own), program.of_id.get(claimed)  # of attributes
            return a is not None and b is not None and name == other_name and self._is_below(a, b)
        one, other = program.definitions[a], program.definitions[b]
        if one.kind == other.kind == "class":
            return self._is_below(a, b)
        if one.name != other.name or one.owner < 0 or other.owner < 0:
            return False
        return self._is_below(one.owner, other.owner) or self._is_protocol(other.owner)

    def _is_below(self, one: int, other: int) -> bool:
        link = self._link
        return link.defined[other] in link.hierarchy.order(link.defined[one])

    def _is_protocol(self, one: int) -> bool:
        link = self._link
        keys = (link.values.keys[base] for base in link.hierarchy.bases.get(link.defined[one], ()))
        return any(kind == Kind.EXTERNAL and str(name) in _PROTOCOLS for kind, name, _ in keys)

    # targets -----------------------------------------------------------------------------------------

    def _targets(self, origin: str, of: str, is_called: bool) -> list[Target]:
        key = origin, of, is_called
        if key not in self._known:
            self._known[key] = list(self._found(origin, of, is_called))
        return self._known[key]

    def _found(self, origin: str, of: str, is_called: bool) -> Iterator[Target]:
        """What a claimed id is in the lake; of a name that is defined again, each."""
        inside = self._inside(of[len(OUTSIDE) :]) if of.startswith(OUTSIDE) else of
        if inside is None:
            yield Target(of, origin, CLAIM)
            return
        for number in self._definitions(inside):
            one = self._link.program.definitions[number]
            if not is_called:
                yield Target(one.id, origin, CLAIM)
            elif one.kind in _CALLED:
                is_plain = one.kind == "function" and one.owner < 0
                yield Target(one.id, origin, CLAIM, number if is_plain else -1)
        if not is_called and self._is_variable(inside):
            yield Target(inside, origin, CLAIM)

    def _definitions(self, of: str) -> list[int]:
        if self._labels is None:
            self._labels = defaultdict(list)
            for number, one in enumerate(self._link.program.definitions):
                file = self._link.program.files[one.file].id
                self._labels[f"{file}#{_ORDINAL.sub('', one.label)}"].append(number)
        return self._labels.get(of, [])

    def _is_variable(self, of: str) -> bool:
        file, _, label = of.partition("#")
        scope, _, name = label.rpartition(":")
        number = self._files.get(file)
        if number is None or not name or ":" not in label:
            return False
        if not scope:
            return name in self._link.modules.names[number]
        for one in self._definitions(f"{file}#{scope}"):
            value = self._link.defined[one]
            if name in self._link.members.get(value, ()) or name in self._link.stored.get(value, ()):
                return True
        return False

    def _inside(self, name: str) -> str | None:
        """The id of something that is external to the report, and that a repository of the unit defines."""
        parts = name.split(".")
        for n in range(len(parts), 0, -1):
            files = self._link.modules.by_name.get(".".join(parts[:n]))
            if files:
                return f"{self._link.program.files[files[0]].id}#{'.'.join(parts[n:]) or '<module>'}"
        return None
