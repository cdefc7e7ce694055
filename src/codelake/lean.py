"""Work on many rows without what would only slow it down."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class WithoutPandas:
    """A finder of modules, for `sys.meta_path`: Arrow would import pandas, for a second, to ask whether what it is
    given is a Series."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


@contextmanager
def lean() -> Iterator[None]:
    """Without pandas, and without the collector: small objects by the million would be gone through again and again,
    for a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    sys.meta_path.insert(0, WithoutPandas)
    try:
        yield
    finally:
        sys.meta_path.remove(WithoutPandas)
        if was_on:
            gc.enable()
