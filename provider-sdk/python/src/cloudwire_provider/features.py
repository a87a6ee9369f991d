"""Capabilities that the handlers do not show, limits, and results of checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cloudwire_provider import v1

ProtocolName = Literal["TCP", "UDP", "SCTP"]
FamilyName = Literal["IPv4", "IPv6"]
QuotaClassName = Literal["instances", "load_balancers", "routes", "volumes"]


@dataclass(frozen=True, kw_only=True)
class ListFeatures:
    """Capabilities of a list."""

    max_page_size: int = 500
    """Maximum page size, 1 to 1000."""
    consistent_snapshot: bool = False
    """All pages of one list come from one snapshot."""


@dataclass(frozen=True, kw_only=True)
class WatchFeatures:
    """Capabilities of a watch; times in seconds."""

    token_retention: float | None = None
    """How long a resume token stays valid across a restart of the provider."""
    expected_latency: float | None = None
    """Usual delay between a change in the cloud and its event."""


@dataclass(frozen=True, kw_only=True)
class InstanceFeatures:
    """Capabilities for instances that the handlers do not show."""

    max_batch_size: int = 200
    """Maximum number of Nodes of one call, 1 to 1000."""
    lookup_by_name: bool = True
    """Supports lookups of Nodes without provider ID, by name and hints."""
    shutdown_state: bool = True
    """Distinguishes STOPPED from RUNNING."""
    pod_cidrs: bool = False
    """`Instance.pod_cidrs` contains pod CIDRs that the cloud allocated."""
    existence_consistency_delay: float | None = None
    """Seconds after its creation during which an instance may be missing from reads. None: the controller assumes 60."""
    list: ListFeatures = ListFeatures()
    """Capabilities of `list`."""
    watch: WatchFeatures = WatchFeatures()
    """Capabilities of `watch`."""


@dataclass(frozen=True, kw_only=True)
class NodeSets:
    """How many sets of nodes the SDK keeps in memory, and how large."""

    max_sets: int = 64
    """Maximum number of sets."""
    max_nodes: int = 20_000
    """Maximum number of nodes of one set."""


@dataclass(frozen=True, kw_only=True)
class LoadBalancerFeatures:
    """Capabilities for load balancers. The controller never requests a feature that is not declared."""

    protocols: Sequence[ProtocolName] = ("TCP",)
    """Transport protocols of ports."""
    mixed_protocols: bool = False
    """Supports ports of different protocols on one load balancer."""
    ip_families: Sequence[FamilyName] = ("IPv4",)
    """Families of addresses."""
    dual_stack: bool = False
    """Supports both families on one load balancer."""
    source_ranges: bool = False
    """Supports `spec.source_ranges`."""
    requested_ip: bool = False
    """Supports `spec.requested_ips`."""
    session_affinity: bool = False
    """Supports `spec.session_affinity`."""
    external_traffic_policy_local: bool = False
    """Supports policy Local with health checks on the node."""
    deletion_protection: bool = False
    """Supports `spec.deletion_protection`."""
    ip_modes: Sequence[Literal["VIP", "Proxy"]] = ("VIP",)
    """IP modes that may appear in the ingress."""
    classes: Sequence[str] = ()
    """Supported values of spec.loadBalancerClass."""
    max_ports: int = 0
    """Maximum number of ports of one load balancer. 0: no known limit."""
    max_nodes: int = 0
    """Maximum number of nodes of one load balancer. 0: no known limit."""
    needs_node_ports: bool = True
    """Forwards to node ports, so Services must have them."""
    max_concurrent_changes: int = 0
    """Maximum number of concurrent changes. 0: 10."""
    lock_scope: Literal["service", "lock_key", "provider"] = "service"
    """Which changes must not run concurrently: of one Service, of one `LoadBalancer.lock_key`, of the whole provider."""
    adopt: bool = False
    """Supports `adopt`."""
    validate_only: bool = False
    """Supports `context.validate_only`; otherwise the SDK rejects such calls."""
    node_sets: NodeSets | None = NodeSets()
    """None turns node sets off."""
    list: ListFeatures = ListFeatures()
    """Capabilities of `list`."""
    watch: WatchFeatures = WatchFeatures()
    """Capabilities of `watch`."""


@dataclass(frozen=True, kw_only=True)
class RouteFeatures:
    """Capabilities for routes."""

    max_batch_size: int = 200
    """Maximum number of routes of one change, 1 to 1000."""
    max_page_size: int = 500
    """Maximum page size of the list, 1 to 1000."""
    blackhole: bool = False
    """Fills `Route.blackhole`."""
    target_addresses: bool = False
    """Routes depend on the node's addresses."""
    validate_only: bool = False
    """Supports `context.validate_only`; otherwise the SDK rejects such calls."""
    ip_families: Sequence[FamilyName] = ("IPv4",)
    """Families of pod CIDRs."""


@dataclass(frozen=True, kw_only=True)
class VolumeFeatures:
    """Capabilities for volumes."""

    max_batch_size: int = 200
    """Maximum number of volumes of one call, 1 to 1000."""
    csi_drivers: Sequence[str] = ()
    """CSI driver names whose volumes are in this cloud; the SDK returns not-owned for others."""
    in_tree_plugins: Sequence[str] = ()
    """In-tree plugin names whose volumes are in this cloud: `kubernetes.io/aws-ebs`."""


@dataclass(frozen=True, kw_only=True)
class CallRate:
    """Rate of requests to the cloud account that this cluster may cause."""

    cloud_calls_per_second: float
    """Requests per second, without those of `check`, watches and other users of the account."""
    burst: int = 0
    """Burst of requests after a pause. 0: the requests of one second."""
    classes: Sequence[QuotaClassName] = ()
    """The quota classes that share the rate. Each class is in at most one rate. Empty: all that are in no other."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of the provider; times in seconds."""

    max_concurrent_calls: int = 64
    """Maximum number of concurrent calls, 1 to 1000. Streams and status calls do not count."""
    max_receive_bytes: int = 16 * 1024 * 1024
    """Maximum message size accepted, in bytes; at least 4 MiB."""
    max_inline_nodes: int = 0
    """Maximum number of nodes in an inline node list. 0: 15,000."""
    soft_call_duration: float | None = None
    """Maximum time before a change returns pending; at most 30. None: 10."""
    min_status_interval: float | None = None
    """Minimum seconds between two status calls. None: the controller's default."""
    min_resync_interval: float | None = None
    """Minimum seconds between two full lists of one kind. None: the controller's default."""
    call_rates: Sequence[CallRate] = ()
    """
    Rates of requests to the cloud; the controller stays within them. It counts the requests of `context.fetch` and
    `context.record_cloud_call`.
    """


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """Additional results of a successful check of the cloud."""

    conditions: Sequence[v1.Condition] = ()
    """Additional conditions. `CloudReachable` and `CredentialsValid` override those of the SDK."""
    credentials_expire_time: datetime | None = None
    """When the credentials expire."""
    config_revision: str = ""
    """Version of the active configuration."""
    rate_limits: Sequence[v1.RateLimit] = ()
    """Call budgets of the account, as the cloud reports them."""
