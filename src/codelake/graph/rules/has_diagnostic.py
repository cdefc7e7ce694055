"""The problems of a file: `REPO:a.py HAS_DIAGNOSTIC #3-4:diagnostic:0`. Those of files that were not read come from
`codelake.graph.folders`.
"""

from __future__ import annotations

from codelake.graph.passes import diagnostic_label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "has_diagnostic",
    ("HAS_DIAGNOSTIC",),
    (Edges("problems", "HAS_DIAGNOSTIC", "file_id", diagnostic_label("x", "i"), method="'problem'"),),
)
