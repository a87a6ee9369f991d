import threading
from collections.abc import Iterator
from typing import Any

import pytest

from cloudwire_provider import (
    Bookmark,
    InstanceGone,
    Provider,
    ResumeFrom,
    Unreachable,
    Upsert,
    WatchRequest,
    absent,
    unreachable,
    v1,
    watch_instances_from_list,
    watch_load_balancers_from_list,
)
from cloudwire_provider._state.retries import RetryBudget
from cloudwire_provider._telemetry.call_recorder import Call, CallRecorder, Shared
from cloudwire_provider.context import CallContext
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.log import Log, root
from cloudwire_provider.testing import serving

FLAWS = ["raises", "unreachable", "refused"]


def machine(name: str, size: str = "small") -> v1.Instance:
    return v1.Instance(provider_id=f"acme://{name}", name=name, instance_type=size)


class Watched:
    """A watch of a list whose contents and flaw a test decides; waits end at once, and mark the end of a list."""

    def __init__(self, *, send_initial_events: bool = True) -> None:
        self.machines: list[v1.Instance] = []
        self.flaw = ""
        call = Call("WatchInstances", False, "id-1", None, None)
        shared = Shared(lambda _failure: None, lambda _call: None, RetryBudget())
        context = CallContext(CallRecorder(call, v1.ClusterRef(id="c-1"), Log(root), shared))
        context.sleep = lambda _seconds: self.recorded.append("pause")  # type: ignore[method-assign]
        self.recorded: list[str] = []
        watch: Any = watch_instances_from_list(self._list)
        self.events = watch(WatchRequest(send_initial_events=send_initial_events), context)

    def _list(self, context: CallContext) -> Iterator[v1.Instance | Unreachable | ResumeFrom]:
        # The flaw hides the last instance.
        yield from self.machines[:-1] if self.flaw else self.machines
        if self.flaw == "raises":
            raise ValueError("the page was cut short")
        if self.flaw == "unreachable":
            yield unreachable("zone-b")
        if self.flaw == "refused":
            context.record_cloud_call(status=403)

    def next(self, count: int) -> list[str]:
        """The next events; lists that bring none pass unseen."""
        return [brief(next(self.events)) for _ in range(count)]


def brief(event: Any) -> str:
    if isinstance(event, Upsert):
        return f"{event.value.name} {event.value.instance_type}"
    if isinstance(event, InstanceGone):
        return f"{event.id} gone {event.absence.basis}"
    return "all" if isinstance(event, Bookmark) else f"resync: {event.message}"


def test_yields_what_is_there_then_what_is_new_different_or_gone():
    watched = Watched()
    watched.machines = [machine("a"), machine("b")]
    assert watched.next(3) == ["a small", "b small", "all"]
    watched.machines = [machine("b", "large"), machine("c")]
    assert watched.next(3) == ["b large", "c small", "acme://a gone COMPLETE_LIST_MISS"]


def test_yields_nothing_at_first_where_no_initial_events_are_wanted():
    watched = Watched(send_initial_events=False)
    watched.machines = [machine("a")]
    threading.Timer(0.05, lambda: setattr(watched, "machines", [machine("b")])).start()
    assert watched.next(2) == ["b small", "acme://a gone COMPLETE_LIST_MISS"]


@pytest.mark.parametrize("flaw", FLAWS)
def test_makes_nothing_disappear_by_a_list_with_a_flaw(flaw):
    watched = Watched()
    watched.machines = [machine("a"), machine("b")]
    watched.next(3)
    watched.flaw, watched.machines = flaw, [machine("a", "large"), machine("b")]
    assert watched.next(1) == ["a large"]
    # Lists with the flaw that lack everything, then one without it.
    watched.machines = []
    threading.Timer(0.05, lambda: setattr(watched, "flaw", "")).start()
    assert watched.next(2) == ["acme://a gone COMPLETE_LIST_MISS", "acme://b gone COMPLETE_LIST_MISS"]
    assert watched.recorded.count("pause") > 2


def test_says_after_the_initial_events_that_they_were_not_all():
    watched = Watched()
    watched.machines, watched.flaw = [machine("a"), machine("b")], "unreachable"
    assert watched.next(3) == ["a small", "all", "resync: zone-b could not be read"]


def test_ends_with_what_the_first_list_raises():
    watched = Watched()
    watched.flaw = "raises"
    with pytest.raises(ValueError, match="cut short"):
        watched.next(1)


def test_refuses_to_continue_after_a_token(provider: Provider):
    watch: Any = watch_instances_from_list(lambda _context: [])
    with pytest.raises(ProviderError) as refused:
        next(watch(WatchRequest(resume_token="t-1"), None))
    assert refused.value.reason == "RESUME_TOKEN_EXPIRED"


def test_serves_lists_of_coroutines_too(provider: Provider):
    async def list_balancers(context):
        yield v1.LoadBalancer(id="lb-1", service=v1.ServiceRef(namespace="default", name="web", uid="uid-1"))

    handlers = provider.load_balancers
    handlers.ensure(lambda _wanted, _context: v1.LoadBalancer(id="lb-1"))
    handlers.delete(lambda _ref, _context: None)
    handlers.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    handlers.watch(watch_load_balancers_from_list(list_balancers))
    with serving(provider) as client:
        stream = client.stream(v1.WatchLoadBalancersRequest(send_initial_events=True))
        first, second = next(stream), next(stream)
        stream.cancel()
    assert (first.upsert.id, second.bookmark.initial_events_end) == ("lb-1", True)
