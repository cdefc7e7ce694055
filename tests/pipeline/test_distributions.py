"""The table `distributions`: what the metadata of a repository declares, and what was wrong with it."""

from __future__ import annotations

from pathlib import Path

from codelake.contracts.graph import EXTERNAL_SYMBOLS
from codelake.contracts.sources import BLOBS, DIAGNOSTICS, DISTRIBUTIONS, FILES
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading

FILES_OF_SHELF = {
    "books.py": "import os\nimport yaml\n\nyaml.load(os.getcwd())\n",
    "pyproject.toml": (
        '[project]\nname = "shelf"\ndependencies = ["PyYAML", "requests==2.32.3", "google-cloud-storage"]\n'
    ),
    "poetry.lock": '[[package]]\nname = "pyyaml"\nversion = "6.0.2"\n',
    "requirements.txt": "a b c\n",
}


def test_a_build_publishes_what_metadata_declares(lake: Lake, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for name, content in FILES_OF_SHELF.items():
        (shelf / name).write_text(content)
    done = build(lake, Reading(open_sources([str(shelf)]), Progress()), limits=Limits())
    assert done["versions"]["distributions"] == 1

    run = Run(lake, "reader")
    rows = scan(run, DISTRIBUTIONS).orderBy("name").toArrow().to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (
            "shelf",
            "google-cloud-storage",
            None,
            "pyproject.toml",
            ["google_cloud_storage", "google.cloud_storage", "google.cloud.storage"],
        ),
        ("shelf", "pyyaml", "6.0.2", "poetry.lock", ["yaml", "_yaml"]),
        ("shelf", "requests", "2.32.3", "pyproject.toml", ["requests"]),
    ]
    [wrong] = scan(run, DIAGNOSTICS).toArrow().to_pylist()
    assert (wrong["path"], wrong["kind"]) == ("requirements.txt", "metadata")
    assert [row.path for row in scan(run, FILES).select("path").collect()] == ["books.py"]
    [stored] = scan(run, BLOBS).select("content").collect()
    assert bytes(stored.content).decode() == FILES_OF_SHELF["books.py"]
    symbols = scan(run, EXTERNAL_SYMBOLS).select("name", "kind", "distribution", "version").toArrow().to_pylist()
    told = {row["name"]: (row["kind"], row["distribution"], row["version"]) for row in symbols}
    assert told["yaml.load"] == ("distribution", "pyyaml", "6.0.2")
    assert told["os.getcwd"] == ("standard_library", None, None)
