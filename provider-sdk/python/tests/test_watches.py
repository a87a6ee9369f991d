import asyncio
import contextlib
import threading
import time

import grpc
import pytest

from cloudwire_provider import Bookmark, InstanceGone, ProviderError, Resync, Upsert, absent, v1
from cloudwire_provider._methods import watches
from cloudwire_provider._server import builtin
from cloudwire_provider.testing import CallFailedError, serving


@pytest.fixture
def watched(provider):
    provider.instances.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    return provider


def test_events_are_handed_on_with_their_tokens(watched):
    @watched.instances.watch
    async def watch(request, context):
        assert request.send_initial_events
        yield Upsert(v1.Instance(provider_id="i-1", name="one"))
        yield Bookmark(initial_events_end=True, token="t-1")
        yield InstanceGone("i-1", absent("TERMINATED"))
        yield Resync("a gap", token="t-2")
        yield "nonsense"

    with serving(watched) as client:
        stream = client.stream(v1.WatchInstancesRequest(send_initial_events=True))
        events = [next(stream) for _ in range(4)]
        with pytest.raises(grpc.RpcError) as failed:
            next(stream)
    assert [event.WhichOneof("event") for event in events] == ["upsert", "bookmark", "gone", "resync"]
    assert [event.resume_token for event in events] == ["", "t-1", "t-1", "t-2"]
    assert events[0].upsert.provider_id == events[2].gone.provider_id == "acme://i-1"
    assert CallFailedError("watch", failed.value).reason == "INVARIANT_BROKEN"


def test_silence_is_filled_with_bookmarks(watched, monkeypatch):
    monkeypatch.setattr(watches.serve_watch, "__defaults__", (0.05,))
    ended = threading.Event()

    @watched.instances.watch
    def watch(request, context):
        yield Upsert(v1.Instance(provider_id="i-1", name="one"), token="t-1")
        with contextlib.suppress(BaseException):
            context.sleep(60)
        ended.set()

    with serving(watched) as client:
        stream = client.stream(v1.WatchInstancesRequest())
        events = [next(stream) for _ in range(4)]
        stream.cancel()
        # The provider's work ends with the stream.
        assert ended.wait(10)
    assert [event.WhichOneof("event") for event in events] == ["upsert", "bookmark", "bookmark", "bookmark"]
    assert {event.resume_token for event in events} == {"t-1"}


def test_feed_that_ends_or_fails_never_ends_with_ok(watched):
    def refuse():
        raise ProviderError("RESUME_TOKEN_EXPIRED", "too old")
        yield

    watched.instances.watch(lambda request, _context: refuse() if request.resume_token else iter([]))
    with serving(watched) as client:
        for request, reason in [
            (v1.WatchInstancesRequest(), "CLOUD_UNAVAILABLE"),
            (v1.WatchInstancesRequest(resume_token="old"), "RESUME_TOKEN_EXPIRED"),
            (v1.WatchInstancesRequest(resume_token="old", send_initial_events=True), "FIELD_INVALID"),
        ]:
            with pytest.raises(grpc.RpcError) as failed:
                list(client.stream(request, timeout=10))
            assert CallFailedError("watch", failed.value).reason == reason


def test_health_tells_of_a_drain_that_begins_while_the_first_state_is_on_its_way():
    async def watch():
        drain = asyncio.Event()
        [_check, method] = builtin.health_methods([], drain)
        states = method.work(builtin.message_class("grpc.health.v1.HealthCheckRequest")(), None)
        statuses = [(await anext(states)).status]
        drain.set()
        statuses.append((await anext(states)).status)
        with pytest.raises(ProviderError) as ended:
            await anext(states)
        return statuses, ended.value.reason

    assert asyncio.run(watch()) == ([1, 2], "PROVIDER_DRAINING")


def test_drain_ends_watches_and_health_and_refuses_new_calls(watched):
    release, begun = threading.Event(), threading.Event()

    @watched.instances.watch
    async def watch(request, context):
        yield Bookmark(token="t-1")
        await asyncio.sleep(60)

    @watched.instances.list
    def every(context):
        begun.set()
        release.wait(20)
        yield v1.Instance(provider_id="i-1", name="one")

    with serving(watched, drain=20.0) as client:
        stream = client.stream(v1.WatchInstancesRequest())
        assert next(stream).resume_token == "t-1"
        request = v1.ListInstancesRequest(context=client.context)
        under_way = client.stub.ListInstances.future(request, timeout=20)
        begun.wait(10)
        loop_closed = threading.Thread(target=_close, args=(client,))
        loop_closed.start()
        with pytest.raises(grpc.RpcError) as ended:
            next(stream)
        assert CallFailedError("watch", ended.value).reason == "PROVIDER_DRAINING"
        with pytest.raises(CallFailedError) as refused:
            client.call(v1.GetProviderInfoRequest())
        assert (refused.value.reason, refused.value.retry_after) == ("PROVIDER_DRAINING", 1.0)
        assert client.raw("Check", b"", service="grpc.health.v1.Health") == b"\x08\x02"
        release.set()
        assert under_way.result().complete
        loop_closed.join(20)
        assert not loop_closed.is_alive()


def _close(client):
    asyncio.run_coroutine_threadsafe(client.provider.close(), client.provider.loop).result(30)


def test_reader_that_does_not_read_is_cut_off(watched):
    ended = threading.Event()

    @watched.instances.watch
    def watch(request, context):
        try:
            while True:
                yield Upsert(v1.Instance(provider_id="i-1", name="one", labels={"k": "x" * 8000}))
        finally:
            ended.set()

    with serving(watched, slow_consumer=0.3) as client:
        stream = client.stream(v1.WatchInstancesRequest())
        next(stream)
        assert ended.wait(30)
        stream.cancel()


def test_calls_at_once_are_bounded(watched):
    from cloudwire_provider import Limits

    release = threading.Event()
    watched.limits = Limits(max_concurrent_calls=1)

    @watched.instances.list
    def every(context):
        release.wait(20)
        yield v1.Instance(provider_id="i-1", name="one")

    with serving(watched) as client:
        request = v1.ListInstancesRequest(context=client.context)
        first = client.stub.ListInstances.future(request, timeout=20)
        time.sleep(0.1)
        with pytest.raises(CallFailedError) as refused:
            client.call(v1.ListInstancesRequest())
        assert (refused.value.reason, refused.value.retry_after) == ("TOO_MANY_CALLS", 0.2)
        assert client.call(v1.GetProviderStatusRequest()).ready
        release.set()
        assert first.result().complete
