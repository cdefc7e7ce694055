"""The problems of a file: `REPO:a.py HAS_DIAGNOSTIC #3-4:diagnostic:0`. Those of files that were not read come from
`codelake.graph.render.around`.
"""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.render.arrays import pick
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.problems
    yield Edges(x.file, "HAS_DIAGNOSTIC", pick(files.file_id, x.file), files.problem_labels, method="problem")


RULE = Rule("has_diagnostic", ("HAS_DIAGNOSTIC",), _edges)
