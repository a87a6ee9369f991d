"""Serves watch RPCs from generators: adds heartbeats, and never ends with OK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from cloudwire_provider import v1
from cloudwire_provider._server.rules import answer_problem
from cloudwire_provider._server.runtime import Runtime, draining
from cloudwire_provider._telemetry.call_recorder import Call
from cloudwire_provider.context import CallContext
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.requests import WatchRequest
from cloudwire_provider.results import Bookmark, Resync

EventT = TypeVar("EventT", v1.WatchInstancesResponse, v1.WatchLoadBalancersResponse)

# A message comes at least every 30 s (contract, WAT-3); this leaves room for a slow path.
HEARTBEAT = 20.0


async def serve_watch(  # noqa: PLR0913, PLR0917 - what the two watches do not share
    runtime: Runtime,
    handler: Callable[..., Any],
    convert: Callable[[Any], EventT],
    response: type[EventT],
    request: v1.WatchInstancesRequest | v1.WatchLoadBalancersRequest,
    call: Call,
    heartbeat: float = HEARTBEAT,
) -> AsyncIterator[EventT]:
    """Yield the events of the provider's generator, and a bookmark when there is nothing else."""
    recorder = runtime.recorder(request.context, call)
    opening = WatchRequest(resume_token=request.resume_token, send_initial_events=request.send_initial_events)
    events = runtime.items(handler, recorder, opening, CallContext(recorder), one_by_one=True)
    token = request.resume_token
    drained = asyncio.ensure_future(runtime.draining.wait())
    following: asyncio.Task[Any] | None = None
    try:
        while True:
            if following is None:
                following = asyncio.ensure_future(_next(events))
            await asyncio.wait({following, drained}, timeout=heartbeat, return_when=asyncio.FIRST_COMPLETED)
            if drained.done():
                raise draining()
            if not following.done():
                yield response(bookmark=v1.Bookmark(), resume_token=token)
                continue
            event = following.result()
            following = None
            if event is _END:
                text = "The provider's feed of changes has ended; watch again"
                raise ProviderError("CLOUD_UNAVAILABLE", text, retry_after=1.0)
            message = _message(event, convert, response)
            token = token if event.token is None else event.token
            message.resume_token = token
            yield message
    finally:
        # The provider's work ends with the stream, for whatever reason it ends.
        recorder.cancelled.set()
        drained.cancel()
        if following is not None:
            following.cancel()
            following.add_done_callback(lambda task: task.cancelled() or task.exception())


_END = object()


async def _next(events: AsyncIterator[Any]) -> Any:
    try:
        return await events.__anext__()
    except StopAsyncIteration:
        return _END


def _message(event: Any, convert: Callable[[Any], EventT], response: type[EventT]) -> EventT:
    """Return an event as it travels; one that breaks the contract ends the stream, so that the reader lists again."""
    try:
        message = _common(event, response) or convert(event)
    except (TypeError, ValueError) as error:
        raise ProviderError("INVARIANT_BROKEN", f"the watch yielded {type(event).__name__}: {error}") from error
    problem = answer_problem(message.upsert) if message.HasField("upsert") else None
    if problem is not None:
        raise problem
    return message


def _common(event: Any, response: type[EventT]) -> EventT | None:
    if isinstance(event, Bookmark):
        return response(bookmark=v1.Bookmark(initial_events_end=event.initial_events_end))
    if isinstance(event, Resync):
        return response(resync=v1.ResyncRequired(message=event.message))
    return None
