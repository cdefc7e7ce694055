"""The one Settings: flags over CODELAKE_* over codelake.toml or [tool.codelake] over defaults.

Nothing else in codelake reads configuration from the environment or from TOML. A setting is declared
once, as a field of Settings; flags, variable names, TOML keys, `config show` and error texts follow from it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from codelake.errors import SettingsError
from codelake.hidden import HIDDEN, credentials_in, secret_looking, secret_store_key, without_credentials

_PREFIX = "CODELAKE_"
_TABLE = Mapping[str, str]


class Rule(NamedTuple):
    """What a field of Settings carries beside its type and default."""

    help: str
    # For tables of options: which keys hold a secret.
    secret: Callable[[str], bool] | None = None
    # The value has to match, and `expected` says how in words.
    pattern: str = ""
    expected: str = ""
    # A variable of the machine, not ours, that stands in for the default.
    machine: tuple[str, Callable[[str], str]] | None = None


def _setting(default: Any, help: str, **rule: Any) -> Any:
    meta = {"rule": Rule(help, **rule)}
    return field(default_factory=default, metadata=meta) if callable(default) else field(default=default, metadata=meta)


@dataclass(frozen=True, repr=False)
class Settings:
    lake: str = _setting(
        ".codelake",
        "folder or URI that holds all tables",
        pattern=r"^(?!\w+://[^/@]*:[^/@]*@)[^?]+$",
        expected="a folder or URI without credentials in it (they belong in `store`)",
    )
    master: str = _setting(
        "local[*]",
        "Spark master: local[*], local[n] or a cluster's",
        pattern=r"^(local(\[(\*|\d+)\])?|spark://.+|yarn|k8s://.+)$",
        expected="local[*], local[n], spark://host:port, yarn or k8s://...",
    )
    remote: str | None = _setting(
        None, "Spark Connect URL; used instead of `master`", pattern=r"^sc://.+", expected="sc://host:port"
    )
    cache_dir: Path = _setting(
        lambda: Path.home() / ".cache" / "codelake",
        "folder for Delta's jars and the class archive",
        machine=("XDG_CACHE_HOME", lambda home: str(Path(home) / "codelake")),
    )
    java_home: Path | None = _setting(
        None, "home folder of the Java to use (17 or 21)", machine=("JAVA_HOME", lambda home: home)
    )
    ivy_settings: Path | None = _setting(
        None, "Ivy settings file for Spark's resolver, where Delta's jars come from a mirror"
    )
    # A local driver is also the executor. Of Spark's own 1g only 0.6 * (1g - 300m), 430 MB, serves execution and cache
    # together; with 1536m, 740 MB. What the JVM takes besides is another gigabyte: of 1.76 million lines the whole
    # process takes 2.4 GB.
    driver_memory: str = _setting(
        "1536m", "memory of the driver's JVM", pattern=r"^\d+[kmgt]$", expected="a number and k, m, g or t"
    )
    class_archive: bool = _setting(True, "make and use an archive of Spark's classes, for a faster start")
    ui: bool = _setting(False, "serve Spark's UI, on loopback")
    local_only: bool = _setting(False, "refuse lakes and tables that are not on a local disk")
    store: _TABLE = _setting(dict, "options for the store that holds data files", secret=secret_store_key)
    log_store: _TABLE = _setting(
        dict,
        "options for the store of Delta's logs, where they differ",
        secret=secret_store_key,
    )
    spark: _TABLE = _setting(dict, "more Spark configuration, over ours", secret=secret_looking)
    max_file_size: str = _setting(
        "16m",
        "larger files are not read; they are listed as skipped",
        pattern=r"^\d+[kmgt]$",
        expected="a number and k, m, g or t",
    )
    file_seconds: float = _setting(60.0, "CPU seconds that the extraction of one file may take (0: no limit)")
    # A file of a million syntax nodes, the most that is extracted, takes about 1 GB.
    file_memory: str = _setting(
        "2g",
        "memory that the extraction of one file may take",
        pattern=r"^\d+[kmgt]$",
        expected="a number and k, m, g or t",
    )
    lock_timeout: float = _setting(600.0, "seconds to wait for a table's lock on a local disk")
    verbose: bool = _setting(False, "show tracebacks and the log of the JVM")
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def shown(self, name: str) -> Any:
        """The value of a setting as it may be printed: without any secret."""
        value = getattr(self, name)
        if isinstance(value, Mapping):
            return {
                key: HIDDEN if is_secret(name, key) else without_credentials(text)
                for key, text in sorted(value.items())
            }
        return without_credentials(str(value)) if isinstance(value, str | Path) else value

    def origin(self, name: str) -> str:
        return self.origins.get(name, "default")

    def secrets(self) -> Iterator[str]:
        """Every value that must not be printed, for those who pass on text that Spark or a store wrote."""
        for name in NAMES:
            value = getattr(self, name)
            if isinstance(value, Mapping):
                for key, text in value.items():
                    yield from (text,) if is_secret(name, key) else credentials_in(text)
            elif isinstance(value, str):
                yield from credentials_in(value)

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={self.shown(name)!r}' for name in NAMES)})"


_RULES: dict[str, Rule] = {each.name: each.metadata["rule"] for each in fields(Settings) if "rule" in each.metadata}
NAMES: tuple[str, ...] = tuple(_RULES)
_TYPES = get_type_hints(Settings)


def n_bytes(size: str) -> int:
    """Of a setting such as `16m`."""
    return int(size[:-1]) << {"k": 10, "m": 20, "g": 30, "t": 40}[size[-1]]


def is_secret(name: str, key: str) -> bool:
    """Whether the value of `key` in the table `name` must not be printed."""
    secret = _RULES[name].secret
    return secret is not None and secret(key)


def help_of(name: str) -> str:
    return _RULES[name].help


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """`flags` holds what the command line was given; None there means not given."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    sources = (
        *_from_machine(environ),
        *_from_toml(folder or Path.cwd()),
        *_from_environ(environ),
        *_from_flags(flags or {}),
    )
    for name, value, origin in sources:
        if _TYPES[name] == _TABLE:
            # Tables are laid over one another key by key, so that a secret can come from a variable
            # and the rest from a file.
            options = _options(name, value, origin)
            values[name] = {**values.get(name, {}), **options}
            origins.update({f"{name}.{key}": origin for key in options})
        else:
            values[name] = _scalar(name, value, origin)
        origins[name] = origin
    return Settings(**values, origins=origins)


_Found = tuple[str, Any, str]


def _from_machine(environ: Mapping[str, str]) -> Iterator[_Found]:
    for name, rule in _RULES.items():
        if rule.machine and environ.get(rule.machine[0]):
            variable, value_of = rule.machine
            yield name, value_of(environ[variable]), variable


def _from_toml(folder: Path) -> Iterator[_Found]:
    own, shared = folder / "codelake.toml", folder / "pyproject.toml"
    tables: list[tuple[Mapping[str, Any], str]] = []
    if own.is_file():
        tables.append((_parsed(own), "codelake.toml"))
    if shared.is_file():
        tool = _parsed(shared).get("tool", {}).get("codelake")
        if tool is not None:
            tables.append((tool, "pyproject.toml [tool.codelake]"))
    if len(tables) > 1:
        raise SettingsError(
            "settings are in codelake.toml and in [tool.codelake] of pyproject.toml",
            do="Keep codelake.toml and delete the table [tool.codelake], or the other way round.",
        )
    for table, origin in tables:
        for key, value in table.items():
            yield _known(key, NAMES, origin), value, origin


def _parsed(file: Path) -> dict[str, Any]:
    import tomllib  # most folders have no such file, and commands start often

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file.name} is not valid TOML: {error}", do="Correct it.") from error


def _from_environ(environ: Mapping[str, str]) -> Iterator[_Found]:
    variables = {_PREFIX + name.upper(): name for name in NAMES}
    for variable in sorted(environ):
        if variable.startswith(_PREFIX):
            yield (
                variables[_known(variable, tuple(variables), "the environment")],
                environ[variable],
                variable,
            )


def _from_flags(flags: Mapping[str, Any]) -> Iterator[_Found]:
    for name, value in flags.items():
        if value is not None:
            yield _known(name, NAMES, "the flags"), value, "--" + name.replace("_", "-")


def _known(key: str, names: tuple[str, ...], origin: str) -> str:
    if key in names:
        return key
    import difflib  # only for what is misspelt, and commands start often

    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    do = f"Did you mean `{near[0]}`?" if near else f"There are: {', '.join(names)}."
    raise SettingsError(f"unknown setting `{key}` in {origin}", do=do)


def _bad(name: str, origin: str, expected: str, found: object) -> SettingsError:
    return SettingsError(
        f"setting `{name}` from {origin}",
        expected=expected,
        found=without_credentials(repr(found)),
        do=f"It is: {help_of(name.partition('.')[0])}.",
    )


_BOOLEANS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}


def _scalar(name: str, value: Any, origin: str) -> Any:
    kind, rule = _TYPES[name], _RULES[name]
    if kind is bool:
        known = value if isinstance(value, bool) else _BOOLEANS.get(str(value).lower())
        if known is None:
            raise _bad(name, origin, "true or false", value)
        return known
    if kind is float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = -1.0
        if isinstance(value, bool) or not 0 <= number < float("inf"):
            raise _bad(name, origin, "a number of seconds, 0 or more", value)
        return number
    if not isinstance(value, str | Path) or not str(value):
        raise _bad(name, origin, rule.expected or "a text that is not empty", value)
    if rule.pattern and not re.match(rule.pattern, str(value)):
        raise _bad(name, origin, rule.expected, value)
    return str(value) if kind in (str, str | None) else Path(value).expanduser()


def _options(name: str, value: Any, origin: str) -> dict[str, str]:
    # A bad table is never quoted in the error: what it holds may be secret.
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as error:
            raise _bad(name, origin, "a JSON object", f"a text that breaks at character {error.pos + 1}") from None
    if not isinstance(value, Mapping):
        raise _bad(name, origin, "a table of options", type(value).__name__)
    return dict(_flat(name, value, origin))


def _flat(name: str, table: Mapping[str, Any], origin: str, before: str = "") -> Iterator[tuple[str, str]]:
    # TOML reads an unquoted `spark.sql.ansi.enabled = true` as tables in tables; the key is the whole path.
    for key, value in table.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _flat(name, value, origin, f"{path}.")
        elif isinstance(value, bool):
            yield path, str(value).lower()
        elif isinstance(value, str | int | float):
            yield path, str(value)
        else:
            raise _bad(f"{name}.{path}", origin, "a text, a number or true/false", type(value).__name__)
