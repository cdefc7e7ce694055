"""Where a lake lies, and one policy that gives both engines their settings for that place.

A lake is a folder or a URI. The options an operator sets are neutral names (`access_key`, `endpoint`);
this module knows what Spark's Hadoop file systems and deltalake call each of them. Data files and the log
store are configured apart, because on S3 the log needs a coordinator that data files do not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from codelake.errors import SettingsError, UsageError
from codelake.hidden import PUBLIC_STORE_OPTIONS

# neutral name -> (Hadoop key, deltalake key); "{account}" is filled from the option `account`
_DATA_OPTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "s3a": {
        "access_key": ("fs.s3a.access.key", "AWS_ACCESS_KEY_ID"),
        "secret_key": ("fs.s3a.secret.key", "AWS_SECRET_ACCESS_KEY"),
        "session_token": ("fs.s3a.session.token", "AWS_SESSION_TOKEN"),
        "region": ("fs.s3a.endpoint.region", "AWS_REGION"),
        "endpoint": ("fs.s3a.endpoint", "AWS_ENDPOINT_URL"),
        "path_style": ("fs.s3a.path.style.access", "AWS_S3_ADDRESSING_STYLE"),
        "allow_http": ("fs.s3a.connection.ssl.enabled", "AWS_ALLOW_HTTP"),
    },
    "abfss": {
        "account": ("fs.azure.account.name", "AZURE_STORAGE_ACCOUNT_NAME"),
        "account_key": ("fs.azure.account.key.{account}.dfs.core.windows.net", "AZURE_STORAGE_ACCOUNT_KEY"),
        "sas_token": ("fs.azure.sas.fixed.token.{account}.dfs.core.windows.net", "AZURE_STORAGE_SAS_TOKEN"),
        "client_id": ("fs.azure.account.oauth2.client.id", "AZURE_STORAGE_CLIENT_ID"),
        "client_secret": ("fs.azure.account.oauth2.client.secret", "AZURE_STORAGE_CLIENT_SECRET"),
        "tenant_id": ("fs.azure.account.oauth2.tenant", "AZURE_STORAGE_TENANT_ID"),
    },
    "gs": {
        "service_account_file": (
            "fs.gs.auth.service.account.json.keyfile",
            "GOOGLE_SERVICE_ACCOUNT",
        ),
    },
    "hdfs": {"nameservices": ("dfs.nameservices", "dfs.nameservices")},
    "file": {},
}

# the log store's own options, apart from the data's
_LOG_OPTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "s3a": {
        "table": ("spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName", "DELTA_DYNAMO_TABLE_NAME"),
        "region": ("spark.io.delta.storage.S3DynamoDBLogStore.ddb.region", "AWS_REGION_DYNAMODB"),
        "endpoint": ("spark.io.delta.storage.S3DynamoDBLogStore.ddb.endpoint", "AWS_ENDPOINT_URL_DYNAMODB"),
        "access_key": ("spark.hadoop.delta.ddb.access.key", "AWS_ACCESS_KEY_ID_DYNAMODB"),
        "secret_key": ("spark.hadoop.delta.ddb.secret.key", "AWS_SECRET_ACCESS_KEY_DYNAMODB"),
    },
}

SCHEMES = tuple(_DATA_OPTIONS)


@dataclass(frozen=True)
class Store:
    """A lake's place and how to reach it. `repr` and `identity` never contain a secret."""

    root: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    log_options: Mapping[str, str] = field(default_factory=dict, repr=False)
    local_only: bool = False

    def __post_init__(self) -> None:
        if self.scheme not in _DATA_OPTIONS:
            raise UsageError(
                f"lake {self.root}",
                expected=f"a folder or a URI that begins with {', '.join(s + '://' for s in SCHEMES)}",
                found=f"{self.scheme}://",
            )
        if self.local_only and not self.is_local:
            raise UsageError(
                f"lake {self.root}",
                expected="a local folder, because the setting local_only is on",
                found=f"{self.scheme}://",
                do="Turn local_only off to work with remote tables.",
            )
        _check_options(self.options, _DATA_OPTIONS[self.scheme], "store", self.scheme)
        _check_options(self.log_options, _LOG_OPTIONS.get(self.scheme, {}), "log_store", self.scheme)

    @property
    def scheme(self) -> str:
        scheme = urlsplit(self.root).scheme if "://" in self.root else "file"
        return "s3a" if scheme == "s3" else scheme

    @property
    def is_local(self) -> bool:
        return self.scheme == "file"

    @property
    def path(self) -> Path:
        """The local folder. Only for local lakes."""
        if "://" not in self.root:
            return Path(self.root).absolute()
        return Path(unquote(urlsplit(self.root).path))

    def uri(self, *parts: str) -> str:
        """What both engines take as the address of something below the root."""
        base = str(self.path) if self.is_local else self.root.rstrip("/")
        return "/".join([base, *parts])

    def hadoop_conf(self) -> dict[str, str]:
        """For Spark, when its session starts."""
        conf: dict[str, str] = {}
        account = self.options.get("account", "")
        for name, value in self.options.items():
            key = _DATA_OPTIONS[self.scheme][name][0].format(account=account)
            if name == "allow_http":
                value = "false" if value == "true" else "true"  # Hadoop asks whether TLS is on
            conf[f"spark.hadoop.{key}"] = value
        for name, value in self.log_options.items():
            conf[_LOG_OPTIONS[self.scheme][name][0]] = value
        if self.scheme == "s3a":
            # S3 has no rename that fails if the target is there: one driver, or DynamoDB between several.
            store = "S3DynamoDBLogStore" if self.log_options else "S3SingleDriverLogStore"
            conf["spark.delta.logStore.s3a.impl"] = f"io.delta.storage.{store}"
        return conf

    def deltalake_options(self) -> dict[str, str]:
        """For deltalake, whenever it opens a table."""
        found: dict[str, str] = {}
        for name, value in self.options.items():
            if name == "path_style":
                value = "path" if value == "true" else "virtual"
            found[_DATA_OPTIONS[self.scheme][name][1]] = value
        for name, value in self.log_options.items():
            found[_LOG_OPTIONS[self.scheme][name][1]] = value
        if self.log_options:
            found["AWS_S3_LOCKING_PROVIDER"] = "dynamodb"
        return found

    @property
    def identity(self) -> str:
        """Digest of place and policy, without secrets: part of a run's identity."""
        public = {
            "root": self.root if not self.is_local else "file",
            "options": {k: v if k in PUBLIC_STORE_OPTIONS else "set" for k, v in sorted(self.options.items())},
            "log_options": {k: v if k in PUBLIC_STORE_OPTIONS else "set" for k, v in sorted(self.log_options.items())},
        }
        import hashlib  # it loads OpenSSL, which no question waits for

        return hashlib.sha256(json.dumps(public, sort_keys=True).encode()).hexdigest()


def _check_options(given: Mapping[str, str], known: Mapping[str, tuple[str, str]], setting: str, scheme: str) -> None:
    for name in given:
        if name not in known:
            from difflib import get_close_matches  # only for what is misspelt, and commands start often

            near = get_close_matches(name, known, 1)
            raise SettingsError(
                f"option {setting}.{name} for {scheme}",
                expected=f"one of {', '.join(known)}" if known else "no options",
                do=f"Did you mean {setting}.{near[0]}?" if near else "Remove it.",
            )
