"""Makes a watch from a list, for clouds without a change feed."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Generic, TypeVar

from cloudwire_provider import v1
from cloudwire_provider.context import CallContext, forked
from cloudwire_provider.definition import InstanceEvent, Items, LoadBalancerEvent
from cloudwire_provider.errors import Cancelled, ProviderError
from cloudwire_provider.requests import WatchRequest
from cloudwire_provider.results import (
    Absent,
    Bookmark,
    InstanceGone,
    LoadBalancerGone,
    ResumeFrom,
    Resync,
    Unreachable,
    Upsert,
)

ItemT = TypeVar("ItemT", v1.Instance, v1.LoadBalancer)
EventT = TypeVar("EventT", InstanceEvent, LoadBalancerEvent)

List = Callable[[CallContext], Items["ItemT | Unreachable | ResumeFrom"]]
Watch = Callable[[WatchRequest, CallContext], Items[EventT]]

_DEFAULT_INTERVAL = 60.0
_MIN_INTERVAL = 1.0


def watch_instances_from_list(list_instances: List[v1.Instance], interval: float = _DEFAULT_INTERVAL) -> Watch[Any]:
    """
    Make a watch of instances that lists repeatedly, `interval` seconds after the end of the last list, at least 1.

    `provider.instances.watch(watch_instances_from_list(list_machines))`. It yields what is new, changed or deleted. An object
    counts as deleted only if a complete list does not contain it. A list that raised, that yielded `unreachable`, or during
    which a request was rejected or failed, deletes nothing and does not end the watch: the next list catches up. An error of
    the first list ends the watch, and so does each resume token, because nothing is kept beyond it.
    """
    return _watch(list_instances, lambda item: item.provider_id, _instance_gone, interval)


def watch_load_balancers_from_list(
    list_load_balancers: List[v1.LoadBalancer], interval: float = _DEFAULT_INTERVAL
) -> Watch[Any]:
    """Make a watch of load balancers, as `watch_instances_from_list` does; the list must yield each with its `service`."""
    return _watch(list_load_balancers, _service_uid, _load_balancer_gone, interval)


def _watch(
    handler: Callable[..., Any], key_of: Callable[[Any], str], gone: Callable[[Any, Absent], Any], interval: float
) -> Watch[Any]:
    pause = max(_MIN_INTERVAL, interval)

    def watch(request: WatchRequest, context: CallContext) -> Iterator[Any]:
        comparison = _Comparison(key_of, gone, request)
        while True:
            run = comparison.begin(context)
            try:
                for item in handler(run.context):
                    yield from run.take(item)
            except Exception as error:  # noqa: BLE001 - of the vendor's list, whatever it is
                comparison.failed(error, context)
            else:
                yield from run.end()
            context.sleep(pause)

    async def watch_async(request: WatchRequest, context: CallContext) -> AsyncIterator[Any]:
        comparison = _Comparison(key_of, gone, request)
        while True:
            run = comparison.begin(context)
            try:
                async for item in handler(run.context):
                    for event in run.take(item):
                        yield event
            except Exception as error:  # noqa: BLE001 - of the vendor's list, whatever it is
                comparison.failed(error, context)
            else:
                for event in run.end():
                    yield event
            await asyncio.sleep(pause)

    return watch_async if inspect.isasyncgenfunction(handler) else watch


@dataclass
class _Comparison(Generic[ItemT]):
    """The state of the receiver."""

    key_of: Callable[[ItemT], str]
    gone: Callable[[ItemT, Absent], Any]
    request: WatchRequest
    known: dict[str, ItemT] = field(default_factory=dict)
    first: bool = True

    def __post_init__(self) -> None:
        if self.request.resume_token:
            text = (
                "this provider compares lists and cannot continue after a token; list, then watch with initial events"
            )
            raise ProviderError("RESUME_TOKEN_EXPIRED", text)

    def begin(self, context: CallContext) -> _ListRun[ItemT]:
        """Start a list. It has its own context, because only its own failures make it unreliable."""
        return _ListRun(self, *forked(context), datetime.now(timezone.utc))

    def failed(self, error: Exception, context: CallContext) -> None:
        """Handle the error of a list; raises it again if it ends the watch."""
        if self.first or isinstance(error, Cancelled) or context.cancelled:
            raise error
        text = "A list for a watch failed; nothing is concluded from it, and it is tried again"
        context.log.warning(text, extra={"error": error})


@dataclass
class _ListRun(Generic[ItemT]):
    """One list, compared with the known state."""

    comparison: _Comparison[ItemT]
    context: CallContext
    missing: Callable[[], str]
    started: datetime
    seen: set[str] = field(default_factory=set)
    unreachable: str = ""

    def take(self, item: ItemT | Unreachable | ResumeFrom) -> Iterator[Any]:
        """Yield new and changed objects."""
        if isinstance(item, Unreachable):
            self.unreachable = item.place
        if isinstance(item, (Unreachable, ResumeFrom)):
            return
        key, known = self.comparison.key_of(item), self.comparison.known
        self.seen.add(key)
        if known.get(key) != item:
            # A copy: what the list yields is the vendor's to change.
            known[key] = type(item).FromString(item.SerializeToString())
            if not self.comparison.first or self.comparison.request.send_initial_events:
                yield Upsert(item)

    def end(self) -> Iterator[Any]:
        """Yield deleted objects, if the list proves it. Call it only after the list has ended normally."""
        gap = f"{self.unreachable} could not be read" if self.unreachable else self.missing()
        if self.comparison.first:
            self.comparison.first = False
            if self.comparison.request.send_initial_events:
                yield Bookmark(initial_events_end=True)
            if gap:
                yield Resync(gap)
            return
        if gap:
            return
        known = self.comparison.known
        for key in [key for key in known if key not in self.seen]:
            absence = Absent("COMPLETE_LIST_MISS", observe_time=self.started)
            yield self.comparison.gone(known.pop(key), absence)


def _instance_gone(machine: v1.Instance, absence: Absent) -> InstanceGone:
    return InstanceGone(machine.provider_id, absence)


def _load_balancer_gone(balancer: v1.LoadBalancer, absence: Absent) -> LoadBalancerGone:
    return LoadBalancerGone(balancer.service, absence, id=balancer.id)


def _service_uid(balancer: v1.LoadBalancer) -> str:
    if balancer.service.uid:
        return balancer.service.uid
    text = f"the list yielded the load balancer {balancer.id} without its service: its owner is unknown"
    raise ProviderError("INVARIANT_BROKEN", text)
