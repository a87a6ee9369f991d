import errno
import json
import logging
import urllib.error
from email.message import Message

import httpx
import pytest

from cloudwire_provider import ErrorDetails, FieldViolation, ProviderError, VendorReason, v1
from cloudwire_provider._server.classify import classify
from cloudwire_provider._server.status import call_status, item_error, permitted
from cloudwire_provider.log import JsonFormatter


def http_error(status: int, **headers: str) -> urllib.error.HTTPError:
    given = Message()
    for name, value in headers.items():
        given[name.replace("_", "-")] = value
    return urllib.error.HTTPError("http://x", status, "", given, None)


def httpx_error(status: int) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", "http://x")
    return httpx.HTTPStatusError("", request=request, response=httpx.Response(status, request=request))


def caused(cause: BaseException) -> RuntimeError:
    error = RuntimeError("wrapped")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("thrown", "read", "change"),
    [
        (http_error(401), "CLOUD_CREDENTIALS_INVALID", "CLOUD_CREDENTIALS_INVALID"),
        (httpx_error(403), "CLOUD_PERMISSION_DENIED", "CLOUD_PERMISSION_DENIED"),
        (http_error(404), "UNMAPPED_ERROR", "UNMAPPED_ERROR"),
        (httpx_error(409), "UNMAPPED_ERROR", "NOT_READY"),
        (http_error(429, Retry_After="7"), "RATE_LIMITED", "RATE_LIMITED"),
        (http_error(503), "CLOUD_UNAVAILABLE", "CLOUD_UNAVAILABLE"),
        (http_error(504), "CLOUD_TIMEOUT", "DEADLINE_PASSED"),
        (TimeoutError(), "CLOUD_TIMEOUT", "DEADLINE_PASSED"),
        (httpx.ReadTimeout(""), "CLOUD_TIMEOUT", "DEADLINE_PASSED"),
        (httpx.ConnectError(""), "CLOUD_UNAVAILABLE", "CLOUD_UNAVAILABLE"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "CLOUD_UNAVAILABLE", "CLOUD_UNAVAILABLE"),
        (urllib.error.URLError(ConnectionResetError(errno.ECONNRESET, "x")), "CLOUD_UNAVAILABLE", "CLOUD_UNAVAILABLE"),
        (caused(TimeoutError()), "CLOUD_TIMEOUT", "DEADLINE_PASSED"),
        (FileNotFoundError(errno.ENOENT, "x"), "UNMAPPED_ERROR", "UNMAPPED_ERROR"),
        (KeyError("bug"), "UNMAPPED_ERROR", "UNMAPPED_ERROR"),
        (ProviderError("QUOTA_EXCEEDED", "full"), "QUOTA_EXCEEDED", "QUOTA_EXCEEDED"),
    ],
)
def test_errors_are_understood_by_their_shape(thrown, read, change):
    assert classify(thrown, mutation=False, correlation_id="id").error.reason == read
    assert classify(thrown, mutation=True, correlation_id="id").error.reason == change


def test_retry_after_is_believed_within_reason():
    waits = [
        classify(http_error(429, Retry_After=text), mutation=False, correlation_id="").error.retry_after
        for text in ("7", "1e9", "x")
    ]
    assert waits == [7.0, 900.0, 5.0]


def test_status_keeps_to_the_trailer_budget_and_keeps_what_helps_most():
    error = ProviderError(
        "FIELD_INVALID",
        "é" * 5000,
        field_violations=[FieldViolation(f"field[{index}]" * 30, "wrong" * 100) for index in range(100)],
        retry_after=3,
        metadata={f"key-{index}": "v" * 400 for index in range(20)},
        details=ErrorDetails(
            help=("d" * 5000, "https://x"), resource=("t", "n", "o"), quota=("s", "d"), precondition=("t", "s", "d")
        ),
    )
    text, details = call_status(error)
    assert len(details) <= 4096
    assert len(text.encode()) * 3 <= 1024 + 9
    assert all(name in details for name in (b"ErrorInfo", b"RetryInfo", b"BadRequest", b" more"))
    assert b"rpc.Help" not in details
    assert item_error(error).ByteSize() < 4096


def test_surrogates_and_vendors_reasons_travel():
    error = ProviderError(VendorReason("DISK_ON_FIRE", 9, "acme.example.com"), "half a \ud800 pair")
    assert call_status(error)[0] == "half a ? pair"
    assert permitted(error, "GetLoadBalancer") is error
    assert item_error(error).domain == "acme.example.com"


def test_unknown_reason_is_a_slip_of_the_pen():
    with pytest.raises(ValueError, match="VendorReason"):
        ProviderError("NO_SUCH_REASON", "x")


def test_log_lines_are_json_without_secrets():
    record = logging.makeLogRecord({"msg": "Made a pool", "levelno": logging.WARNING, "name": "x"})
    record.headers = {"Authorization": "Bearer abc", "accept": "*"}
    record.node = v1.NodeRef(name="web")
    record.error = ValueError("bad")
    line = json.loads(JsonFormatter().format(record))
    assert (line["level"], line["message"], line["node"]) == ("warn", "Made a pool", {"name": "web"})
    assert line["headers"] == {"Authorization": "***", "accept": "*"}
    assert (line["error"]["name"], line["error"]["message"]) == ("ValueError", "bad")


# (case A-3)
@pytest.mark.parametrize("asked", [0.0, -5.0, float("nan")])
def test_a_delay_that_is_not_positive_counts_as_none(asked: float) -> None:
    assert ProviderError("CLOUD_UNAVAILABLE", "m", retry_after=asked).retry_after is None
    assert ProviderError("RATE_LIMITED", "m", retry_after=asked).retry_after == 5.0
    throttled = classify(http_error(429, Retry_After=str(asked)), mutation=False, correlation_id="x").error
    assert throttled.retry_after == 5.0


# (case A-3)
def test_a_retry_after_that_is_a_date_counts() -> None:
    date = "Fri, 31 Dec 9999 23:59:59 GMT"
    throttled = classify(http_error(429, Retry_After=date), mutation=False, correlation_id="x").error
    assert throttled.retry_after == 900.0
