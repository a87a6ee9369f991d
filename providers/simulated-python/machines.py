"""How this provider serves machines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from cloudwire_provider import (
    CallContext,
    InstanceFeatures,
    InstanceResult,
    ListFeatures,
    Provider,
    ProviderError,
    ReadContext,
    Unreachable,
    absent,
    cached,
    unreachable,
    v1,
)

from cloud import Cloud

PREFIX = "sim://"
"""Provider IDs are `sim://<zone>/<instance id>`: `sim://north-a/i-253d950f11eb`."""

_PLACE = re.compile(r"(?P<zone>[a-z0-9-]{1,63})/(?P<id>i-[0-9a-f]{12})")
# Tags under this prefix become labels of the Node.
_LABEL_TAG = "node-label/"


def machine_id(provider: Provider, provider_id: str) -> str:
    """Return the cloud's id of a machine; empty if the provider ID is not of this cloud."""
    match = _PLACE.fullmatch(provider.cloud_id(provider_id))
    return match["id"] if match else ""


def serve_instances(provider: Provider, cloud: Cloud) -> None:
    """Register the handlers."""
    handlers = provider.instances
    handlers.features = InstanceFeatures(
        max_batch_size=1000,
        pod_cidrs=True,
        # Look-ups are strongly consistent: an instance can be seen as soon as it is made.
        existence_consistency_delay=0,
        list=ListFeatures(max_page_size=1000),
    )

    @handlers.get_many
    def get_many(nodes: Sequence[v1.NodeRef], context: ReadContext) -> list[InstanceResult | Exception]:
        places = [_PLACE.fullmatch(provider.cloud_id(node.provider_id)) for node in nodes]
        ids = {place["id"] for place in places if place}
        names = {node.name for node in nodes if not node.provider_id}
        wanted = {"ids": sorted(ids), "names": sorted(names), "consistent": True}
        looked_up = cloud.ask(context, "POST", "/v1/instances/lookup", wanted, reads=True)
        cloud.require_own(looked_up)
        return [_answer(node, place, looked_up) for node, place in zip(nodes, places, strict=True)]

    @handlers.list
    def list_instances(context: CallContext) -> Iterator[v1.Instance | Unreachable]:
        for page in cloud.read_all(context, "/v1/instances"):
            yield from map(unreachable, page["unreachable"]["zones"])
            yield from (_instance(found) for found in page["items"] if found["state"] != "terminated")


def _answer(node: v1.NodeRef, place: re.Match[str] | None, looked_up: Mapping[str, Any]) -> InstanceResult | Exception:
    """Answer for one Node out of the look-up of all."""
    if node.provider_id and place is None:
        text = f"provider ID {node.provider_id} is not of the form {PREFIX}<zone>/i-<12 hex digits>"
        return ProviderError("PROVIDER_ID_MALFORMED", text)
    key, wanted = ("id", place["id"]) if place else ("name", node.name)
    found = [item for item in looked_up["items"] if item[key] == wanted]
    alive = [item for item in found if item["state"] != "terminated"]
    read_time = datetime.fromisoformat(looked_up["observedAt"].replace("Z", "+00:00"))
    strong = looked_up["consistency"] == "strong"
    if len(alive) > 1:
        matches = ",".join(item["id"] for item in alive)
        text = f"{len(alive)} instances have the name {node.name}: {matches}"
        return ProviderError("AMBIGUOUS_NAME", text, metadata={"matches": matches})
    if alive and place and alive[0]["zone"] != place["zone"]:
        text = f"instance {wanted} is in zone {alive[0]['zone']}, the provider ID says {place['zone']}"
        return ProviderError("PROVIDER_ID_MALFORMED", text)
    if alive:
        return cached(_instance(alive[0]), read_time)
    if found:
        return absent("TERMINATED", observe_time=read_time, strongly_consistent=strong)
    # A miss is an absence only on evidence: the cloud itself has to name what is missing.
    if wanted in looked_up.get("missing", {}).get(f"{key}s", []) and strong:
        return absent("LOOKUP_MISS", observe_time=read_time, strongly_consistent=True)
    zones = looked_up["unreachable"]["zones"]
    if zones:
        return ProviderError("ZONE_UNREACHABLE", f"zone {zones[0]} cannot be read", metadata={"zone": zones[0]})
    return ProviderError("INCOMPLETE_ANSWER", f"the cloud does not say whether there is an instance {wanted}")


def _instance(found: Mapping[str, Any]) -> v1.Instance:
    kinds = [
        (v1.NODE_ADDRESS_TYPE_INTERNAL_IP, found["internalAddresses"]),
        (v1.NODE_ADDRESS_TYPE_EXTERNAL_IP, found["externalAddresses"]),
        (v1.NODE_ADDRESS_TYPE_INTERNAL_DNS, [found["hostname"]]),
        (v1.NODE_ADDRESS_TYPE_HOSTNAME, [found["hostname"]]),
    ]
    made = v1.Instance(
        provider_id=f"{found['zone']}/{found['id']}",
        name=found["name"],
        instance_type=found["type"],
        zone=found["zone"],
        region=found["region"],
        addresses=[v1.NodeAddress(type=kind, address=address) for kind, all_ in kinds for address in all_],
        state=v1.InstanceState.Value(f"INSTANCE_STATE_{found['state'].upper()}"),
        state_reason=found["stateReason"],
        labels={
            key.removeprefix(_LABEL_TAG): value for key, value in found["tags"].items() if key.startswith(_LABEL_TAG)
        },
        pod_cidrs=v1.PodCidrs(cidrs=found["podCidrs"]),
        revision=str(found["revision"]),
    )
    made.create_time.FromJsonString(found["createdAt"])
    return made
