"""Runs the changes of one object one at a time, and lets those that take long go on without their callers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from cloudwire_provider import log
from cloudwire_provider._state.lru import Lru
from cloudwire_provider._state.shared_task import SharedTask, StillAtWorkError
from cloudwire_provider.errors import ProviderError

T = TypeVar("T")

# How many finished changes are remembered, and how long.
_MAX_REPLAYS = 1000
_REPLAY_MAX_AGE = 600.0
# Seconds after its cancellation at which a handler that still runs loses its key.
_ABANDONED_MAX = 600.0
# Delay in seconds reported to callers who find a key busy. Contract, LB-14.
_BUSY_RETRY = 2.0
MAX_OPERATION = 1800.0
"""Longest time that work may outlive its call, in seconds; clouds take up to 20 minutes for a load balancer."""
MAX_OPERATIONS = 100
"""Most pieces of work that outlive their calls; beyond it callers wait until their deadlines."""


@dataclass
class Change(Generic[T]):
    """A change that wants to run."""

    key: str
    """What is changed; changes of one key never overlap."""
    change_id: str
    digest: str
    """Distinguishes changes that carry the same id by mistake, and identifies equal changes with different ids."""
    work: Callable[[], Awaitable[T]]
    """Runs when the key is free; refuses by raising what became stale while it waited."""
    is_final: Callable[[T], bool]
    """Repeating the change is answered with this answer. False for work that goes on."""
    superseded: Callable[[], ProviderError | None] = lambda: None
    """Why it comes too late; asked before other work is ended for its sake."""
    pending: Callable[[], T] | None = None
    """The response while work takes longer than `patience`. Without it callers wait until their deadlines."""


@dataclass
class _ActiveChange(Generic[T]):
    change: Change[T]
    task: SharedTask[T]
    freed: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: bool = False
    superseded: bool = False
    """A newer change has replaced it: its result need not be reported."""

    def is_repeated_by(self, change: Change[T]) -> bool:
        """Every equal change joins work that outlived its call."""
        same = self.change.digest == change.digest and (self.change.change_id == change.change_id or self.task.kept)
        return same and not self.task.abandoned


class ChangeSerializer(Generic[T]):
    """
    Runs changes one at a time for each key: one runs, one may wait, a third must retry.

    A repetition of the running change joins it, a repetition of a finished one gets its answer. Work that takes longer than
    `patience` seconds goes on without its callers: equal changes join it, another change ends it and
    follows, and its failure is kept for the next caller.
    """

    def __init__(self, patience: float | None = None) -> None:
        self._patience = patience
        self._active: dict[str, _ActiveChange[T]] = {}
        self._replays: Lru[tuple[str, T]] = Lru(_MAX_REPLAYS, _REPLAY_MAX_AGE)
        self._failures: Lru[tuple[str, BaseException]] = Lru(_MAX_REPLAYS, _REPLAY_MAX_AGE)
        self._watchers: set[asyncio.Task[None]] = set()
        self._operations = 0
        self._closed = False

    async def run(self, change: Change[T]) -> T:
        """Run a change, join it, or answer from memory."""
        patience = self._patience if change.pending is not None else None
        end = None if patience is None else _now() + patience
        while True:
            replay = self._replays.get((change.key, change.change_id))
            if replay is not None and replay[0] == change.digest:
                return replay[1]
            active = self._active.get(change.key)
            if active is None:
                self._raise_unreported_failure(change)
                active = self._start(change)
            if active.change is change or active.is_repeated_by(change):
                return await self._join(active, end)
            await self._wait_for_turn(active, change, end)

    def state(self, key: str) -> Literal["running", "failed"] | None:
        """The state of work that outlived its call: running, or failed and not reported yet."""
        active = self._active.get(key)
        if active is not None and active.task.kept:
            return "running"
        return None if self._failures.get(key) is None else "failed"

    def close(self, reason: ProviderError) -> None:
        """End what outlived its calls; nothing else does from now on."""
        self._closed = True
        for active in self._active.values():
            if active.task.kept:
                active.task.abandon(reason)

    async def _join(self, active: _ActiveChange[T], end: float | None) -> T:
        try:
            return await active.task.join(_left(end), lambda: self._keep(active))
        except StillAtWorkError:
            if active.change.pending is None:
                raise
            return active.change.pending()

    def _keep(self, active: _ActiveChange[T]) -> bool:
        """Let work go on without its callers, if it may."""
        if active.change.pending is None or self._closed or active.task.abandoned or self._operations >= MAX_OPERATIONS:
            return False
        self._operations += 1
        return True

    async def _wait_for_turn(self, active: _ActiveChange[T], change: Change[T], end: float | None) -> None:
        """Wait as the only one until the key is free. Another may have taken it between its release and this turn."""
        if active.waiting:
            raise _busy(change.key)
        if active.task.kept:
            superseded = change.superseded()
            if superseded is not None:
                raise superseded
            active.superseded = True
            active.task.abandon(_busy(change.key))
        active.waiting = True
        try:
            await asyncio.wait_for(active.freed.wait(), _left(end))
        except asyncio.TimeoutError:
            raise _busy(change.key) from None
        finally:
            active.waiting = False

    def _raise_unreported_failure(self, change: Change[T]) -> None:
        """Report it once: the next call retries."""
        failed = self._failures.get(change.key)
        self._failures.remove(change.key)
        if failed is not None and failed[0] == change.digest:
            raise failed[1]

    def _start(self, change: Change[T]) -> _ActiveChange[T]:
        active = _ActiveChange(change, SharedTask(self._work(change)))
        self._active[change.key] = active
        watcher = asyncio.ensure_future(self._free_when_settled(active))
        self._watchers.add(watcher)
        watcher.add_done_callback(self._watchers.discard)
        return active

    async def _work(self, change: Change[T]) -> T:
        answer = await change.work()
        if change.is_final(answer):
            self._replays.set((change.key, change.change_id), (change.digest, answer))
        return answer

    async def _free_when_settled(self, active: _ActiveChange[T]) -> None:
        """Keep the key while the handler works, even when every caller has gone: the cloud may still change."""
        try:
            while not await active.task.settled_or_abandoned(MAX_OPERATION):
                if active.task.kept:
                    text = f"it did not end within {MAX_OPERATION / 60:.0f} minutes"
                    active.task.abandon(ProviderError("DEADLINE_PASSED", text))
            if await active.task.settled(_ABANDONED_MAX):
                self._remember_failure(active)
            else:
                text = "A change ignores its cancellation; its key is free again"
                log.root.error(text, extra={"key": active.change.key})
        finally:
            self._operations -= active.task.kept
            del self._active[active.change.key]
            active.freed.set()

    def _remember_failure(self, active: _ActiveChange[T]) -> None:
        failure = active.task.failure
        reported = active.superseded or self._closed or not (active.task.kept and active.task.unheard)
        if failure is None or reported:
            return
        text = "A change failed after its call was answered; the next call reports it"
        log.root.warning(text, extra={"key": active.change.key, "error": failure})
        self._failures.set(active.change.key, (active.change.digest, failure))


class SequenceFence:
    """
    Refuses changes that were superseded on their way: a leader that did not know yet that it had been replaced.

    Contract: ChangeContext.sequence, LB-5.
    """

    def __init__(self) -> None:
        self._newest: Lru[int] = Lru(50_000)

    def superseded(self, key: str, sequence: int) -> ProviderError | None:
        """Return why a change comes too late, if it does. 0 is not compared."""
        newest = self._newest.get(key)
        if newest is None or sequence == 0 or sequence >= newest:
            return None
        text = f"the change has sequence {sequence}, but {newest} came for the same object already; read it again"
        return ProviderError("STALE_GENERATION", text, metadata={"applied_sequence": str(newest)})

    def begin(self, key: str, sequence: int) -> None:
        """Remember a change that is about to be carried out. If it fails now, something of it may have taken effect."""
        if sequence > (self._newest.get(key) or 0):
            self._newest.set(key, sequence)


def _left(end: float | None) -> float | None:
    return None if end is None else max(0.0, end - _now())


def _now() -> float:
    return asyncio.get_running_loop().time()


def _busy(key: str) -> ProviderError:
    text = f"another change of {key} is under way"
    return ProviderError("OPERATION_IN_PROGRESS", text, retry_after=_BUSY_RETRY)
