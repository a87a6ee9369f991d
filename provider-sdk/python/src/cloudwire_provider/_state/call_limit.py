"""Bounds the calls that run at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cloudwire_provider.errors import ProviderError

# Delay in seconds reported to callers beyond the limit.
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
