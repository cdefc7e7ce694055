"""What Spark and Delta raise, told apart by error class and turned into codelake's own errors.

The error class is the one thing that a classic session (Py4J) and Spark Connect (gRPC) agree on; the
Python exception type is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from codelake.errors import (
    CodelakeError,
    Conflict,
    ConflictFinal,
    ContractBroken,
    Damaged,
    FeedUnavailable,
    PinUnavailable,
    Refused,
    Unavailable,
)

ENGINE_ERRORS = (PySparkException, Py4JJavaError)

CONSTRAINT_BROKEN = (
    "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
    "DELTA_REPLACE_WHERE_MISMATCH",
)
_PLAN_AGAIN = (
    "DELTA_CONCURRENT_APPEND",
    "DELTA_CONCURRENT_DELETE_READ",
    "DELTA_CONCURRENT_DELETE_DELETE",
    "DELTA_CONCURRENT_TRANSACTION",
    "DELTA_CONCURRENT_WRITE",
)
_NOT_AGAIN = ("DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")
_FEED_GONE = (
    "DELTA_MISSING_CHANGE_DATA",
    "DELTA_CDC_START_VERSION_AFTER_LATEST",
    "DELTA_CHANGE_DATA_FILE_NOT_FOUND",
)
_PIN_GONE = (
    "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
    "DELTA_VERSION_NOT_FOUND",
    "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
)
_SCHEMA = (
    "DELTA_FAILED_TO_MERGE_FIELDS",
    "DELTA_METADATA_MISMATCH",
    "DELTA_SCHEMA_NOT_PROVIDED",
    "DELTA_MERGE_INCOMPATIBLE_DATATYPE",
    "DELTA_CANNOT_MODIFY_APPEND_ONLY",
    "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
)
_NOT_DROPPED = ("DELTA_FEATURE_DROP_", "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE")
_FILE_GONE = (
    "FAILED_READ_FILE",
    "DELTA_FILE_NOT_FOUND",
    "DELTA_TRUNCATED_TRANSACTION_LOG",
    "FileNotFoundException",
)

_CLASS = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]")


def message(error: Exception) -> str:
    """The engine's own text and that of its causes, without the stack."""
    java = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    if java is None:
        # Spark Connect sends the causes inside the stack's text
        text = f"{error}\n{getattr(error, '_stacktrace', None) or ''}"
        return "\n".join(line for line in text.splitlines() if not re.match(r"\s+(at |\.\.\. )", line))
    texts = []
    while java is not None:
        texts.append(str(java.toString()))
        java = java.getCause()
    return "\n".join(dict.fromkeys(texts))


def error_class(error: Exception) -> str:
    """Delta's error class if it is anywhere in the text, else Spark's, else empty."""
    found: list[str] = _CLASS.findall(message(error))
    for name in found:
        if name.startswith("DELTA_"):
            return name
    if isinstance(error, PySparkException) and error.getCondition():
        return str(error.getCondition())
    return found[0] if found else ""


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    try:
        yield
    except ENGINE_ERRORS as error:
        raise translated(what, error) from error


def translated(what: str, error: Exception) -> CodelakeError:
    name, text = error_class(error), message(error)
    found = f"{name}: {_first_sentence(text)}" if name else _first_sentence(text)
    if name.startswith(_PLAN_AGAIN):
        return Conflict(what, found=found, do="Nothing was written. Plan again from a new pin.")
    if name.startswith(_NOT_AGAIN):
        return ConflictFinal(
            what,
            found=found,
            do="Nothing was written. The table's schema or protocol changed under this run: start a new run.",
        )
    if name.startswith(_FEED_GONE):
        return FeedUnavailable(what, found=found, do="Rebuild in full: the changes in between can no longer be told.")
    if name.startswith(_PIN_GONE):
        return PinUnavailable(what, found=found, do="Read a newer version, or raise the table's retention.")
    if name.startswith(CONSTRAINT_BROKEN) or name.startswith(_SCHEMA):
        return ContractBroken(what, found=found, do="Nothing was written.")
    if name.startswith(_NOT_DROPPED):
        return Refused(what, found=found, do="The table has the feature still.")
    if "No space left on device" in text:
        return Unavailable(what, expected="room on the disk", found="none left", do="Nothing was committed.")
    if "Permission denied" in text or "Read-only file system" in text or "Mkdirs failed" in text:
        return Unavailable(
            what,
            expected="a folder that can be written",
            found=_first_sentence(text),
            do="Nothing was committed.",
        )
    if name.startswith(_FILE_GONE) or any(part in text for part in _FILE_GONE):
        return Damaged(what, expected="every file that the log names", found=_first_sentence(text))
    return Unavailable(what, found=found, do="Run with -v for the engine's own report.")


def _first_sentence(text: str) -> str:
    line = next((part for part in text.splitlines() if part.strip()), "no message")
    return re.sub(r"^[\w.$]+(Exception|Error): ", "", line.strip())[:400]
