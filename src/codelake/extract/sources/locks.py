"""Lock files: every distribution, whether it was asked for or is needed by another, in the version that is used.

A package that lies within the repository is code of the repository, such as a member of uv's workspace.
"""

from __future__ import annotations

import json

from codelake.extract.sources.stated import Malformed, Stated, listed, table, text_of
from codelake.extract.sources.toml import toml

_LOCAL = ("editable", "virtual", "directory")


def read_packages(raw: bytes, stated: Stated) -> None:
    """uv.lock, poetry.lock and pdm.lock: all of them have an array of tables `package`."""
    for each in listed(toml(raw).get("package")):
        package = table(each)
        if _is_within(package):
            stated.call_own(package.get("name"))
        else:
            stated.ask(package.get("name"), package.get("version"))


def _is_within(package: dict[str, object]) -> bool:
    source = package.get("source")
    places = [package.get("path")]  # of pdm
    if isinstance(source, dict):
        places += [source.get(kind) for kind in _LOCAL]  # of uv
        if source.get("type") == "directory":
            places.append(source.get("url"))  # of poetry
    return any(isinstance(place, str) and not place.startswith(("..", "/")) for place in places)


def read_pipfile_lock(raw: bytes, stated: Stated) -> None:
    try:
        content = json.loads(text_of(raw))
    except ValueError as error:
        raise Malformed(f"not JSON: {error}") from error
    for group, packages in table(content).items():
        if group == "_meta":
            continue
        for name, about in table(packages).items():
            version = table(about).get("version")
            stated.ask(name, version.removeprefix("==") if isinstance(version, str) else version)
