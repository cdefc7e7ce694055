"""Facts that have tables of their own: calls and classes."""

from __future__ import annotations

import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import CALLS, CLASSES
from codelake.graph.render.arrays import at, join, pick
from codelake.graph.render.labels import full_ids
from codelake.graph.render.names import Named
from codelake.graph.render.nodes import batch

_CALLS, _CLASSES = arrow_schema(CALLS), arrow_schema(CLASSES)


def calls(files: Named) -> pa.RecordBatch:
    x = files.link_calls
    node = at(files.calls.node, x.call)
    columns = {
        "call_id": full_ids(pick(files.file_id, x.file), files.label(node)),
        "repo": pick(files.repo, x.file),
        "path": pick(files.path, x.file),
        "start_line": pick(files.nodes.start_line, node),
        "callee_text": pick(files.calls.callee, x.call),
        **{name: getattr(x, name) for name in ("caller", "target", "n_targets", "confidence", "method", "reason")},
    }
    return batch(_CALLS, len(x), columns)


def classes(files: Named) -> pa.RecordBatch:
    x, definitions = files.link_classes, files.definitions
    label = files.label(at(definitions.node, x.definition))
    columns = {
        "class_id": full_ids(pick(files.file_id, x.file), label),
        "repo": pick(files.repo, x.file),
        "path": pick(files.path, x.file),
        "qualified_name": join(pick(files.module, x.file), ".", pick(definitions.qualified_name, x.definition)),
        **{name: getattr(x, name) for name in ("bases", "mro", "problem")},
    }
    return batch(_CLASSES, len(x), columns)
