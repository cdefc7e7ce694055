"""What linking found, file by file, as it is gathered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from codelake.contracts.claims import ORIGINS
from codelake.graph.link.linking import Linking
from codelake.graph.link.parts import Fact
from codelake.graph.link.targets import OVERRIDE, Target, confidence, surest

_OWN_ORIGINS = ("annotation", *ORIGINS)
"""Methods that are evidence of their own."""
FEW = 6
"""Types, attributes and parameters with more candidates than this are left out."""


class Edge(NamedTuple):
    kind: str
    node: int
    src: str | None
    dst: str
    origin: str
    method: str
    confidence: float
    score: float | None
    n: int


class Site(NamedTuple):
    """A call site."""

    call: int
    caller: str
    target: str | None
    n_targets: int
    confidence: float | None
    method: str | None
    reason: str | None


class Order(NamedTuple):
    """A class with its bases and its method resolution order."""

    definition: int
    bases: list[str]
    mro: list[str]
    problem: str | None


class Candidates:
    """What a place may mean. Many places hold the same values, so this is worked out once for all of them."""

    def __init__(self, found: Iterable[Target]) -> None:
        found = list(found)
        if len(found) == 1:
            self._be_sole(found[0])
            return
        below = {target.id for target in found if target.method == "override"}
        self.targets = surest(found)
        """Of each id the surest, sorted by id."""
        n = len(self.targets)
        self.rivals = max(1, sum(target.id not in below for target in self.targets))
        """How many there are, methods that override another aside: those are all called, now one, now another."""
        n_known = sum(target.method != "override" for target in self.targets)
        self.best = max(self.targets, key=lambda target: (target.sure, target.id), default=None)
        ranked = sorted(self.targets, key=lambda target: (-target.sure, target.id))
        self.ends = [
            (
                target.id,
                target.method,
                _confidence(target, n_known if target.id in below else self.rivals, target.id in below),
                round(1 - rank / n, 3) if n > 1 else None,
                n,
            )
            for rank, target in enumerate(ranked)
        ]
        """Id, method, confidence, score and number of candidates, the surest first."""

    def _be_sole(self, target: Target) -> None:
        """What all this comes to for a single one, as most are."""
        self.targets, self.rivals, self.best = [target], 1, target
        self.ends = [(target.id, target.method, confidence(target.sure, 1), None, 1)]

    @property
    def ids(self) -> list[str]:
        return [target.id for target in self.targets]

    def by(self, method: str) -> Candidates:
        """The same, found in another way than by what flows there."""
        return Candidates(one._replace(method=method) if one.method == "flow" else one for one in self.targets)


def _confidence(target: Target, n: int, is_below: bool) -> float:
    """A method that overrides another is as likely, where instances of its own class are seen as well."""
    if target.method == "override":
        return confidence(target.sure, 1)
    sure = confidence(target.sure, n)
    return max(sure, min(target.sure, OVERRIDE)) if is_below else sure


NONE = Candidates(())


class Found:
    def __init__(self, link: Linking, only: Container[int] | None = None) -> None:
        """Of the unit's own files, or only of some of them."""
        self.link = link
        self.program = link.program
        self.is_own = [
            file.is_own and (only is None or number in only) for number, file in enumerate(self.program.files)
        ]
        self.files = list(_ranges(self.is_own))
        self.edges: dict[int, list[Edge]] = defaultdict(list)
        self.calls: dict[int, list[Site]] = defaultdict(list)
        self.classes: dict[int, list[Order]] = defaultdict(list)
        self.callers: dict[tuple[int, str, str], tuple[float, str]] = {}
        """File, caller and callee: how sure, and how it was found."""
        self.said: dict[int, frozenset[int]] = {}
        """By slot: values that annotations put there."""
        self.types: dict[tuple[frozenset[int], frozenset[int], bool], Candidates] = {}
        """By values, those of them that annotations say, and whether None may be there too."""
        self.weighed: Callable[[int, str, int, Candidates], Candidates] | None = None
        """File, kind of edge, node and what was found there, set against what other tools claim, if any do."""

    def facts(self, kind: str) -> Iterator[Fact]:
        """Of the files of which links are asked for."""
        return self.program.of_files(kind, self.files)

    def placed(self, kind: str) -> Iterator[tuple[int, Fact]]:
        return self.program.placed_of_files(kind, self.files)

    def add_candidates(
        self, file: int, kind: str, found: Candidates, *, node: int = -1, src: str | None = None, origin: str
    ) -> None:
        """One edge for each candidate of a place, the surest first."""
        edges = self.edges[file]
        for dst, method, sure, score, n in found.ends:
            seen = method if method in _OWN_ORIGINS else origin
            edges.append(Edge(kind, node, src, dst, seen, method, sure, score, n))

    def add_sure(self, file: int, kind: str, dst: str, *, node: int = -1, src: str | None = None, n: int = 1) -> None:
        score = 1.0 if n > 1 else None
        self.edges[file].append(Edge(kind, node, src, dst, "names", "name", confidence(1.0, n), score, n))

    def note_caller(self, file: int, caller: str, callee: str, sure: float, method: str) -> None:
        known = self.callers.get((file, caller, callee))
        if known is None or (sure, method) > known:
            self.callers[file, caller, callee] = sure, method


def _ranges(is_one: Sequence[bool]) -> Iterator[range]:
    """The numbers of those that are, in runs."""
    first = 0
    for number, one in enumerate([*is_one, False]):
        if not one:
            if first < number:
                yield range(first, number)
            first = number + 1
