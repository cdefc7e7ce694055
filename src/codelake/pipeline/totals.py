"""How large the graph is: what a build says at its end, beside what the run before it had."""

from __future__ import annotations

from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_NODES
from codelake.contracts.sources import FILES
from codelake.delta.embedded import ask
from codelake.delta.run import Run

_COUNTED = """
    SELECT (SELECT count(*) FROM files) AS files,
        (SELECT count(*) FROM cpg_nodes) AS nodes,
        (SELECT count(*) FROM cpg_edges) AS edges,
        (SELECT count(*) FROM calls) AS calls,
        (SELECT count(*) FROM calls WHERE reason IS NOT NULL) AS unresolved"""


def totals(run: Run) -> dict[str, int]:
    """Of all repositories in the lake, as the run has pinned it. Unresolved are calls without a target."""
    [counted] = ask(run, (FILES, CPG_NODES, CPG_EDGES, CALLS), _COUNTED).to_pylist()
    return dict(counted)
