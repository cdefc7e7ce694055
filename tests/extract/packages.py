"""Real code to test with: the standard library, and packages from PyPI by way of pip and its settings."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest


def sources_of(package: str, folder: Path, *, sdist: bool = False) -> list[Path]:
    """The Python files of a package (`name` or `name==version`), fetched into `folder`; `stdlib` is already here."""
    if package == "stdlib":
        here = Path(sysconfig.get_paths()["stdlib"])
        return sorted(f for f in here.rglob("*.py") if "site-packages" not in f.parts)
    return sorted(f for f in fetched(package, folder, sdist=sdist).rglob("*.py") if f.is_file())


def fetched(package: str, folder: Path, *, sdist: bool = False) -> Path:
    """A package from PyPI, unpacked and not built."""
    downloads = folder / "downloads"
    how = ["--no-binary", ":all:"] if sdist else ["--only-binary", ":all:"]
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(downloads), *how, package]
    done = subprocess.run(fetch, capture_output=True, text=True, check=False)
    archives = sorted(downloads.glob("*")) if downloads.exists() else []
    if not archives:
        pytest.fail(f"{package} cannot be fetched: {done.stderr.strip().splitlines()[-1:]}")
    unpacked = folder / "unpacked"
    for archive in archives:
        if archive.suffix in (".whl", ".zip"):
            zipfile.ZipFile(archive).extractall(unpacked)
        else:
            with tarfile.open(archive) as tar:
                tar.extractall(unpacked, filter="data")
    return unpacked
