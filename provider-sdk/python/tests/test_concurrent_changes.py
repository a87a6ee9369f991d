"""Calls that change load balancers at the same time, over a real connection."""

import threading

import grpc
import pytest

from cloudwire_provider import absent, v1
from cloudwire_provider.testing import CallFailedError, serving


def test_changes_of_one_load_balancer_never_overlap(provider):
    begun, release, running, most = threading.Semaphore(0), threading.Event(), [0], [0]

    @provider.load_balancers.ensure
    def ensure(wanted, context):
        running[0] += 1
        most[0] = max(most[0], running[0])
        begun.release()
        release.wait(20)
        running[0] -= 1
        return v1.LoadBalancer(id=wanted.key)

    provider.load_balancers.delete(lambda _ref, _context: None)
    provider.load_balancers.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider) as client:

        def begin(change_id, uid="uid-1"):
            request = client.ensure(uid=uid)
            request.context.CopyFrom(client.context)
            request.change.request_id = change_id
            return client.stub.EnsureLoadBalancer.future(request, timeout=20)

        first = begin("a")
        begun.acquire()
        same = begin("a")
        other = begin("x", uid="uid-2")
        begun.acquire()
        waiting = begin("b")
        # One of the two may wait, the other must retry.
        third = begin("c")
        refusals = [call for call in (third, waiting) if _code(call, 1.0) == grpc.StatusCode.ABORTED]
        assert len(refusals) == 1
        release.set()
        accepted = [first, same, other, *({third, waiting} - set(refusals))]
        assert [call.result().load_balancer.phase for call in accepted] == [2, 2, 2, 2]
    assert most[0] == 2


def _code(call, timeout):
    try:
        return call.exception(timeout=timeout).code()
    except (grpc.FutureTimeoutError, AttributeError):
        return None


def test_key_stays_taken_while_a_handler_works_although_its_caller_has_gone(provider):
    begun, release, cancelled, done = threading.Event(), threading.Event(), [], []

    @provider.load_balancers.ensure
    def ensure(wanted, context):
        if not begun.is_set():
            begun.set()
            release.wait(20)
            cancelled.append(context.cancelled)
        done.append(wanted)
        return v1.LoadBalancer(id=wanted.key)

    provider.load_balancers.delete(lambda _ref, _context: None)
    provider.load_balancers.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider) as client:
        with pytest.raises(CallFailedError) as failed:
            client.call(client.ensure(), timeout=0.5)
        assert failed.value.code == grpc.StatusCode.DEADLINE_EXCEEDED
        request = client.ensure()
        request.change.request_id = "next"
        request.context.CopyFrom(client.context)
        following = client.stub.EnsureLoadBalancer.future(request, timeout=20)
        with pytest.raises(grpc.FutureTimeoutError):
            following.result(timeout=0.3)
        assert done == []
        release.set()
        assert following.result().load_balancer.id
    assert cancelled == [True]
