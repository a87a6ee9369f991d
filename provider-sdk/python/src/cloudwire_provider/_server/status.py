"""Errors as they travel: as the status of a call, or as the error of one item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote as percent_encode

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2 as rpc
from google.rpc.status_pb2 import Status

from cloudwire_provider import v1
from cloudwire_provider._server.contract import METHODS
from cloudwire_provider.errors import ProviderError

MAX_MESSAGE_BYTES = 1024
# 60 kB hang a caller, the C core refuses above 6.5 kB. Contract: ERR-3.
MAX_DETAILS_BYTES = 4096
_MAX_TEXT_BYTES = 512
_MAX_METADATA_BYTES = 1024


def cut_to_bytes(text: str, max_bytes: int, *, percent_encoded: bool = False) -> str:
    """Cut a text to at most this number of bytes, never inside a character, and show that it was cut."""

    def size(candidate: str) -> int:
        # As gRPC writes it into a header: everything but printable ASCII takes three characters a byte.
        return len(percent_encode(candidate, safe=_PRINTABLE) if percent_encoded else candidate.encode())

    text = text.encode("utf-8", "replace").decode()
    if size(text) <= max_bytes:
        return text
    low, high = 0, min(len(text), max_bytes)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(text[:middle] + "…") <= max_bytes else (low, middle - 1)
    return text[:low] + "…"


_CONTROL = {code: "\ufffd" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"}


def response_text(text: str, max_bytes: int) -> str:
    """Cut a text for people to a limit of the contract, without control characters: the controller would refuse the response."""
    return cut_to_bytes(text.translate(_CONTROL), max_bytes)


_PRINTABLE = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")


def duration(seconds: float) -> Duration:
    """Seconds as the contract writes them; no sender's number makes it fail."""
    result = Duration()
    result.FromNanoseconds(round(min(max(seconds, 0.0), 315_576_000.0) * 1e9))
    return result


def seconds_of(value: Duration) -> float:
    """Seconds of a duration of any size."""
    return value.seconds + value.nanos / 1e9


def item_error(error: ProviderError) -> v1.ItemError:
    """Make the error of one item inside an OK answer."""
    return v1.ItemError(
        code=error.code,
        reason=cut_to_bytes(error.reason, 63),
        domain=cut_to_bytes(error.domain, 253) if error.is_vendors else "",
        message=cut_to_bytes(error.message or error.reason, MAX_MESSAGE_BYTES),
        retry_after=None if error.retry_after is None else duration(error.retry_after),
        metadata=_bounded(error.metadata),
        field=cut_to_bytes(error.field_violations[0].field, 317) if error.field_violations else "",
    )


def call_status(error: ProviderError) -> tuple[str, bytes]:
    """Text and `grpc-status-details-bin` of an error, within the trailer budget: what helps least goes first."""
    message = cut_to_bytes(error.message or error.reason, MAX_MESSAGE_BYTES)
    info = rpc.ErrorInfo(
        reason=cut_to_bytes(error.reason, 63),
        domain=cut_to_bytes(error.domain, 253),
        metadata=_bounded(error.metadata),
    )
    status = Status(code=error.code, message=message, details=[_pack(info)])
    if error.retry_after is not None:
        status.details.append(_pack(rpc.RetryInfo(retry_delay=duration(error.retry_after))))
    for optional in _optional_details(error):
        packed = _pack(optional)
        if status.ByteSize() + packed.ByteSize() + 8 <= MAX_DETAILS_BYTES:
            status.details.append(packed)
    return cut_to_bytes(message, MAX_MESSAGE_BYTES, percent_encoded=True), status.SerializeToString()


def permitted(error: ProviderError, method: str, *, item: bool = False) -> ProviderError:
    """
    Return the error as a caller may see it: the contract lists the reasons of each RPC, and callers act on them.

    One that does not belong there is a slip of the provider and becomes INVARIANT_BROKEN, which keeps its text.
    """
    rule = METHODS.get(method)
    if rule is None or error.is_vendors or error.reason in (rule.item_reasons if item else rule.reasons):
        return error
    what = f"an item of {method}" if item else method
    broken = ProviderError("INVARIANT_BROKEN", f"{error.reason} is no reason of {what}: {error.message}")
    broken.__cause__ = error
    return broken


def _pack(message: Message) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed


def _bounded(metadata: Mapping[str, str]) -> dict[str, str]:
    left = _MAX_METADATA_BYTES
    kept: dict[str, str] = {}
    for key, value in metadata.items():
        cut = cut_to_bytes(str(value), _MAX_TEXT_BYTES)
        size = len(key.encode()) + len(cut.encode())
        if size <= left:
            left -= size
            kept[key] = cut
    return kept


def _optional_details(error: ProviderError) -> Iterator[Message]:
    """Yield the most useful first."""
    if error.field_violations:
        yield _bad_request(error)
    texts = error.details
    if texts.quota:
        subject, description = map(_text, texts.quota)
        yield rpc.QuotaFailure(violations=[{"subject": subject, "description": description}])
    if texts.precondition:
        kind, subject, description = map(_text, texts.precondition)
        yield rpc.PreconditionFailure(violations=[{"type": kind, "subject": subject, "description": description}])
    if texts.resource:
        kind, name, owner = map(_text, texts.resource)
        yield rpc.ResourceInfo(resource_type=kind, resource_name=name, owner=owner)
    if texts.help:
        description, url = map(_text, texts.help)
        yield rpc.Help(links=[{"description": description, "url": url}])


def _text(value: str) -> str:
    return cut_to_bytes(value, _MAX_TEXT_BYTES)


def _bad_request(error: ProviderError) -> rpc.BadRequest:
    # Half of the room: ErrorInfo and the message stand beside it.
    left = MAX_DETAILS_BYTES // 2
    result = rpc.BadRequest()
    for index, problem in enumerate(error.field_violations):
        field, description = cut_to_bytes(problem.field, 317), cut_to_bytes(problem.description, 253)
        left -= len(field.encode()) + len(description.encode()) + 8
        if left < 0:
            result.field_violations.add(description=f"and {len(error.field_violations) - index} more")
            break
        result.field_violations.add(field=field, description=description)
    return result
