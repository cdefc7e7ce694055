"""Delta's table features, what each promised engine does with them, and the gates that follow from that.

The names and legacy versions are those of Delta 4.4.0 (TableFeature.scala). What an engine reads and writes
was measured, not taken from its documentation: a wrong or short answer counts as unable.
tests/delta/test_features.py makes a table for each feature and fails when this table is wrong either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from codelake.errors import ContractBroken, FeatureRefused, UsageError

if TYPE_CHECKING:  # Log asks opening_refused() why deltalake did not open a table
    from codelake.delta.log import Log

ENGINES: Mapping[str, str] = {
    "spark": "delta-spark 4.4.0",
    "deltalake": "deltalake 1.6.6, through SQL (QueryBuilder)",
    "polars": "polars 2.1.0, through scan_delta and read_delta",
    "duckdb": "duckdb, handed Arrow by deltalake's SQL",
}
"""The readers that the lake promises, and by which of its ways each reads."""

WRITERS = ("spark", "deltalake")
_READER_VERSION, _WRITER_VERSION = 3, 7  # the newest that any of the engines knows

_ALL = tuple(ENGINES)
_NOT_POLARS = ("spark", "deltalake", "duckdb")
_SPARK = ("spark",)


@dataclass(frozen=True)
class Feature:
    name: str
    reads: tuple[str, ...] = _ALL
    writes: tuple[str, ...] = _SPARK
    """Engines whose writes keep the feature's promise; a writer must be able to read."""
    binds_readers: bool = False
    """The protocol asks readers to understand it, not only writers."""
    legacy: tuple[int, int] | None = None
    """The reader and writer version that imply it in protocols without lists of features."""
    properties: tuple[tuple[str, str], ...] | None = None
    """Table properties that switch it on; None where its name alone does, in delta.feature.<name>."""
    opens: bool = True
    """deltalake replays the table's log. Log reads with deltalake, so nothing can be done without this."""

    @property
    def can_be_allowed(self) -> bool:
        return self.opens and "spark" in self.writes


_OFF = ("", "false", "none", "classic")
"""Values of the properties that switch features on, where they do not."""


def _on(name: str, value: str = "true") -> tuple[tuple[str, str], ...]:
    return ((f"delta.{name}", value),)


def _supported(name: str) -> tuple[tuple[str, str], ...]:
    return _on(f"feature.{name}", "supported")


FEATURES: Mapping[str, Feature] = {
    feature.name: feature
    for feature in (
        # writers only, from before protocols listed features
        Feature("appendOnly", writes=WRITERS, legacy=(1, 2), properties=_on("appendOnly")),
        Feature("invariants", writes=WRITERS, legacy=(1, 2)),
        Feature("checkConstraints", writes=WRITERS, legacy=(1, 3)),
        Feature("changeDataFeed", writes=WRITERS, legacy=(1, 4), properties=_on("enableChangeDataFeed")),
        Feature("generatedColumns", writes=WRITERS, legacy=(1, 4)),
        Feature("identityColumns", legacy=(1, 6)),
        # writers only
        Feature("allowColumnDefaults"),
        Feature("checkpointProtection"),
        Feature("clustering", properties=()),  # CLUSTER BY switches it on; Delta refuses the property
        Feature("domainMetadata"),
        Feature("inCommitTimestamp", properties=_on("enableInCommitTimestamps")),
        Feature("materializePartitionColumns", properties=_on("enableMaterializePartitionColumnsFeature")),
        Feature("rowTracking", properties=_on("enableRowTracking")),
        # writers only by themselves, but they bring a feature that binds readers: columnMapping for
        # Iceberg, vacuumProtocolCheck for coordinated commits
        Feature("icebergCompatV1", reads=_NOT_POLARS, properties=_on("enableIcebergCompatV1")),
        Feature("icebergCompatV2", reads=_NOT_POLARS, properties=_on("enableIcebergCompatV2")),
        Feature("icebergCompatV3", reads=_NOT_POLARS, properties=_on("enableIcebergCompatV3")),
        Feature("coordinatedCommits-preview", reads=_SPARK),
        # readers and writers
        Feature(
            "columnMapping",
            reads=_NOT_POLARS,
            writes=WRITERS,
            binds_readers=True,
            legacy=(2, 5),
            properties=_on("columnMapping.mode", "name"),
        ),
        Feature("deletionVectors", writes=WRITERS, binds_readers=True, properties=_on("enableDeletionVectors")),
        Feature("timestampNtz", writes=WRITERS, binds_readers=True),
        Feature("typeWidening", reads=_SPARK, binds_readers=True, properties=_on("enableTypeWidening")),
        Feature(
            "typeWidening-preview",
            reads=_SPARK,
            binds_readers=True,
            # the property alone chooses the feature without -preview
            properties=_supported("typeWidening-preview") + _on("enableTypeWidening"),
        ),
        Feature(
            "v2Checkpoint",
            reads=_NOT_POLARS,
            writes=WRITERS,
            binds_readers=True,
            properties=_on("checkpointPolicy", "v2"),
        ),
        Feature("vacuumProtocolCheck", reads=_SPARK, binds_readers=True),
        Feature("variantType", reads=_NOT_POLARS, writes=WRITERS, binds_readers=True),
        Feature("variantType-preview", reads=_NOT_POLARS, writes=WRITERS, binds_readers=True),
        Feature(
            "variantShredding",
            reads=_SPARK,
            binds_readers=True,
            # the property alone chooses variantShredding-preview
            properties=_supported("variantShredding") + _on("enableVariantShredding"),
        ),
        Feature(
            "variantShredding-preview",
            reads=_SPARK,
            binds_readers=True,
            properties=_supported("variantShredding-preview") + _on("enableVariantShredding"),
        ),
        # delta-spark reads and writes these only in a preview that codelake's sessions do not switch on
        Feature("geospatial", reads=(), writes=(), binds_readers=True, opens=False),
        Feature("geospatial-dev", reads=(), writes=(), binds_readers=True, opens=False),
        # only through a catalogue that manages commits; by path even Spark refuses them
        Feature("catalogManaged", reads=(), writes=(), binds_readers=True, opens=False),
        Feature("adaptiveMetadata-preview", reads=(), writes=(), binds_readers=True, opens=False),
    )
}


@dataclass(frozen=True)
class Protocol:
    """What a table asks of those who read and write it, as it goes into records."""

    min_reader_version: int
    min_writer_version: int
    features: tuple[str, ...]
    """Sorted; those that old versions imply are spelled out."""


def protocol_of(reader: int, writer: int, listed: Iterable[str]) -> Protocol:
    implied: set[str] = set()
    if writer < _WRITER_VERSION:  # from 7 on the list is complete
        implied = {f.name for f in FEATURES.values() if f.legacy and f.legacy[0] <= reader and f.legacy[1] <= writer}
    return Protocol(reader, writer, tuple(sorted(implied | set(listed))))


def check_protocol(log: Log, *, write: bool, engine: str = "spark") -> Protocol:
    """The gate of registration, plan and commit: `engine` understands all that the table asks of it."""
    able = WRITERS if write else tuple(ENGINES)
    if engine not in able:
        raise UsageError(
            f"engine that {'writes' if write else 'reads'} table {log.name}",
            expected=f"one of {', '.join(able)}",
            found=engine,
        )
    found = protocol_of(*log.protocol)
    _check_version(log.name, "reader", found.min_reader_version, _READER_VERSION, engine)
    if write:
        _check_version(log.name, "writer", found.min_writer_version, _WRITER_VERSION, engine)
    for name in found.features:
        known = FEATURES.get(name)
        # Log opened the table, and deltalake opens none that asks readers for something it does not know:
        # a feature that is unknown here and got this far binds writers only.
        engines = (known.writes if write else known.reads) if known else (() if write else (engine,))
        if engine not in engines:
            raise _refused(log.name, name, engine, write=write, instead=engines)
    return found


def writes(log: Log, engine: str) -> bool:
    """Whether `engine` keeps the promise of every feature that the table has."""
    found = protocol_of(*log.protocol)
    known = (FEATURES.get(name) for name in found.features)
    return found.min_writer_version <= _WRITER_VERSION and all(one and engine in one.writes for one in known)


def opening_refused(table: str, actions: Iterable[Mapping[str, Any]]) -> FeatureRefused | None:
    """Why deltalake does not open a table, if it is for its protocol.

    `actions` are those of its log, newest first; the first protocol among them is the one that counts.
    """
    action = next((a["protocol"] for a in actions if a.get("protocol")), None)
    if action is None:
        return None
    for name in action.get("readerFeatures") or ():
        if name not in FEATURES or not FEATURES[name].opens:
            return _refused(table, name, "deltalake", write=False, instead=())
    if action["minReaderVersion"] > _READER_VERSION:
        return _refused(table, f"reader version {action['minReaderVersion']}", "deltalake", write=False, instead=())
    return None


def check_enable(features: Iterable[str], allow: Iterable[str] = (), readers: Iterable[str] = ENGINES) -> None:
    """What a contract names exists, and locks out no promised reader unless that is allowed by name."""
    allowed = {_known(name).name for name in allow}
    promised = tuple(readers)
    for engine in promised:
        if engine not in ENGINES:
            raise UsageError("promised readers", expected=f"some of {', '.join(ENGINES)}", found=engine)
    for name in features:
        feature = _known(name)
        if not feature.can_be_allowed:
            engine = "spark" if "spark" not in feature.writes else "deltalake"
            raise FeatureRefused(
                f"feature {name}: {engine} ({ENGINES[engine]}) does not open tables by path that have it",
                feature=name,
                engine=engine,
                do="Nothing was changed. Do without it: codelake could not use the table.",
            )
        locked_out = [engine for engine in promised if engine not in feature.reads]
        if locked_out and name not in allowed:
            raise FeatureRefused(
                f"feature {name} locks out {', '.join(f'{e} ({ENGINES[e]})' for e in locked_out)}",
                feature=name,
                engine=locked_out[0],
                do=f"Nothing was changed. Do without {name}, or allow it: `codelake table enable` has --allow.",
            )


def properties_for(features: Iterable[str]) -> dict[str, str]:
    """The table properties that switch the features on when the table is made.

    What a feature requires Delta adds by itself, as columnMapping for icebergCompatV2.
    """
    found: dict[str, str] = {}
    for name in features:
        feature = _known(name)
        found.update(_supported(name) if feature.properties is None else feature.properties)
    return found


def switched_on(properties: Mapping[str, str]) -> list[str]:
    """Features that a table with these properties has."""
    return [
        feature.name
        for feature in FEATURES.values()
        if any(properties.get(name, "").lower() not in _OFF for name, _ in feature.properties or ())
    ]


def _known(name: str) -> Feature:
    if name in FEATURES:
        return FEATURES[name]
    by_lower = {known.lower(): known for known in FEATURES}
    near = get_close_matches(name.lower(), by_lower, 1)
    raise ContractBroken(
        f"feature {name}",
        expected=f"one of {', '.join(sorted(FEATURES))}",
        found="no such feature in Delta 4.4.0",
        do=f"Did you mean {by_lower[near[0]]}?" if near else "Nothing was changed.",
    )


def _check_version(table: str, role: str, found: int, newest: int, engine: str) -> None:
    if found > newest:
        raise _refused(table, f"{role} version {found}", engine, write=role == "writer", instead=())


def _refused(table: str, feature: str, engine: str, *, write: bool, instead: tuple[str, ...]) -> FeatureRefused:
    verb = "write" if write else "read"
    way = f"{verb} it with {' or '.join(instead)}" if instead else "use a version of codelake that knows it"
    return FeatureRefused(
        f"table {table} has the feature {feature}, which {engine} ({ENGINES[engine]}) cannot {verb}",
        feature=feature,
        engine=engine,
        do=f"Nothing was done: {way}, or drop it where Delta can (ALTER TABLE ... DROP FEATURE).",
    )
