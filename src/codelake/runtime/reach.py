"""Whether a master or a Spark Connect server answers. Spark itself would go on trying for minutes."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

_SECONDS = 5


def remote(url: str) -> bool:
    at = urlsplit(url)
    return _answers(at.hostname or "", at.port or 15002)


def master(url: str) -> bool:
    """Only of a standalone cluster can one ask; YARN and Kubernetes are asked by Spark."""
    hosts = _hosts(url)
    return not hosts or any(_answers(host, port) for host, port in hosts)


def on_loopback(url: str) -> bool:
    hosts = _hosts(url)
    return url.startswith("local") or (bool(hosts) and all(host in ("127.0.0.1", "localhost") for host, _ in hosts))


def _hosts(url: str) -> list[tuple[str, int]]:
    # There can be several: spark://one:7077,two:7077.
    if not url.startswith("spark://"):
        return []
    parts = [urlsplit(f"//{part}") for part in url.removeprefix("spark://").split(",")]
    return [(part.hostname or "", part.port or 7077) for part in parts]


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=_SECONDS).close()
    except OSError:
        return False
    return True
