"""What was read: repositories, their files, the distinct contents of these, what they need, what was wrong."""

from __future__ import annotations

from codelake.contracts.semantic import DIGEST, END_BYTE, FILE_ID, START_BYTE
from codelake.contracts.table import Check, Column, Layout, Table

_REPO = Column("repo", "string", "name of the repository in the lake")
_PATH = Column("path", "string", "path in the repository, parts divided by /")

REPOSITORIES = Table(
    name="repositories",
    meaning="One row per repository: where it was read from, and at which revision.",
    columns=(
        _REPO,
        Column("source", "string", "tree, revision or archive"),
        Column("revision", "string", "commit, or digest of the archive; NULL for a folder without git", nullable=True),
        Column("is_dirty", "boolean", "a working tree that differs from its commit"),
        Column("committed_at", "timestamp", "when the revision was committed, UTC", nullable=True),
    ),
    key=("repo",),
    key_scope="write",
    replace_by=("repo",),
)

FILES = Table(
    name="files",
    meaning="One row per Python file of a repository, readable or not.",
    columns=(
        _REPO,
        _PATH,
        Column("file_id", "string", "id of the file", FILE_ID),
        Column("digest", "string", "digest of the content; NULL where none was read", DIGEST, nullable=True),
        Column("n_bytes", "bigint", "size of the content"),
        Column("encoding", "string", "encoding of the text; NULL where there is none", nullable=True),
        Column("module", "string", "dotted name under which the file is imported; NULL for a script", nullable=True),
        Column("status", "string", "parsed, recovered (Python refused it, another parser did not) or skipped"),
        Column("reason", "string", "why it is not parsed", nullable=True),
    ),
    key=("repo", "path"),
    key_scope="source",
    replace_by=("repo", "path"),
    checks=(
        Check("status_is_known", "status IN ('parsed', 'recovered', 'skipped')"),
        Check("reason_where_not_parsed", "(status = 'parsed') = (reason IS NULL)"),
    ),
    layout=Layout(stats=("repo", "path", "digest")),
)

BLOBS = Table(
    name="blobs",
    meaning="One row per distinct content, whatever repositories, paths and revisions it is in.",
    columns=(
        Column("digest", "string", "digest of the content", DIGEST),
        Column("content", "binary", "the raw bytes"),
        Column("n_bytes", "bigint", "how many"),
    ),
    key=("digest",),
    key_scope="source",
    layout=Layout(stats=("digest", "n_bytes")),
    append_only=True,
)

DIAGNOSTICS = Table(
    name="diagnostics",
    meaning="One row per problem in a file: what could not be read or parsed, and where.",
    columns=(
        _REPO,
        _PATH,
        Column("start_byte", "int", "first byte of the place; the file as a whole: 0", START_BYTE),
        Column("end_byte", "int", "byte after its last", END_BYTE),
        Column("kind", "string", "what kind of problem"),
        Column("message", "string", "the problem, in words"),
    ),
    replace_by=("repo", "path"),
    layout=Layout(stats=("repo", "path", "kind")),
)

DISTRIBUTIONS = Table(
    name="distributions",
    meaning="One row per distribution that a repository declares: in its metadata or in a lock file.",
    columns=(
        _REPO,
        Column("name", "string", "name of the distribution, normalised (PEP 503)"),
        Column("version", "string", "exact version, locked or else pinned by ==; NULL where none is", nullable=True),
        Column("declared_in", "string", "path of the file that says so; where several do, that of the version"),
        Column("import_names", "array<string>", "names that it may be imported by, the likeliest first"),
    ),
    key=("repo", "name"),
    key_scope="write",
    replace_by=("repo", "name"),
    checks=(
        Check(
            "name_is_normalised",
            "name <> '' AND btrim(name, 'abcdefghijklmnopqrstuvwxyz0123456789-') = '' AND name NOT LIKE '-%' "
            "AND name NOT LIKE '%-' AND name NOT LIKE '%--%'",
        ),
    ),
    layout=Layout(stats=("repo", "name")),
)

SOURCES = (REPOSITORIES, FILES, BLOBS, DIAGNOSTICS, DISTRIBUTIONS)
