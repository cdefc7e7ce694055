"""Requirements as pip reads them from a file: one a line, with comments, options and addresses.

What a line includes by `-r` is not followed: files in the usual places are read by themselves. A path or an
address without a name says nothing of which distribution it is.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from codelake.extract.sources.stated import Stated

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_COMMENT = re.compile(r"(^|\s)#.*$")
_OPTIONS = re.compile(r"\s--?[A-Za-z].*$")
_EDITABLE = re.compile(r"(?:-e|--editable)(?:\s+|=)")
_ADDRESS = re.compile(r"[a-z+]+://|file:|[./~\\]|[^\s@]+\.(?:whl|zip|tar\.gz|tgz)(?:$|[#\s\[])", re.IGNORECASE)
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9._-]+)")


def read_requirements(raw: bytes, stated: Stated) -> None:
    for number, line in _lines(_text(raw)):
        given = _EDITABLE.sub("", line, count=1) if _EDITABLE.match(line) else line
        if given.startswith("-"):
            continue
        if given is not line or _ADDRESS.match(given):
            if named := _EGG.search(given):
                stated.ask(named[1])
        elif required := _OPTIONS.sub("", given).strip():
            stated.require(required, where=f"line {number}: ")


def _text(raw: bytes) -> str:
    """PowerShell writes UTF-16; old comments are in any encoding, and requirements in ASCII."""
    for bom, encoding in _BOMS:
        if raw.startswith(bom):
            return raw[len(bom) :].decode(encoding, "replace")
    return raw.decode("utf-8", "replace")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Whole lines without comments, each with the number of its first one."""
    begun, first = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        first = first if begun else number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            begun += line[:-1] + " "
            continue
        yield first, _COMMENT.sub("", begun + line).strip()
        begun = ""
    if begun:
        yield first, _COMMENT.sub("", begun).strip()
