"""What a running provider remembers between calls: entries used last, sequences, calls at once."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from cloudwire_provider.errors import ProviderError

T = TypeVar("T")

Clock = Callable[[], float]


class Lru(Generic[T]):
    """Keeps the entries used last, and none longer than `max_age` seconds after it was set."""

    def __init__(
        self,
        max_entries: int,
        max_age: float = float("inf"),
        clock: Clock = time.monotonic,
        dropped: Callable[[T], None] | None = None,
    ) -> None:
        self._entries: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._max_entries = max_entries
        self._max_age = max_age
        self._clock = clock
        self._dropped = dropped

    def get(self, key: Hashable) -> T | None:
        """Return an entry, if it is there and young enough."""
        self._expire()
        found = self._entries.get(key)
        if found is None:
            return None
        set_at, value = found
        if self._clock() - set_at > self._max_age:
            self.remove(key)
            return None
        # Order is that of setting where entries age, and of use where they do not.
        if self._max_age == float("inf"):
            self._entries.move_to_end(key)
        return value

    def set(self, key: Hashable, value: T) -> None:
        """Keep an entry; its age begins anew."""
        before = self._entries.pop(key, None)
        if before is not None and before[1] is not value and self._dropped:
            self._dropped(before[1])
        self._entries[key] = (self._clock(), value)
        while len(self._entries) > self._max_entries:
            self.remove(next(iter(self._entries)))

    def remove(self, key: Hashable) -> None:
        """Drop an entry."""
        found = self._entries.pop(key, None)
        if found is not None and self._dropped:
            self._dropped(found[1])

    def clear(self) -> None:
        """Drop everything."""
        for key in list(self._entries):
            self.remove(key)

    def _expire(self) -> None:
        if self._max_age == float("inf"):
            return
        while self._entries:
            key, (set_at, _) = next(iter(self._entries.items()))
            if self._clock() - set_at <= self._max_age:
                return
            self.remove(key)


class SequenceFence:
    """
    Refuses changes that were overtaken on their way: a leader that did not know yet that it had been replaced.

    Contract: ChangeContext.sequence, LB-5.
    """

    def __init__(self) -> None:
        self._newest: Lru[int] = Lru(50_000)

    def overtaken(self, key: str, sequence: int) -> ProviderError | None:
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


# Wait told to callers beyond the limit.
_TOO_MANY_RETRY = 0.2


class CallLimit:
    """Refuses calls beyond the most that may run at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold one place; raises TOO_MANY_CALLS when there is none."""
        if self._running >= self._most:
            text = f"{self._running} calls are under way, which is the most served at once"
            raise ProviderError(
                "TOO_MANY_CALLS", text, retry_after=_TOO_MANY_RETRY, metadata={"limit": str(self._most)}
            )
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
