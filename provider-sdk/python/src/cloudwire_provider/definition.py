"""What a provider says about itself, and the handlers it has."""

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
"""What `def` answers, or `async def`."""
Items: TypeAlias = Iterable[T] | AsyncIterable[T]
"""What a generator yields, or an asynchronous one."""


InstanceResult = v1.Instance | Cached[v1.Instance] | Absent | NotOwned
"""The answer about one Node."""
VolumeResult = v1.Volume | Cached[v1.Volume] | Absent | NotOwned
"""The answer about one volume."""
InstanceEvent = Upsert[v1.Instance] | InstanceGone | Bookmark | Resync
"""What a watch of machines yields."""
LoadBalancerEvent = Upsert[v1.LoadBalancer] | LoadBalancerGone | Bookmark | Resync
"""What a watch of load balancers yields."""
RouteResult = v1.Route | Pending
"""What came of one route."""

Check = Callable[[BackgroundContext], Maybe["CheckResult | None"]]
Scope = Callable[[BackgroundContext], Maybe[str]]

CheckT = TypeVar("CheckT", bound=Check)
ScopeT = TypeVar("ScopeT", bound=Scope)


class Handler(Generic[F]):
    """The place of one handler: a decorator. A handler that is there claims its capability."""

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
        """Tell whether there is one."""
        return self.function is not None


class InstanceHandlers:
    """Machines behind Nodes: `get` or `get_many`; `list` and `watch` where the cloud can."""

    def __init__(self) -> None:
        self.features = InstanceFeatures()
        self.get: Handler[Callable[[v1.NodeRef, ReadContext], Maybe[InstanceResult]]] = Handler("instances.get")
        """Looks one machine up. With `provider_id` that alone decides; without, the name and the hints do."""
        self.get_many: Handler[
            Callable[[Sequence[v1.NodeRef], ReadContext], Maybe[Sequence[InstanceResult | Exception]]]
        ] = Handler("instances.get_many")
        """Looks many up: answers in the order of the Nodes, one for each; an error is that of its Node alone."""
        self.list: Handler[Callable[[CallContext], Items[v1.Instance | Unreachable | ResumeFrom]]] = Handler(
            "instances.list"
        )
        """Yields all machines of the scope. A normal end says that it was complete, unless `unreachable` was yielded."""
        self.watch: Handler[Callable[[WatchRequest, CallContext], Items[InstanceEvent]]] = Handler("instances.watch")
        """Yields hints about machines."""


class LoadBalancerHandlers:
    """Load balancers for Services: `ensure`, `delete`, `get` or `list`; `update_nodes`, `watch` where the cloud can."""

    def __init__(self) -> None:
        self.features = LoadBalancerFeatures()
        self.get: Handler[Callable[[LoadBalancerRef, CallContext], Maybe[v1.LoadBalancer | Pending | Absent]]] = (
            Handler("load_balancers.get")
        )
        """Reads one load balancer: its state, or how far a change is. Without it the SDK finds it in `list`."""
        self.ensure: Handler[
            Callable[[DesiredLoadBalancer, ChangeContext], Maybe[v1.LoadBalancer | Pending | None]]
        ] = Handler("load_balancers.ensure")
        """
        Makes the load balancer be as wished: creates it, changes it, or finds nothing to do. May be called again at any time,
        also for one that an interrupted call half made. With `context.validate_only` it changes nothing, and may answer None.
        """
        self.delete: Handler[Callable[[LoadBalancerRef, ChangeContext], Maybe[Pending | None]]] = Handler(
            "load_balancers.delete"
        )
        """Makes it and all its parts be gone, in every state; finding nothing is success, `pending` says what is left."""
        self.update_nodes: Handler[Callable[[DesiredNodes, ChangeContext], Maybe[v1.LoadBalancer | Pending]]] = Handler(
            "load_balancers.update_nodes"
        )
        """Makes the targets be these nodes and touches nothing else. Without it node changes arrive at `ensure`."""
        self.list: Handler[Callable[[CallContext], Items[v1.LoadBalancer | Unreachable | ResumeFrom]]] = Handler(
            "load_balancers.list"
        )
        """Yields the load balancers with the stamp of `context.cluster`, each with its `service`."""
        self.watch: Handler[Callable[[WatchRequest, CallContext], Items[LoadBalancerEvent]]] = Handler(
            "load_balancers.watch"
        )
        """Yields hints about load balancers."""


class RouteHandlers:
    """Routes to pod ranges: `list`, `ensure` or `ensure_many`, `delete` or `delete_many`."""

    def __init__(self) -> None:
        self.features = RouteFeatures()
        self.list: Handler[Callable[[RouteContext], Items[v1.Route]]] = Handler("routes.list")
        """Yields the routes with the stamp of `context.cluster`, and no others. A normal end says: complete."""
        self.ensure: Handler[Callable[[v1.Route, RouteContext], Maybe[RouteResult]]] = Handler("routes.ensure")
        """Makes one route exist; one that exists as wished is success."""
        self.ensure_many: Handler[
            Callable[[Sequence[v1.Route], RouteContext], Maybe[Sequence[RouteResult | Exception]]]
        ] = Handler("routes.ensure_many")
        """Makes many exist; answers in the order asked for."""
        self.delete: Handler[Callable[[v1.Route, RouteContext], Maybe[Pending | None]]] = Handler("routes.delete")
        """Makes one route be gone; one that does not exist is success, one without this cluster's stamp is refused."""
        self.delete_many: Handler[
            Callable[[Sequence[v1.Route], RouteContext], Maybe[Sequence[Pending | Exception | None]]]
        ] = Handler("routes.delete_many")
        """Makes many be gone; answers in the order asked for, None says that the route is gone."""


class VolumeHandlers:
    """Volumes, for labels and node affinity of PersistentVolumes: `get` or `get_many`."""

    def __init__(self) -> None:
        self.features = VolumeFeatures()
        self.get: Handler[Callable[[v1.VolumeRef, ReadContext], Maybe[VolumeResult]]] = Handler("volumes.get")
        """Looks one volume up."""
        self.get_many: Handler[
            Callable[[Sequence[v1.VolumeRef], ReadContext], Maybe[Sequence[VolumeResult | Exception]]]
        ] = Handler("volumes.get_many")
        """Looks many up: answers in the order asked for."""


@dataclass(kw_only=True)
class Provider:
    """
    A provider: facts about it and the handlers it has.

    Each handler that is registered claims its capability; one that is left out is a capability not claimed.
    """

    name: str
    """DNS-style name, unique among the providers of a cluster: `acme.example.com`."""
    version: str
    """Version of the provider program."""
    id_prefixes: Sequence[str]
    """Prefixes of the provider IDs, each ending in `://`; the first is the one written. Others: former schemes."""
    scope: str | Scope = ""
    """
    What the credentials reach: account, project, region. Opaque, no secrets, at most 253 bytes. Where the cloud tells it,
    decorate a function with `learn_scope` instead.
    """
    limits: Limits = field(default_factory=Limits)
    """How much the provider takes at once."""
    annotations: Sequence[v1.AnnotationSchema] = ()
    """Service annotations that the provider understands. Their domains are declared as prefixes."""
    annotation_prefixes: Sequence[str] | None = None
    """Prefixes of annotations to receive. None: the domains of `annotations`."""
    node_label_keys: Sequence[str] = ()
    """Keys of the Node labels that the provider needs."""
    node_annotation_keys: Sequence[str] = ()
    """Keys of the Node annotations that the provider needs."""
    diagnostics: Sequence[v1.Diagnostic] = ()
    """What the operator should know: deprecated options in use, a missing right."""
    build: Mapping[str, str] = field(default_factory=dict)
    """Build facts for bug reports; the SDK adds `sdk` and `runtime`."""
    home_url: str = ""
    """Where the provider is documented."""
    instances: InstanceHandlers = field(default_factory=InstanceHandlers, init=False)
    """Machines behind Nodes."""
    load_balancers: LoadBalancerHandlers = field(default_factory=LoadBalancerHandlers, init=False)
    """Load balancers for Services."""
    routes: RouteHandlers = field(default_factory=RouteHandlers, init=False)
    """Routes to pod ranges."""
    volumes: VolumeHandlers = field(default_factory=VolumeHandlers, init=False)
    """Volumes, for labels and node affinity of PersistentVolumes."""
    checker: Check | None = field(default=None, init=False)
    """What `check` has registered."""

    def check(self, handler: CheckT) -> CheckT:
        """
        Register the cheapest question that proves that the cloud can be reached with these credentials. Raise if not.

        Runs every 60 s while all is well, every 10 s while not.
        """
        self.checker = handler
        return handler

    def learn_scope(self, handler: ScopeT) -> ScopeT:
        """
        Register what asks the cloud what the credentials reach: at the start and with each check.

        Until it has answered once, the handshake has no scope and calls are refused with PROVIDER_STARTING.
        """
        self.scope = handler
        return handler

    def cloud_id(self, provider_id: str) -> str:
        """
        Return the cloud's part of a provider ID: what follows the prefix. Empty for an ID of another provider, or for none.

        Answers need no prefix: the SDK puts it before `Instance.provider_id` and `Route.target_provider_id`.
        """
        prefix = self.prefix_of(provider_id)
        return "" if prefix is None else provider_id[len(prefix) :]

    def prefix_of(self, provider_id: str) -> str | None:
        """Return the declared prefix with which a provider ID begins; None if it is another provider's."""
        # `acme://eu/` must win over `acme://`.
        fitting = [prefix for prefix in self.id_prefixes if provider_id.startswith(prefix)]
        return max(fitting, key=len, default=None)

    def complete_id(self, cloud_id: str, prefix: str | None = None) -> str:
        """Complete the cloud's id; one that has a declared prefix already stays as it is."""
        return cloud_id if self.prefix_of(cloud_id) is not None else (prefix or self.id_prefixes[0]) + cloud_id
