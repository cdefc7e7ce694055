"""What one metadata file says: distributions it asks for, names of its own project, and what it says wrongly.

Markers and extras are not looked at: a distribution that some platform or extra needs is one that the
repository needs, and the same repository gives the same rows on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+!-]*")
_LONGEST = 120
_EXACT = ("==", "===")


class Malformed(ValueError):
    """A file that is not of its format."""


class Stated:
    def __init__(self) -> None:
        self.versions: dict[str, str | None] = {}
        """By name, normalised: the exact version, the highest of several; None where there is none."""
        self.own: set[str] = set()
        """What the repository itself is called: it is no distribution that it needs."""
        self.wrong: str | None = None
        """What could not be understood first, in words."""
        self.n_wrong = 0

    def ask(self, name: object, version: object = None) -> None:
        normalised = _normalised(name)
        if normalised is None:
            self.refuse(name, "a distribution's name")
            return
        if version is not None and not (isinstance(version, str) and _VERSION.fullmatch(version)):
            self.refuse(version, f"a version of {normalised}")
            version = None
        if normalised not in self.versions or _order(version) > _order(self.versions[normalised]):
            self.versions[normalised] = version

    def require(self, text: object, *, where: str = "") -> None:
        """A requirement as PEP 508 writes it."""
        try:
            requirement = Requirement(text if isinstance(text, str) else "")
        except InvalidRequirement:
            self.refuse(text, "a requirement", where=where)
        else:
            self.ask(requirement.name, pinned(requirement))

    def require_all(self, texts: object) -> None:
        for text in listed(texts):
            self.require(text)

    def call_own(self, name: object) -> None:
        """A project may have no name, or take it from elsewhere: that is nothing wrong."""
        normalised = _normalised(name)
        if normalised is not None:
            self.own.add(normalised)

    def refuse(self, found: object, expected: str, *, where: str = "") -> None:
        text = repr(found)
        self.say(f"{where}expected {expected}, found {text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}")

    def say(self, wrong: str) -> None:
        self.wrong = self.wrong or wrong
        self.n_wrong += 1


Reader = Callable[[bytes, Stated], None]
"""Adds what a file says; raises Malformed where the file as a whole cannot be read."""


def pinned(requirement: Requirement) -> str | None:
    versions = {each.version for each in requirement.specifier if each.operator in _EXACT}
    return max(filter(_VERSION.fullmatch, versions), key=_order, default=None)  # not ==1.*


def text_of(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8: {error}") from error


def listed(value: object) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise Malformed(f"expected a list, found {value!r:.80}")
    return list(value)


def table(value: object) -> dict[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"expected a table, found {value!r:.80}")
    return value


def _normalised(name: object) -> str | None:
    try:
        return canonicalize_name(name, validate=True) if isinstance(name, str) else None
    except InvalidName:
        return None


def _order(version: str | None) -> tuple[bool, Version, str]:
    """None is lowest, and what is no version of today lower than any that is."""
    text = version or ""
    try:
        return version is not None, Version(text), text
    except InvalidVersion:
        return version is not None, Version("0.dev0"), text
