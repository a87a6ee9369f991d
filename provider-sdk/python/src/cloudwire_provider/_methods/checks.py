"""What requests must keep to beyond the rules of their fields: nothing is asked for that was not declared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloudwire_provider import v1
from cloudwire_provider._server.rules import Violation, is_cidr, is_network, quote

Violations = list[Violation]

# As Go's time.ParseDuration reads it.
_DURATION = re.compile(r"[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)")


def batch(field: str, items: Sequence[Any], max_batch_size: int) -> Violations:
    """Check the bounds of a batch."""
    if not items:
        return [Violation("BATCH_EMPTY", field, "is empty")]
    if len(items) <= max_batch_size:
        return []
    text = f"has {len(items)} items; at most {max_batch_size} are served at once"
    return [Violation("BATCH_TOO_LARGE", field, text, (("limit", str(max_batch_size)),))]


def page(request: v1.ListInstancesRequest | v1.ListLoadBalancersRequest | v1.ListRoutesRequest) -> Violations:
    """Check the requested page size: 0 or more is valid; a larger one is capped later."""
    if request.page_size >= 0:
        return []
    return [Violation("PAGE_SIZE_INVALID", "page_size", f"is {request.page_size}; it must not be negative")]


def watch(request: v1.WatchInstancesRequest | v1.WatchLoadBalancersRequest) -> Violations:
    """Check what opens a watch: continuing after a token and beginning with everything exclude each other."""
    if request.resume_token and request.send_initial_events:
        return [Violation("FIELD_INVALID", "send_initial_events", "is not possible with resume_token")]
    return []


def routes(items: Sequence[v1.Route], claimed: v1.RouteCapabilities, *, needs_target: bool) -> Violations:
    """Check a change of routes. A route to delete needs no target: its instance may not exist."""
    out = batch("routes", items, claimed.max_batch_size)
    for index, route in enumerate(items):
        path = f"routes[{index}]"
        if needs_target and not route.target_provider_id:
            out.append(Violation("FIELD_MISSING", f"{path}.target_provider_id", "is required"))
        cidr = route.destination_cidr
        if not is_cidr(cidr):
            continue
        family = v1.IP_FAMILY_IPV6 if ":" in cidr else v1.IP_FAMILY_IPV4
        if family not in claimed.ip_families:
            text = f"is {_family_name(family)}, which this provider does not route"
            out.append(Violation("FIELD_INVALID", f"{path}.destination_cidr", text))
        elif not is_network(cidr):
            out.append(Violation("FIELD_INVALID", f"{path}.destination_cidr", f"is {cidr}, which has host bits"))
    return out


def node_selection(request: v1.EnsureLoadBalancerRequest | v1.UpdateLoadBalancerNodesRequest) -> Violations:
    """Check that a selection says where the nodes are: without it, it must not be read as "no nodes"."""
    if not request.HasField("nodes"):
        return []
    source = request.nodes.WhichOneof("source")
    if source is None:
        return [Violation("FIELD_MISSING", "nodes.source", "is required")]
    if source == "node_set_id" and not request.nodes.node_set_id:
        return [Violation("FIELD_MISSING", "nodes.node_set_id", "is required")]
    return []


def node_set_chunk(request: v1.ApplyNodeSetRequest, claimed: v1.LoadBalancerCapabilities) -> Violations:
    """Check a chunk of a node set."""
    out: Violations = []
    if request.chunk_count > 0 and request.chunk_index >= request.chunk_count:
        text = f"is {request.chunk_index}; the chunks are 0 to {request.chunk_count - 1}"
        out.append(Violation("FIELD_INVALID", "chunk_index", text))
    if not request.base_fingerprint and request.removed_provider_ids:
        text = "takes nodes out, but there is no base_fingerprint to take them from"
        out.append(Violation("FIELD_INVALID", "removed_provider_ids", text))
    if request.target_count > claimed.node_sets.max_nodes:
        text = f"is {request.target_count}; a set has at most {claimed.node_sets.max_nodes} nodes"
        out.append(Violation("FIELD_TOO_LARGE", "target_count", text))
    return out


def ensure(
    request: v1.EnsureLoadBalancerRequest,
    claimed: v1.LoadBalancerCapabilities,
    schemas: Sequence[v1.AnnotationSchema],
) -> Violations:
    """Check a request for a load balancer."""
    out: Violations = []
    if request.HasField("spec"):
        spec = request.spec
        out += _class(spec, claimed)
        out += _ports(spec, claimed)
        out += _families(spec, claimed)
        out += _features(spec, claimed)
        if spec.HasField("health_check") and spec.health_check.WhichOneof("kind") is None:
            # A check that cannot be made would take every node out.
            out.append(Violation("FIELD_MISSING", "spec.health_check.kind", "is required"))
        out += _annotations(spec.annotations, schemas)
    out += node_selection(request)
    if request.HasField("adopt") and not claimed.adopt:
        out.append(_unsupported("adopt", "adoption of existing load balancers"))
    return out


def _unsupported(field: str, feature: str) -> Violation:
    return Violation("FEATURE_UNSUPPORTED", field, f"asks for {feature}, which this provider does not offer")


def _unknown_enum(field: str, value: int) -> Violation:
    """Reject an unknown value: applying another value instead would be wrong. Contract: EVO-3."""
    return Violation("FIELD_INVALID", field, f"is {value}, which this provider does not know")


def _class(spec: v1.LoadBalancerSpec, claimed: v1.LoadBalancerCapabilities) -> Violations:
    wanted = getattr(spec, "class")
    if not spec.HasField("class") or wanted in claimed.classes:
        return []
    served = f"{', '.join(map(quote, claimed.classes))} are" if claimed.classes else "none is"
    return [Violation("CLASS_UNSUPPORTED", "spec.class", f"is {quote(wanted)}; {served} served here")]


def _ports(spec: v1.LoadBalancerSpec, claimed: v1.LoadBalancerCapabilities) -> Violations:
    out: Violations = []
    first_at: dict[tuple[int, int], int] = {}
    for index, port in enumerate(spec.ports):
        field, protocol = f"spec.ports[{index}]", port.protocol
        if protocol not in v1.Protocol.values():
            out.append(_unknown_enum(f"{field}.protocol", protocol))
        elif protocol != v1.PROTOCOL_UNSPECIFIED and protocol not in claimed.protocols:
            served = ", ".join(map(_protocol_name, claimed.protocols))
            text = f"is {_protocol_name(protocol)}; served are {served}"
            out.append(Violation("PORT_PROTOCOL_UNSUPPORTED", f"{field}.protocol", text))
        earlier = first_at.setdefault((protocol, port.port), index)
        if earlier != index:
            out.append(Violation("FIELD_INVALID", field, f"is the same port and protocol as spec.ports[{earlier}]"))
    if 0 < claimed.max_ports < len(spec.ports):
        text = f"has {len(spec.ports)} ports; at most {claimed.max_ports} are served"
        out.append(Violation("FIELD_TOO_LARGE", "spec.ports", text))
    if len({port.protocol for port in spec.ports}) > 1 and not claimed.mixed_protocols:
        out.append(_unsupported("spec.ports", "mixed protocols"))
    return out


def _families(spec: v1.LoadBalancerSpec, claimed: v1.LoadBalancerCapabilities) -> Violations:
    out: Violations = []
    seen: set[int] = set()
    for index, family in enumerate(spec.ip_families):
        field = f"spec.ip_families[{index}]"
        if family not in v1.IpFamily.values():
            out.append(_unknown_enum(field, family))
        elif family != v1.IP_FAMILY_UNSPECIFIED and family not in claimed.ip_families:
            out.append(_unsupported(field, _family_name(family)))
        if family in seen:
            out.append(Violation("FIELD_INVALID", field, "is given twice"))
        seen.add(family)
    if len(spec.ip_families) > 1 and not claimed.dual_stack:
        out.append(_unsupported("spec.ip_families", "two families at once"))
    return out


def _features(spec: v1.LoadBalancerSpec, claimed: v1.LoadBalancerCapabilities) -> Violations:
    policy = spec.external_traffic_policy
    if policy not in v1.ExternalTrafficPolicy.values():
        return [_unknown_enum("spec.external_traffic_policy", policy)]
    local = policy == v1.EXTERNAL_TRAFFIC_POLICY_LOCAL
    asked = [
        (spec.HasField("source_ranges"), claimed.source_ranges, "source_ranges", "source ranges"),
        (bool(spec.requested_ips), claimed.requested_ip, "requested_ips", "requested addresses"),
        (spec.HasField("session_affinity"), claimed.session_affinity, "session_affinity", "session affinity"),
        (spec.deletion_protection, claimed.deletion_protection, "deletion_protection", "deletion protection"),
        (local, claimed.external_traffic_policy_local, "external_traffic_policy", "external traffic policy Local"),
    ]
    return [
        _unsupported(f"spec.{field}", feature) for wanted, offered, field, feature in asked if wanted and not offered
    ]


def _annotations(annotations: Mapping[str, str], schemas: Sequence[v1.AnnotationSchema]) -> Violations:
    out: Violations = []
    for schema in schemas:
        if schema.key not in annotations:
            continue
        value = annotations[schema.key]
        fits, wanted = _KINDS.get(schema.type, (_any_text, "any text"))
        if not fits(value, schema):
            shown = f"one of {', '.join(schema.allowed_values)}" if wanted == "" else wanted
            field = f"spec.annotations[{json.dumps(schema.key)}]"
            out.append(Violation("ANNOTATION_INVALID", field, f"is {quote(value)}; it takes {shown}"))
    return out


def _any_text(_value: str, _schema: v1.AnnotationSchema) -> bool:
    return True


def _all(value: str, fits: Callable[[str], bool]) -> bool:
    return all(fits(item.strip()) for item in value.split(","))


_KINDS: dict[int, tuple[Callable[[str, v1.AnnotationSchema], Any], str]] = {
    v1.ANNOTATION_TYPE_BOOL: (lambda value, _: value in {"true", "false"}, "true or false"),
    v1.ANNOTATION_TYPE_INTEGER: (lambda value, _: re.fullmatch(r"-?[0-9]{1,15}", value), "a whole number"),
    v1.ANNOTATION_TYPE_DURATION: (lambda value, _: _DURATION.fullmatch(value), "a duration such as 1m30s"),
    v1.ANNOTATION_TYPE_ENUM: (lambda value, schema: value in schema.allowed_values, ""),
    v1.ANNOTATION_TYPE_CIDR_LIST: (lambda value, _: _all(value, is_cidr), "address ranges separated by commas"),
    v1.ANNOTATION_TYPE_MAP: (
        lambda value, _: _all(value, lambda item: "=" in item),
        "key=value pairs separated by commas",
    ),
}


def _protocol_name(protocol: int) -> str:
    return v1.Protocol.Name(protocol).removeprefix("PROTOCOL_")  # type: ignore[arg-type]


def _family_name(family: int) -> str:
    return "IPv6" if family == v1.IP_FAMILY_IPV6 else "IPv4"
