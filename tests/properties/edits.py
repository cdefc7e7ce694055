"""Random edits of a package: what people do to a repository between two builds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.properties.code_edits import code_edited

PACKAGE = {
    "setup.py": "from setuptools import setup\nsetup(name='shop')\n",
    "requirements.txt": "requests==2.31.0\n",
    "shop/__init__.py": "from .basket import Basket, total\nfrom .money import *\n__all__ = ['Basket', 'total']\n",
    "shop/money.py": "__all__ = ['Money', 'zero']\n\n\nclass Money:\n    def __init__(self, n):\n        self.n = n\n\n"
    "    def __add__(self, other):\n        return Money(self.n + other.n)\n\n    def show(self):\n"
    "        return str(self.n)\n\n\ndef zero():\n    return Money(0)\n",
    "shop/basket.py": "from .money import Money, zero\nfrom . import tax\n\n\nclass Basket:\n    def __init__(self):\n"
    "        self.items = []\n\n    def add(self, item: Money):\n        self.items.append(item)\n\n"
    "    def sum(self):\n        return total(self.items)\n\n\ndef total(items):\n    found = zero()\n"
    "    for item in items:\n        found = found + tax.taxed(item)\n    return found\n",
    "shop/tax.py": "import math\nfrom shop.money import Money\n\n\ndef rounded(function):\n    def inner(money):\n"
    "        return Money(math.floor(function(money).n))\n    return inner\n\n\n@rounded\ndef taxed(money):\n"
    "    return Money(money.n * 1.2)\n",
    "shop/deep/__init__.py": "",
    "shop/deep/report.py": "from .. import Basket\nimport requests\n\n\nclass Report(Basket):\n    def sum(self):\n"
    "        return super().sum()\n\n    def send(self):\n        return requests.post('x', data=self.sum().show())\n",
    "tests/test_shop.py": "from shop import Basket, total\nfrom shop.deep.report import Report\n\n\ndef test_it():\n"
    "    basket = Basket()\n    basket.add(1)\n    assert basket.sum()\n    assert Report().sum() == total([])\n",
}

_ALL = re.compile(r"^__all__ = \[([^\]]+)\]", re.M)

Edit = Callable[[random.Random, Path], str | None]
"""Changes the files below a folder and says what it did; None where it found nothing to do."""


def write(folder: Path, files: dict[str, str] = PACKAGE) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def edited(folder: Path, chance: random.Random) -> str:
    """One edit, by chance."""
    while True:
        done = chance.choice(EDITS)(chance, folder)
        if done is not None:
            return done


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.py") if file.read_bytes()[:1] != b"\xff")


def _replacing(name: str, *pairs: tuple[str, str]) -> Edit:
    """An edit that puts one text in the place of another, in one file that has it."""

    def edit(chance: random.Random, folder: Path) -> str | None:
        old, new = chance.choice(pairs)
        having = [file for file in _files(folder) if old in file.read_text("latin-1")]
        if not having:
            return None
        file = chance.choice(having)
        file.write_text(file.read_text("latin-1").replace(old, new, 1), "latin-1")
        return f"{name} {file.relative_to(folder)}: {old!r} by {new!r}"

    return edit


def _appended(name: str, *texts: str) -> Edit:
    def edit(chance: random.Random, folder: Path) -> str:
        file, text = chance.choice(_files(folder)), chance.choice(texts).format(n=chance.randrange(1000))
        with file.open("a") as out:
            out.write(text)
        return f"{name} {file.relative_to(folder)}: {text!r}"

    return edit


def _prepended(name: str, *texts: str) -> Edit:
    def edit(chance: random.Random, folder: Path) -> str:
        file, text = chance.choice(_files(folder)), chance.choice(texts)
        file.write_bytes(text.encode() + file.read_bytes())
        return f"{name} {file.relative_to(folder)}: {text!r}"

    return edit


def _added(chance: random.Random, folder: Path) -> str:
    file = folder / chance.choice(("shop", "shop/deep", "extra")) / f"new{chance.randrange(1000)}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "from shop.money import Money\nfrom shop import basket\n\n\ndef made():\n    return Money(1).show()\n"
    )
    return f"added {file.relative_to(folder)}"


def _deleted(chance: random.Random, folder: Path) -> str | None:
    files = _files(folder)
    if len(files) < 5:
        return None
    file = chance.choice(files)
    file.unlink()
    return f"deleted {file.relative_to(folder)}"


def _moved(chance: random.Random, folder: Path) -> str:
    """Another name, perhaps in another folder."""
    file = chance.choice(_files(folder))
    to = chance.choice((file.parent, folder / "shop", folder / "moved" / "to")) / f"moved{chance.randrange(1000)}.py"
    to.parent.mkdir(parents=True, exist_ok=True)
    file.rename(to)
    return f"moved {file.relative_to(folder)} to {to.relative_to(folder)}"


def _made_package(chance: random.Random, folder: Path) -> str | None:
    modules = [file for file in _files(folder) if file.stem != "__init__" and not file.with_suffix("").exists()]
    if not modules:
        return None
    file = chance.choice(modules)
    file.with_suffix("").mkdir()
    file.rename(file.with_suffix("") / "__init__.py")
    return f"made {file.relative_to(folder)} a package"


def _encoded(chance: random.Random, folder: Path) -> str:
    file = chance.choice(_files(folder))
    file.write_bytes(b"# coding: latin-1\nname = '\xe9'\n" + file.read_bytes())
    return f"encoded {file.relative_to(folder)}"


def _typed(chance: random.Random, folder: Path) -> str | None:
    """What changes the code of a file that Python parses."""
    file = chance.choice(_files(folder))
    try:
        name, text = code_edited(chance, file.read_text())
    except (SyntaxError, UnicodeDecodeError):  # an earlier edit broke it, or gave it another encoding
        return None
    file.write_text(text)
    return f"{name} in {file.relative_to(folder)}"


def _exported(chance: random.Random, folder: Path) -> str | None:
    """One name less in `__all__`, or one more."""
    lists = [(file, found) for file in _files(folder) if (found := _ALL.search(file.read_text("latin-1")))]
    if not lists:
        return None
    file, found = chance.choice(lists)
    names = found[1].split(",")
    if chance.random() < 0.5:
        names.remove(chance.choice(names))
    else:
        names.insert(0, chance.choice(('"exported"', '"Basket"', '"zero"')))
    text = file.read_text("latin-1")
    file.write_text(text[: found.start(1)] + ",".join(names) + text[found.end(1) :], "latin-1")
    return f"exported in {file.relative_to(folder)}: {','.join(names)!r}"


def _declared(chance: random.Random, folder: Path) -> str:
    (folder / "requirements.txt").write_text(f"requests==2.{chance.randrange(40)}.0\n")
    return "declared another version"


EDITS: tuple[Edit, ...] = (
    _added,
    _deleted,
    _moved,
    _made_package,
    _encoded,
    _declared,
    _exported,
    _typed,
    _appended("commented", "# a comment {n}\n"),
    _appended("defined in", "\n\ndef more{n}(x):\n    return len(x)\n", "\n\nclass More{n}(Exception):\n    pass\n"),
    _prepended("moved down", "# first\n\n", "import os\n", "'''Docs.'''\n"),
    _replacing("broke", ("def ", "def ("), ("class ", "class :"), ("return", "return ) (")),
    _replacing("mended", ("def (", "def "), ("class :", "class "), ("return ) (", "return")),
    _replacing("based in", ("(Basket)", ""), ("class Report:", "class Report(Basket):"), ("(Exception)", "(Basket)")),
    _replacing("decorated in", ("@rounded\n", ""), ("def taxed", "@rounded\ndef taxed")),
    _replacing("imported in", ("from .money import *", "from .money import zero"), ("from . import tax", "import tax")),
    _replacing(
        "changed", ("total(", "sum_up("), ("Money(0)", "Money(1)"), ("self.n", "self.amount"), (".show", ".text")
    ),
)


def script(seed: int, n: int, folder: Path) -> Iterator[list[str]]:
    """`n` steps of one to three edits each."""
    chance = random.Random(seed)
    for _ in range(n):
        yield [edited(folder, chance) for _ in range(chance.choice((1, 1, 2, 3)))]
