"""The pipeline: what is done, in this order. A stage says what it reads and writes, what is in its fingerprint, how
what it reads twice is kept, and has a function.

A stage that has nothing new to write writes nothing. What comes early is content, which nothing refers to until
`files` are committed; from there on one build works at a time, until it has published. A build that dies in between
leaves rows that the next one will use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from codelake.contracts import EVIDENCE, Table
from codelake.contracts.claims import CLAIMS
from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_NODES, EXTERNAL_SYMBOLS, LINKS, RENDERED
from codelake.contracts.operations import QUALITY
from codelake.contracts.sources import BLOBS, DIAGNOSTICS, DISTRIBUTIONS, FILES, REPOSITORIES
from codelake.contracts.stubs import STUBS
from codelake.extract.guard import Limits
from codelake.pipeline.claims import store_claims
from codelake.pipeline.contents import store_contents
from codelake.pipeline.extraction import extract_contents
from codelake.pipeline.fingerprints import (
    Fingerprint,
    Parts,
    extraction,
    fingerprint,
    linking,
    reading_stubs,
    rendering,
)
from codelake.pipeline.graph import render_graph
from codelake.pipeline.linking import link_files
from codelake.pipeline.publication import publish_files
from codelake.pipeline.quality import measure_graph
from codelake.pipeline.stubs import store_stubs
from codelake.pipeline.work import Build


class Stage(NamedTuple):
    name: str
    reads: tuple[Table, ...]
    writes: tuple[Table, ...]
    run: Callable[[Build], None]
    code: Callable[[Limits], Parts] = lambda _: {}
    cache: Literal["plain", "disk", "delta"] = "plain"
    """How what it makes is kept: read once; on disk, until it is committed to several tables; or in Delta, under the
    content's digest and the extractors' version."""
    alone: bool = True
    """One build at a time."""


PUBLISHED = (DIAGNOSTICS, REPOSITORIES, DISTRIBUTIONS, FILES)

STAGES: tuple[Stage, ...] = (
    Stage("contents", (BLOBS,), (BLOBS,), store_contents, cache="delta", alone=False),
    Stage("evidence", (BLOBS, EVIDENCE), (EVIDENCE,), extract_contents, extraction, cache="delta", alone=False),
    Stage("claims", (CLAIMS,), (CLAIMS,), store_claims, cache="delta"),
    Stage("files", (EVIDENCE, *PUBLISHED), PUBLISHED, publish_files),
    Stage("stubs", (STUBS,), (STUBS,), store_stubs, lambda _: reading_stubs(), cache="delta"),
    Stage("link", (FILES, EVIDENCE, STUBS, CLAIMS, LINKS), (LINKS,), link_files, lambda _: linking(), cache="disk"),
    Stage(
        "graph",
        (FILES, EVIDENCE, LINKS, DISTRIBUTIONS, EXTERNAL_SYMBOLS),
        (*RENDERED, EXTERNAL_SYMBOLS),
        render_graph,
        lambda _: rendering(),
        cache="disk",
    ),
    Stage("quality", (LINKS, CALLS, CPG_EDGES, CPG_NODES, QUALITY), (QUALITY,), measure_graph),
)


def fingerprints(limits: Limits) -> dict[str, Fingerprint]:
    """Of every stage, by name."""
    found: dict[str, Fingerprint] = {}
    for stage in STAGES:
        before = {
            one.name: found[one.name]
            for one in STAGES
            if one.name in found and any(table in stage.reads for table in one.writes)
        }
        found[stage.name] = fingerprint(stage.code(limits), stage.writes, before)
    return found
