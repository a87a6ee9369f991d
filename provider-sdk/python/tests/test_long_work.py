"""Changes that take longer than a caller should wait."""

import threading
import uuid
from collections.abc import Iterator

import pytest

from cloudwire_provider import Limits, Provider, ProviderError, v1
from cloudwire_provider.testing import CallFailedError, Client, serving


class SlowCloud:
    """A cloud that works on a load balancer until a test lets it end."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.release = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)
        self.failure: Exception | None = None
        self.cancelled: list[bool] = []
        self.diffs: list[object] = []


@pytest.fixture
def slow(provider: Provider) -> SlowCloud:
    slow = SlowCloud()
    provider.limits = Limits(soft_call_duration=0.2)

    @provider.load_balancers.ensure
    def ensure(wanted, context):
        slow.diffs.append(wanted.nodes_diff)
        slow.begun.release()
        context.report_progress(stage="waiting for the pool", progress_percent=40)
        try:
            while not slow.release.acquire(timeout=0.01) and not context.cancelled:
                pass
            slow.cancelled.append(context.cancelled)
            if slow.failure is not None:
                raise slow.failure
            return v1.LoadBalancer(id="lb-1")
        finally:
            slow.ended.release()

    provider.load_balancers.delete(lambda _ref, _context: None)
    provider.load_balancers.get(lambda _ref, _context: v1.LoadBalancer(id="lb-1"))
    return slow


@pytest.fixture
def client(provider: Provider, slow: SlowCloud) -> Iterator[Client]:
    with serving(provider) as client:
        yield client


def again(request: v1.EnsureLoadBalancerRequest) -> v1.EnsureLoadBalancerRequest:
    """Return the same request with a new request id, as after a restart of the caller."""
    repeated = v1.EnsureLoadBalancerRequest()
    repeated.CopyFrom(request)
    repeated.change.request_id = str(uuid.uuid4())
    return repeated


def read(client: Client, operation_id: str = "") -> v1.LoadBalancer:
    wanted = v1.GetLoadBalancerRequest(service=client.service(), operation_id=operation_id)
    found: v1.LoadBalancer = client.call(wanted).load_balancer
    return found


def until_finished(client: Client, request: v1.EnsureLoadBalancerRequest) -> v1.LoadBalancer:
    """Ask again and again for as long as the answer is pending."""
    for _ in range(50):
        made: v1.LoadBalancer = client.call(request).load_balancer
        if not made.HasField("operation"):
            return made
    raise AssertionError("the work did not end")


def test_long_change_is_pending_and_goes_on_and_an_equal_request_joins_it(client, slow):
    request = client.ensure()
    made = client.call(request).load_balancer
    assert (made.phase, made.spec_fingerprint) == (v1.LOAD_BALANCER_PHASE_PROVISIONING, "")
    assert (made.operation.stage, made.operation.progress_percent) == ("waiting for the pool", 40)
    assert made.id == made.operation.id != ""
    assert client.call(again(request)).load_balancer.HasField("operation")
    assert len(slow.diffs) == 1
    reading = read(client, made.operation.id)
    assert (reading.phase, reading.operation.id) == (v1.LOAD_BALANCER_PHASE_UPDATING, made.operation.id)
    slow.release.release()
    slow.ended.acquire()
    assert client.call(request).load_balancer.spec_fingerprint == "spec-1"
    assert (len(slow.diffs), slow.cancelled) == (1, [False])
    assert read(client, made.operation.id).phase == v1.LOAD_BALANCER_PHASE_ACTIVE


def test_late_failure_is_reported_once_to_the_next_call(client, slow):
    slow.failure = ProviderError("CLOUD_PERMISSION_DENIED", "no address is left")
    request = client.ensure()
    client.call(request)
    slow.release.release()
    slow.ended.acquire()
    # Until the failure is reported, a read must not report the desired state as applied.
    for _ in range(200):
        if read(client).spec_fingerprint == "not in force":
            break
    else:
        raise AssertionError("the failure is not seen")
    with pytest.raises(CallFailedError) as failed:
        client.call(again(request))
    assert failed.value.reason == "CLOUD_PERMISSION_DENIED"
    slow.failure = None
    slow.release.release()
    assert client.call(again(request)).load_balancer.spec_fingerprint == "spec-1"


def test_another_request_ends_the_long_change_and_follows(client, slow):
    client.call(client.ensure())
    slow.release = threading.Semaphore(0)
    other = client.ensure()
    other.spec_fingerprint = "spec-2"
    assert client.call(other).load_balancer.HasField("operation")
    slow.begun.acquire()
    slow.begun.acquire()
    assert slow.cancelled == [True]
    slow.release.release()
    assert until_finished(client, other).spec_fingerprint == "spec-2"


def test_superseded_request_does_not_end_the_long_change(client, slow):
    newer = client.ensure()
    newer.change.request_id, newer.change.sequence = "newer", 9
    client.call(newer)
    older = client.ensure()
    older.spec_fingerprint = "spec-0"
    older.change.request_id, older.change.sequence = "older", 8
    with pytest.raises(CallFailedError) as failed:
        client.call(older)
    assert (failed.value.reason, slow.cancelled) == ("STALE_GENERATION", [])
    slow.release.release()
    assert until_finished(client, newer).spec_fingerprint == "spec-1"


def test_operation_of_an_earlier_process_is_not_in_force(client):
    reading = read(client, "cloudwire-operation/another-boot/k8s-1")
    assert reading.spec_fingerprint == "not in force"
    assert read(client, "of the vendor").spec_fingerprint == ""


def test_nodes_are_compared_with_those_of_the_last_success(client, slow):
    slow.release.release()
    client.call(client.ensure(nodes=2))
    slow.failure = ProviderError("CLOUD_PERMISSION_DENIED", "no address is left")
    slow.release.release()
    with pytest.raises(CallFailedError):
        client.call(client.ensure(nodes=3))
    slow.failure = None
    slow.release.release()
    client.call(client.ensure(nodes=4))
    known = [diff is not None for diff in slow.diffs]
    # What the failed change has done to the targets is not known.
    assert known == [False, True, False]


def test_long_change_ends_with_the_provider(provider, slow):
    with serving(provider) as client:
        client.call(client.ensure())
    slow.ended.acquire()
    assert slow.cancelled == [True]


def test_changes_that_exclude_each_other_never_outlive_their_calls(provider, slow):
    from cloudwire_provider import LoadBalancerFeatures

    provider.load_balancers.features = LoadBalancerFeatures(lock_scope="provider")
    threading.Timer(0.5, slow.release.release).start()
    with serving(provider) as client:
        assert not client.call(client.ensure()).load_balancer.HasField("operation")
