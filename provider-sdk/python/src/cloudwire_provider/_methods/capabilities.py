"""What a provider claims: each handler that exists, and the facts declared beside; and what is wrong with either."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from google.protobuf.duration_pb2 import Duration

from cloudwire_provider import v1
from cloudwire_provider._server.rules import check
from cloudwire_provider._server.status import duration
from cloudwire_provider.definition import Handler, Provider
from cloudwire_provider.features import ListFeatures, WatchFeatures

_QUOTA_CLASSES = {
    "instances": v1.QUOTA_CLASS_INSTANCES,
    "load_balancers": v1.QUOTA_CLASS_LOAD_BALANCERS,
    "routes": v1.QUOTA_CLASS_ROUTES,
    "volumes": v1.QUOTA_CLASS_VOLUMES,
}


def capabilities(provider: Provider) -> v1.Capabilities:
    """Return what a provider claims."""
    claimed = v1.Capabilities()
    if provider.instances.get or provider.instances.get_many:
        claimed.instances.CopyFrom(_instances(provider))
    if provider.load_balancers.ensure:
        claimed.load_balancers.CopyFrom(_load_balancers(provider))
    if provider.routes.list:
        claimed.routes.CopyFrom(_routes(provider))
    if provider.volumes.get or provider.volumes.get_many:
        features = provider.volumes.features
        claimed.volumes.max_batch_size = features.max_batch_size
        claimed.volumes.csi_drivers.extend(features.csi_drivers)
        claimed.volumes.in_tree_plugins.extend(features.in_tree_plugins)
    return claimed


def limits(provider: Provider) -> v1.Limits:
    """Return what a provider can take."""
    given = provider.limits
    return v1.Limits(
        max_concurrent_calls=given.max_concurrent_calls,
        max_receive_bytes=given.max_receive_bytes,
        max_inline_nodes=given.max_inline_nodes,
        soft_call_duration=_duration(given.soft_call_duration),
        min_status_interval=_duration(given.min_status_interval),
        min_resync_interval=_duration(given.min_resync_interval),
        call_rates=[
            v1.CallRate(
                classes=[_QUOTA_CLASSES[name] for name in rate.classes],
                cloud_calls_per_second=rate.cloud_calls_per_second,
                burst=rate.burst,
            )
            for rate in given.call_rates
        ],
    )


def annotation_prefixes(provider: Provider) -> Sequence[str]:
    """Return the prefixes of the annotations wanted: the declared ones, or the domains of those described."""
    if provider.annotation_prefixes is not None:
        return provider.annotation_prefixes
    return list(dict.fromkeys(schema.key[: schema.key.find("/") + 1] for schema in provider.annotations))


def _duration(seconds: float | None) -> Duration | None:
    return None if seconds is None else duration(seconds)


def _list(handler: object, features: ListFeatures) -> v1.ListCapability | None:
    if not handler:
        return None
    return v1.ListCapability(max_page_size=features.max_page_size, consistent_snapshot=features.consistent_snapshot)


def _watch(handler: object, features: WatchFeatures) -> v1.WatchCapability | None:
    if not handler:
        return None
    return v1.WatchCapability(
        token_retention=_duration(features.token_retention), expected_latency=_duration(features.expected_latency)
    )


def _families(names: Iterable[str]) -> list[v1.IpFamily.ValueType]:
    return [v1.IpFamily.Value(f"IP_FAMILY_{name.upper()}") for name in names]


def _instances(provider: Provider) -> v1.InstanceCapabilities:
    handlers, features = provider.instances, provider.instances.features
    return v1.InstanceCapabilities(
        max_batch_size=features.max_batch_size,
        list=_list(handlers.list, features.list),
        watch=_watch(handlers.watch, features.watch),
        shutdown_state=features.shutdown_state,
        pod_cidrs=features.pod_cidrs,
        existence_consistency_delay=_duration(features.existence_consistency_delay),
        lookup_by_name=features.lookup_by_name,
    )


def _load_balancers(provider: Provider) -> v1.LoadBalancerCapabilities:
    handlers, features = provider.load_balancers, provider.load_balancers.features
    sets = features.node_sets
    return v1.LoadBalancerCapabilities(
        list=_list(handlers.list, features.list),
        watch=_watch(handlers.watch, features.watch),
        # The SDK keeps node sets for every provider, in memory.
        node_sets=v1.NodeSetCapability(max_sets=sets.max_sets, max_nodes=sets.max_nodes) if sets else None,
        update_nodes=bool(handlers.update_nodes),
        validate_only=features.validate_only,
        protocols=[v1.Protocol.Value(f"PROTOCOL_{name}") for name in features.protocols],
        mixed_protocols=features.mixed_protocols,
        ip_families=_families(features.ip_families),
        dual_stack=features.dual_stack,
        source_ranges=features.source_ranges,
        requested_ip=features.requested_ip,
        session_affinity=features.session_affinity,
        external_traffic_policy_local=features.external_traffic_policy_local,
        deletion_protection=features.deletion_protection,
        ip_modes=[v1.IpMode.Value(f"IP_MODE_{name.upper()}") for name in features.ip_modes],
        classes=features.classes,
        max_ports=features.max_ports,
        max_nodes=features.max_nodes,
        needs_node_ports=features.needs_node_ports,
        max_concurrent_changes=features.max_concurrent_changes,
        lock_scope=v1.LockScope.Value(f"LOCK_SCOPE_{features.lock_scope.upper()}"),
        adopt=features.adopt,
    )


def _routes(provider: Provider) -> v1.RouteCapabilities:
    features = provider.routes.features
    return v1.RouteCapabilities(
        max_batch_size=features.max_batch_size,
        max_page_size=features.max_page_size,
        blackhole=features.blackhole,
        target_addresses=features.target_addresses,
        validate_only=features.validate_only,
        ip_families=_families(features.ip_families),
    )


_PREFIX = re.compile(r"[a-z][a-z0-9+.-]*://")
_ANNOTATION_PREFIX = re.compile(r"[a-z0-9.-]+\.[a-z]+/?.*", re.DOTALL)


def shape_problems(provider: Provider) -> list[str]:
    """Return the problems of a definition before anything can be made of it, all at once."""
    problems: list[str] = []
    if provider.checker is None:
        problems.append("check is required: decorate a function that asks the cloud something cheap")
    if not callable(provider.scope) and not 0 < len(provider.scope.encode()) <= 253:
        problems.append("scope must name what the credentials reach, in 1 to 253 bytes; or decorate with learn_scope")
    problems += _prefix_problems(provider.id_prefixes)
    problems += _choice_problems(provider)
    problems += _call_rate_problems(provider)
    return problems


def fact_problems(info: v1.GetProviderInfoResponse) -> list[str]:
    """Return the problems of the facts that a definition declares, as the contract's rules see its handshake."""
    problems = [f"{_friendly(violation.field)} {violation.description}" for violation in check(info)]
    problems += [
        f'annotation prefix "{prefix}" must begin with a DNS name, for example acme.example.com/'
        for prefix in info.annotation_prefixes
        if not _ANNOTATION_PREFIX.fullmatch(prefix)
    ]
    problems += [
        f"annotation {schema.key} is an enum without allowed_values"
        for schema in info.annotations
        if schema.type == v1.ANNOTATION_TYPE_ENUM and not schema.allowed_values
    ]
    return problems


def _friendly(field: str) -> str:
    field = re.sub(r"^capabilities\.(\w+)\.", r"\1.features.", field)
    return re.sub(r"^provider_id_prefixes", "id_prefixes", field)


def _prefix_problems(prefixes: Sequence[str]) -> list[str]:
    if isinstance(prefixes, str) or not prefixes:
        return ['id_prefixes must be a list with at least one prefix, for example ["acme://"]']
    problems = [
        f'id_prefixes: "{prefix}" must be a scheme in lower case with :// at its end, for example acme://'
        for prefix in prefixes
        if not _PREFIX.fullmatch(prefix)
    ]
    return [*problems, "id_prefixes holds one prefix twice"] if len(set(prefixes)) < len(prefixes) else problems


def _choice_problems(provider: Provider) -> list[str]:
    instances, balancers, routes, volumes = (
        provider.instances,
        provider.load_balancers,
        provider.routes,
        provider.volumes,
    )
    groups = [instances, balancers, routes, volumes]
    registered = [[slot for slot in vars(group).values() if isinstance(slot, Handler) and slot] for group in groups]
    if not any(registered):
        return ["nothing is served: decorate at least one handler of instances, load_balancers, routes or volumes"]
    problems: list[str] = []
    if registered[0]:
        problems += _exactly_one("instances", "get", "get_many", instances)
    if registered[1]:
        problems += _required("load_balancers", ("ensure", "delete"), balancers)
        if not balancers.get and not balancers.list:
            problems.append("load_balancers needs get, or list to find one in")
    if registered[2]:
        problems += _required("routes", ("list",), routes)
        problems += _exactly_one("routes", "ensure", "ensure_many", routes)
        problems += _exactly_one("routes", "delete", "delete_many", routes)
    if registered[3]:
        problems += _exactly_one("volumes", "get", "get_many", volumes)
        if not volumes.features.csi_drivers and not volumes.features.in_tree_plugins:
            text = "volumes.features needs csi_drivers or in_tree_plugins: volumes of others are not looked up"
            problems.append(text)
    return problems


def _required(group: str, names: Iterable[str], handlers: object) -> list[str]:
    return [f"{group}.{name} is required" for name in names if not getattr(handlers, name)]


def _exactly_one(group: str, one: str, many: str, handlers: object) -> list[str]:
    given = bool(getattr(handlers, one)) + bool(getattr(handlers, many))
    return [] if given == 1 else [f"{group} needs {one} or {many}, and not both"]


def _call_rate_problems(provider: Provider) -> list[str]:
    problems: list[str] = []
    seen: set[str] = set()
    for index, rate in enumerate(provider.limits.call_rates):
        path = f"limits.call_rates[{index}]"
        named: list[str] = list(rate.classes) or ["all others"]
        if not 0 < rate.cloud_calls_per_second < float("inf"):
            problems.append(f"{path}.cloud_calls_per_second must be a number above 0")
        if rate.burst < 0:
            problems.append(f"{path}.burst must be a whole number, 0 or more")
        if not set(rate.classes) <= set(_QUOTA_CLASSES):
            problems.append(f"{path}.classes names one that is none of {', '.join(_QUOTA_CLASSES)}")
        problems += [f"limits.call_rates gives {name} two rates; give one" for name in named if name in seen]
        seen.update(named)
    return problems
