"""What stands before the emulated AWS: counts the calls of the provider under test, and fails them on demand."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import parse_qs

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

ADMIN_KEY = "emulator-admin"

# moto answers it with 500, which the AWS SDK repeats for seconds for each node. Regions without it answer like this.
UNSUPPORTED = frozenset({"DescribeInstanceTopology"})

_READS = ("Describe", "Get", "List")


class Refusal(NamedTuple):
    """What a call is answered with instead of what it asks for."""

    status: str
    code: str
    message: str


_THROTTLED = {
    "ec2": Refusal("503 Service Unavailable", "RequestLimitExceeded", "Request limit exceeded."),
    "elasticloadbalancing": Refusal("400 Bad Request", "Throttling", "Rate exceeded"),
}
_DENIED = {
    "ec2": Refusal("401 Unauthorized", "AuthFailure", "AWS was not able to validate the provided access credentials"),
    "elasticloadbalancing": Refusal("403 Forbidden", "InvalidClientTokenId", "The security token is invalid"),
}
_UNAVAILABLE = Refusal("503 Service Unavailable", "Unavailable", "the emulator is set to fail")
_UNREADABLE = Refusal("500 Internal Server Error", "InternalError", "An internal error has occurred")
_USED_UP = Refusal("400 Bad Request", "TooManyLoadBalancers", "The maximum number of load balancers has been reached")
_UNSUPPORTED = Refusal("400 Bad Request", "UnsupportedOperation", "not available in this region")

_ERROR = """<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors><RequestID>0</RequestID></Response>"""
_BALANCING_ERROR = """<ErrorResponse xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/">
<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error><RequestId>0</RequestId></ErrorResponse>"""


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


class Front:
    """A WSGI application around another. What the administrator's key has signed goes through untouched.

    Faults last until they are cleared: `fail` (every call is answered with 503), `deny` (credentials are refused),
    `cut` (connections end without an answer), `hang` (calls get none), `unreadable` (machines cannot be read, for EC2
    answers for all zones or none), `quota` (no load balancer can be made).
    """

    def __init__(self, cloud: Application) -> None:
        self._cloud = cloud
        self._changed = threading.Condition()
        self._calls: Counter[str] = Counter()
        self._faults: set[str] = set()
        self._accepted_key: str | None = None
        self._bucket: Bucket | None = None
        self._throttled = 0
        self._last_key = ""

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        key, service = _signer_of(environ)
        if key == ADMIN_KEY:
            return self._cloud(environ, start_response)
        action = _action_of(environ)
        with self._changed:
            self._calls[action] += 1
            self._last_key = key
            if "hang" in self._faults:
                self._changed.wait_for(lambda: "hang" not in self._faults)
                _cut(environ)
            if "cut" in self._faults:
                _cut(environ)
            refusal = self._refusal(action, key, service)
        return self._cloud(environ, start_response) if refusal is None else _refuse(start_response, service, refusal)

    def _refusal(self, action: str, key: str, service: str) -> Refusal | None:
        is_denied = "deny" in self._faults or self._accepted_key not in (None, key)
        is_throttled = self._bucket is not None and not self._bucket.take()
        self._throttled += is_throttled
        refusals = (
            ("fail" in self._faults, _UNAVAILABLE),
            (is_denied, _DENIED[service]),
            (is_throttled, _THROTTLED[service]),
            ("unreadable" in self._faults and action == "DescribeInstances", _UNREADABLE),
            ("quota" in self._faults and action == "CreateLoadBalancer", _USED_UP),
            (action in UNSUPPORTED, _UNSUPPORTED),
        )
        return next((refusal for applies, refusal in refusals if applies), None)

    def fault(self, kind: str, *, active: bool) -> None:
        """From now on the provider's calls meet the fault, or they do not."""
        with self._changed:
            (self._faults.add if active else self._faults.discard)(kind)
            self._changed.notify_all()

    def clear(self) -> None:
        """From now on the provider's calls go through."""
        with self._changed:
            self._faults.clear()
            self._bucket = None
            self._changed.notify_all()

    def accept(self, key: str) -> None:
        """From now on only this access key is valid."""
        with self._changed:
            self._accepted_key = key

    def throttle(self, rate: float, burst: float) -> None:
        """From now on the provider's calls beyond the budget are refused as each service does; a rate of 0 ends that."""
        with self._changed:
            self._bucket = Bucket(rate, burst) if rate > 0 else None

    def summary(self) -> dict[str, Any]:
        """How many calls there were so far, in all and those that are no reads, and of what."""
        with self._changed:
            calls = dict(sorted(self._calls.items()))
            more = {"throttled": self._throttled, "lastKey": self._last_key}
        changes = sum(count for action, count in calls.items() if not action.startswith(_READS))
        return {"all": sum(calls.values()), "changes": changes, "byAction": calls, **more}


def _signer_of(environ: Environ) -> tuple[str, str]:
    """Access key and service, as the signature has them: `Credential=key/day/region/service/…`."""
    key, _, rest = environ.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2].partition("/")
    return key, "elasticloadbalancing" if "/elasticloadbalancing/" in f"/{rest}" else "ec2"


def _action_of(environ: Environ) -> str:
    body: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    fields = parse_qs(body.decode("utf-8", "replace"))
    return fields.get("Action", ["?"])[0]


def _cut(environ: Environ) -> None:
    """End the connection without an answer; werkzeug takes the exception for a client that has gone."""
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError


def _refuse(start_response: StartResponse, service: str, refusal: Refusal) -> Iterable[bytes]:
    start_response(refusal.status, [("Content-Type", "text/xml")])
    form = _ERROR if service == "ec2" else _BALANCING_ERROR
    return [form.format(code=refusal.code, message=refusal.message).encode()]
