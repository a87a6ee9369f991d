"""Facts about a provider that its handlers do not show: features of each group, limits, and what a check found."""

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
    """What a list can do."""

    max_page_size: int = 500
    """Largest page served, 1 to 1000."""
    consistent_snapshot: bool = False
    """All pages of one walk show one moment."""


@dataclass(frozen=True, kw_only=True)
class WatchFeatures:
    """What a watch can do; times in seconds."""

    token_retention: float | None = None
    """How long a resume token stays good across a restart of the provider."""
    expected_latency: float | None = None
    """How soon a change at the cloud is usually seen."""


@dataclass(frozen=True, kw_only=True)
class InstanceFeatures:
    """Facts about how a provider serves machines, that its handlers do not show."""

    max_batch_size: int = 200
    """Most Nodes of one call of the controller, 1 to 1000."""
    lookup_by_name: bool = True
    """Nodes without provider ID can be looked up by name and hints."""
    shutdown_state: bool = True
    """STOPPED is told apart from RUNNING."""
    pod_cidrs: bool = False
    """`Instance.pod_cidrs` carries ranges that the cloud allocated."""
    existence_consistency_delay: float | None = None
    """Seconds after its creation during which a machine may be missing from reads. None: the controller assumes 60."""
    list: ListFeatures = ListFeatures()
    """How lists are served."""
    watch: WatchFeatures = WatchFeatures()
    """How watches are served."""


@dataclass(frozen=True, kw_only=True)
class NodeSets:
    """How many sets of nodes the SDK keeps in memory, and how large."""

    max_sets: int = 64
    """Most sets at once."""
    max_nodes: int = 20_000
    """Most nodes of one set."""


@dataclass(frozen=True, kw_only=True)
class LoadBalancerFeatures:
    """Facts about how a provider serves load balancers. What is not declared is never asked for."""

    protocols: Sequence[ProtocolName] = ("TCP",)
    """Transport protocols of ports."""
    mixed_protocols: bool = False
    """Ports of different protocols on one load balancer."""
    ip_families: Sequence[FamilyName] = ("IPv4",)
    """Families of addresses."""
    dual_stack: bool = False
    """Two families on one load balancer."""
    source_ranges: bool = False
    """Honors `spec.source_ranges`."""
    requested_ip: bool = False
    """Honors `spec.requested_ips`."""
    session_affinity: bool = False
    """Honors `spec.session_affinity`."""
    external_traffic_policy_local: bool = False
    """Honors policy Local with health checks on the node."""
    deletion_protection: bool = False
    """Honors `spec.deletion_protection`."""
    ip_modes: Sequence[Literal["VIP", "Proxy"]] = ("VIP",)
    """IP modes that may appear in the ingress."""
    classes: Sequence[str] = ()
    """Values of spec.loadBalancerClass served here."""
    max_ports: int = 0
    """Most ports of one load balancer. 0: no limit known."""
    max_nodes: int = 0
    """Most nodes of one load balancer. 0: no limit known."""
    needs_node_ports: bool = True
    """Forwards to node ports, so Services must have them."""
    max_concurrent_changes: int = 0
    """Most changes at once. 0: 10."""
    lock_scope: Literal["service", "lock_key", "provider"] = "service"
    """Which changes may not run at once: of one Service, of one `LoadBalancer.lock_key`, of the whole provider."""
    adopt: bool = False
    """Honors `adopt`."""
    validate_only: bool = False
    """Honors `context.validate_only`; else such calls are refused before they reach the provider."""
    node_sets: NodeSets | None = NodeSets()
    """None turns node sets off."""
    list: ListFeatures = ListFeatures()
    """How lists are served."""
    watch: WatchFeatures = WatchFeatures()
    """How watches are served."""


@dataclass(frozen=True, kw_only=True)
class RouteFeatures:
    """Facts about how a provider serves routes."""

    max_batch_size: int = 200
    """Most routes of one change, 1 to 1000."""
    max_page_size: int = 500
    """Largest page of the list, 1 to 1000."""
    blackhole: bool = False
    """`Route.blackhole` is filled."""
    target_addresses: bool = False
    """Routes depend on the node's addresses."""
    validate_only: bool = False
    """Honors `context.validate_only`; else such calls are refused before they reach the provider."""
    ip_families: Sequence[FamilyName] = ("IPv4",)
    """Families of ranges."""


@dataclass(frozen=True, kw_only=True)
class VolumeFeatures:
    """Facts about how a provider serves volumes."""

    max_batch_size: int = 200
    """Most volumes of one call, 1 to 1000."""
    csi_drivers: Sequence[str] = ()
    """CSI driver names whose volumes live in this cloud; the SDK answers not-owned for those of others."""
    in_tree_plugins: Sequence[str] = ()
    """In-tree plugin names likewise: `kubernetes.io/aws-ebs`."""


@dataclass(frozen=True, kw_only=True)
class CallRate:
    """How often the cloud account may be called on behalf of this cluster."""

    cloud_calls_per_second: float
    """Leave out what `check`, watches and other users of the account need."""
    burst: int = 0
    """Requests that may be made at once after a pause. 0: those of one second."""
    classes: Sequence[QuotaClassName] = ()
    """The groups that share it; a group is in one rate at most. Empty: all that are in no other."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the provider can take; times in seconds."""

    max_concurrent_calls: int = 64
    """Most calls at once, streams and status not counted, 1 to 1000."""
    max_receive_bytes: int = 16 * 1024 * 1024
    """Largest message taken; at least 4 MiB."""
    max_inline_nodes: int = 0
    """Most nodes in an inline node list. 0: 15,000."""
    soft_call_duration: float | None = None
    """How long a change takes before it is answered with pending; at most 30. None: 10."""
    min_status_interval: float | None = None
    """Seconds between two questions for the status, at least. None: as the controller likes."""
    min_resync_interval: float | None = None
    """Seconds between two looks at everything, at least. None: as the controller likes."""
    call_rates: Sequence[CallRate] = ()
    """The controller keeps to them. It counts what `context.fetch` and `context.record_cloud_call` report."""


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """What a check of the cloud found besides that it works."""

    conditions: Sequence[v1.Condition] = ()
    """More conditions. `CloudReachable` and `CredentialsValid` override what the SDK derives."""
    credentials_expire_time: datetime | None = None
    """When the credentials end, if they do."""
    config_revision: str = ""
    """Version of the configuration in force."""
    rate_limits: Sequence[v1.RateLimit] = ()
    """Call budgets of the account, as the cloud tells them."""
