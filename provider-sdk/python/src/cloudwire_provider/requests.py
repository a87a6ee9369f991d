"""What handlers are asked for, where that is more than one message of the contract."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cloudwire_provider import v1


def load_balancer_key(cluster_id: str, service_uid: str) -> str:
    """
    Return the natural key of a load balancer: `k8s-` and 28 characters of a hash of cluster and Service UID.

    Part of what vendors name cloud objects after, in each language's SDK alike: it never changes.
    """
    natural = f"{cluster_id}\0{service_uid}"
    return f"k8s-{hashlib.sha256(natural.encode()).hexdigest()[:28]}"


@dataclass(frozen=True, kw_only=True)
class WatchRequest:
    """What opens a watch."""

    resume_token: str = ""
    """Continue after it; raise `ProviderError("RESUME_TOKEN_EXPIRED", …)` if that is not possible. Empty: begin now."""
    send_initial_events: bool = False
    """Yield every object first, then `Bookmark(initial_events_end=True)`."""


@dataclass(frozen=True, kw_only=True)
class LoadBalancerRef:
    """Which load balancer is meant."""

    key: str
    """
    Natural key: at most 32 characters of `[a-z0-9-]`, a letter first, the same in every call for this Service. Use it as name
    or idempotency token at the cloud.
    """
    cluster: v1.ClusterRef
    """The cluster whose load balancer it is."""
    service: v1.ServiceRef
    """The Service whose load balancer it is."""
    load_balancer_class: str | None = None
    """spec.loadBalancerClass."""
    annotations: Mapping[str, str]
    """The Service's annotations under the declared prefixes."""
    id: str = ""
    """The provider's id of the load balancer, a hint."""
    operation_id: str = ""
    """`operation_id` of the last pending answer, a hint."""


@dataclass(frozen=True)
class NodesDiff:
    """How nodes differ from those of the last acknowledged call for the same load balancer."""

    added: Sequence[v1.TargetNode]
    """Nodes that are to be targets and were not."""
    removed: Sequence[v1.TargetNode]
    """Nodes that were targets and are not to be."""
    changed: Sequence[v1.TargetNode]
    """Same provider ID, other facts; as they are now."""


@dataclass(frozen=True, kw_only=True)
class DesiredNodes(LoadBalancerRef):
    """The nodes wanted, always resolved and complete, however they traveled."""

    nodes: Sequence[v1.TargetNode]
    """Every node that shall be a target. Empty means no node at all. Order means nothing."""
    nodes_fingerprint: str
    """Opaque fingerprint of the nodes. Keep it with the load balancer and give it back in reads."""
    nodes_diff: NodesDiff | None = None
    """None when the nodes of the last call are not known, for example after a restart."""


@dataclass(frozen=True, kw_only=True)
class DesiredLoadBalancer(DesiredNodes):
    """The whole wish for a load balancer, each time; what is absent is not wished for."""

    spec: v1.LoadBalancerSpec
    """What it shall be."""
    spec_fingerprint: str
    """Opaque fingerprint of the wish. Keep it with the load balancer and give it back in reads."""
    adopt: str = ""
    """Take over the load balancer of this id, whoever stamped it; on an operator's word only."""


def internal_ip(node: v1.TargetNode | v1.NodeRef) -> str:
    """Return the first InternalIP of a node; empty if it has none."""
    for address in node.addresses:
        if address.type == v1.NODE_ADDRESS_TYPE_INTERNAL_IP:
            return address.address
    return ""
