"""Source distributions of the years of Python 2. pip itself would run their setup.py, which fails today."""

from __future__ import annotations

import json
import os
import re
import ssl
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import pytest
from pip._internal.models.index import PyPI

OLD = (
    *("Django==1.4", "Twisted==13.0.0", "Paste==1.7.5.1", "SQLAlchemy==0.7.0", "Zope2==2.13.0", "Trac==0.12"),
    *("buildbot==0.8.0", "docutils==0.8", "web.py==0.37", "boto==2.0", "pylint==0.25.0", "nose==1.0.0"),
    *("numpy==1.6.0", "ipython==0.11"),
)


def sources_of_old(package: str, folder: Path) -> list[Path]:
    """The Python files of `name==version`."""
    name, version = package.split("==")
    try:
        found = _archive(name, version, folder)
    except (URLError, TimeoutError) as error:
        pytest.fail(f"{package} cannot be fetched from pip's index: {type(error).__name__}")
    unpacked = folder / "unpacked"
    if found.suffix == ".zip":
        zipfile.ZipFile(found).extractall(unpacked)
    else:
        with tarfile.open(found) as tar:
            tar.extractall(unpacked, filter="data")
    return sorted(f for f in unpacked.rglob("*.py") if f.is_file())


def _setting(name: str) -> str | None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", f"global.{name}"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or os.environ.get(f"PIP_{name.replace('-', '_').upper()}")


def _archive(name: str, version: str, folder: Path) -> Path:
    index = _setting("index-url") or PyPI.simple_url
    trusted = ssl.create_default_context(cafile=_setting("cert"))
    accepted = {"Accept": "application/vnd.pypi.simple.v1+json, */*;q=0.1"}
    page = Request(f"{index.rstrip('/')}/{name.lower()}/", headers=accepted)
    with urlopen(page, context=trusted, timeout=60) as answer:
        body, address, kind = answer.read().decode(), answer.url, answer.headers.get("content-type", "")
    if "json" in kind:
        links = {file["filename"]: file["url"] for file in json.loads(body)["files"]}
    else:
        links = {link.split("#")[0].rpartition("/")[2]: link for link in re.findall(r'href="([^"]+)"', body)}
    wanted = re.compile(rf"{re.escape(name)}-{re.escape(version)}\.(tar\.gz|tar\.bz2|zip)", re.I)
    for file, link in links.items():
        if wanted.fullmatch(file):
            with urlopen(urljoin(address, link), context=trusted, timeout=180) as answer:
                (folder / file).write_bytes(answer.read())
            return folder / file
    pytest.fail(f"pip's index has no sdist of {name} {version}")
