"""The things outside of the lake that a module uses: `#<module> REFERENCES_EXTERNAL ::os.path.join`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from codelake.graph.render.arrays import same
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule
from codelake.ids import MODULE, OUTSIDE


def _edges(files: Named) -> Iterator[Edges]:
    x = files.link_edges
    used = dict.fromkeys(zip(x.file.tolist(), x.dst.to_numpy(zero_copy_only=False).tolist(), strict=True))
    found = [(file, name) for file, name in used if name.startswith(OUTSIDE) and not name.endswith("@type")]
    yield Edges(
        np.array([file for file, _ in found], dtype=np.int64),
        "REFERENCES_EXTERNAL",
        same(MODULE, len(found), pa.string()),
        pa.array([name for _, name in found], pa.string()),
        origin="flow",
        method="use",
    )


RULE = Rule("references_external", ("REFERENCES_EXTERNAL",), _edges)
