"""Many small things of a row as one value of bytes: field by field, a vector of numbers each.

What is seen in a file are thousands of small values. As an array of structs the JVM handles each of them when it
writes, shuffles, sorts and passes them on, and plans and compiles for each field; packed, it moves some pieces of bytes
a file, which are smaller too.

    4 bytes         how many things there are, little-endian
    a byte each     for each vector: how many bytes a number has, 1, 2 or 4; and 128 if each is what it adds to the one
                    before
    the vectors     int and boolean as they are, float by its bits (-0.0 as 0.0), NULL as the least number; of a string
                    how many bytes each text has (NULL: -1), and behind that vector the texts themselves

Nothing at all is no things. How this is written and read is in codelake.contracts.arrow_vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Fields: TypeAlias = Mapping[str, str]
"""The fields of a thing, and the type of each: int, float, boolean or string."""

DENSE = {"parquet.compression.codec.zstd.level": "6"}
"""A fifteenth less room than with the usual level 3, for one more second of CPU for Django."""
PACKED = DENSE | {"parquet.enable.dictionary": "false", "parquet.column.statistics.enabled": "false"}
"""Properties of tables of packed things: no value is there twice, and nobody looks for one by its bytes."""


def parsed(fields: str) -> Fields:
    """From `name type, name type, ...`."""
    return {field.split()[0]: field.split()[1] for field in fields.split(",")}
