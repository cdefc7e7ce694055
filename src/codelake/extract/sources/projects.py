"""Files in which a project says what it needs: pyproject.toml, setup.cfg, setup.py, METADATA and PKG-INFO.

setup.py is parsed and never run. What it computes, or keeps under a name, is not known.
"""

from __future__ import annotations

import ast
import codecs
import configparser
import re
import warnings
from collections.abc import Iterator

from packaging.metadata import parse_email

from codelake.extract.sources.stated import Malformed, Stated, listed, table, text_of
from codelake.extract.sources.toml import toml

_EXACT = re.compile(r"={0,3}\s*([0-9][0-9A-Za-z.+!-]*)")
"""As poetry has it: a version without operator is that very version."""


def read_pyproject(raw: bytes, stated: Stated) -> None:
    content = toml(raw)
    project = table(content.get("project"))
    stated.call_own(project.get("name"))
    stated.require_all(project.get("dependencies"))
    for requirements in table(project.get("optional-dependencies")).values():
        stated.require_all(requirements)
    for group in table(content.get("dependency-groups")).values():
        stated.require_all([each for each in listed(group) if not isinstance(each, dict)])  # of included groups
    _read_poetry(table(table(content.get("tool")).get("poetry")), stated)


def _read_poetry(poetry: dict[str, object], stated: Stated) -> None:
    stated.call_own(poetry.get("name"))
    groups = [table(group).get("dependencies") for group in table(poetry.get("group")).values()]
    for group in (poetry.get("dependencies"), poetry.get("dev-dependencies"), *groups):
        for name, constraints in table(group).items():
            if name.lower() == "python":
                continue
            for constraint in constraints if isinstance(constraints, list) else [constraints]:
                version = constraint.get("version") if isinstance(constraint, dict) else constraint
                exact = _EXACT.fullmatch(version.strip()) if isinstance(version, str) else None
                stated.ask(name, exact[1] if exact else None)


def read_setup_cfg(raw: bytes, stated: Stated) -> None:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text_of(raw))
    except configparser.Error as error:
        raise Malformed(f"not a configuration file: {error}") from error
    stated.call_own(parser.get("metadata", "name", fallback=None))
    texts = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        texts += [text for _, text in parser.items("options.extras_require")]
    for text in texts:
        for line in text.splitlines() if "\n" in text else text.split(";"):  # as setuptools does
            if line.strip() and not line.strip().startswith(("#", "file:")):
                stated.require(line.strip())


def read_setup_py(raw: bytes, stated: Stated) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like
            module = ast.parse(raw)
    except (SyntaxError, ValueError, MemoryError) as error:
        raise Malformed(f"not Python of today: {error}") from error
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and _is_setup(call.func):
            for keyword in call.keywords:
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                    stated.call_own(keyword.value.value)
                elif keyword.arg == "install_requires":
                    stated.require_all(list(_literals(keyword.value)))
                elif keyword.arg == "extras_require" and isinstance(keyword.value, ast.Dict):
                    stated.require_all([text for value in keyword.value.values for text in _literals(value)])


def _is_setup(function: ast.expr) -> bool:
    return (isinstance(function, ast.Name) and function.id == "setup") or (
        isinstance(function, ast.Attribute) and function.attr == "setup"
    )


def _literals(value: ast.expr) -> Iterator[str]:
    for element in value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else [value]:
        if isinstance(element, ast.Constant) and isinstance(element.value, str):
            yield from filter(None, map(str.strip, element.value.splitlines()))


def read_core_metadata(raw: bytes, stated: Stated) -> None:
    """METADATA of a wheel, PKG-INFO of an sdist."""
    found, _ = parse_email(raw.removeprefix(codecs.BOM_UTF8))
    if "name" not in found:
        raise Malformed("not the metadata of a distribution: it has no Name")
    stated.call_own(found["name"])
    stated.require_all(found.get("requires_dist"))
