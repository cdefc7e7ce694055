"""The stage `quality`: what the graph of the repositories that were rendered does not keep, beside what it did not keep
when they were last rendered.

unresolved   calls without a target, by reason
ambiguous    places with several candidates, by kind of edge
dangling     edges that lead out of their file to a node that is not there, by kind
orphan       nodes whose owner, outside of their file and within their repository, is not there, by kind
disagreement places of which another tool claims something else, by kind of edge, tool and who is believed

What a file says of itself is rendered from one row, so that only what leads out of it can be missing.
"""

from __future__ import annotations

from codelake.contracts.claims import CLAIMS
from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_NODES, LINKS
from codelake.contracts.kinds import EDGE_KINDS
from codelake.contracts.operations import QUALITY
from codelake.contracts.sources import FILES
from codelake.delta.embedded import among, ask
from codelake.delta.run import Run
from codelake.ids import file_id_sql, repository_id
from codelake.pipeline.linking import seen_by
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.work import Build

_TABLES = {
    "unresolved": CALLS,
    "ambiguous": CPG_EDGES,
    "dangling": CPG_EDGES,
    "orphan": CPG_NODES,
    "disagreement": LINKS,
}
_OWN = f"concat({file_id_sql()}, '#')".replace("`", '"')
_LEADING = [kind for kind in EDGE_KINDS if "d" in kind.adjacent]
"""The others stay within a scope."""
_LEAD = among("kind", (kind.name for kind in _LEADING))
_LED_TO = among("kind", sorted({dst for kind in _LEADING for dst in kind.dst}))
_OWNED = among("kind", ("repository", "package", "file", "module", "type", "external_symbol"))
"""What may belong to something outside of its file."""
_COUNTED = f"""
    SELECT repo, 'unresolved' AS rule, reason AS issue, count(*) AS n
    FROM calls WHERE reason IS NOT NULL AND {{within}} GROUP BY repo, reason
    UNION ALL
    SELECT repo, 'ambiguous', kind, count(DISTINCT ambiguity_group)
    FROM cpg_edges WHERE ambiguity_group IS NOT NULL AND {{within}} GROUP BY repo, kind
    UNION ALL
    SELECT repo, 'dangling', kind, count(*)
    FROM (SELECT repo, kind, dst FROM cpg_edges
        WHERE {_LEAD} AND NOT starts_with(dst, {_OWN}) AND {{within}}) AS leaving
    LEFT ANTI JOIN (SELECT node_id FROM cpg_nodes WHERE {_LED_TO} AND {{there}}) AS there
    ON there.node_id = leaving.dst GROUP BY repo, kind
    UNION ALL
    SELECT repo, 'orphan', kind, count(*)
    FROM (SELECT repo, kind, parent_id FROM cpg_nodes
        WHERE {_OWNED} AND NOT starts_with(parent_id, {_OWN}) AND {{within}}) AS owned
    LEFT ANTI JOIN (SELECT node_id FROM cpg_nodes WHERE {{within}}) AS own
    ON own.node_id = owned.parent_id GROUP BY repo, kind"""
_DISPUTED = """
    SELECT repo, 'disagreement' AS rule,
        concat(d['kind'], ': ', d['origin'], CASE d['verdict'] WHEN 'taken' THEN ' is taken'
            WHEN 'kept' THEN ' is not taken' ELSE ' names what the lake does not have' END) AS issue, count(*) AS n
    FROM (SELECT repo, unnest(disagreements) AS d FROM links WHERE {within}) AS l GROUP BY 1, 2, 3"""

Key = tuple[str, str, str]
"""Rule, entity, issue."""


def measure_graph(build: Build) -> None:
    repos = _repos(build)
    if not repos:
        return
    within = among("repo", repos)
    counts = _COUNTED.format(within=within, there=among("repo", ["", *seen_by(build.run, repos)]))
    found = ask(build.run, (CALLS, CPG_EDGES, CPG_NODES), counts).to_pylist()
    if not is_empty(build.run, CLAIMS):
        found += ask(build.run, (LINKS,), _DISPUTED.format(within=within)).to_pylist()
    counted = {(row["rule"], repository_id(row["repo"]), row["issue"]): row["n"] for row in found}
    before = _before(build.run, [repository_id(repo) for repo in repos])
    for key in sorted(counted.keys() | before.keys()):
        rule, entity, issue = key
        n, then = counted.get(key, 0), before.get(key)
        if n or then:
            about = {"table_name": _TABLES[rule].name, "rule": rule, "action": "", "entity_id": entity}
            build.run.note(QUALITY, **about, issue=issue, n=n, n_before=then)


def _repos(build: Build) -> list[str]:
    """Those that were rendered. All, if a build that died before it published has left a graph that nobody measured."""
    if not build.has_unpublished:
        return build.rendered.repos if build.rendered else []
    found = ask(build.run, (FILES,), "SELECT DISTINCT repo FROM files").to_pylist()
    return sorted({*(row["repo"] for row in found), *(build.rendered.repos if build.rendered else ())})


def _before(run: Run, entities: list[str]) -> dict[Key, int]:
    """What the last run counted that measured one of these repositories."""
    if is_empty(run, QUALITY):
        return {}
    measured = f"SELECT * FROM quality WHERE action = '' AND {among('entity_id', entities)}"
    last = f"SELECT entity_id, max(run_id) AS run_id FROM ({measured}) AS m GROUP BY entity_id"
    kept = f"SELECT q.* FROM ({measured}) AS q JOIN ({last}) AS l ON l.entity_id = q.entity_id AND l.run_id = q.run_id"
    return {(row["rule"], row["entity_id"], row["issue"]): row["n"] for row in ask(run, (QUALITY,), kept).to_pylist()}
