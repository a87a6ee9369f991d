"""Serving options from environment variables."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from cloudwire_provider.log import is_level

_EXAMPLE = "for example unix:///run/cloud-provider/provider.sock"
# `sun_path` less its final zero. Contract, TRN-1.
_MAX_SOCKET_PATH_BYTES = 107
_TLS_NAMES = ("CLOUD_PROVIDER_TLS_CERT_FILE", "CLOUD_PROVIDER_TLS_KEY_FILE", "CLOUD_PROVIDER_TLS_CLIENT_CA_FILE")


@dataclass(frozen=True)
class UnixEndpoint:
    """A socket file."""

    path: str
    """Absolute path of the socket, ending in `.sock`."""


@dataclass(frozen=True)
class TcpEndpoint:
    """An address and a port."""

    host: str
    """Address or name to listen on."""
    port: int
    """0: any that is free."""

    @property
    def is_loopback(self) -> bool:
        """It never leaves the machine."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True)
class TlsFiles:
    """Files of a TCP endpoint: the provider's certificate and key, and the authorities whose clients may call."""

    cert: str
    """PEM file of the certificate, leaf first."""
    key: str
    """PEM file of its key."""
    client_ca: str
    """PEM file of the authorities whose clients may call."""


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """How a provider is served."""

    endpoint: UnixEndpoint | TcpEndpoint | None
    log_level: str = "info"
    socket_group: str = ""
    tls: TlsFiles | None = None
    insecure_loopback: bool = False
    http_address: tuple[str, int] | None = None
    """Where to serve /livez, /readyz and /metrics."""
    problems: list[str] = field(default_factory=list)
    """Everything that is wrong, each with what to do."""


def read_environment(env: Mapping[str, str], endpoint: str | None = None) -> ServeSettings:
    """Read the variables with prefix `CLOUD_PROVIDER_`. Others of that prefix are left alone: Kubernetes makes some."""
    problems: list[str] = []
    place = parse_endpoint(endpoint or env.get("CLOUD_PROVIDER_ENDPOINT", ""), problems)
    level = env.get("CLOUD_PROVIDER_LOG_LEVEL") or "info"
    if not is_level(level):
        problems.append(f"CLOUD_PROVIDER_LOG_LEVEL is {json.dumps(level)}; use debug, info, warn or error")
        level = "info"
    tls = [env.get(name, "") for name in _TLS_NAMES]
    missing = [name for name, value in zip(_TLS_NAMES, tls, strict=True) if not value]
    if 0 < len(missing) < len(_TLS_NAMES):
        problems.append(f"TLS needs {' and '.join(missing)} too")
    insecure = env.get("CLOUD_PROVIDER_INSECURE_LOOPBACK") or "false"
    if insecure not in {"true", "false"}:
        problems.append(f"CLOUD_PROVIDER_INSECURE_LOOPBACK is {json.dumps(insecure)}; use true or false")
    return ServeSettings(
        endpoint=place,
        log_level=level,
        socket_group=env.get("CLOUD_PROVIDER_SOCKET_GROUP", ""),
        tls=None if missing else TlsFiles(*tls),
        insecure_loopback=insecure == "true",
        http_address=_http_address(env.get(HTTP_ADDRESS, ""), problems),
        problems=problems,
    )


HTTP_ADDRESS = "CLOUD_PROVIDER_HTTP_ADDRESS"


def _http_address(text: str, problems: list[str]) -> tuple[str, int] | None:
    if not text:
        return None
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:/\[\]]*):([0-9]{1,5})", text)
    if match is None or int(match[2]) > 65_535:
        problems.append(f"{HTTP_ADDRESS} is {json.dumps(text)}; use host:port, for example 127.0.0.1:9102")
        return None
    return match[1].strip("[]"), int(match[2])


def parse_endpoint(text: str, problems: list[str]) -> UnixEndpoint | TcpEndpoint | None:
    """Read `unix:///absolute/path.sock` or `tcp://host:port`."""
    named = f"endpoint {json.dumps(text)}"
    if not text:
        problems.append(f"CLOUD_PROVIDER_ENDPOINT is not set: give it a socket, {_EXAMPLE}")
    elif text.startswith("unix-abstract:") or "\0" in text or re.match(r"unix:(//)?@", text):
        problems.append(f"{named}: abstract sockets have no permissions; use a file, {_EXAMPLE}")
    elif text.startswith("unix:"):
        return _unix(text, named, problems)
    elif text.startswith("tcp://"):
        match = re.fullmatch(r"tcp://(\[[0-9a-fA-F:.]+\]|[^:/\[\]]+):([0-9]{1,5})", text)
        if match is not None and int(match[2]) <= 65_535:
            return TcpEndpoint(match[1].strip("[]"), int(match[2]))
        problems.append(f"{named} is not tcp://host:port, for example tcp://127.0.0.1:9443")
    else:
        problems.append(f"{named} is neither unix:///path.sock nor tcp://host:port; {_EXAMPLE}")
    return None


def _unix(text: str, named: str, problems: list[str]) -> UnixEndpoint | None:
    path = text.removeprefix("unix://") if text.startswith("unix://") else text.removeprefix("unix:")
    size = len(path.encode())
    if not path.startswith("/"):
        problems.append(f"{named}: the path must be absolute, {_EXAMPLE}")
    elif not path.endswith(".sock") or path.endswith("/.sock"):
        problems.append(f"{named}: the path must end in a name.sock, {_EXAMPLE}")
    elif size > _MAX_SOCKET_PATH_BYTES:
        text = f"the path has {size} bytes, the system takes {_MAX_SOCKET_PATH_BYTES}; use a shorter directory"
        problems.append(f"{named}: {text}")
    elif unquote(path) != path:
        # The C core decodes what looks percent-encoded and would listen somewhere else.
        problems.append(f"{named}: the path must not hold percent signs")
    else:
        return UnixEndpoint(path)
    return None
