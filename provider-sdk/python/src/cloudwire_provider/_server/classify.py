"""Classification of exceptions. Errors of the libraries that vendors use are recognized by their attributes."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from cloudwire_provider.errors import Cancelled, ProviderError

# An error may hide what happened in its cause, as HTTP clients do; deeper than this is not looked.
_MAX_CAUSES = 8

# Longest wait accepted; a header in another unit must not stop an object for a day.
_MAX_RETRY_AFTER = 900.0

_UNREACHABLE = {
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.ECONNABORTED,
    errno.EPIPE,
    errno.EHOSTUNREACH,
    errno.EHOSTDOWN,
    errno.ENETUNREACH,
    errno.ENETDOWN,
}

# By name, because neither library is needed here: requests, urllib3, httpx, httpcore, aiohttp and botocore.
_LIBRARIES = ("requests", "urllib3", "httpx", "httpcore", "aiohttp", "botocore", "http")
_TIMEOUT_WORDS = ("Timeout",)
_NETWORK_WORDS = (
    "ConnectionError",
    "ConnectError",
    "ReadError",
    "WriteError",
    "CloseError",
    "NetworkError",
    "ProtocolError",
    "ProxyError",
    "ClientConnect",
    "ClientOSError",
    "ServerDisconnected",
    "RemoteDisconnected",
    "IncompleteRead",
    "EndpointConnectionError",
)


@dataclass(frozen=True)
class Classified:
    """What was made of an error. `masked`: nothing was known about it, so that the peer must not see its text."""

    error: ProviderError
    masked: bool


def classify(thrown: BaseException, *, mutation: bool, correlation_id: str) -> Classified:
    """Turn whatever a handler raised into an error of the contract. What is not known is masked."""
    current: BaseException | None = thrown
    for _ in range(_MAX_CAUSES):
        if current is None:
            break
        found = _map_one(current, mutation=mutation)
        if found is not None:
            if found is not thrown:
                found.__cause__ = thrown
            return Classified(found, masked=False)
        current = current.__cause__ or _reason_of(current)
    message = f"The provider failed in a way it did not expect; its log has the details under {correlation_id}"
    masked = ProviderError("UNMAPPED_ERROR", message)
    masked.__cause__ = thrown
    return Classified(masked, masked=True)


def from_http_status(
    status: int, *, mutation: bool, headers: Mapping[str, Any] | None = None, what: str = ""
) -> ProviderError | None:
    """What an HTTP status says. 404 and the rest say nothing: a wrong URL or a missing permission answer the same."""
    said = f"The cloud answered HTTP {status}" + (f" to {what}" if what else "")
    wait = retry_after(headers)
    if status == 401:
        return ProviderError("CLOUD_CREDENTIALS_INVALID", f"{said}: it refuses the provider's credentials")
    if status == 403:
        return ProviderError("CLOUD_PERMISSION_DENIED", f"{said}: the provider's identity lacks a right")
    if status in {408, 504}:
        return _timeout(mutation=mutation)
    if status == 409 and mutation:
        return ProviderError("NOT_READY", f"{said}: the object takes no change now")
    if status == 429:
        return ProviderError("RATE_LIMITED", f"{said}: it throttles", retry_after=wait)
    if 500 <= status <= 599:
        return ProviderError("CLOUD_UNAVAILABLE", said, retry_after=wait)
    return None


def _reason_of(error: BaseException) -> BaseException | None:
    """urllib.error.URLError keeps what happened in an attribute."""
    reason = getattr(error, "reason", None)
    return reason if isinstance(reason, BaseException) else None


def _map_one(error: BaseException, *, mutation: bool) -> ProviderError | None:
    if isinstance(error, ProviderError):
        return error
    status = _http_status(error)
    if status is not None:
        return from_http_status(status, mutation=mutation, headers=_headers(error))
    # asyncio.TimeoutError is TimeoutError only from Python 3.11 on.
    if isinstance(error, (TimeoutError, asyncio.TimeoutError, asyncio.CancelledError, Cancelled)):
        return _timeout(mutation=mutation)
    unreachable = isinstance(error, (socket.gaierror, ssl.SSLError))
    if unreachable or (isinstance(error, OSError) and error.errno in _UNREACHABLE):
        return ProviderError(
            "CLOUD_UNAVAILABLE", f"The cloud cannot be reached ({getattr(error, 'strerror', None) or error})"
        )
    if isinstance(error, OSError) and error.errno == errno.ETIMEDOUT:
        return _timeout(mutation=mutation)
    return _from_library(error, mutation=mutation)


def _from_library(error: BaseException, *, mutation: bool) -> ProviderError | None:
    for base in type(error).__mro__:
        if base.__module__.partition(".")[0] not in _LIBRARIES:
            continue
        if any(word in base.__name__ for word in _TIMEOUT_WORDS):
            return _timeout(mutation=mutation)
        if any(word in base.__name__ for word in _NETWORK_WORDS):
            return ProviderError("CLOUD_UNAVAILABLE", f"The cloud cannot be reached ({type(error).__name__})")
    return None


def _timeout(*, mutation: bool) -> ProviderError:
    if mutation:
        return ProviderError("DEADLINE_PASSED", "The cloud did not answer in time; the change may still be under way")
    return ProviderError("CLOUD_TIMEOUT", "The cloud did not answer in time")


def _http_status(error: BaseException) -> int | None:
    """Of urllib (`code`), aiohttp (`status`), httpx and requests (`response.status_code`), botocore (`response[…]`)."""
    response = getattr(error, "response", None)
    botocore = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
    candidates = [
        getattr(error, "status", None),
        getattr(error, "status_code", None),
        getattr(response, "status_code", None),
        getattr(response, "status", None),
        botocore.get("HTTPStatusCode") if isinstance(botocore, dict) else None,
        getattr(error, "code", None),
    ]
    for candidate in candidates:
        if isinstance(candidate, int) and not isinstance(candidate, bool) and 400 <= candidate <= 599:
            return int(candidate)
    return None


def _headers(error: BaseException) -> Mapping[str, Any] | None:
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        response_metadata = response.get("ResponseMetadata")
        headers = response_metadata.get("HTTPHeaders") if isinstance(response_metadata, dict) else None
    else:
        headers = getattr(error, "headers", None) or getattr(response, "headers", None)
    return headers if hasattr(headers, "items") else None


def retry_after(headers: Mapping[str, Any] | None) -> float | None:
    """Return the seconds that an answer of the cloud asks to wait; None: it does not say so in a valid way."""
    if headers is None:
        return None
    for name, value in headers.items():
        if str(name).lower() == "retry-after":
            seconds = _seconds_until(str(value))
            return min(seconds, _MAX_RETRY_AFTER) if seconds > 0 else None
    return None


def _seconds_until(text: str) -> float:
    """Read seconds or an HTTP date (RFC 9110, 10.2.3); 0 for what is neither."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0
