"""Work that several callers wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from cloudwire_provider.errors import ProviderError

T = TypeVar("T")


class StillAtWorkError(Exception):
    """The work goes on without the caller who gets this."""


class SharedTask(Generic[T]):
    """Work that several callers wait for. When the last of them has gone, it is cancelled, unless it is kept."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._task = asyncio.ensure_future(work)
        self._waiting = 0
        self._reason: ProviderError | None = None
        self._abandon_requested = asyncio.Event()
        self.kept = False
        """It continues without a waiting caller."""
        self.abandoned = False
        self.unheard = False
        """It ended without a waiting caller."""
        self._task.add_done_callback(self._on_end)

    async def join(self, patience: float | None = None, keep: Callable[[], bool] = lambda: False) -> T:
        """
        Wait for the outcome. A caller that is cancelled leaves the work to the others.

        After `patience` seconds it goes on without this caller, if it is kept already or `keep` agrees: StillAtWorkError.
        """
        self._waiting += 1
        try:
            done, _ = await asyncio.wait({self._task}, timeout=patience)
            if not done and (self.kept or keep()):
                self.kept = True
                raise StillAtWorkError
            await asyncio.wait({self._task})
            if self._task.cancelled() and self._reason is not None:
                raise self._reason
            return self._task.result()
        finally:
            self._waiting -= 1
            if self._waiting == 0 and not self.kept:
                self.abandon()

    def abandon(self, reason: ProviderError | None = None) -> None:
        """End the work; waiting callers get this reason."""
        if self._task.done() or self.abandoned:
            return
        self.abandoned, self._reason = True, reason
        self._abandon_requested.set()
        self._task.cancel()

    async def settled(self, timeout: float | None = None) -> bool:
        """Wait until the work has really ended, however; False when that takes longer than `timeout`."""
        done, _ = await asyncio.wait({self._task}, timeout=timeout)
        return bool(done)

    async def settled_or_abandoned(self, timeout: float) -> bool:
        """Wait until the work has ended or was canceled; False when neither happens within `timeout`."""
        reported = asyncio.ensure_future(self._abandon_requested.wait())
        try:
            done, _ = await asyncio.wait({self._task, reported}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            return bool(done)
        finally:
            reported.cancel()

    @property
    def failure(self) -> BaseException | None:
        """Why it has ended without an answer."""
        return self._reason if self._task.cancelled() else self._task.exception()

    def _on_end(self, task: asyncio.Task[T]) -> None:
        # Waiting callers get the error. Reading it keeps asyncio from logging it when no caller waits.
        self.unheard = self._waiting == 0
        if not task.cancelled():
            task.exception()
