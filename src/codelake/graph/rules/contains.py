"""What lies in a folder or file: `REPO:pkg/ CONTAINS REPO:pkg/a.py`, `REPO:pkg/a.py CONTAINS #<module>`.

Folders in folders and in the repository come from `codelake.graph.render.around`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from codelake.graph.render.arrays import pick, same
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule
from codelake.ids import MODULE


def _edges(files: Named) -> Iterator[Edges]:
    yield Edges(files.all, "CONTAINS", files.owner_id, files.file_id, method="path")
    coded = np.flatnonzero(np.diff(files.nodes.begin) > 0)
    module = same(MODULE, len(coded), pa.string())
    yield Edges(coded, "CONTAINS", pick(files.file_id, coded), module, method="path")


RULE = Rule("contains", ("CONTAINS",), _edges)
