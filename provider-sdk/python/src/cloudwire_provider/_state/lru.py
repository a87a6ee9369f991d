"""Keeps the entries used last."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

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
        """Keep an entry and reset its age."""
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
