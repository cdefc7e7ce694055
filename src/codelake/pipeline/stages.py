"""The pipeline: what is done, in this order. A stage says what it reads and writes, and has a function.

A stage that has nothing new to write writes nothing. What comes early is content, which nothing refers to
until `files` are committed; what comes after follows from these. A build that dies in between leaves rows that the
next one will use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from codelake.contracts import EVIDENCE, Table
from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_NODES, GRAPH, LINKS
from codelake.contracts.operations import QUALITY
from codelake.contracts.sources import BLOBS, DIAGNOSTICS, DISTRIBUTIONS, FILES, REPOSITORIES
from codelake.pipeline.contents import store_contents
from codelake.pipeline.extraction import extract_contents
from codelake.pipeline.graph import render_graph
from codelake.pipeline.linking import link_files
from codelake.pipeline.publication import publish_files
from codelake.pipeline.quality import measure_graph
from codelake.pipeline.work import Build


class Stage(NamedTuple):
    name: str
    reads: tuple[Table, ...]
    writes: tuple[Table, ...]
    run: Callable[[Build], None]


RENDERED = tuple(table for table in GRAPH if table is not LINKS)
PUBLISHED = (DIAGNOSTICS, REPOSITORIES, DISTRIBUTIONS, FILES)

STAGES: tuple[Stage, ...] = (
    Stage("contents", (BLOBS,), (BLOBS,), store_contents),
    Stage("evidence", (BLOBS, EVIDENCE), (EVIDENCE,), extract_contents),
    Stage("files", (EVIDENCE, *PUBLISHED), PUBLISHED, publish_files),
    Stage("link", (FILES, EVIDENCE, LINKS), (LINKS,), link_files),
    Stage("graph", (FILES, EVIDENCE, LINKS, DISTRIBUTIONS), RENDERED, render_graph),
    Stage("quality", (CALLS, CPG_EDGES, CPG_NODES, QUALITY), (QUALITY,), measure_graph),
)
