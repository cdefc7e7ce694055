"""What is kept as vectors comes back as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelake.contracts.arrow_vectors import fields_of, n_things, nested, packed, with_lists
from codelake.contracts.vectors import parsed

FIELDS = parsed("name string, place int, share float, is_sure boolean")
_MORE_THAN_THE_LEAST = st.integers(-(2**31) + 1, 2**31 - 1)
THINGS = st.fixed_dictionaries(
    {
        "name": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        "place": st.none() | _MORE_THAN_THE_LEAST,
        "share": st.none() | st.floats(width=32, allow_nan=False),
        "is_sure": st.booleans(),
    }
)
ROWS = st.lists(st.lists(THINGS, max_size=5), max_size=6)


def stored(rows: list[list[dict[str, Any]]]) -> pa.Array:
    parts = [[[thing[name] for thing in row] for row in rows] for name in FIELDS]
    return packed(parts, [len(row) for row in rows], FIELDS)


@given(ROWS)
@settings(deadline=None)
def test_things_come_back_as_they_were(rows: list[list[dict[str, Any]]]) -> None:
    assert nested(stored(rows), FIELDS).to_pylist() == rows


@given(ROWS, st.data())
@settings(deadline=None)
def test_of_some_rows_come_their_things(rows: list[list[dict[str, Any]]], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(rows)))
    last = data.draw(st.integers(first, len(rows)))
    whole = pa.table({"row": pa.array(range(len(rows)), pa.int32()), "things": stored(rows)})
    some = with_lists(whole.slice(first, last - first), {"things": FIELDS})
    assert some.to_pylist() == [{"row": row, "things": rows[row]} for row in range(first, last)]
    backwards = whole.take(pa.array(range(len(rows)), pa.int64())[::-1])
    assert with_lists(backwards, {"things": FIELDS}).column("things").to_pylist() == rows[::-1]


def test_numbers_may_come_as_arrays() -> None:
    fields = parsed("place int")
    found = packed([[np.array([1, 2], np.int64), np.array([3], np.int64)]], [2, 0, 1], fields)
    assert nested(found, fields).to_pylist() == [[{"place": 1}, {"place": 2}], [], [{"place": 3}]]
    assert n_things(found).tolist() == [2, 0, 1]


def test_a_row_without_vectors_has_no_things() -> None:
    rows = pa.array([None, b"", stored([[], []])[0].as_py()], pa.binary())
    assert n_things(rows).tolist() == [0, 0, 0]
    assert {len(column) for column in fields_of(rows, FIELDS).values()} == {0}


def test_numbers_that_grow_slowly_take_a_byte_each() -> None:
    fields = parsed("place int")
    [grows] = packed([[range(0, 100_000, 100)]], [1000], fields).to_pylist()
    [jumps] = packed([[[0, 100_000] * 500]], [1000], fields).to_pylist()
    assert (len(grows), len(jumps)) == (4 + 1 + 1000, 4 + 1 + 4 * 1000)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, "1"])
def test_a_value_of_another_type_is_refused(value: object) -> None:
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, OverflowError)):
        packed([[[value]]], [1], parsed("place int"))
