"""What a stage does, as a fingerprint: its code, the contracts of what it writes, the settings that it depends on, and
the fingerprints of the stages whose tables it reads. Nothing of the machine, of paths or of versions of tables is in
it: it is the same in every process that would do the same.

Where a fingerprint differs from the one that a table was last written with, all that the stage wrote is made anew, and
the parts tell why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from codelake.contracts import Table
from codelake.extract.extractors import EXTRACTORS, extractor_version
from codelake.extract.guard import Limits
from codelake.extract.stubs.typeshed import stubs_version
from codelake.graph.rules import RULES

_BESIDE = (
    *("codelake.ids", "codelake.contracts.kinds", "codelake.contracts.types", "codelake.contracts.arrow"),
    *("codelake.contracts.vectors", "codelake.contracts.arrow_vectors"),
)
"""Modules of others that say how rows of links and of the graph come out."""

Parts = Mapping[str, str]
"""What is in a fingerprint, by name: `rule calls`, `contract cpg_edges`, `stage link`."""


class Fingerprint(NamedTuple):
    text: str
    parts: Parts


def fingerprint(code: Parts, writes: Iterable[Table], before: Mapping[str, Fingerprint]) -> Fingerprint:
    """`before` has the fingerprints of earlier stages whose tables are read, by name."""
    parts = {
        **code,
        **{f"contract {table.name}": _hash(repr(table)) for table in writes},
        **{f"stage {name}": found.text for name, found in before.items()},
    }
    return Fingerprint(_hash(json.dumps(parts, sort_keys=True)), parts)


def extraction(limits: Limits) -> Parts:
    versions = {f"extractor {one.name}": str(one.version) for one in EXTRACTORS}
    return {**versions, "extractors and grammars": extractor_version(), "limits": repr(limits)}


def linking() -> Parts:
    return {
        "linker": _source("codelake.graph.link"),
        "beside the linker": _texts(*_BESIDE),
        "flow facts": extractor_version(),
    }


def reading_stubs() -> Parts:
    return {"stubs": stubs_version()}


def rendering() -> Parts:
    rules = {f"rule {rule.name}": _hash(_text("codelake.graph.rules", f"{rule.name}.py")) for rule in RULES}
    beside = _texts(*_BESIDE, "codelake.graph.rules.rule", "codelake.graph.files", "codelake.graph.externals")
    return {**rules, "rendering": _source("codelake.graph.render"), "beside rendering": beside}


def changed_parts(before: Parts, now: Parts) -> list[str]:
    """In words."""
    names = sorted(before.keys() | now.keys())
    return [
        f"{name} {'is new' if name not in before else 'is gone' if name not in now else 'changed'}"
        for name in names
        if before.get(name) != now.get(name)
    ]


def _source(package: str) -> str:
    return _hash("".join(f"{one.name}\n{one.read_text()}" for one in sorted(_modules(files(package)), key=_name)))


def _texts(*modules: str) -> str:
    return _hash("".join(_text(package, f"{name}.py") for package, _, name in (one.rpartition(".") for one in modules)))


def _text(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text()


def _modules(folder: Traversable) -> Iterable[Traversable]:
    return (one for one in folder.iterdir() if one.name.endswith(".py"))


def _name(one: Traversable) -> str:
    return one.name


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
