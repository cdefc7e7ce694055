"""Comments against CPython's tokenizer."""

from __future__ import annotations

import io
import tokenize

from codelake.extract.comments import comments
from codelake.extract.text import decoded
from codelake.extract.tree import indexed, parse


def expected(raw: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(raw).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def found(raw: bytes) -> list[str]:
    text = decoded(raw)
    assert text is not None
    ((starts, ends, _),) = comments(indexed(parse(text), text))
    return [raw[a:b].decode(text.encoding) for a, b in zip(starts, ends, strict=True)]
