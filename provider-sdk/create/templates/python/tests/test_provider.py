from __future__ import annotations

from collections.abc import Iterator

import pytest
from cloudwire_provider import v1
from cloudwire_provider.testing import CallFailedError, Client, serving

from acme_provider.cloud import Cloud
from acme_provider.load_balancers import TAG_CLUSTER
from acme_provider.provider import ID_PREFIX, make_provider

from .fake_cloud import TOKEN, FakeCloud, machine


@pytest.fixture
def cloud() -> Iterator[FakeCloud]:
    with FakeCloud() as fake:
        yield fake


@pytest.fixture
def client(cloud: FakeCloud) -> Iterator[Client]:
    with serving(make_provider(Cloud(cloud.url, lambda: TOKEN))) as serving_client:
        yield serving_client


def look_up(client: Client, *nodes: v1.NodeRef) -> list[v1.InstanceResult]:
    return list(client.call(v1.BatchGetInstancesRequest(nodes=nodes)).results)


def test_batch_get_instances_finds_by_id_and_by_name_with_one_request(cloud: FakeCloud, client: Client) -> None:
    cloud.machines += [machine("i-1"), machine("i-2", name="web", power="off")]
    results = look_up(client, v1.NodeRef(name="any", provider_id=f"{ID_PREFIX}i-1"), v1.NodeRef(name="web"))
    assert [result.instance.provider_id for result in results] == [f"{ID_PREFIX}i-1", f"{ID_PREFIX}i-2"]
    assert cloud.requests == ["/machines"]


def test_batch_get_instances_says_absent_of_what_the_cloud_has_not(client: Client) -> None:
    [result] = look_up(client, v1.NodeRef(name="gone", provider_id=f"{ID_PREFIX}i-9"))
    assert result.HasField("absent")


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
def test_batch_get_instances_never_says_absent_when_the_cloud_fails(
    cloud: FakeCloud, client: Client, status: int
) -> None:
    """A Node is deleted on the strength of "absent": no failure may ever look like it."""
    cloud.status = status
    try:
        results = look_up(client, v1.NodeRef(name="node", provider_id=f"{ID_PREFIX}i-1"))
    except CallFailedError:
        results = []
    assert not any(result.HasField("absent") for result in results)


def test_batch_get_instances_does_not_guess_which_of_two_machines_is_meant(cloud: FakeCloud, client: Client) -> None:
    cloud.machines += [machine("i-1", name="web"), machine("i-2", name="web")]
    [result] = look_up(client, v1.NodeRef(name="web"))
    assert result.HasField("unknown")


def ensure_request(client: Client) -> v1.EnsureLoadBalancerRequest:
    request = client.ensure(nodes=1)
    request.nodes.inline.nodes[0].provider_id = f"{ID_PREFIX}i-1"
    return request


def listed(client: Client) -> list[v1.LoadBalancer]:
    """Return the load balancer as each of the reading calls shows it."""
    got = client.call(v1.GetLoadBalancerRequest(service=client.service())).load_balancer
    [listed] = client.call(v1.ListLoadBalancersRequest()).load_balancers
    return [got, listed]


def test_ensure_load_balancer_leaves_one_when_called_twice(cloud: FakeCloud, client: Client) -> None:
    cloud.machines.append(machine("i-1"))
    client.call(ensure_request(client))
    answer = client.call(ensure_request(client))
    assert [item.ip for item in answer.load_balancer.ingress.items] == ["192.0.2.1"]
    assert [balancer["targetIds"] for balancer in cloud.balancers.values()] == [["i-1"]]


def test_ensure_load_balancer_reports_nodes_without_instance(cloud: FakeCloud, client: Client) -> None:
    cloud.machines.append(machine("i-1"))
    request = client.ensure(nodes=2)
    for node, machine_id in zip(request.nodes.inline.nodes, ("i-1", "i-9"), strict=True):
        node.provider_id = f"{ID_PREFIX}{machine_id}"
    answer = client.call(request)
    assert [diagnostic.reason for diagnostic in answer.diagnostics] == ["TargetsNotFound"]
    assert answer.load_balancer.registered_nodes == 1


def test_load_balancers_are_pending_until_they_have_an_address(cloud: FakeCloud, client: Client) -> None:
    cloud.address = None
    answers = [client.call(ensure_request(client)).load_balancer, *listed(client)]
    assert [(answer.HasField("operation"), answer.HasField("ingress")) for answer in answers] == [(True, False)] * 3


def test_load_balancers_keep_the_fingerprints_of_their_spec(client: Client) -> None:
    """A controller that was restarted compares them with its spec, and changes nothing."""
    request = ensure_request(client)
    client.call(request)
    kept = [(answer.spec_fingerprint, answer.nodes_fingerprint) for answer in listed(client)]
    assert kept == [(request.spec_fingerprint, request.nodes.fingerprint)] * 2


def test_get_load_balancer_never_says_absent_when_the_cloud_fails(cloud: FakeCloud, client: Client) -> None:
    cloud.status = 404
    with pytest.raises(CallFailedError):
        client.call(v1.GetLoadBalancerRequest(service=client.service()))


def test_ensure_load_balancer_leaves_another_clusters_alone(cloud: FakeCloud, client: Client) -> None:
    client.call(ensure_request(client))
    [balancer] = cloud.balancers.values()
    balancer["tags"] = {TAG_CLUSTER: "another"}
    for change in (ensure_request(client), v1.DeleteLoadBalancerRequest(service=client.service())):
        with pytest.raises(CallFailedError) as raised:
            client.call(change)
        assert raised.value.reason == "OWNED_BY_ANOTHER_CLUSTER"
    assert list(client.call(v1.ListLoadBalancersRequest()).load_balancers) == []
    assert list(cloud.balancers.values()) == [balancer]


def test_delete_load_balancer_removes_it_and_finds_nothing_afterwards(cloud: FakeCloud, client: Client) -> None:
    client.call(ensure_request(client))
    for _ in range(2):
        client.call(v1.DeleteLoadBalancerRequest(service=client.service()))
    assert cloud.balancers == {}
