"""Few words for what rendering does with arrays.

Texts, and numbers that are only handed on, are Arrow arrays. Places (of a node in `nodes`, and so on) and flags are
numpy arrays; a place below 0 is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def pick(values: Any, places: Places) -> Any:
    """The value at each place; NULL for none."""
    if len(places) and places.min() < 0:
        return values.take(pa.array(places, mask=places < 0))
    return values.take(pa.array(places))


def at(values: Places, places: Places) -> Places:
    """The same for arrays of places."""
    if not len(values):
        return np.full(len(places), -1)
    return np.where(places < 0, -1, values[places])


def join(*parts: Any) -> Any:
    """The texts written one behind the other; NULL where one of them is. Words stand for themselves."""
    return pc.binary_join_element_wise(*parts, "")


def text(numbers: Any) -> Any:
    return numbers.cast(pa.string())


def is_any(values: Any, words: Sequence[str]) -> Flags:
    return flags(pc.is_in(values, value_set=pa.array(words, pa.string())))


def flags(values: Any) -> Flags:
    """What is NULL is not true."""
    return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def is_null(values: Any) -> Flags:
    return np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)


def same(value: Any, n: int, type: pa.DataType) -> Any:
    """The value, n times."""
    return pa.nulls(n, type) if value is None else pa.repeat(pa.scalar(value, type), n)


def together(parts: Iterable[Any], type: pa.DataType) -> Any:
    found = list(parts)
    return pa.concat_arrays(found) if found else pa.array([], type)


def counted(n: int) -> Places:
    return np.arange(n, dtype=np.int64)


def spread(starts: Places, counts: Places) -> tuple[Places, Places, Places]:
    """For runs that begin at `starts`: the run, the place in the run, and the place of each element."""
    run = np.repeat(counted(len(counts)), counts)
    within = counted(len(run)) - np.repeat(np.cumsum(counts) - counts, counts)
    return run, within, starts[run] + within
