"""The dialect of deltalake's engine, DataFusion, for sqlglot, which has none of that name."""

from __future__ import annotations

import logging
from typing import ClassVar

from sqlglot import exp, generator, parser, tokens
from sqlglot.dialects.dialect import Dialect

from codelake.errors import UsageError

ENGINE = "datafusion"

# It writes to standard error of what it half understands. Here that is refused, and said so.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


class DataFusion(Dialect):
    """Functions stay as they are written: which there are, the engine itself says (`functions.py`)."""

    INDEX_OFFSET = 1
    NULL_ORDERING = "nulls_are_large"
    NORMALIZE_FUNCTIONS = False
    TYPED_DIVISION = True

    class Tokenizer(tokens.Tokenizer):
        IDENTIFIERS: ClassVar = ['"', "`"]
        STRING_ESCAPES: ClassVar = ["'"]

    class Parser(parser.Parser):
        FUNCTIONS: ClassVar = {}
        # EXTRACT, CAST, TRIM and the like have a grammar of their own; these only look as if they had.
        FUNCTION_PARSERS: ClassVar = {
            name: parse
            for name, parse in parser.Parser.FUNCTION_PARSERS.items()
            if name in ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "POSITION", "OVERLAY", "CEIL", "FLOOR")
        }

    class Generator(generator.Generator):
        TRANSFORMS: ClassVar = {
            **generator.Generator.TRANSFORMS,
            exp.Array: lambda self, node: f"[{self.expressions(node, flat=True)}]",
            exp.Substring: lambda self, node: self.func(
                "substr", node.this, node.args.get("start"), node.args.get("length")
            ),
        }
        TYPE_MAPPING: ClassVar = {
            **generator.Generator.TYPE_MAPPING,
            exp.DataType.Type.TEXT: "VARCHAR",
            exp.DataType.Type.BINARY: "BYTEA",
            exp.DataType.Type.TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE",
        }


DIALECTS = (ENGINE, "spark", "duckdb", "postgres")


def dialect_of(name: str) -> Dialect:
    if name == ENGINE:
        return DataFusion()
    if name not in DIALECTS:
        raise UsageError(f"dialect {name}", expected=f"one of {', '.join(DIALECTS)}", found=name)
    return Dialect.get_or_raise(name)
