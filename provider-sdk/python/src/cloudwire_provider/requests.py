"""Requests to handlers that are more than one message of the contract."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cloudwire_provider import v1


def load_balancer_key(cluster_id: str, service_uid: str) -> str:
    """
    Return the natural key of a load balancer: `k8s-` and 28 characters of a hash of cluster and Service UID.

    Vendors name cloud objects after it, in every language's SDK: it never changes.
    """
    natural = f"{cluster_id}\0{service_uid}"
    return f"k8s-{hashlib.sha256(natural.encode()).hexdigest()[:28]}"


@dataclass(frozen=True, kw_only=True)
class WatchRequest:
    """A request for a watch."""

    resume_token: str = ""
    """Continue after it; raise `ProviderError("RESUME_TOKEN_EXPIRED", …)` if that is not possible. Empty: start now."""
    send_initial_events: bool = False
    """Yield every object first, then `Bookmark(initial_events_end=True)`."""


@dataclass(frozen=True, kw_only=True)
class LoadBalancerRef:
    """Identifies a load balancer."""

    key: str
    """
    Natural key: at most 32 characters of `[a-z0-9-]`, starting with a letter, constant for the Service. Use it as name or
    idempotency token in the cloud.
    """
    cluster: v1.ClusterRef
    """The cluster whose load balancer it is."""
    service: v1.ServiceRef
    """The Service whose load balancer it is."""
    load_balancer_class: str | None = None
    """spec.loadBalancerClass."""
    annotations: Mapping[str, str]
    """The Service's annotations with the declared prefixes."""
    id: str = ""
    """The provider's ID of the load balancer, a hint."""
    operation_id: str = ""
    """`operation_id` of the last pending result, a hint."""


@dataclass(frozen=True)
class NodesDiff:
    """How nodes differ from those of the last acknowledged call for the same load balancer."""

    added: Sequence[v1.TargetNode]
    """Nodes that become targets."""
    removed: Sequence[v1.TargetNode]
    """Nodes that are no longer targets."""
    changed: Sequence[v1.TargetNode]
    """Nodes with the same provider ID and other properties, in their current state."""


@dataclass(frozen=True, kw_only=True)
class DesiredNodes(LoadBalancerRef):
    """The desired target nodes, always complete, whatever the wire form."""

    nodes: Sequence[v1.TargetNode]
    """Every desired target. Empty means no node. The order has no meaning."""
    nodes_fingerprint: str
    """Opaque fingerprint of the nodes. Store it with the load balancer and return it in reads."""
    nodes_diff: NodesDiff | None = None
    """Changes since the last acknowledged call. None when its nodes are unknown, for example after a restart."""


@dataclass(frozen=True, kw_only=True)
class DesiredLoadBalancer(DesiredNodes):
    """The desired state of a load balancer, always complete. What is absent is not requested."""

    spec: v1.LoadBalancerSpec
    """The desired state."""
    spec_fingerprint: str
    """Opaque fingerprint of the spec. Store it with the load balancer and return it in reads."""
    adopt: str = ""
    """Adopt the load balancer with this ID, regardless of its ownership tags. Only set when an operator requests it."""


def internal_ip(node: v1.TargetNode | v1.NodeRef) -> str:
    """Return the first InternalIP of a node; empty if it has none."""
    for address in node.addresses:
        if address.type == v1.NODE_ADDRESS_TYPE_INTERNAL_IP:
            return address.address
    return ""
