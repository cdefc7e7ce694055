"""What is around the files: repositories, folders, and files that were not read. Small, and known from `files`."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from codelake.graph.render.arrays import same
from codelake.graph.render.files import Owners
from codelake.graph.render.nodes import Nodes
from codelake.graph.render.props import Props, of_files
from codelake.graph.rules.rule import Edges
from codelake.ids import file_id, place_label, repository_id

_PROBLEM = f"{place_label(0, 0, 'diagnostic')}:0"
"""The label of the one problem that a file has which was not read."""


def repositories(files: pa.RecordBatch) -> tuple[Owners, Nodes]:
    repos = sorted(set(files.column("repo").to_pylist()))
    owners = _owners([(repo, "", repository_id(repo)) for repo in repos])
    return owners, Nodes(owners.all, "repository", owners.file_id, None, name=owners.repo)


def folders(files: pa.RecordBatch) -> tuple[Owners, Nodes, Edges]:
    """Each folder that a file is in, and those around it."""
    pairs = zip(files.column("repo").to_pylist(), files.column("path").to_pylist(), strict=True)
    found = sorted({(repo, folder) for repo, path in pairs for folder in _above(path)})
    owners = _owners([(repo, folder, file_id(repo, folder)) for repo, folder in found])
    names = pa.array([folder.split("/")[-2] for _, folder in found], pa.string())
    return (
        owners,
        Nodes(owners.all, "package", owners.file_id, owners.owner_id, name=names),
        Edges(owners.all, "CONTAINS", owners.owner_id, owners.file_id, method="path"),
    )


def _above(path: str) -> Iterator[str]:
    """With / at its end."""
    end = path.find("/")
    while end >= 0:
        yield path[: end + 1]
        end = path.find("/", end + 1)


def _owners(found: list[tuple[str, str, str]]) -> Owners:
    return Owners(*(pa.array([one[k] for one in found], pa.string()) for k in range(3)))


def unread(files: pa.RecordBatch) -> tuple[Owners, tuple[Nodes, Nodes], tuple[Edges, Edges], Props]:
    """Files without a content, each with its one problem."""
    rows = files.filter(pc.is_null(files["digest"]))
    owners = Owners(rows["repo"], rows["path"], rows["file_id"])
    names = pa.array([path.rpartition("/")[2] for path in owners.path.to_pylist()], pa.string())
    problem = same(_PROBLEM, len(owners.all), pa.string())
    return (
        owners,
        (
            Nodes(owners.all, "file", owners.file_id, owners.owner_id, name=names),
            Nodes(owners.all, "diagnostic", problem, owners.file_id, name=rows["reason"]),
        ),
        (
            Edges(owners.all, "CONTAINS", owners.owner_id, owners.file_id, method="path"),
            Edges(owners.all, "HAS_DIAGNOSTIC", owners.file_id, problem, method="problem"),
        ),
        of_files(owners, rows, owners.all),
    )
