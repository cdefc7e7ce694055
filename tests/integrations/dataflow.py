"""A Hamilton dataflow: things of the lake, counted by owner."""

from __future__ import annotations

import pyarrow as pa
from hamilton.function_modifiers import load_from, save_to, source, value

from codelake.integrations import hamilton  # noqa: F401  registers the adapters
from tests.delta.things import THINGS
from tests.integrations.counts import COUNTS


@load_from.codelake(run=source("run"), table=value(THINGS), columns=value("owner"))
def owners(things: pa.Table) -> pa.Table:
    return things


@save_to.codelake(run=source("run"), table=value(COUNTS), mode=value("overwrite"), output_name_="saved")
def counts(owners: pa.Table) -> pa.Table:
    found = owners.group_by("owner").aggregate([([], "count_all")]).rename_columns(["owner", "n"])
    return found.sort_by("owner")


COMPUTED: list[int] = []
"""What was not taken from the cache."""


@load_from.codelake(run=source("run"), table=value(THINGS), columns=value("id, size"), where=source("where"))
def chosen(rows: pa.Table) -> pa.Table:
    return rows


def total(chosen: pa.Table) -> int:
    COMPUTED.append(sum(sum(chosen.column(name).to_pylist()) for name in ("id", "size")))
    return COMPUTED[-1]
