"""Who may change an object, and when, over minutes that pass at once."""

import asyncio
import heapq
from contextlib import suppress

import pytest

from cloudwire_provider import ProviderError
from cloudwire_provider._state.change_serializer import Change, ChangeSerializer


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to its next timer where others wait for it."""

    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        while self._scheduled and self._scheduled[0].cancelled():
            heapq.heappop(self._scheduled)._scheduled = False
            self._timer_cancelled_count -= 1
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0].when())
        super()._run_once()


def change(digest, work):
    return Change(
        key="lb", change_id=digest, digest=digest, work=work, is_final=lambda _: True, pending=lambda: "pending"
    )


async def a_stubborn_change_keeps_its_key():
    serializer = ChangeSerializer(patience=1.0)
    release = asyncio.Event()
    working = []

    async def stubborn():
        working.append("first")
        while not release.is_set():
            with suppress(asyncio.CancelledError):
                await release.wait()
        return "first"

    async def second():
        working.append("second")
        return "second"

    assert await serializer.run(change("first", stubborn)) == "pending"
    await asyncio.sleep(540)
    # It cancels the first, which does not end.
    for wait in (540, 120):
        with pytest.raises(ProviderError, match="another change of lb"):
            await serializer.run(change("second", second))
        await asyncio.sleep(wait)
    assert working == ["first"]
    assert await serializer.run(change("second", second)) == "second"
    release.set()


async def a_change_without_end_is_canceled():
    serializer = ChangeSerializer(patience=1.0)
    release = asyncio.Event()
    assert await serializer.run(change("first", release.wait)) == "pending"
    await asyncio.sleep(29 * 60)
    assert serializer.state("lb") == "running"
    await asyncio.sleep(2 * 60)
    assert serializer.state("lb") == "failed"
    with pytest.raises(ProviderError, match="did not end within 30 minutes"):
        await serializer.run(change("first", release.wait))


@pytest.mark.parametrize("story", [a_stubborn_change_keeps_its_key, a_change_without_end_is_canceled])
def test_change_serializer(story):
    loop = JumpingLoop()
    try:
        loop.run_until_complete(story())
    finally:
        loop.close()
