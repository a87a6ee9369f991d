"""How this provider serves Services of type LoadBalancer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from cloudwire_provider import (
    Absent,
    CallContext,
    ChangeContext,
    DesiredLoadBalancer,
    DesiredNodes,
    LoadBalancerFeatures,
    LoadBalancerRef,
    Pending,
    Provider,
    ProviderError,
    absent,
    pending,
    v1,
)

from cloud import CLUSTER_TAG, OWNERSHIP_PREFIX, Cloud, cluster_tags, ownership_problem
from machines import machine_id

UID_TAG, NAMESPACE_TAG, NAME_TAG = (f"{OWNERSHIP_PREFIX}service-{word}" for word in ("uid", "namespace", "name"))
SPEC_KEY, NODES_KEY = f"{OWNERSHIP_PREFIX}spec-fingerprint", f"{OWNERSHIP_PREFIX}nodes-fingerprint"
PATH = "/v1/load-balancers"
DOMAIN = "simulated.cloudwire.dev"
FLAVOR_KEY, IDLE_KEY = f"{DOMAIN}/flavor", f"{DOMAIN}/idle-timeout-seconds"
FLAVORS = ("standard", "internal")

Found = Mapping[str, Any]


def serve_load_balancers(provider: Provider, cloud: Cloud) -> None:
    """Register the handlers."""
    handlers = provider.load_balancers
    handlers.features = LoadBalancerFeatures(
        source_ranges=True,
        requested_ip=True,
        session_affinity=True,
        external_traffic_policy_local=True,
        deletion_protection=True,
        ip_modes=["Proxy"],
        classes=[f"{DOMAIN}/{flavor}" for flavor in FLAVORS],
        max_ports=100,
        max_nodes=20_000,
        max_concurrent_changes=50,
    )
    provider.annotations = [
        v1.AnnotationSchema(
            key=FLAVOR_KEY,
            type=v1.ANNOTATION_TYPE_ENUM,
            allowed_values=FLAVORS,
            description="Flavor of the load balancer of a Service without a class.",
        ),
        v1.AnnotationSchema(
            key=IDLE_KEY,
            type=v1.ANNOTATION_TYPE_INTEGER,
            mutable=True,
            description="Idle timeout of connections in seconds, 1 to 3600.",
        ),
    ]

    def find(ref: LoadBalancerRef, context: CallContext) -> list[Found]:
        """Return all load balancers with the ownership tags of a Service; its own first."""
        tags = [f"{CLUSTER_TAG}={ref.cluster.id}", f"{UID_TAG}={ref.service.uid}"]
        return sorted(cloud.read_complete(context, PATH, tag=tags), key=lambda found: bool(found["name"] != ref.key))

    @handlers.get
    def get(ref: LoadBalancerRef, context: CallContext) -> v1.LoadBalancer | Absent:
        found = find(ref, context)
        return to_load_balancer(found[0]) if found else absent("COMPLETE_LIST_MISS", strongly_consistent=True)

    @handlers.list
    def list_load_balancers(context: CallContext) -> Iterator[v1.LoadBalancer]:
        for found in cloud.read_complete(context, PATH, tag=f"{CLUSTER_TAG}={context.cluster.id}"):
            yield to_load_balancer(found)

    @handlers.ensure
    def ensure(wanted: DesiredLoadBalancer, context: ChangeContext) -> v1.LoadBalancer:
        desired, targets = to_desired_spec(wanted), target_ids(provider, wanted, context)
        found = find(wanted, context)
        if not found:
            _refuse_taken_name(cloud, wanted, context)
            given = {key: value for key, value in desired.items() if value is not None}
            made = cloud.ask(context, "POST", PATH, {**given, "targets": targets, "metadata": _marks(wanted)})
            return _answer(made, context)
        existing = found[0]
        if existing["state"] == "deleting":
            raise ProviderError("NOT_READY", f"load balancer {existing['id']} is still being deleted", retry_after=1)
        changes = {key: value for key, value in desired.items() if key in _MUTABLE and _now(existing, key) != value}
        marks = {**existing["metadata"], SPEC_KEY: wanted.spec_fingerprint}
        if changes or marks != existing["metadata"]:
            path = f"{PATH}/{existing['id']}?ifRevision={existing['revision']}"
            existing = cloud.ask(context, "PATCH", path, {**changes, "metadata": marks})["loadBalancer"]
        return _answer(_replace_targets(cloud, existing, targets, wanted, context), context)

    @handlers.update_nodes
    def update_nodes(wanted: DesiredNodes, context: ChangeContext) -> v1.LoadBalancer:
        found = find(wanted, context)
        if not found or found[0]["state"] == "deleting":
            text = f"Service {wanted.service.namespace}/{wanted.service.name} has no load balancer {wanted.key}"
            raise ProviderError("LOAD_BALANCER_NOT_FOUND", text)
        targets = target_ids(provider, wanted, context)
        return _answer(_replace_targets(cloud, found[0], targets, wanted, context), context)

    @handlers.delete
    def delete(ref: LoadBalancerRef, context: ChangeContext) -> Pending | None:
        left = []
        for found in find(ref, context):
            current = found
            if found["state"] != "deleting":
                change = cloud.ask(context, "DELETE", f"{PATH}/{found['id']}")
                if (change.get("operation") or {}).get("state") != "running":
                    continue
                current = change["loadBalancer"]
            left.append(f"load balancer {current['id']}")
        return pending(ref.key, poll_after=1, stage="deleting in the cloud", remaining=left) if left else None


def to_desired_spec(wanted: DesiredLoadBalancer) -> dict[str, Any]:
    """Return the desired load balancer in the cloud's terms."""
    spec = wanted.spec
    flavor = (wanted.load_balancer_class or "").rpartition("/")[2] or spec.annotations.get(FLAVOR_KEY, "standard")
    idle = int(spec.annotations.get(IDLE_KEY, "60"))
    if not 1 <= idle <= 3600:
        text = f"annotation {IDLE_KEY} must be a whole number of seconds, 1 to 3600"
        raise ProviderError("ANNOTATION_INVALID", text, field=f"spec.annotations[{json.dumps(IDLE_KEY)}]")
    service = wanted.service
    service_tags = {UID_TAG: service.uid, NAMESPACE_TAG: service.namespace, NAME_TAG: service.name}
    own = {key: value for key, value in spec.tags.items() if not key.startswith(OWNERSHIP_PREFIX)}
    listeners = [
        {"port": port.port, "protocol": "tcp", "targetPort": port.node_port or port.port}
        for port in sorted(spec.ports, key=lambda port: port.port)
    ]
    desired: dict[str, Any] = {
        "name": wanted.key,
        "class": flavor,
        "listeners": listeners,
        "sourceRanges": sorted(spec.source_ranges.cidrs),
        "sessionAffinity": "clientIp" if spec.HasField("session_affinity") else "none",
        "idleTimeoutMs": idle * 1000,
        "tags": {**own, **cluster_tags(wanted.cluster), **service_tags},
        "healthCheck": _health_check(spec),
    }
    if spec.requested_ips:
        desired["requestedAddress"] = spec.requested_ips[0]
    if spec.HasField("deletion_protection"):
        desired["protected"] = spec.deletion_protection
    return desired


_MUTABLE = {"listeners", "sourceRanges", "sessionAffinity", "idleTimeoutMs", "tags", "healthCheck", "protected"}


def _now(existing: Found, key: str) -> Any:
    """Return a part of a load balancer in the form of a desired spec."""
    if key == "listeners":
        return [{part: item[part] for part in ("port", "protocol", "targetPort")} for item in existing[key]]
    return existing.get(key)


def _health_check(spec: v1.LoadBalancerSpec) -> dict[str, Any] | None:
    # Nodes say themselves whether they want traffic; with the policy Cluster every node does, and none is asked.
    if not spec.HasField("health_check") or spec.external_traffic_policy != v1.EXTERNAL_TRAFFIC_POLICY_LOCAL:
        return None
    check = spec.health_check
    kind = check.WhichOneof("kind")
    return {"protocol": kind, "port": check.port, **({"path": check.http.path} if kind == "http" else {})}


def target_ids(provider: Provider, wanted: DesiredNodes, context: ChangeContext) -> list[str]:
    """Return the instances of the nodes; those of other clouds are reported and left out."""
    ids = {node.name: machine_id(provider, node.provider_id) for node in wanted.nodes}
    foreign = [name for name, found in ids.items() if not found]
    if foreign:
        text = f"No targets, because their instances are not in this cloud: {', '.join(foreign[:5])}"
        context.add_diagnostic(
            v1.Diagnostic(severity=v1.SEVERITY_WARNING, reason="NodesOfOtherProviders", summary=text)
        )
    return sorted({found for found in ids.values() if found})


def _replace_targets(
    cloud: Cloud, existing: Found, targets: list[str], wanted: DesiredNodes, context: ChangeContext
) -> Found:
    """Make one call, or none if the cloud has these targets."""
    digest = hashlib.sha256("".join(f"{target}\n" for target in targets).encode()).hexdigest()
    same = existing["targetsDigest"] == digest
    if same and existing["metadata"].get(NODES_KEY) == wanted.nodes_fingerprint:
        return {"loadBalancer": existing, "ignoredTargets": []}
    body = {"targets": targets, "metadata": {NODES_KEY: wanted.nodes_fingerprint}}
    changed: Found = cloud.ask(context, "PUT", f"{PATH}/{existing['id']}/targets", body)
    return changed


def _marks(wanted: DesiredLoadBalancer) -> dict[str, str]:
    return {SPEC_KEY: wanted.spec_fingerprint, NODES_KEY: wanted.nodes_fingerprint}


def _refuse_taken_name(cloud: Cloud, wanted: DesiredLoadBalancer, context: ChangeContext) -> None:
    for found in cloud.read_complete(context, PATH, name=wanted.key):
        problem = ownership_problem("load balancer", found, wanted.cluster)
        text = f"load balancer {found['id']} has the name {found['name']} and is tagged for another Service"
        raise problem or ProviderError("NAME_TAKEN", text, metadata={"name": found["name"], "id": found["id"]})


def _answer(change: Found, context: ChangeContext) -> v1.LoadBalancer:
    """Return the result of a change, and report targets that no longer exist."""
    gone = change["ignoredTargets"]
    if gone:
        text = f"{len(gone)} targets are not instances any longer and were left out: {', '.join(gone[:5])}"
        context.add_diagnostic(v1.Diagnostic(severity=v1.SEVERITY_WARNING, reason="TargetsNotFound", summary=text))
    found = change["loadBalancer"]
    if found["state"] == "failed":
        summary = found["stateReason"] or "the load balancer failed"
        context.add_diagnostic(v1.Diagnostic(severity=v1.SEVERITY_ERROR, reason="LoadBalancerFailed", summary=summary))
    return to_load_balancer(found)


def to_load_balancer(found: Found) -> v1.LoadBalancer:
    """Return a load balancer in the form of the contract. Fingerprints are set only for the configuration in effect."""
    state, tags, metadata = found["state"], found["tags"], found["metadata"]
    ports = [
        v1.IngressPort(port=item["port"], protocol=v1.PROTOCOL_TCP, error=_error(item)) for item in found["listeners"]
    ]
    # The cloud proxies: its addresses are loopback addresses that a node must not take for its own.
    point = v1.LoadBalancerIngress(ip=found["address"], ip_mode=v1.IP_MODE_PROXY, ports=ports)
    made = v1.LoadBalancer(
        id=found["id"],
        service=v1.ServiceRef(
            namespace=tags.get(NAMESPACE_TAG, ""), name=tags.get(NAME_TAG, ""), uid=tags.get(UID_TAG, "")
        ),
        phase=v1.LoadBalancerPhase.Value(f"LOAD_BALANCER_PHASE_{state.upper()}"),
        ingress=v1.LoadBalancerIngressList(items=[point]),
        observed_fingerprint=_observed(found),
        registered_nodes=found["targetCount"],
        tags=tags,
    )
    if state == "active":
        made.spec_fingerprint = metadata.get(SPEC_KEY, "")
    if state in {"active", "updating"}:
        made.nodes_fingerprint = metadata.get(NODES_KEY, "")
    if state in {"provisioning", "updating", "deleting"}:
        made.operation.CopyFrom(v1.Operation(id=found.get("operationId", ""), stage=f"{state} in the cloud"))
        made.operation.poll_after.FromMilliseconds(500)
    return made


def _error(listener: Found) -> str | None:
    return listener.get("reason", "ListenerFailed").partition(":")[0] if listener["status"] == "failed" else None


def _observed(found: Found) -> str:
    """A fingerprint of all that someone could change without the provider, and of nothing that changes by itself."""
    keys = ("name", "class", "address", "sourceRanges", "sessionAffinity", "idleTimeoutMs", "protected", "tags")
    facts = [*(found[key] for key in keys), found.get("healthCheck"), found["targetsDigest"], _now(found, "listeners")]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
