"""A small HTTP client for requests to the cloud."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MAX_EXCERPT = 200
# How clouds name their own id of a request.
_REQUEST_ID_HEADERS = ("x-request-id", "x-amzn-requestid", "x-ms-request-id", "x-goog-request-id", "request-id")


class HttpStatusError(Exception):
    """The cloud returned an error status. The SDK maps 401, 403, 409, 429 and 5xx."""

    def __init__(self, answer: HttpResponse) -> None:
        excerpt = answer.body[:_MAX_EXCERPT].decode("utf-8", "replace")
        super().__init__(f"{answer.method} {answer.url} answered HTTP {answer.status}: {excerpt}")
        self.status = answer.status
        self.headers = answer.headers
        self.answer = answer


@dataclass(frozen=True)
class HttpResponse:
    """A response of the cloud, with any status."""

    method: str
    """Of the request."""
    url: str
    """Of the request."""
    status: int
    """HTTP status."""
    headers: Mapping[str, str]
    """Headers, by name in lower case."""
    body: bytes
    """The body."""

    @property
    def request_id(self) -> str:
        """The cloud's ID of the request; empty if unknown."""
        return next(filter(None, map(self.headers.get, _REQUEST_ID_HEADERS)), "")

    def json(self) -> Any:
        """Return the body, parsed as JSON."""
        return json.loads(self.body)

    def raise_for_status(self) -> HttpResponse:
        """Return the response, or raise `HttpStatusError` for a status of 400 or more."""
        if self.status >= 400:
            raise HttpStatusError(self)
        return self


def send(url: str, *, method: str, payload: Any | None, headers: Mapping[str, str], timeout: float) -> HttpResponse:
    """Send one request and read the whole response. Raises OSError if there is none."""
    body = None if payload is None else payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    typed = {} if body is None else {"content-type": "application/json"}
    request = urllib.request.Request(url, data=body, headers={**typed, **headers}, method=method)  # noqa: S310
    try:
        response = urllib.request.urlopen(request, timeout=timeout)  # noqa: S310 - the vendor's own URL
    except urllib.error.HTTPError as error:
        response = error
    with response:
        lower = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(method, url, response.status, lower, response.read())
