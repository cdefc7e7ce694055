"""What must not be printed: which options hold a secret, and the credentials inside an address."""

from __future__ import annotations

import re
from collections.abc import Iterator

HIDDEN = "***"

# Options of a store are secret unless they are known to say only where and how, never who.
PUBLIC_STORE_OPTIONS = frozenset(
    {"account", "allow_http", "endpoint", "nameservices", "path_style", "region", "table", "tenant_id"}
)
_SECRET_LOOKING = re.compile(r"secret|password|passwd|token|key|credential|signature|\bsas\b|auth", re.IGNORECASE)
# `user:password@` before a host. A name alone is none: abfss://container@account is an ordinary address.
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]*:([^/@\s]*)@")
# `token=...` among an address's parameters.
_PARAMETER = re.compile(r"(?i)\b([\w-]*(?:token|secret|password|key|sig|signature|credential))=([^;&\s]+)")


def secret_store_key(key: str) -> bool:
    return key not in PUBLIC_STORE_OPTIONS


def secret_looking(key: str) -> bool:
    return _SECRET_LOOKING.search(key) is not None


def without_credentials(text: str) -> str:
    return _PARAMETER.sub(rf"\1={HIDDEN}", _IN_ADDRESS.sub(f"{HIDDEN}@", text))


def credentials_in(text: str) -> Iterator[str]:
    yield from (found.group(1) for found in _IN_ADDRESS.finditer(text) if found.group(1))
    yield from (found.group(2) for found in _PARAMETER.finditer(text))
