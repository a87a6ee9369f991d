"""What stands before the emulated AWS: counts the calls of the provider under test, and fails them on demand."""

from __future__ import annotations

import io
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

ADMIN_KEY = "emulator-admin"

# moto answers it with 500, which the AWS SDK repeats for seconds for each node. Regions without it answer like this.
UNSUPPORTED = frozenset({"DescribeInstanceTopology"})

_READS = ("Describe", "Get", "List")
_ERROR = """<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors><RequestID>0</RequestID></Response>"""


class Bucket:
    """Call budget of an account: so many calls at once, and so many a second."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._at = time.monotonic()

    def take(self) -> bool:
        """Whether one more call is allowed."""
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class Gate:
    """A WSGI application around another. What the administrator's key has signed goes through untouched."""

    def __init__(self, cloud: Application) -> None:
        self._cloud = cloud
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()
        self._failing = False
        self._denying = False
        self._bucket: Bucket | None = None
        self._throttled = 0
        self._last_key = ""

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if f"Credential={ADMIN_KEY}/" in environ.get("HTTP_AUTHORIZATION", ""):
            return self._cloud(environ, start_response)
        action = _action_of(environ)
        with self._lock:
            self._calls[action] += 1
            failing = self._failing
            denying = self._denying
            throttled = self._bucket is not None and not self._bucket.take()
            self._throttled += throttled
            self._last_key = environ.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2].partition("/")[0]
        if failing:
            return _refuse(start_response, "503 Service Unavailable", "Unavailable", "the emulator was told to fail")
        if denying:
            return _refuse(start_response, "401 Unauthorized", "AuthFailure", "the emulator was told to deny")
        if throttled and "elasticloadbalancing" in environ.get("HTTP_AUTHORIZATION", ""):
            return _refuse(start_response, "400 Bad Request", "Throttling", "Rate exceeded")
        if throttled:
            return _refuse(start_response, "503 Service Unavailable", "RequestLimitExceeded", "Request limit exceeded.")
        if action in UNSUPPORTED:
            return _refuse(start_response, "400 Bad Request", "UnsupportedOperation", "not available in this region")
        return self._cloud(environ, start_response)

    def fail(self, failing: bool) -> None:
        """From now on every call of the provider is answered with 503, or none."""
        with self._lock:
            self._failing = failing

    def clear(self) -> None:
        """From now on the provider's calls go through."""
        self.fail(failing=False)
        self.throttle(0, 0)

    def deny(self, denying: bool) -> None:
        """From now on the provider's credentials are refused, or they are not."""
        with self._lock:
            self._denying = denying

    def throttle(self, rate: float, burst: float) -> None:
        """From now on the provider's calls beyond the budget are refused as each service does; a rate of 0 ends that."""
        with self._lock:
            self._bucket = Bucket(rate, burst) if rate > 0 else None

    def summary(self) -> dict[str, Any]:
        """How many calls there were so far, in all and those that are no reads, and of what."""
        with self._lock:
            calls = dict(sorted(self._calls.items()))
            more = {"throttled": self._throttled, "lastKey": self._last_key}
        changes = sum(count for action, count in calls.items() if not action.startswith(_READS))
        return {"all": sum(calls.values()), "changes": changes, "byAction": calls, **more}


def _action_of(environ: Environ) -> str:
    body: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    fields = parse_qs(body.decode("utf-8", "replace"))
    return fields.get("Action", ["?"])[0]


def _refuse(start_response: StartResponse, status: str, code: str, message: str) -> Iterable[bytes]:
    start_response(status, [("Content-Type", "text/xml")])
    return [_ERROR.format(code=code, message=message).encode()]
