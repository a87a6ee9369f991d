"""How this provider serves Services of type LoadBalancer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloudwire_provider import (
    Absent,
    CallContext,
    ChangeContext,
    DesiredLoadBalancer,
    LoadBalancerRef,
    Pending,
    Provider,
    ProviderError,
    absent,
    ingress,
    pending,
    v1,
)
from google.protobuf.duration_pb2 import Duration

from acme_provider.cloud import Balancer, Cloud, Port

# Tags on each load balancer: its owner and its spec's fingerprints, so that a controller restart changes nothing.
TAG_CLUSTER = "cloudwire-cluster"
TAG_SERVICE = "cloudwire-service"
TAG_NAMESPACE = "cloudwire-service-namespace"
TAG_UID = "cloudwire-service-uid"
TAG_SPEC = "cloudwire-spec"
TAG_NODES = "cloudwire-nodes"

POLL_AFTER = 5
"""Seconds between two looks while the cloud gives a load balancer its address."""


def serve_load_balancers(provider: Provider, cloud: Cloud) -> None:
    """
    Register the handlers.

    What is not declared in `features` is not asked for: SDK and controller refuse it, and the user reads why.
    """
    handlers = provider.load_balancers

    @handlers.get
    def get(ref: LoadBalancerRef, context: CallContext) -> v1.LoadBalancer | Pending | Absent:
        balancer = cloud.balancer(context, ref.key)
        return _answer(balancer) if balancer else absent("LOOKUP_MISS")

    @handlers.list
    def list_load_balancers(context: CallContext) -> Iterator[v1.LoadBalancer]:
        for balancer in cloud.balancers_with_tag(context, TAG_CLUSTER, context.cluster.id):
            yield _load_balancer(balancer)

    @handlers.ensure
    def ensure(wanted: DesiredLoadBalancer, context: ChangeContext) -> v1.LoadBalancer | Pending:
        _refuse_foreign(cloud.balancer(context, wanted.key), wanted.cluster)
        ids = {node.name: provider.cloud_id(node.provider_id) for node in wanted.nodes}
        balancer = cloud.put_balancer(
            context,
            wanted.key,
            ports=[Port(port.port, port.node_port) for port in wanted.spec.ports],
            target_ids=[machine_id for machine_id in ids.values() if machine_id],
            tags={**wanted.spec.tags, **_ownership_tags(wanted)},
        )
        taken = set(balancer.target_ids)
        _report_missing([name for name, machine_id in ids.items() if machine_id not in taken], context)
        return _answer(balancer)

    @handlers.delete
    def delete(ref: LoadBalancerRef, context: ChangeContext) -> None:
        existing = cloud.balancer(context, ref.key)
        if existing:
            _refuse_foreign(existing, ref.cluster)
            cloud.delete_balancer(context, ref.key)


def _ownership_tags(wanted: DesiredLoadBalancer) -> dict[str, str]:
    return {
        TAG_CLUSTER: wanted.cluster.id,
        TAG_SERVICE: wanted.service.name,
        TAG_NAMESPACE: wanted.service.namespace,
        TAG_UID: wanted.service.uid,
        TAG_SPEC: wanted.spec_fingerprint,
        TAG_NODES: wanted.nodes_fingerprint,
    }


def _report_missing(names: Sequence[str], context: ChangeContext) -> None:
    """Report the nodes that the cloud did not accept as targets; the others get traffic."""
    if names:
        summary = f"The cloud has no machines for {len(names)} nodes, which get no traffic: {', '.join(names[:5])}"
        context.add_diagnostic(v1.Diagnostic(severity=v1.SEVERITY_WARNING, reason="TargetsNotFound", summary=summary))


def _refuse_foreign(balancer: Balancer | None, cluster: v1.ClusterRef) -> None:
    """Let nothing be changed or deleted that this cluster has not made."""
    if balancer is None:
        return
    owner = balancer.tags.get(TAG_CLUSTER)
    if owner is None:
        message = f"load balancer {balancer.id} is named {balancer.name} and was not made by a cluster; rename it"
        raise ProviderError("NAME_TAKEN", message, metadata={"name": balancer.name, "id": balancer.id})
    if owner != cluster.id:
        owned = f"load balancer {balancer.id} belongs to cluster {owner}"
        message = f"{owned}; remove its tags if that cluster no longer exists"
        metadata = {"owner_cluster_id": owner, "id": balancer.id}
        raise ProviderError("OWNED_BY_ANOTHER_CLUSTER", message, metadata=metadata)


def _answer(balancer: Balancer) -> v1.LoadBalancer | Pending:
    return _load_balancer(balancer) if balancer.ip else pending(balancer.id, poll_after=POLL_AFTER)


def _load_balancer(balancer: Balancer) -> v1.LoadBalancer:
    return v1.LoadBalancer(
        id=balancer.id,
        service=v1.ServiceRef(
            name=balancer.tags.get(TAG_SERVICE, ""),
            namespace=balancer.tags.get(TAG_NAMESPACE, ""),
            uid=balancer.tags.get(TAG_UID, ""),
        ),
        ingress=ingress(balancer.ip) if balancer.ip else None,
        # In a list too: what is not ready must not look as if nothing were to be waited for.
        operation=None if balancer.ip else v1.Operation(poll_after=Duration(seconds=POLL_AFTER)),
        spec_fingerprint=balancer.tags.get(TAG_SPEC, ""),
        nodes_fingerprint=balancer.tags.get(TAG_NODES, ""),
        registered_nodes=len(balancer.target_ids),
        tags=balancer.tags,
    )
