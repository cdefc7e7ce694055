"""A unit that stays linked says of an edit what linking anew would say."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings

from codelake.contracts.arrow_vectors import with_lists
from codelake.contracts.graph import LINKED
from codelake.graph.link.kept.unit import Unit
from codelake.graph.link.kernel import link
from tests.cases.truth import read_cases
from tests.extract.packages import sources_of
from tests.graph.linking import module_of, shipped_stubs, unit
from tests.graph.test_link import programs
from tests.properties.code_edits import code_edited

WITHIN = ("comment", "copy", "more_at_the_end", "other_argument", "other_name", "swap")
CASES = read_cases(Path(__file__).parents[1] / "cases")
Rows = dict[str, dict[str, object]]


class Edited:
    """Files that are edited one by one: kept linked, and linked anew each time."""

    def __init__(self, files: Mapping[str, str], modules: Mapping[str, str] | None = None) -> None:
        self.modules = modules or {path: module_of(path) for path in files}
        self.table = unit(files, modules=self.modules)
        self.unit = Unit(self.table, shipped_stubs())
        self.said = _by_path(self.unit.all_links())
        assert self.said == self.anew()

    def anew(self) -> Rows:
        return _by_path(link(self.table, shipped_stubs()))

    def linked(self, path: str) -> list[dict[str, object]]:
        """The edges of a file."""
        edges = with_lists(self.unit.all_links(), LINKED).to_pylist()
        return next(row["edges"] for row in edges if row["path"] == path)

    def edit(self, path: str, text: str) -> set[str] | None:
        """Of which files the links were given; None where the unit had to be linked anew."""
        row = unit({path: text}, modules=self.modules)
        paths = self.table.column("path").to_pylist()
        at = paths.index(path)
        self.table = pa.concat_tables([self.table.slice(0, at), row, self.table.slice(at + 1)])
        found = self.unit.update(row)
        if found is None:
            self.unit = Unit(self.table, shipped_stubs())
            self.said = _by_path(self.unit.all_links())
            return None
        self.said |= _by_path(found)
        return set(_by_path(found))


def _by_path(rows: pa.Table) -> Rows:
    return {row["path"]: row for row in rows.to_pylist()}


def _run(chance: random.Random, texts: dict[str, str], edited: Edited, n: int) -> Counter[str]:
    """How many edits of each kind were followed, and how many were not."""
    told: Counter[str] = Counter()
    done = []
    for _ in range(n):
        path = chance.choice(sorted(texts))
        name, texts[path] = code_edited(chance, texts[path])
        done.append((name, path))
        told[f"{name} {'anew' if edited.edit(path, texts[path]) is None else 'kept'}"] += 1
        assert edited.said == edited.anew(), done
    return told


_SEAT = "from typing import NamedTuple\nclass Seat(NamedTuple):\n    row: int\n"
_LEVEL = "import enum\nclass Level(enum.Enum):\n    LOW = 1\n"
_WAYS = "def up(): pass\ndef down(): pass\nWAYS = {'u': up, 'd': down}\n"
_MANY = "".join(f"def f{n}(): pass\n" for n in range(30)) + f"TABLE = [{', '.join(f'f{n}' for n in range(30))}]\n"
_USERS = [f"def user{n}():\n    for one in TABLE: one()\n" for n in range(12)]
OTHERS = {
    "a field before the others": (_SEAT, _SEAT.replace("    row", "    letter: str\n    row"), "a, *b = lib.Seat(1)"),
    "a member with a value of another type": (_LEVEL, f"{_LEVEL}    HIGH = 'h'\n", "a = lib.Level.LOW.value"),
    "an end that is reached": ("def f(): return 1", "def f():\n    if f: return 1", "a = lib.f()"),
    "an end that is reached no more": ("def f(): pass", "def f(): raise f", "a = lib.f()"),
    "what is returned of a parameter": ("def f(x): return x()", "def f(x): return x", "a = lib.f(int)"),
    "a parameter that looks up": (
        f"{_WAYS}def go(way): return WAYS['u']()\ngo('d')",
        f"{_WAYS}def go(way): return WAYS[way]()\ngo('d')",
        "lib.go('u')",
    ),
    "a key that is passed": (
        f"{_WAYS}def go(way): return WAYS[way]()\ngo('d')",
        f"{_WAYS}def go(way): return WAYS[way]()\ngo('u')",
        "lib.go",
    ),
    "a place more that calls any of very many": (
        _MANY + "".join(_USERS[:7]),
        _MANY + "".join(_USERS),
        "for one in lib.TABLE: one()",
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_others_find_in_another_way(case: str) -> None:
    before, after, use = OTHERS[case]
    edited = Edited({"lib.py": before, "app.py": f"import lib\n{use}\n"})
    old = dict(edited.said)
    edited.edit("lib.py", after)
    assert edited.said == edited.anew() != old
    edited.edit("lib.py", before)
    assert edited.said == edited.anew() == old


def test_a_file_that_loses_most_of_what_it_had() -> None:
    """Comprehensions among them, which had places that the file does not have any more."""
    little = "def f(x):\n    return x\n"
    much = little + "".join(f"y{n} = len('{n}')\n" for n in range(30)) + "z = [f(i) for i in (1, 2)]\n"
    edited = Edited({"lib.py": much, "app.py": "import lib\nlib.f(2)\n"})
    for text in (much + "w = 1\n", little + "k = 0\n", little):
        assert edited.edit("lib.py", text) is not None
        assert edited.said == edited.anew()


def test_what_is_handed_on_by_stars_is_not_told_by_when_it_came() -> None:
    """Whether `options` are given is not known of `**options`, however early it is known what they may be."""
    lib = (
        "class Base:\n    prefix = 'a'\n    def explain(self, **options):\n        if options: raise ValueError\n"
        "        return self.prefix\n"
        "class Below(Base):\n    def explain(self, **options):\n        said = super().explain(**options)\n"
        "        return said\n"
        "Below().explain(a=1)\n"
    )
    edited = Edited({"lib.py": lib, "app.py": "import lib\n"})
    said = [edge for edge in edited.linked("lib.py") if edge["src"] == "r:lib.py#Below.explain:said"]
    assert [(edge["kind"], edge["dst"]) for edge in said] == [("HAS_TYPE", "::builtins.str@type")]


@settings(max_examples=40, deadline=None)
@given(programs(), programs())
def test_programs_that_become_others(before: dict[str, str], after: dict[str, str]) -> None:
    edited = Edited(before)
    for path in sorted(before.keys() & after.keys()):
        edited.edit(path, after[path])
        assert edited.said == edited.anew()


def _cases_edited(seed: int, share: float) -> Counter[str]:
    chance, told = random.Random(seed), Counter[str]()
    for case in CASES:
        if chance.random() < share:
            modules = {path: module for module, path in case.modules().items() if path.endswith(".py")}
            texts = {path: case.files[path] for path in modules}
            told += _run(chance, texts, Edited(texts, modules), 2)
    return told


def test_constructs_of_all_kinds_edited() -> None:
    _follows_bodies(_cases_edited(1, 0.2))


def test_a_package_edited(tmp_path: Path) -> None:
    _follows_bodies(_package_edited(tmp_path, "click==8.1.8", 1, 10))


def _follows_bodies(told: Counter[str]) -> None:
    """What is edited within a function is hardly ever a reason to link anew."""
    kept, anew = (sum(told[f"{name} {how}"] for name in WITHIN) for how in ("kept", "anew"))
    assert kept > 4 * anew, told


def _package_edited(folder: Path, package: str, seed: int, n: int) -> Counter[str]:
    files = {str(file.relative_to(folder)): file.read_text() for file in sources_of(package, folder)}
    texts = {path.partition("unpacked/")[2]: text for path, text in files.items()}
    return _run(random.Random(seed), texts, Edited(texts), n)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(40))
def test_packages_edited(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}: {dict(_cases_edited(seed, 1.0))}")
    for package in ("click==8.1.8", "networkx==3.4.2", "attrs==25.3.0"):
        print(f"seed {seed}, {package}: {dict(_package_edited(tmp_path / package, package, seed, 20))}")


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_a_large_package_edited(tmp_path: Path, seed: int) -> None:
    """Held against linking anew once: with a change in one of nine hundred files, that takes ten seconds."""
    files = {str(file.relative_to(tmp_path)): file.read_text() for file in sources_of("django==5.2", tmp_path)}
    texts = {path.partition("unpacked/")[2]: text for path, text in files.items()}
    chance, edited, done = random.Random(seed), Edited(texts), []
    for _ in range(20):
        path = chance.choice(sorted(texts))
        name, texts[path] = code_edited(chance, texts[path])
        edited.edit(path, texts[path])
        done.append((name, path))
    assert edited.said == edited.anew(), done
