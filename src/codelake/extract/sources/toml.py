"""A TOML file as a table."""

from __future__ import annotations

import tomllib

from codelake.extract.sources.stated import Malformed, text_of


def toml(raw: bytes) -> dict[str, object]:
    try:
        return tomllib.loads(text_of(raw))
    except ValueError as error:  # a date that is none is a plain ValueError
        raise Malformed(f"not TOML: {error}") from error
