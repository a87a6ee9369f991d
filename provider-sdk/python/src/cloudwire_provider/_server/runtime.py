"""What the services of one running provider share, and how they run handlers: in threads, or on the event loop."""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from time import time
from typing import Any, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from cloudwire_provider import v1
from cloudwire_provider._telemetry.call_recorder import Call, CallRecorder, Shared
from cloudwire_provider.definition import Provider
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.log import Log

T = TypeVar("T")

# Look-ups and changes of single routes at once, over all calls.
MAX_SINGLES = 16
# Items of a `def` generator that are taken in one go: a change of threads for each would cost more than most items.
_CHUNK = 64


class Workers:
    """
    A bounded number of threads.

    They are daemons: a handler that never ends must not keep the process from ending, as those of concurrent.futures do.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self.closed = False
        """The provider has ended: threads that still run are not waited for."""

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run work in a thread; a future that is cancelled before its turn is not run."""
        future: Future[T] = Future()
        self._jobs.put((future, work))
        with self._lock:
            if self._idle == 0 and self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._serve, name="cloudwire-handler", daemon=True).start()
        return future

    def _serve(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            future, work = self._jobs.get()
            with self._lock:
                self._idle -= 1
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - the waiting caller gets it
                future.set_exception(error)
            # A thread that waits for its next job must keep nothing of the last one alive.
            del future, work


@dataclass
class Runtime:
    """What the services of one running provider share."""

    provider: Provider
    boot_id: str
    capabilities: v1.Capabilities
    limits: v1.Limits
    log: Log
    scope_id: Callable[[], str]
    """What the credentials reach now; empty until it is known."""
    shared: Shared
    workers: Workers
    watchers: Workers
    """Threads of `def` watches, each of which holds one for as long as it is read."""
    draining: asyncio.Event = field(default_factory=asyncio.Event)

    def known_scope(self) -> str:
        """Return the scope, or refuse so that the caller comes again."""
        scope_id = self.scope_id()
        if scope_id:
            return scope_id
        text = "The provider does not know yet what its credentials reach; it keeps asking the cloud"
        raise ProviderError("PROVIDER_STARTING", text, retry_after=2.0)

    def recorder(self, context: v1.CallContext, call: Call) -> CallRecorder:
        """Return the recorder of one call."""
        return CallRecorder(call, context.cluster, self.log.child(**call.facts), self.shared)

    async def run(self, handler: Callable[..., Any] | None, recorder: CallRecorder, *args: Any) -> Any:
        """
        Run a handler, `def` or `async def`. Its context reports cancellation.

        A thread cannot be stopped: a `def` handler that is cancelled is waited for, so that changes never overlap.
        """
        if handler is None:
            msg = "the provider has no handler for this"
            raise TypeError(msg)
        try:
            if inspect.iscoroutinefunction(handler):
                return await handler(*args)
            answer = await in_thread(self.workers, lambda: handler(*args), recorder.cancelled)
            # A callable that is not an `async def` may return a coroutine.
            return await answer if inspect.isawaitable(answer) else answer
        except asyncio.CancelledError:
            recorder.cancelled.set()
            raise

    def items(
        self, handler: Callable[..., Any], recorder: CallRecorder, *args: Any, one_by_one: bool = False
    ) -> AsyncIterator[Any]:
        """Run a generator, `def` or `async def`; `one_by_one` for one that waits between its items."""
        if inspect.isasyncgenfunction(handler) or inspect.iscoroutinefunction(handler):
            return _async_items(handler, recorder, args)
        return self._thread_items(handler, recorder, args, one_by_one=one_by_one)

    async def _thread_items(
        self, handler: Callable[..., Any], recorder: CallRecorder, args: tuple[Any, ...], *, one_by_one: bool
    ) -> AsyncIterator[Any]:
        workers = self.watchers if one_by_one else self.workers
        opened: Any = await in_thread(workers, lambda: handler(*args), recorder.cancelled)
        if hasattr(opened, "__aiter__"):
            async for item in opened:
                yield item
            return
        iterator: Iterator[Any] = iter(opened)
        size = 1 if one_by_one else _CHUNK
        try:
            while chunk := await in_thread(workers, lambda: _take(iterator, size), recorder.cancelled):
                for item in chunk.items:
                    yield item
                if chunk.error is not None:
                    raise chunk.error
                if len(chunk.items) < size:
                    return
        finally:
            recorder.cancelled.set()
            close = getattr(iterator, "close", None)
            if close is not None:
                workers.submit(lambda: _quietly(close))


@dataclass
class _Chunk:
    items: list[Any]
    error: BaseException | None = None


def _take(iterator: Iterator[Any], size: int) -> _Chunk:
    """Take items until there are enough; what came before an error is not lost."""
    chunk = _Chunk([])
    try:
        while len(chunk.items) < size:
            chunk.items.append(next(iterator))
    except StopIteration:
        pass
    except Exception as error:  # noqa: BLE001 - raised by the reader, after the items
        chunk.error = error
    return chunk


def _quietly(close: Callable[[], object]) -> None:
    # "generator already executing": it ends when it sees the cancellation of its context.
    with suppress(Exception):
        close()


async def _async_items(
    handler: Callable[..., Any], recorder: CallRecorder, args: tuple[Any, ...]
) -> AsyncIterator[Any]:
    opened: Any = handler(*args)
    if inspect.isawaitable(opened):
        opened = await opened
    try:
        if hasattr(opened, "__aiter__"):
            async for item in opened:
                yield item
        else:
            plain: Iterable[Any] = opened
            for item in plain:
                yield item
    finally:
        recorder.cancelled.set()
        close = getattr(opened, "aclose", None)
        if close is not None:
            await close()


async def in_thread(workers: Workers, work: Callable[[], T], cancelled: threading.Event) -> T:
    """Run work in a thread. On cancellation, set `cancelled` and wait for the work."""
    running = workers.submit(work)
    future = asyncio.wrap_future(running)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        cancelled.set()
        if not running.cancel():
            await _really_ended(future, workers)
        raise


async def _really_ended(future: asyncio.Future[Any], workers: Workers) -> None:
    while not future.done() and not workers.closed:
        with suppress(asyncio.CancelledError):
            await asyncio.wait([future])
    if future.done() and not future.cancelled():
        future.exception()


def now_timestamp() -> Timestamp:
    """Return the current time in the contract's type."""
    now = Timestamp()
    now.FromNanoseconds(round(time() * 1e9))
    return now


def draining() -> ProviderError:
    """Make the refusal of calls and the end of streams while the provider shuts down."""
    text = "The provider is shutting down; call again when it is back"
    return ProviderError("PROVIDER_DRAINING", text, retry_after=1.0)
