"""Asks a provider about many objects, together or one by one, so that one object's failure is not the others'."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from cloudwire_provider import v1
from cloudwire_provider._methods.results import absence, refuse_absence, to_timestamp
from cloudwire_provider._server.classify import classify
from cloudwire_provider._server.runtime import MAX_SINGLES, Runtime, now_timestamp
from cloudwire_provider._server.status import permitted
from cloudwire_provider._state.shared_task import SharedTask
from cloudwire_provider._telemetry.call_recorder import CallRecorder
from cloudwire_provider.context import ReadContext
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.results import Absent, Cached, NotOwned

RefT = TypeVar("RefT")

# Age of data that a read may have when the caller does not say. Contract, BAT-4.
DEFAULT_MAX_DATA_AGE = 30.0

Outcome = Message | v1.Absence | v1.NotOwned | ProviderError


@dataclass(frozen=True)
class Learned:
    """What was learned about one object, and when the cloud was read for it."""

    outcome: Outcome
    read_time: Timestamp


@dataclass
class _Flight:
    started: float
    task: SharedTask[Learned]


class BatchLookUp(Generic[RefT]):
    """Looks objects up with the provider's `get` or `get_many`."""

    def __init__(
        self,
        runtime: Runtime,
        found: type[Message],
        get: Callable[..., Any] | None,
        get_many: Callable[..., Any] | None,
        refuse: Callable[[RefT, Absent], ProviderError | None] = lambda _ref, _absent: None,
    ) -> None:
        self._runtime = runtime
        self._found = found
        self._get = get
        self._get_many = get_many
        self._refuse = refuse
        self._limit = asyncio.Semaphore(MAX_SINGLES)
        self._flights: dict[str, _Flight] = {}
        self._cleaners: set[asyncio.Task[None]] = set()

    async def ask(self, refs: Mapping[str, RefT], recorder: CallRecorder, max_age: float) -> Mapping[str, Learned]:
        """Return one result for each key; equal questions have equal keys."""
        if not refs:
            return {}
        if self._get_many is not None:
            return await self._ask_together(refs, recorder, max_age)
        flights = [self._shared(key, ref, recorder, max_age).join() for key, ref in refs.items()]
        return dict(zip(refs, await asyncio.gather(*flights), strict=True))

    def _shared(self, key: str, ref: RefT, recorder: CallRecorder, max_age: float) -> SharedTask[Learned]:
        """Join a lookup of the same object that another call began, if its data will be young enough."""
        now = time.monotonic()
        current = self._flights.get(key)
        if current is not None and not current.task.abandoned and now - current.started < max_age:
            return current.task
        flight = _Flight(now, SharedTask(self._ask_one(ref, recorder.fork(), max_age)))
        self._flights[key] = flight
        cleaner = asyncio.ensure_future(self._forget_when_settled(key, flight))
        self._cleaners.add(cleaner)
        cleaner.add_done_callback(self._cleaners.discard)
        return flight.task

    async def _forget_when_settled(self, key: str, flight: _Flight) -> None:
        await flight.task.settled()
        if self._flights.get(key) is flight:
            del self._flights[key]

    async def _ask_one(self, ref: RefT, recorder: CallRecorder, max_age: float) -> Learned:
        read_time = now_timestamp()
        answer: Any
        try:
            async with self._limit:
                read_time = now_timestamp()
                answer = await self._runtime.run(self._get, recorder, ref, ReadContext(recorder, max_age))
        except Exception as error:  # noqa: BLE001 - it is the item's outcome
            answer = self._note(error, recorder)
        return self._learned(ref, answer, recorder.errors, read_time)

    async def _ask_together(
        self, refs: Mapping[str, RefT], recorder: CallRecorder, max_age: float
    ) -> Mapping[str, Learned]:
        read_time = now_timestamp()
        context = ReadContext(recorder, max_age)
        answers: Sequence[Any] = await self._runtime.run(self._get_many, recorder, list(refs.values()), context)
        if len(answers) != len(refs):
            text = f"get_many answered {len(answers)} items to {len(refs)} questions"
            raise ProviderError("INVARIANT_BROKEN", text)
        # Every error is recorded before any absence is evaluated.
        noted = [self._note(answer, recorder) if isinstance(answer, Exception) else answer for answer in answers]
        return {
            key: self._learned(ref, answer, recorder.errors, read_time)
            for (key, ref), answer in zip(refs.items(), noted, strict=True)
        }

    def _learned(self, ref: RefT, answer: Any, errors: Sequence[ProviderError], read_time: Timestamp) -> Learned:
        if isinstance(answer, Cached):
            answer, read_time = answer.value, to_timestamp(answer.read_time)
        if isinstance(answer, NotOwned):
            return Learned(v1.NotOwned(message=answer.message), read_time)
        if isinstance(answer, (ProviderError, self._found)):
            return Learned(answer, read_time)
        if not isinstance(answer, Absent):
            text = f"the provider answered {type(answer).__name__}, which says nothing about the object"
            return Learned(ProviderError("INVARIANT_BROKEN", text), read_time)
        refused = refuse_absence(answer, errors) or self._refuse(ref, answer)
        if refused is not None:
            return Learned(refused, read_time)
        said = absence(answer, read_time)
        return Learned(said, said.observe_time)

    def _note(self, raised: Exception, recorder: CallRecorder) -> ProviderError:
        return note_item_error(raised, recorder, mutation=False)


def note_item_error(raised: Exception, recorder: CallRecorder, *, mutation: bool) -> ProviderError:
    """Return the error of one item as the caller may see it, and log what the caller must not see."""
    correlation_id = str(uuid.uuid4())
    found = classify(raised, mutation=mutation, correlation_id=correlation_id)
    error = permitted(found.error, recorder.call.method, item=True)
    recorder.note_error(error)
    if found.masked or error is not found.error:
        facts = {"correlationId": correlation_id, "error": raised}
        recorder.log.error("An item failed in a way the provider did not expect", extra=facts)
    return error
