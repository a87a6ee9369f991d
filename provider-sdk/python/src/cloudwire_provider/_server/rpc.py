"""
Methods in the words of grpc.aio. Messages stay bytes there, so that every failure to read or write one gets a status.

Every call has an id, a deadline and an end; whatever goes wrong in it stays in it.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from cloudwire_provider._server.classify import classify
from cloudwire_provider._server.runtime import draining
from cloudwire_provider._server.status import call_status, permitted
from cloudwire_provider._telemetry.call_recorder import Call
from cloudwire_provider._telemetry.metrics import Metrics
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.log import Log

# Of a unary call whose caller set none. Contract, TIM-1: callers set one on all but streams.
_DEFAULT_DEADLINE = 60.0
# Longest honored; the contract's callers never set more.
_MAX_DEADLINE = 3600.0

_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
_CODES: dict[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}
# What an operator must see: bugs, permissions, credentials.
_OPERATOR_CODES = {2, 7, 13, 16}

Context = grpc.aio.ServicerContext[bytes, bytes]


@dataclass(frozen=True)
class UnaryMethod:
    """A method with one answer."""

    name: str
    request: type[Message] | None
    """None: refused, whatever it says."""
    mutation: bool
    work: Callable[[Any, Call], Awaitable[Message]]


@dataclass(frozen=True)
class StreamMethod:
    """A method with many answers. `duplex`: its requests come as a stream too."""

    name: str
    request: type[Message] | None
    work: Callable[[Any, Call], AsyncIterator[Message]]
    duplex: bool = False


Method = UnaryMethod | StreamMethod


@dataclass
class RpcServer:
    """What happens around the methods of all services."""

    log: Log
    metrics: Metrics
    slow_consumer: float = 30.0
    """Seconds that a stream waits for a reader that does not read."""
    drain: asyncio.Event = field(default_factory=asyncio.Event)
    force: asyncio.Event = field(default_factory=asyncio.Event)
    running: set[asyncio.Task[Any]] = field(default_factory=set)
    """Calls in progress."""

    def handler(self, service: str, methods: list[Method], *, refuse_while_draining: bool) -> grpc.GenericRpcHandler:
        """Return a service as grpc wants it."""
        return grpc.method_handlers_generic_handler(
            service, {method.name: self._method(method, refuse=refuse_while_draining) for method in methods}
        )

    def _method(self, method: Method, *, refuse: bool) -> grpc.RpcMethodHandler[bytes, bytes]:
        if isinstance(method, UnaryMethod):

            async def unary(request: bytes, context: Context) -> bytes:
                return await self._unary(method, request, context, refuse=refuse)

            return grpc.unary_unary_rpc_method_handler(unary)

        async def stream(request: Any, context: Context) -> None:
            await self._stream(method, request, context, refuse=refuse)

        make = grpc.stream_stream_rpc_method_handler if method.duplex else grpc.unary_stream_rpc_method_handler
        return make(stream)

    async def _unary(self, method: UnaryMethod, request: bytes, context: Context, *, refuse: bool) -> bytes:
        call = _open(method, context)
        started = time.monotonic()
        with _Running(self.running), self.metrics.under_way(call.method):
            try:
                if refuse and self.drain.is_set():
                    raise draining()  # noqa: TRY301 - answered like what a handler raises
                work = asyncio.ensure_future(method.work(_parse(method, request), call))
                answer = (await self._until_deadline(work, call)).SerializeToString()
            except asyncio.CancelledError:
                self.metrics.ended(call.method, grpc.StatusCode.CANCELLED.name, "", time.monotonic() - started)
                raise
            except Exception as error:  # noqa: BLE001 - every failure gets a status
                failure = self._failure(error, call)
            else:
                self._end(call, None, started)
                context.set_trailing_metadata((("x-request-id", call.request_id),))
                return answer
            self._end(call, failure, started)
            await _abort(context, call, failure)
            return b""

    async def _until_deadline(self, work: asyncio.Future[Message], call: Call) -> Message:
        """Wait for the work no longer than the caller does; a handler that ignores its end must not keep the caller."""
        forced = asyncio.ensure_future(self.force.wait())
        left = None if call.deadline is None else max(0.0, call.deadline - time.monotonic())
        try:
            both: set[asyncio.Future[Any]] = {work, forced}
            await asyncio.wait(both, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            if forced.done():
                raise draining()
            raise _deadline_passed(call)
        finally:
            forced.cancel()
            work.cancel()
            work.add_done_callback(lambda late: late.cancelled() or late.exception())

    async def _stream(self, method: StreamMethod, request: Any, context: Context, *, refuse: bool) -> None:
        call = _open(method, context)
        started = time.monotonic()
        with _Running(self.running), self.metrics.under_way(call.method):
            try:
                if refuse and self.drain.is_set():
                    raise draining()  # noqa: TRY301 - answered like what a handler raises
                parsed = request if method.duplex else _parse(method, request)
                answers = method.work(parsed, call)
                try:
                    await self._pump(answers, context, call)
                finally:
                    close = getattr(answers, "aclose", None)
                    if close is not None:
                        await close()
            except asyncio.CancelledError:
                self.metrics.ended(call.method, grpc.StatusCode.CANCELLED.name, "", time.monotonic() - started)
                raise
            except Exception as error:  # noqa: BLE001 - every failure gets a status
                failure = self._failure(error, call)
            else:
                self._end(call, None, started)
                context.set_trailing_metadata((("x-request-id", call.request_id),))
                return
            self._end(call, failure, started)
            await _abort(context, call, failure)

    async def _pump(self, answers: AsyncIterator[Message], context: Context, call: Call) -> None:
        """Write no faster than the peer reads: memory stays bounded."""
        async for answer in answers:
            if call.deadline is not None and time.monotonic() >= call.deadline:
                raise _deadline_passed(call)
            try:
                await asyncio.wait_for(context.write(answer.SerializeToString()), self.slow_consumer)
            except asyncio.TimeoutError:
                text = f"The reader of the stream took nothing for {self.slow_consumer:.0f} s"
                raise ProviderError("SLOW_CONSUMER", text) from None

    def _failure(self, error: Exception, call: Call) -> ProviderError:
        """Return what the peer sees, and log what it must not see."""
        correlation_id = str(uuid.uuid4())
        found = classify(error, mutation=call.mutation, correlation_id=correlation_id)
        failure = permitted(found.error, call.method)
        facts = {**call.facts, "reason": failure.reason, "error": error}
        if found.masked or failure is not found.error:
            # One that had to be replaced is a slip of the provider, like one that was not expected.
            text = "A call failed in a way the provider did not expect"
            self.log.error(text, extra={**facts, "correlationId": correlation_id})
        elif failure.code in _OPERATOR_CODES:
            self.log.warning("A call failed", extra=facts)
        else:
            self.log.debug("A call failed", extra=facts)
        return failure

    def _end(self, call: Call, failure: ProviderError | None, started: float) -> None:
        elapsed = time.monotonic() - started
        code = _CODES[0] if failure is None else _CODES.get(failure.code, grpc.StatusCode.UNKNOWN)
        reason = "" if failure is None else failure.reason
        self.metrics.ended(call.method, code.name, reason, elapsed)
        self.log.debug("Answered", extra={**call.facts, "outcome": reason or "OK", "elapsedMs": round(elapsed * 1e3)})


class _Running:
    """Counts the current task among the calls in progress."""

    def __init__(self, running: set[asyncio.Task[Any]]) -> None:
        self._running = running
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        if self._task is not None:
            self._running.add(self._task)

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._running.discard(self._task)


def _open(method: Method, context: Context) -> Call:
    metadata: dict[str, str] = {}
    for key, value in context.invocation_metadata() or ():
        if isinstance(value, str):
            metadata.setdefault(key, value)
    request_id = metadata.get("x-request-id", "")
    traceparent = metadata.get("traceparent", "")
    left: float | None = context.time_remaining()
    unary = isinstance(method, UnaryMethod)
    if left is None or left > _MAX_DEADLINE * 24 * 365 * 100:
        left = _DEFAULT_DEADLINE if unary else None
    return Call(
        method=method.name,
        mutation=method.mutation if isinstance(method, UnaryMethod) else False,
        request_id=request_id if _REQUEST_ID.fullmatch(request_id) else str(uuid.uuid4()),
        # A malformed trace context is ignored, as W3C demands: it must never fail a call.
        traceparent=traceparent if _TRACEPARENT.fullmatch(traceparent) else None,
        deadline=None if left is None else time.monotonic() + min(left, _MAX_DEADLINE),
    )


def _parse(method: Method, request: bytes) -> Message | None:
    if method.request is None:
        return None
    parsed = method.request()
    try:
        parsed.ParseFromString(request)
    except DecodeError as error:
        text = f"The request of {method.name} is not a valid protobuf message"
        raise ProviderError("FIELD_INVALID", text) from error
    return parsed


def _deadline_passed(call: Call) -> ProviderError:
    if call.mutation:
        text = f"{call.method} did not end before its deadline; the change may still be under way"
        return ProviderError("DEADLINE_PASSED", text)
    return ProviderError("CLOUD_TIMEOUT", f"{call.method} did not end before its deadline")


async def _abort(context: Context, call: Call, failure: ProviderError) -> None:
    text, details = call_status(failure)
    trailers = (("x-request-id", call.request_id), ("grpc-status-details-bin", details))
    await context.abort(_CODES.get(failure.code, grpc.StatusCode.UNKNOWN), text, trailers)
