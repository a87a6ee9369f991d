"""Serves list RPCs from generators: pages, tokens, and what was read kept so that each page can be asked for again."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from google.protobuf.message import Message

from cloudwire_provider import v1
from cloudwire_provider._server.rules import answer_problem
from cloudwire_provider._server.runtime import Runtime
from cloudwire_provider._state.lru import Lru
from cloudwire_provider._telemetry.call_recorder import Call, CallRecorder
from cloudwire_provider.context import CallContext
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.results import ResumeFrom, Unreachable

ItemT = TypeVar("ItemT", bound=Message)

# Pages are at most 1 MiB; the rest is for what surrounds the items. Contract, LST-1.
_MAX_PAGE_BYTES = 900 * 1024
# Tokens are good for at least 10 minutes. Contract, LST-3.
_WALK_MAX_AGE = 660.0
# Lists that are being read at once; one controller reads a handful.
_MAX_WALKS = 64

ListRequest = v1.ListInstancesRequest | v1.ListLoadBalancersRequest | v1.ListRoutesRequest


def page_token_invalid() -> ProviderError:
    """Make the refusal of a token, regardless of its problem."""
    text = (
        "page_token is not one of this provider's, has expired, or belongs to another request; list from the first page"
    )
    return ProviderError("PAGE_TOKEN_INVALID", text, field="page_token")


class PageTokens:
    """Makes and reads page tokens: opaque, signed, bound to the request that began the walk."""

    _FORMAT = re.compile(r"([\w-]{1,64})\.([0-9]{1,9})\.([\w-]{43})", re.ASCII)

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def sign(self, walk_id: str, offset: int, binding: bytes) -> str:
        """Make the token of a place in a walk. `binding`: all of the request but page size and token."""
        payload = f"{walk_id}.{offset}"
        return f"{payload}.{self._signature(payload, binding)}"

    def read(self, token: str, binding: bytes) -> tuple[str, int]:
        """Return walk and offset; raises PAGE_TOKEN_INVALID for a token not made by this process for this request."""
        match = self._FORMAT.fullmatch(token)
        if match is None:
            raise page_token_invalid()
        walk_id, offset, signature = match.groups()
        if not hmac.compare_digest(signature, self._signature(f"{walk_id}.{offset}", binding)):
            raise page_token_invalid()
        return walk_id, int(offset)

    def _signature(self, payload: str, binding: bytes) -> str:
        digest = hmac.new(self._key, payload.encode() + b"\0" + binding, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass
class _Walk(Generic[ItemT]):
    """One run of the provider's generator, read no further than pages ask for."""

    events: AsyncIterator[Any]
    recorder: CallRecorder
    items: list[tuple[ItemT, int]] = field(default_factory=list)
    """With their sizes in bytes."""
    unreachable: dict[str, None] = field(default_factory=dict)
    resume_token: str = ""
    ended: bool = False
    reading: asyncio.Task[None] | None = None

    def close(self) -> None:
        """End the provider's work: the client reads no further."""
        self.recorder.cancelled.set()
        if self.reading is not None:
            self.reading.cancel()


@dataclass(frozen=True)
class Page(Generic[ItemT]):
    """One page, in the words that all list RPCs share."""

    items: Sequence[ItemT]
    next_page_token: str
    unreachable: Sequence[str]
    resume_token: str
    complete: bool
    stats: v1.CallStats
    recorder: CallRecorder


class PagedList(Generic[ItemT]):
    """Serves one list RPC."""

    def __init__(
        self,
        runtime: Runtime,
        handler: Callable[..., Any] | None,
        max_page_size: int,
        convert: Callable[[Any, v1.ClusterRef], ItemT],
        context: Callable[[CallRecorder], CallContext] = CallContext,
    ) -> None:
        self._runtime = runtime
        self._handler = handler
        self._max_page_size = max_page_size
        self._convert = convert
        self._context = context
        self._tokens = PageTokens()
        self._walks: Lru[_Walk[ItemT]] = Lru(_MAX_WALKS, _WALK_MAX_AGE, dropped=_Walk.close)

    async def page(self, request: ListRequest, call: Call) -> Page[ItemT]:
        """Answer one page."""
        binding = call.method.encode() + b"\0" + request.context.SerializeToString(deterministic=True)
        if request.page_token:
            walk_id, offset = self._tokens.read(request.page_token, binding)
            walk = self._walks.get(walk_id)
            if walk is None:
                raise page_token_invalid()
            # The deadline of the page being read, for the provider's context.
            walk.recorder.call.deadline = call.deadline
        else:
            walk_id, offset = uuid.uuid4().hex, 0
            walk = self._open(request, call)
        try:
            end = await self._read_to(walk, offset, self._size(request.page_size))
        except asyncio.CancelledError:
            # The caller's own impatience leaves the walk to its next try.
            if offset == 0:
                walk.close()
            raise
        except BaseException:
            self._walks.remove(walk_id)
            walk.close()
            raise
        unreachable = [*walk.unreachable, *_unreliable_places(walk.recorder)]
        more = end < len(walk.items)
        if more or offset > 0:
            # Setting it again makes it young again: its tokens are good from now on.
            self._walks.set(walk_id, walk)
        return Page(
            items=[item for item, _ in walk.items[offset:end]],
            next_page_token=self._tokens.sign(walk_id, end, binding) if more else "",
            unreachable=unreachable,
            resume_token="" if more else walk.resume_token,
            complete=not more and not unreachable,
            stats=walk.recorder.stats(take=True),
            recorder=walk.recorder,
        )

    def close(self) -> None:
        """End all walks."""
        self._walks.clear()

    def _size(self, wanted: int) -> int:
        return min(wanted, self._max_page_size) if wanted else self._max_page_size

    def _open(self, request: ListRequest, call: Call) -> _Walk[ItemT]:
        recorder = self._runtime.recorder(request.context, replace(call))
        if self._handler is None:
            msg = "the provider has no list"
            raise TypeError(msg)
        events = self._runtime.items(self._handler, recorder, self._context(recorder))
        return _Walk(events, recorder)

    async def _read_to(self, walk: _Walk[ItemT], offset: int, max_items: int) -> int:
        """Read until it is known where the page ends: one item ahead, so that no last page is empty."""
        index, size = offset, 0
        while True:
            while index < len(walk.items):
                size += walk.items[index][1]
                full = index - offset >= max_items or size > _MAX_PAGE_BYTES
                # A page has at least one item, however large.
                if full and index > offset:
                    return index
                index += 1
            if walk.ended:
                return len(walk.items)
            if walk.reading is None:
                walk.reading = asyncio.ensure_future(self._read_one(walk))
            reading = walk.reading
            await asyncio.shield(reading)
            walk.reading = None if walk.reading is reading else walk.reading

    async def _read_one(self, walk: _Walk[ItemT]) -> None:
        try:
            event = await walk.events.__anext__()
        except StopAsyncIteration:
            walk.ended = True
            return
        if isinstance(event, Unreachable):
            walk.unreachable[event.place] = None
        elif isinstance(event, ResumeFrom):
            walk.resume_token = event.token
        else:
            self._take(walk, event)

    def _take(self, walk: _Walk[ItemT], event: Any) -> None:
        """One object that breaks the contract must not hide the others, but the list is not complete without it."""
        try:
            item = self._convert(event, walk.recorder.cluster)
            problem = answer_problem(item)
        except (TypeError, ValueError) as error:
            problem = ProviderError("INVARIANT_BROKEN", f"the list yielded {type(event).__name__}: {error}")
        if problem is None:
            walk.items.append((item, item.ByteSize()))
            return
        method = walk.recorder.call.method
        text = "A list yielded an object that breaks the contract; it is left out"
        walk.recorder.log.error(text, extra={"error": problem})
        walk.unreachable[f"an object that breaks the contract in {method}"] = None


def _unreliable_places(recorder: CallRecorder) -> Sequence[str]:
    """Name what a list may lack that continued after a refusal or an outage."""
    failure = next((error for error in recorder.errors if error.forbids_absence), None)
    return [] if failure is None else [f"what a request that met {failure.reason} would have shown"]
