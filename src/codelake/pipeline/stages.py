"""The pipeline: what is done, in this order. A stage says what it reads and writes, and has a function.

A stage that has nothing new to write writes nothing. What comes early is content, which nothing refers to
until the last stage has committed: a build that dies in between leaves rows that the next one will use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from codelake.contracts import EVIDENCE, Table
from codelake.contracts.sources import BLOBS, DIAGNOSTICS, DISTRIBUTIONS, FILES, REPOSITORIES
from codelake.pipeline.contents import store_contents
from codelake.pipeline.extraction import extract_contents
from codelake.pipeline.publication import publish_files
from codelake.pipeline.work import Build


class Stage(NamedTuple):
    name: str
    reads: tuple[Table, ...]
    writes: tuple[Table, ...]
    run: Callable[[Build], None]


PUBLISHED = (DIAGNOSTICS, REPOSITORIES, DISTRIBUTIONS, FILES)

STAGES: tuple[Stage, ...] = (
    Stage("contents", (BLOBS,), (BLOBS,), store_contents),
    Stage("evidence", (BLOBS, EVIDENCE), (EVIDENCE,), extract_contents),
    Stage("files", (EVIDENCE, *PUBLISHED), PUBLISHED, publish_files),
)
