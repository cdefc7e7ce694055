"""What lies in a folder or file: `REPO:pkg/ CONTAINS REPO:pkg/a.py`, `REPO:pkg/a.py CONTAINS #<module>`.

Folders in folders and in the repository come from `codelake.graph.folders`.
"""

from __future__ import annotations

from codelake.graph.passes import ONCE
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "contains",
    ("CONTAINS",),
    (
        Edges(ONCE, "CONTAINS", "owner_id", "file_id", method="'path'"),
        Edges(ONCE, "CONTAINS", "file_id", "'#<module>'", where="size(nodes) > 0", method="'path'"),
    ),
)
