"""The definition of a provider: its properties and handlers."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from cloudwire_provider import v1
from cloudwire_provider.context import BackgroundContext, CallContext, ChangeContext, ReadContext, RouteContext
from cloudwire_provider.features import (
    CheckResult,
    InstanceFeatures,
    Limits,
    LoadBalancerFeatures,
    RouteFeatures,
    VolumeFeatures,
)
from cloudwire_provider.requests import DesiredLoadBalancer, DesiredNodes, LoadBalancerRef, WatchRequest
from cloudwire_provider.results import (
    Absent,
    Bookmark,
    Cached,
    InstanceGone,
    LoadBalancerGone,
    NotOwned,
    Pending,
    ResumeFrom,
    Resync,
    Unreachable,
    Upsert,
)

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

Maybe: TypeAlias = T | Awaitable[T]
"""The result of a handler, `def` or `async def`."""
Items: TypeAlias = Iterable[T] | AsyncIterable[T]
"""The items of a generator, synchronous or asynchronous."""


InstanceResult = v1.Instance | Cached[v1.Instance] | Absent | NotOwned
"""The result for one Node."""
VolumeResult = v1.Volume | Cached[v1.Volume] | Absent | NotOwned
"""The result for one volume."""
InstanceEvent = Upsert[v1.Instance] | InstanceGone | Bookmark | Resync
"""The events of a watch of instances."""
LoadBalancerEvent = Upsert[v1.LoadBalancer] | LoadBalancerGone | Bookmark | Resync
"""The events of a watch of load balancers."""
RouteResult = v1.Route | Pending
"""The result for one route."""

Check = Callable[[BackgroundContext], Maybe["CheckResult | None"]]
Scope = Callable[[BackgroundContext], Maybe[str]]

CheckT = TypeVar("CheckT", bound=Check)
ScopeT = TypeVar("ScopeT", bound=Scope)


class Handler(Generic[F]):
    """A decorator that registers one handler. A registered handler claims its capability."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function: F | None = None

    def __call__(self, function: F) -> F:
        """Register the handler."""
        if self.function is not None:
            msg = f"{self.name} has a handler already"
            raise ValueError(msg)
        self.function = function
        return function

    def __bool__(self) -> bool:
        """Return whether a handler is registered."""
        return self.function is not None


class InstanceHandlers:
    """Handlers for instances behind Nodes: `get` or `get_many`; optionally `list` and `watch`."""

    def __init__(self) -> None:
        self.features = InstanceFeatures()
        self.get: Handler[Callable[[v1.NodeRef, ReadContext], Maybe[InstanceResult]]] = Handler("instances.get")
        """Looks up one instance. `provider_id` alone identifies it if set; without it, the name and the hints do."""
        self.get_many: Handler[
            Callable[[Sequence[v1.NodeRef], ReadContext], Maybe[Sequence[InstanceResult | Exception]]]
        ] = Handler("instances.get_many")
        """Looks up instances; returns one result for each Node, in the same order. An error is that of its Node alone."""
        self.list: Handler[Callable[[CallContext], Items[v1.Instance | Unreachable | ResumeFrom]]] = Handler(
            "instances.list"
        )
        """Yields all instances of the scope. A normal end means that the list is complete, unless `unreachable` was yielded."""
        self.watch: Handler[Callable[[WatchRequest, CallContext], Items[InstanceEvent]]] = Handler("instances.watch")
        """Yields events about instances."""


class LoadBalancerHandlers:
    """Handlers for load balancers: `ensure`, `delete`, `get` or `list`; optionally `update_nodes` and `watch`."""

    def __init__(self) -> None:
        self.features = LoadBalancerFeatures()
        self.get: Handler[Callable[[LoadBalancerRef, CallContext], Maybe[v1.LoadBalancer | Pending | Absent]]] = (
            Handler("load_balancers.get")
        )
        """Reads one load balancer: its state, or the progress of a change. Without it the SDK finds it in `list`."""
        self.ensure: Handler[
            Callable[[DesiredLoadBalancer, ChangeContext], Maybe[v1.LoadBalancer | Pending | None]]
        ] = Handler("load_balancers.ensure")
        """
        Creates the load balancer, or updates it to match the spec. May be called again at any time, also for a load balancer
        that an interrupted call left half-created. With `context.validate_only` it changes nothing, and may return None.
        """
        self.delete: Handler[Callable[[LoadBalancerRef, ChangeContext], Maybe[Pending | None]]] = Handler(
            "load_balancers.delete"
        )
        """Deletes it and all its parts, in any state; finding nothing is success, `pending` means that something is left."""
        self.update_nodes: Handler[Callable[[DesiredNodes, ChangeContext], Maybe[v1.LoadBalancer | Pending]]] = Handler(
            "load_balancers.update_nodes"
        )
        """Sets the targets to these nodes and changes nothing else. Without it node changes arrive at `ensure`."""
        self.list: Handler[Callable[[CallContext], Items[v1.LoadBalancer | Unreachable | ResumeFrom]]] = Handler(
            "load_balancers.list"
        )
        """Yields the load balancers with the ownership tags of `context.cluster`, each with its `service`."""
        self.watch: Handler[Callable[[WatchRequest, CallContext], Items[LoadBalancerEvent]]] = Handler(
            "load_balancers.watch"
        )
        """Yields events about load balancers."""


class RouteHandlers:
    """Handlers for routes to pod CIDRs: `list`, `ensure` or `ensure_many`, `delete` or `delete_many`."""

    def __init__(self) -> None:
        self.features = RouteFeatures()
        self.list: Handler[Callable[[RouteContext], Items[v1.Route]]] = Handler("routes.list")
        """Yields the routes with the ownership tags of `context.cluster`, and no others. A normal end means: complete."""
        self.ensure: Handler[Callable[[v1.Route, RouteContext], Maybe[RouteResult]]] = Handler("routes.ensure")
        """Creates one route, or updates it to match; one that already matches is success."""
        self.ensure_many: Handler[
            Callable[[Sequence[v1.Route], RouteContext], Maybe[Sequence[RouteResult | Exception]]]
        ] = Handler("routes.ensure_many")
        """Creates routes, or updates them to match; returns results in the order of the request."""
        self.delete: Handler[Callable[[v1.Route, RouteContext], Maybe[Pending | None]]] = Handler("routes.delete")
        """Deletes one route; one that does not exist is success. Reject a route without this cluster's ownership tags."""
        self.delete_many: Handler[
            Callable[[Sequence[v1.Route], RouteContext], Maybe[Sequence[Pending | Exception | None]]]
        ] = Handler("routes.delete_many")
        """Deletes routes; returns results in the order of the request, None for a deleted route."""


class VolumeHandlers:
    """Volumes, for labels and node affinity of PersistentVolumes: `get` or `get_many`."""

    def __init__(self) -> None:
        self.features = VolumeFeatures()
        self.get: Handler[Callable[[v1.VolumeRef, ReadContext], Maybe[VolumeResult]]] = Handler("volumes.get")
        """Looks up one volume."""
        self.get_many: Handler[
            Callable[[Sequence[v1.VolumeRef], ReadContext], Maybe[Sequence[VolumeResult | Exception]]]
        ] = Handler("volumes.get_many")
        """Looks up volumes; returns one result for each, in the same order."""


@dataclass(kw_only=True)
class Provider:
    """
    A provider: its properties and handlers.

    Each registered handler claims its capability; a missing one leaves its capability unclaimed.
    """

    name: str
    """DNS-style name, unique among the providers of a cluster: `acme.example.com`."""
    version: str
    """Version of the provider program."""
    id_prefixes: Sequence[str]
    """Prefixes of the provider IDs, each ending in `://`. The provider writes the first one. Others are for earlier schemes."""
    scope: str | Scope = ""
    """
    What the credentials give access to: account, project, region. Opaque, no secrets, at most 253 bytes. If the cloud reports
    it, decorate a function with `learn_scope` instead.
    """
    limits: Limits = field(default_factory=Limits)
    """Limits of the provider."""
    annotations: Sequence[v1.AnnotationSchema] = ()
    """Service annotations that the provider supports. Their domains are declared as prefixes."""
    annotation_prefixes: Sequence[str] | None = None
    """Prefixes of annotations to receive. None: the domains of `annotations`."""
    node_label_keys: Sequence[str] = ()
    """Keys of the Node labels that the provider needs."""
    node_annotation_keys: Sequence[str] = ()
    """Keys of the Node annotations that the provider needs."""
    diagnostics: Sequence[v1.Diagnostic] = ()
    """Messages to the operator: deprecated options in use, a missing permission."""
    build: Mapping[str, str] = field(default_factory=dict)
    """Build information for bug reports; the SDK adds `sdk` and `runtime`."""
    home_url: str = ""
    """URL of the provider's documentation."""
    instances: InstanceHandlers = field(default_factory=InstanceHandlers, init=False)
    """Instances behind Nodes."""
    load_balancers: LoadBalancerHandlers = field(default_factory=LoadBalancerHandlers, init=False)
    """Load balancers for Services."""
    routes: RouteHandlers = field(default_factory=RouteHandlers, init=False)
    """Routes to pod CIDRs."""
    volumes: VolumeHandlers = field(default_factory=VolumeHandlers, init=False)
    """Volumes, for labels and node affinity of PersistentVolumes."""
    checker: Check | None = field(default=None, init=False)
    """The function registered with `check`."""

    def check(self, handler: CheckT) -> CheckT:
        """
        Register the cheapest request that proves that the cloud is reachable with these credentials. Raise if it fails.

        Runs every 60 s while ready, every 10 s while not.
        """
        self.checker = handler
        return handler

    def learn_scope(self, handler: ScopeT) -> ScopeT:
        """
        Register a function that reads the scope of the credentials from the cloud, at the start and with each check.

        Until it first succeeds, the handshake has no scope and calls fail with PROVIDER_STARTING.
        """
        self.scope = handler
        return handler

    def cloud_id(self, provider_id: str) -> str:
        """
        Return the part of a provider ID after the prefix: the cloud's ID. Empty for an ID of another provider, or for none.

        Results need no prefix: the SDK adds it to `Instance.provider_id` and `Route.target_provider_id`.
        """
        prefix = self.prefix_of(provider_id)
        return "" if prefix is None else provider_id[len(prefix) :]

    def prefix_of(self, provider_id: str) -> str | None:
        """Return the declared prefix with which a provider ID begins; None if it is another provider's."""
        # `acme://eu/` must win over `acme://`.
        fitting = [prefix for prefix in self.id_prefixes if provider_id[: len(prefix)].lower() == prefix.lower()]
        return max(fitting, key=len, default=None)

    def complete_id(self, cloud_id: str, prefix: str | None = None) -> str:
        """Return the cloud's ID with prefix; one that already has a declared prefix is unchanged."""
        return cloud_id if self.prefix_of(cloud_id) is not None else (prefix or self.id_prefixes[0]) + cloud_id
