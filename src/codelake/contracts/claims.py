"""What other tools say that names mean."""

from __future__ import annotations

from codelake.contracts.semantic import DIGEST
from codelake.contracts.table import Check, Column, Layout, Table
from codelake.contracts.vectors import PACKED, Fields, parsed

ORIGINS = ("scip", "pyrefly")
"""Who claims: SCIP indexes, and pyrefly's report. Where two claim otherwise, the first of them is believed."""

_CLAIMS = "start_byte int, end_byte int, kind string, target string"
CLAIM_FIELDS: Fields = parsed(_CLAIMS)

CLAIMS = Table(
    name="claims",
    meaning="One row per file and tool: what a report of that tool, given to a build, says that names and calls in the "
    "file mean. It is about one content, and counts only while the file has that content.",
    columns=(
        Column("repo", "string", "name of the repository in the lake"),
        Column("path", "string", "path in the repository, parts divided by /"),
        Column("origin", "string", "the kind of report: scip or pyrefly"),
        Column(
            "digest", "string", "digest of the content that it is about; NULL where it fits none", DIGEST, nullable=True
        ),
        Column("problem", "string", "why it is not about the content it was given with", nullable=True),
        Column("tool", "string", "the tool that made the report, with its version where the report tells"),
        Column("report_digest", "string", "SHA-256 of the report"),
        Column("n_claims", "int", "how many claims"),
        Column(
            "claims",
            "binary",
            f"packed {_CLAIMS}: the place of a name, or of a call (kind is name or call), and the id of what it means",
        ),
        Column("claims_digest", "string", "hash of the claims; empty where there are none"),
    ),
    key=("repo", "path", "origin"),
    key_scope="source",
    replace_by=("repo", "path"),
    checks=(Check("origin_is_known", f"origin IN ({', '.join(repr(one) for one in ORIGINS)})"),),
    layout=Layout(stats=("repo", "path", "origin")),
    properties=PACKED,
)
